"""The progress of a run, by group of categories and as a file that another process can follow.

Beside the runs that were kept, a run writes ``running/PID.json`` about once a second and removes it at its
end; a file that is not renewed is of a run that was killed.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter

from pytest_fcbench.dispatch.progress import Progress
from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.present.wording import format_limits
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard.aggregate.intervals import find_share_interval
from pytest_fcbench.scorecard.record import Record

_FOLDER = "running"
_EVERY_S = 1.0
_DEAD_S = 60.0
"""Seconds without a sign of life after which a run is no longer listed."""


@dataclass(frozen=True, slots=True)
class Running:
    """A run that is going on, as far as a reader who follows it sees it."""

    model: str
    suites: tuple[str, ...]
    started_s: float
    renewed_s: float
    total: int
    passed: int
    failed: int
    not_scored: int
    line: str
    """The counts in one line of text."""
    groups: tuple[str, ...]
    """A line for each group of categories."""


class ProgressFile:
    """Writes the progress of this process's run, at most once a second."""

    def __init__(self, runs: Path, model: str, suites: Iterable[str]) -> None:
        # By process, because several runs of a project can go on at once.
        self._path = runs / _FOLDER / f"{os.getpid()}.json"
        self._model, self._suites = model, tuple(suites)
        self._started_s = time.time()
        # Of a clock that never goes back, or a run would write nothing until the time was what it had been.
        self._due_s = 0.0

    def write_progress(self, progress: Progress) -> None:
        """Write the progress where it is due; what cannot be written is left out."""
        if time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + _EVERY_S
        run = self._model, self._suites, self._started_s, time.time()
        counts = progress.total, progress.passed, progress.judged - progress.passed, progress.not_scored
        running = Running(*run, *counts, progress.line(), progress.groups)
        # A run does not stop because nobody can follow it.
        with suppress(FcbenchError):
            write_file(self._path, json.dumps(asdict(running)))

    def remove(self) -> None:
        """Remove the file, and the folder where no other run is going on."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
            self._path.parent.rmdir()


def list_running(runs: Path) -> Iterator[Running]:
    """List the runs that are going on, those that began last first."""
    live_runs = []
    for path in runs.glob(f"{_FOLDER}/*.json"):
        # A file can be of another version, or gone since it was listed.
        with suppress(OSError, ValueError):
            running = TypeAdapter(Running).validate_json(path.read_bytes())
            if time.time() - running.renewed_s < _DEAD_S:
                live_runs.append(running)
    yield from sorted(live_runs, key=lambda running: -running.started_s)


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
                share = self._passed[group] / judged_count
                line += f" {share:>6.1%} passed (95% CI {format_limits(interval)})"
            yield line
