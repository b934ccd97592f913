"""Tables of figures beside the scores: executed calls, turns, ratings, strata, training data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import format_limits, format_number
from pytest_fcbench.scorecard.aggregate.execution import Sides, count_sides_by_category
from pytest_fcbench.scorecard.aggregate.ratings import MOST, Ratings, summarise_ratings_by_category
from pytest_fcbench.scorecard.aggregate.right_turns import count_right_turns_by_category
from pytest_fcbench.scorecard.aggregate.scores import TRAINED, aggregate_scores, select_marked
from pytest_fcbench.scorecard.aggregate.strata import score_strata
from pytest_fcbench.scorecard.aggregate.trained import score_untrained
from pytest_fcbench.scorecard.record import Record

SIDE_COLUMNS = ("entries", "both", "AST only", "exec only", "neither", "AST", "execution", "agree")
"""The columns of a table of sides."""
SIDE_LEGEND = "AST: the calls are those of the truth, argument by argument; no verdict depends on it"
"""The legend of the columns."""


def format_sides(of: Sides) -> tuple[str, ...]:
    """Write the cells of ``SIDE_COLUMNS``."""
    counts = (of.n, of.both, of.ast_only, of.execution_only, of.neither)
    shares = (of.ast, of.execution, of.agreement)
    return (*(f"{count:,}" for count in counts), *(format_number(share, ".2%") for share in shares))


def tabulate_sides(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate each category and all; None where no entry has both verdicts."""
    sides = count_sides_by_category(records, profile)
    if not sides:
        return None
    return Table(
        f"calls as written (AST) and carried out ({profile} profile)",
        ("", *SIDE_COLUMNS),
        tuple((name, *format_sides(of)) for name, of in sides.items()),
        (SIDE_LEGEND,),
    )


def tabulate_right_turns(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate each category; None without conversations."""
    right_turns = count_right_turns_by_category(records, profile)
    if not right_turns:
        return None
    return Table(
        f"turns of conversations ({profile} profile)",
        ("", "conversations", "turns", "right", "share"),
        tuple(
            (name, f"{of.conversations:,}", f"{of.turns:,}", f"{of.right:,}", format_number(of.share, ".1%"))
            for name, of in right_turns.items()
        ),
        ("each turn starts from the state that the turns before it left; the share changes no verdict",),
    )


RATING_COLUMNS = ("rated", "not rated", "mean", "95%", *map(str, range(MOST + 1)))
"""The columns of a table of ratings."""


def format_ratings(of: Ratings) -> tuple[str, ...]:
    """Write the cells of ``RATING_COLUMNS``."""
    limits = f"{of.interval.low:.2f}-{of.interval.high:.2f}" if of.interval else "-"
    return (f"{of.rated:,}", f"{of.not_rated:,}", format_number(of.mean, ".2f"), limits, *map(str, of.counts))


def tabulate_ratings(records: Sequence[Record], judge: str | None) -> Table | None:
    """Tabulate each category; None where no judge was asked."""
    ratings = summarise_ratings_by_category(records)
    if not ratings:
        return None
    return Table(
        f"replies rated by {judge or 'a judge'} (0 to {MOST})",
        ("", *RATING_COLUMNS),
        tuple((name, *format_ratings(of)) for name, of in ratings.items()),
        ("ratings change no verdict; replies that were not rated are not in the mean",),
    )


def tabulate_untrained(
    records: Sequence[Record], profile: Profile, size_of: Callable[[str], int]
) -> Table | None:
    """Tabulate both scores of each category that has such entries, and of the run; None without any."""
    without = score_untrained(records, profile, size_of)
    if without is None:
        return None
    whole, trained_records = (
        aggregate_scores(records, profile, size_of),
        select_marked(records, f"mark:{TRAINED}"),
    )
    names = dict.fromkeys((*(record.category for record in trained_records), whole.main))
    return Table(
        f"without entries of the training data ({profile} profile)",
        ("", "entries", "trained", "as run", "without", "95% interval"),
        tuple(
            (
                name,
                f"{len(select_marked(records, name)):,}",
                f"{len(select_marked(trained_records, name)):,}",
                format_number(score.accuracy if score else None, ".2%"),
                format_number(rest.accuracy if rest else None, ".2%"),
                format_limits(rest.interval if rest else None),
            )
            for name in names
            for score, rest in [(whole.find_score(name), without.find_score(name))]
        ),
    )


def tabulate_strata(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate each stratum; None where no entry has one."""
    scores = score_strata(records, profile)
    if not scores:
        return None
    return Table(
        f"strata of difficulty ({profile} profile)",
        ("", "entries", "scored", "passed", "share", "95% interval"),
        tuple(
            (
                name.value,
                f"{of.n:,}",
                f"{of.scored:,}",
                f"{of.passed:,}",
                format_number(of.accuracy, ".1%"),
                format_limits(of.interval),
            )
            for name, of in scores.items()
        ),
        ("by the number of features that make an entry hard: 0 or 1, 2, 3 or more",),
    )
