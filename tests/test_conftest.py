"""What all tests share works as the pages say."""

from __future__ import annotations

import pytest

from tests.conftest import mark_most_nightly, pytest_runtest_setup


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


@pytest.mark.parametrize(("count", "kept"), [(3, 3), (10, 10), (12, 10)])
def test_of_the_cases_of_a_test_few_are_left_to_every_run(
    pytester: pytest.Pytester, count: int, kept: int
) -> None:
    items = pytester.getitems(
        "import pytest\n"
        f"@pytest.mark.few({count})\n"
        "@pytest.mark.parametrize('number', range(10))\n"
        "def test_many(number): ...\n"
        "def test_other(): ...\n"
    )
    mark_most_nightly(items)
    assert sum(not item.get_closest_marker("nightly") for item in items[:-1]) == kept
    assert not items[-1].get_closest_marker("nightly")
