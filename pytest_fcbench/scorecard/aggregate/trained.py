"""Scores without the entries that are in the training data of the model, beside those of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import (
    TRAINED,
    ProfileScores,
    aggregate_scores,
    leave_out_trained,
    select_marked,
)
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.scorecard.render.wording import format_limits, format_number


def score_untrained(
    records: Sequence[Record], profile: Profile, size_of: Callable[[str], int]
) -> ProfileScores | None:
    """Return the scores of the other entries; None where no entry is known to be in the training data."""
    # Without a trained entry a second score would repeat the first.
    rest = leave_out_trained(records)
    return aggregate_scores(rest, profile, size_of) if len(rest) < len(records) else None


def tabulate_untrained(
    records: Sequence[Record], profile: Profile, size_of: Callable[[str], int]
) -> Table | None:
    """Tabulate both scores of each category that has such entries, and of the run; None without any."""
    without = score_untrained(records, profile, size_of)
    if without is None:
        return None
    whole, trained = aggregate_scores(records, profile, size_of), select_marked(records, f"mark:{TRAINED}")
    names = dict.fromkeys((*(record.category for record in trained), whole.main))
    return Table(
        f"without entries of the training data ({profile} profile)",
        ("", "entries", "trained", "as run", "without", "95% interval"),
        tuple(
            (
                name,
                f"{len(select_marked(records, name)):,}",
                f"{len(select_marked(trained, name)):,}",
                format_number(score.accuracy if score else None, ".2%"),
                format_number(rest.accuracy if rest else None, ".2%"),
                format_limits(rest.interval if rest else None),
            )
            for name in names
            for score, rest in [(whole.find_score(name), without.find_score(name))]
        ),
    )
