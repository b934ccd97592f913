"""A test that tries many cases in one item fails for each of them, and tells which."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import APART, each_case

MANY = """
from pathlib import Path
import os
import pytest
from tests.cases import each_case

@each_case("number", range(4), ids=["none", "one", "two", "three"])
@each_case(("left", "right"), [(1, 1), pytest.param(1, 2, id="unlike")])
def test_many(number, left, right, tmp_path, monkeypatch):
    assert not list(tmp_path.iterdir()) and "SEEN" not in os.environ
    (tmp_path / "seen").touch()
    monkeypatch.setenv("SEEN", "1")
    if number == 3:
        pytest.fail("three is too many")
    assert number < 2 or left == right

@each_case("number", [1, 2])
def test_skipped(number):
    if number == 1:
        pytest.skip("one is missing")

@each_case("number", [])
def test_none(number): ...
"""


def test_every_case_that_fails_is_told(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(APART, raising=False)
    pytester.makepyfile(MANY)
    result = pytester.runpytest("-p", "no:cacheprovider", "-rs")
    result.assert_outcomes(failed=1, skipped=2)
    text = result.stdout.str()
    assert "2 of 4 cases fail" in text
    assert text.count("three is too many") >= 2
    assert "case unlike" in text
    assert "case three" in text
    assert "case one" not in text
    assert "one is missing" in text
    assert "there is no case" in text


def test_cases_can_be_items_again(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(APART, "1")
    pytester.makepyfile(MANY)
    result = pytester.runpytest("-p", "no:cacheprovider", "-k", "unlike-two or three")
    assert result.parseoutcomes()["failed"] == 3


def test_a_case_without_its_values_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        each_case(("left", "right"), [(1,)])
    with pytest.raises(AssertionError, match="item of its own"):
        each_case("path", [pytest.param(Path(), marks=pytest.mark.slow)])
