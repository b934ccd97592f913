"""What all tests share works as the pages say."""

from __future__ import annotations

import pytest

from tests.conftest import pytest_runtest_setup


@pytest.mark.parametrize("until", [None, "1e18"])
def test_before_the_time_is_over_tests_run(monkeypatch: pytest.MonkeyPatch, until: str | None) -> None:
    if until:
        monkeypatch.setenv("FCBENCH_TESTS_UNTIL", until)
    else:
        monkeypatch.delenv("FCBENCH_TESTS_UNTIL", raising=False)
    pytest_runtest_setup()


def test_after_it_they_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FCBENCH_TESTS_UNTIL", "1")
    with pytest.raises(pytest.skip.Exception, match="FCBENCH_TESTS_UNTIL"):
        pytest_runtest_setup()
