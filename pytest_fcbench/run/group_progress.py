"""The progress of each group of categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.present.wording import format_limits
from pytest_fcbench.scorecard.aggregate.intervals import find_share_interval
from pytest_fcbench.scorecard.record import Record


class GroupTally:
    """Counts of a run's Records by group, of which each is looked at once.

    A run can have a hundred thousand, and the progress is shown twice a second.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._seen = 0
        self._done: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._judged: Counter[str] = Counter()

    @property
    def passed(self) -> int:
        """The number of entries that passed."""
        return self._passed.total()

    @property
    def judged(self) -> int:
        """The number of entries with a verdict."""
        return self._judged.total()

    def count_new(self, records: Iterable[Record]) -> None:
        """Count those that are new; the others have to come in the same order as before."""
        for record in islice(records, self._seen, None):
            verdict = record.verdict(self._profile)
            self._seen += 1
            self._done[record.group] += 1
            self._judged[record.group] += isinstance(verdict, Passed | Failed)
            self._passed[record.group] += isinstance(verdict, Passed)

    def describe_groups(self, totals: Mapping[str, int]) -> Iterator[str]:
        """Describe each group: entries done, the share that passed, and its 95% interval."""
        for group, total in totals.items():
            line = f"  {group:<12} {self._done[group]:>5} of {total:<5}"
            if judged_count := self._judged[group]:
                interval = find_share_interval(self._passed[group], judged_count)
                line += f" {self._passed[group] / judged_count:>6.1%} passed (95% {format_limits(interval)})"
            yield line
