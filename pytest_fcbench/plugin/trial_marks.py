"""The mark ``fcbench_trials``: a test of one's own whose entry passes if so many of its trials pass."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_fcbench.plugin.items import ENTRY

MARK = "fcbench_trials"


class TrialMarks:
    """Reports a trial that fails as expected while its entry can still pass."""

    def __init__(self, trials: int, *, is_worker: bool) -> None:
        self._trials = trials
        self._is_worker = is_worker
        self._failing: dict[str, set[str]] = {}

    # Last, so that a test that does not run asks for nothing.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Check the marks of the tests that run. Raises ``UsageError``."""
        for item in items:
            if ENTRY in item.stash and (needs := _read_mark(item)) and needs[1] != self._trials:
                text = f"{item.name}: its mark {MARK} needs {needs[1]} trials of each entry, and the run has "
                raise pytest.UsageError(f"{text}{self._trials}; use --fcbench-trials={needs[1]}")

    # Outermost, because an entry that was not scored is made an error below.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach to the report of a failure what its entry needs; workers of xdist send it along."""
        report = yield
        if report.failed and report.when == "call" and ENTRY in item.stash and (needs := _read_mark(item)):
            report.__dict__[MARK] = [item.stash[ENTRY].key, *needs]
        return report

    # First, because pytest and its plugins count failures in the same hook.
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Expect a trial to fail whose entry can still pass in enough of the others."""
        # The trials of an entry may run in several workers, so the controller counts.
        if self._is_worker or MARK not in report.__dict__:
            return
        key, passes, of = report.__dict__[MARK]
        failing = self._failing.setdefault(key, set())
        failing.add(report.nodeid)
        if len(failing) <= of - passes:
            report.outcome = "skipped"
            report.__dict__["wasxfail"] = f"{passes} of {of} trials have to pass"


def _read_mark(item: pytest.Item) -> tuple[int, int] | None:
    """Read how many trials have to pass, of how many; None without the mark. Raises ``UsageError``."""
    mark = item.get_closest_marker(MARK)
    match mark and (mark.args, mark.kwargs):
        case None:
            return None
        case ((), {"passes": int(passes), "of": int(of), **others}) if not others and 1 <= passes <= of:
            return passes, of
    raise pytest.UsageError(
        f"{item.name}: invalid mark {MARK}: it needs the numbers passes and of, and passes from 1 to of; "
        f"write e.g. @pytest.mark.{MARK}(passes=2, of=3)"
    )
