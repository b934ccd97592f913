"""The scores of one scorecard or several side by side, as a table for people."""

from __future__ import annotations

from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import describe_weight, format_number
from pytest_fcbench.scorecard.aggregate.scores import ALL, Score
from pytest_fcbench.scorecard.compare.names import name_scorecards, name_suites
from pytest_fcbench.tools.export.order import ExportRequest


def tabulate_scores(order: ExportRequest) -> Table:
    """Tabulate accuracy and interval of every score in percent, and counts where there is one run."""
    all_scores = [card.scores(order.profile) for card in order.cards]
    names = dict.fromkeys(name for scores in all_scores for name in scores.names)
    # These are the last of each scorecard, whatever the others have.
    names |= {last: names.pop(last) for last in ("overall", ALL) if last in names}
    weights = dict.fromkeys(describe_weight(scores) for scores in all_scores if scores.overall.missing)
    notes = [f"{weight}." for weight in weights]
    rows: list[tuple[str, ...]]
    if len(all_scores) == 1:
        title = f"{order.card.facts.model} ({order.card.facts.mode})"
        columns = ["scored", "not scored", "accuracy (%)", "95% interval"]
        rows = [
            (name, f"{score.scored}", f"{score.not_scored}", *_format_score(score))
            for name in names
            if (score := all_scores[0].find_score(name))
        ]
    else:
        # Counts beside each model would be too many columns for a page.
        title, labels = "Accuracy (%)", name_scorecards(order.cards)
        columns = [column for label in labels for column in (label, "95% interval")]
        rows = [
            (name, *(cell for scores in all_scores for cell in _format_score(scores.find_score(name))))
            for name in names
        ]
        unscored_counts = [
            f"{label} {scores.overall.not_scored}"
            for label, scores in zip(labels, all_scores, strict=True)
            if scores.overall.not_scored
        ]
        notes += (
            [f"Entries not scored, which count for no model: {', '.join(unscored_counts)}."]
            if unscored_counts
            else []
        )
    suites = "; ".join(dict.fromkeys(map(name_suites, order.cards)))
    return Table(
        f"{title}, {suites}, {order.profile} profile", ("score", *columns), tuple(rows), tuple(notes)
    )


def _format_score(score: Score | None) -> tuple[str, str]:
    limits = score.interval if score else None
    return (
        format_number(100 * score.accuracy if score and score.accuracy is not None else None, ".2f"),
        f"{100 * limits.low:.1f} to {100 * limits.high:.1f}" if limits else "-",
    )
