"""Checks of the server behind a model: how many it keeps and breaks, which is no score of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.entry import CATEGORIES, Group
from pytest_fcbench.domain.json_values import Count
from pytest_fcbench.domain.verdict import NOTED, Failed, NotScored, Passed
from pytest_fcbench.scorecard.record import Record, group_by_category


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


def is_broken(record: Record) -> bool:
    """Tell whether a check found a broken property, also one that is only good to know."""
    verdict = record.verdicts.corrected
    return isinstance(verdict, Failed) or (isinstance(verdict, NotScored) and verdict.cause == NOTED)


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
        kept = sum(isinstance(record.verdicts.corrected, Passed) for record in part)
        broken = sum(map(is_broken, part))
        counts[category] = CheckCounts(len(part), kept, broken, len(part) - kept - broken)
    return counts
