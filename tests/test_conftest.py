"""What all tests share works as the pages say."""

from __future__ import annotations

from collections import Counter

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


def test_of_the_cases_of_a_test_few_are_left_to_every_run(pytester: pytest.Pytester) -> None:
    many = "".join(
        f"@pytest.mark.few({count})\n"
        "@pytest.mark.parametrize('number', range(10))\n"
        f"def test_many_{count}(number): ...\n"
        for count in (3, 10, 12)
    )
    items = pytester.getitems(f"import pytest\n{many}def test_other(): ...\n")
    mark_most_nightly(items)
    left = [item.name.partition("[")[0] for item in items if not item.get_closest_marker("nightly")]
    assert Counter(left) == {"test_many_3": 3, "test_many_10": 10, "test_many_12": 10, "test_other": 1}
