"""Checks of a server in two runs: each is a fact about the server, and no sample of anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.scorecard.aggregate.server_checks import is_broken, is_check
from pytest_fcbench.scorecard.record import Record, sort_records


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
    if is_broken(record):
        return CheckOutcome.BROKEN
    return CheckOutcome.KEPT if isinstance(record.verdicts.corrected, Passed) else CheckOutcome.UNDECIDED
