"""Calls along golden paths in words and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.domain.verdict import OTHER_RULES, Difference, NotScored, Profile
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.wording import format_limits, format_number
from pytest_fcbench.scorecard.aggregate.golden_paths import (
    BEYOND,
    CLASSES,
    MeanRating,
    PathScores,
    is_scored_in_part,
    score_paths_by_category,
    select_golden_paths,
)
from pytest_fcbench.scorecard.record import Record

LEGEND = (
    "completeness and correctness: mean of 0 to 2 (answers judged); beyond: steps beyond the golden path, "
    "mean of successful entries"
)
"""The legend of the columns."""


def describe_difference(difference: Difference, format_value: Callable[[object], str]) -> str:
    """Describe how an argument differs from the expected one, its values written by ``format_value``."""
    name = difference.parameter + (f" ({difference.type})" if difference.type else "")
    match difference.kind:
        case "param_missing":
            return f"{name} is missing, expected {format_value(difference.expected)}"
        case "param_hallucination":
            return f"{name} is {format_value(difference.found)}, expected none"
    return f"{name} is {format_value(difference.found)}, expected {format_value(difference.expected)}"


def _format_counts(counts: Mapping[str, int]) -> str:
    """Write classes of errors with their counts."""
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def describe_other_rules(records: Iterable[Record], profile: Profile) -> str | None:
    """Say in how many entries a profile would have shown the model something else, or return None."""
    paths = select_golden_paths(records)
    verdicts = [record.verdict(profile) for record in paths]
    other = sum(isinstance(verdict, NotScored) and verdict.cause == OTHER_RULES for verdict in verdicts)
    if not other:
        return None
    return (
        f"{profile} profile: {other:,} of {len(paths):,} complex entries have no verdict, because by its "
        "rules the model would have been shown something else; so it has no score of them"
    )


def tabulate_calls(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate each category and all of them.

    None where no entry with a golden path was scored, or only a part, because the conversations followed the
    rules of the other profile.
    """
    if describe_other_rules(records, profile):
        return None
    rows = {
        name: path_scores
        for name, path_scores in score_paths_by_category(records, profile).items()
        if path_scores.scored
    }
    if not rows:
        return None
    of = rows["all"]
    notes = [
        f"failed entries: {_format_counts(of.failures)}; wrong calls: {_format_counts(of.errors)}",
        LEGEND,
    ]
    # Officially the denominators are fixed, so figures of a part cannot be set beside published ones.
    if is_scored_in_part(select_golden_paths(records), profile):
        notes.append(
            "ComplexFuncBench was scored in part: shares refer to the scored entries; officially "
            "there are 150 entries in each domain, 400 in cross and 1,000 in all"
        )
    return Table(
        f"complex calls ({profile} profile)",
        ("", *COLUMNS),
        tuple((name, *format_path_scores(path_scores)) for name, path_scores in rows.items()),
        tuple(notes),
    )


def tabulate_call_details(records: Sequence[Record], profile: Profile) -> Iterator[Table]:
    """Tabulate errors by class, parameters by role, and steps beyond the golden path, where there are any."""
    scores_by_category = score_paths_by_category(records, profile)
    if not scores_by_category:
        return
    of = scores_by_category["all"]
    # Judges and plugins can name errors that the paper does not have.
    classes = (*CLASSES, *sorted({*of.failures, *of.errors} - {*CLASSES}))
    tables = (
        Table(
            f"Errors ({profile} profile)",
            ("error", "failed entries", "share", "wrong calls", "share"),
            tuple(
                (name, *_format_share(of.failures, name), *_format_share(of.errors, name))
                for name in classes
                if name in of.failures or name in of.errors
            ),
        ),
        Table(
            f"Arguments of paired calls by purpose ({profile} profile)",
            ("argument", "wrong", "of", "error rate"),
            tuple(
                (name, f"{wrong.wrong:,}", f"{wrong.of:,}", f"{wrong.rate:.2%}")
                for name, wrong in of.parameters.items()
            ),
        ),
        Table(
            f"Steps beyond the golden path, successful entries ({profile} profile)",
            ("", *BEYOND),
            tuple(
                (name, *(f"{scores.beyond.get(steps, 0):,}" for steps in BEYOND))
                for name, scores in scores_by_category.items()
                if scores.beyond
            ),
        ),
    )
    yield from (table for table in tables if table.rows)


def _format_share(counts: Mapping[str, int], name: str) -> tuple[str, str]:
    count, every = counts.get(name, 0), sum(counts.values())
    return f"{count:,}", format_number(count / every if every else None, ".1%")


def _format_rating(rating: MeanRating) -> str:
    return "-" if rating.mean is None else f"{rating.mean:.2f} ({rating.judged:,})"


_CALLS: Mapping[str, Callable[[PathScores], str]] = {
    "right calls": lambda found: f"{found.right:,} of {found.calls:,}",
    "call acc.": lambda found: format_number(found.accuracy, ".2%"),
    "calls 95%": lambda found: format_limits(found.interval and replace(found.interval, clusters=None)),
    "completeness": lambda found: _format_rating(found.completeness),
    "correctness": lambda found: _format_rating(found.correctness),
    "beyond": lambda found: format_number(found.beyond_mean, "+.2f"),
}
_ENTRIES: Mapping[str, Callable[[PathScores], str]] = {
    "entries": lambda found: f"{found.scored:,}",
    "success": lambda found: format_number(found.success, ".2%"),
}
CALL_COLUMNS = tuple(_CALLS)
"""The columns about calls."""
COLUMNS = (*_ENTRIES, *CALL_COLUMNS)
"""The columns of a table of golden paths."""


def format_call_scores(scores: PathScores) -> tuple[str, ...]:
    """Write the cells of ``CALL_COLUMNS``."""
    return tuple(cell(scores) for cell in _CALLS.values())


def format_path_scores(scores: PathScores) -> tuple[str, ...]:
    """Write the cells of ``COLUMNS``."""
    return (*(cell(scores) for cell in _ENTRIES.values()), *format_call_scores(scores))
