"""What all tests share works as the pages say."""

from __future__ import annotations

import pytest

from tests.conftest import is_too_late

OF_THE_RING = "tests/domain/test_calls.py::test_a_call"
OUTSIDE = "tests/plugin/test_served.py::test_a_run"


def test_without_a_time_nothing_is_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FCBENCH_TESTS_UNTIL", raising=False)
    assert not is_too_late(OUTSIDE)


def test_after_the_time_only_the_fast_ring_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCBENCH_TESTS_UNTIL", "1")
    assert (is_too_late(OF_THE_RING), is_too_late(OUTSIDE)) == (False, True)


def test_before_the_time_everything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCBENCH_TESTS_UNTIL", "1e18")
    assert (is_too_late(OF_THE_RING), is_too_late(OUTSIDE)) == (False, False)
