"""The mark ``fcbench_trials``: a test of one's own whose entry passes if so many of its trials pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest

from pytest_fcbench.plugin.items import ENTRY

MARK = "fcbench_trials"


class TrialMarks:
    """Reports a trial that fails as expected while its entry can still pass."""

    def __init__(self, trials: int, *, is_worker: bool) -> None:
        self._trials = trials
        self._is_worker = is_worker
        self._running: Counter[str] = Counter()
        self._failing: dict[str, set[str]] = {}

    # Last, so that a test that does not run asks for nothing.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Check the marks of the tests that run. Raises ``UsageError``."""
        for item in items:
            if ENTRY in item.stash and (needs := _read_mark(item)) and needs[1] != self._trials:
                text = f"{item.name}: its mark {MARK} needs {needs[1]} trials of each entry, and the run has "
                raise pytest.UsageError(f"{text}{self._trials}; use --fcbench-trials={needs[1]}")

    # Only now, because --lf deselects after every other plugin.
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the trials of each entry that run."""
        self._running = Counter(_name_entry(item) for item in session.items if ENTRY in item.stash)

    # Outermost, because an entry that was not scored is made an error below.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach to the report of a failure what its entry needs; workers of xdist send it along."""
        report = yield
        if report.failed and report.when == "call" and ENTRY in item.stash and (needs := _read_mark(item)):
            name = _name_entry(item)
            report.__dict__[MARK] = [name, *needs, self._running[name]]
        return report

    # First, because pytest and its plugins count failures in the same hook.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Expect a trial to fail whose entry can still pass in enough of the others."""
        # The trials of an entry may run in several workers, so the controller counts.
        if self._is_worker or MARK not in report.__dict__:
            return
        name, passes, of, running = report.__dict__[MARK]
        failing = self._failing.setdefault(name, set())
        failing.add(report.nodeid)
        # Trials that are not run pass for nothing.
        if len(failing) <= running - passes:
            report.outcome = "skipped"
            report.__dict__["wasxfail"] = f"{passes} of {of} trials have to pass"


def _name_entry(item: pytest.Item) -> str:
    """Name the entry of an item, and its test: each test of an entry has verdicts of its own."""
    return f"{item.nodeid.partition('[')[0]} {item.stash[ENTRY].key}"


def _read_mark(item: pytest.Item) -> tuple[int, int] | None:
    """Read how many trials have to pass, of how many; None without the mark. Raises ``UsageError``."""
    mark = item.get_closest_marker(MARK)
    match mark and (mark.args, mark.kwargs):
        case None:
            return None
        case ((), {"passes": int(passes), "of": int(of), **others}) if not others and 1 <= passes <= of:
            return passes, of
    fault = f"invalid mark {MARK}: it needs the numbers passes and of, and passes from 1 to of"
    raise pytest.UsageError(f"{item.name}: {fault}; write e.g. @pytest.mark.{MARK}(passes=2, of=3)")
