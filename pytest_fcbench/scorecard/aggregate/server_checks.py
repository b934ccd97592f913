"""Checks of the server behind a model: how many it keeps and breaks, which is no score of the model.

Each is a fact about the server, and no sample of anything; two runs are compared check by check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.domain.entry import CATEGORIES, Group
from pytest_fcbench.domain.json_values import Count
from pytest_fcbench.domain.verdict import NOTED, Failed, NotScored, Passed
from pytest_fcbench.scorecard.record import Record, group_by_category, sort_records


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """Counts of checks of one severity."""

    checks: Count
    kept: Count
    broken: Count
    undecided: Count
    """The replies do not show what the server does, or none came."""

    def __str__(self) -> str:
        undecided = f", {self.undecided:,} undecided" if self.undecided else ""
        return f"{self.kept:,} of {self.checks:,} kept, {self.broken:,} broken{undecided}"


FORCED_WAY = "forced="
"""Begins what a Record says of how the truth was put through the server."""

SERVER_CHECKS = frozenset(name for name, category in CATEGORIES.items() if category.group is Group.SERVER)
"""The categories of checks of a server."""


def is_check(record: Record) -> bool:
    """Tell whether a Record is of a check of a server."""
    return record.group == Group.SERVER


def describe_ways(records: Iterable[Record]) -> str:
    """Describe by which ways the truth was put through the server, the most common first; empty without."""
    ways = Counter(
        each.removeprefix(FORCED_WAY)
        for record in records
        for each in record.served
        if each.startswith(FORCED_WAY)
    )
    if len(ways) == 1:
        return next(iter(ways))
    return ", ".join(f"{way} {count:,}" for way, count in ways.most_common())


def count_checks(records: Iterable[Record]) -> Mapping[str, CheckCounts]:
    """Count the checks of each severity, which is a category; nothing where there are none."""
    counts = {}
    for category, part in group_by_category(filter(is_check, records)).items():
        outcomes = Counter(map(_find_outcome, part))
        broken, kept, undecided = (outcomes[each] for each in CheckOutcome)
        counts[category] = CheckCounts(len(part), kept, broken, undecided)
    return counts


class CheckOutcome(StrEnum):
    """The outcome of a check; over several trials the first of these that one of them has."""

    BROKEN = "broken"
    KEPT = "kept"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class ComparedCheck:
    """A check in both runs."""

    entry: str
    category: str
    before: CheckOutcome
    after: CheckOutcome
    reason: str
    """The reason why it is broken, else why it is undecided; of the later run if that has one."""


@dataclass(frozen=True, slots=True)
class CheckComparison:
    """The checks of two runs, those of both in the order of every table."""

    pairs: tuple[ComparedCheck, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def newly_broken(self) -> list[ComparedCheck]:
        """The checks that only the later run breaks."""
        return [each for each in self.pairs if each.after is CheckOutcome.BROKEN is not each.before]

    @property
    def mended(self) -> list[ComparedCheck]:
        """The checks that only the earlier run breaks."""
        return [each for each in self.pairs if each.before is CheckOutcome.BROKEN is not each.after]

    @property
    def other_changes(self) -> list[ComparedCheck]:
        """The checks that one run keeps and the other leaves undecided."""
        return [
            each
            for each in self.pairs
            if each.before is not each.after and CheckOutcome.BROKEN not in (each.before, each.after)
        ]


def compare_checks(before: Iterable[Record], after: Iterable[Record]) -> CheckComparison:
    """Compare the checks of a server in two runs."""
    first, second = (dict(_sum_up_checks(records)) for records in (before, after))
    return CheckComparison(
        tuple(
            ComparedCheck(entry, category, first[entry][1], outcome, reason or first[entry][2])
            for entry, (category, outcome, reason) in second.items()
            if entry in first
        ),
        tuple(entry for entry in first if entry not in second),
        tuple(entry for entry in second if entry not in first),
    )


def _sum_up_checks(records: Iterable[Record]) -> Iterator[tuple[str, tuple[str, CheckOutcome, str]]]:
    """Sum up the trials of each check: its category, its outcome and the reason of it."""
    ranks = {outcome: rank for rank, outcome in enumerate(CheckOutcome)}
    by_entry: dict[str, list[tuple[CheckOutcome, Record]]] = {}
    for record in sort_records(filter(is_check, records)):
        by_entry.setdefault(record.entry, []).append((_find_outcome(record), record))
    for entry, trials in by_entry.items():
        outcome, record = min(trials, key=lambda trial: ranks[trial[0]])
        yield entry, (record.category, outcome, record.verdicts.corrected.reason or "")


def _find_outcome(record: Record) -> CheckOutcome:
    verdict = record.verdicts.corrected
    # A property that is only good to know can be broken, too.
    if isinstance(verdict, Failed) or (isinstance(verdict, NotScored) and verdict.cause == NOTED):
        return CheckOutcome.BROKEN
    return CheckOutcome.KEPT if isinstance(verdict, Passed) else CheckOutcome.UNDECIDED
