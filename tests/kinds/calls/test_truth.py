"""The expected calls of an entry."""

from __future__ import annotations

from pytest_fcbench.kinds.calls.truth import ExpectedCall, list_expected_calls
from tests.factories import make_entry


def test_only_an_entry_that_expects_calls_has_some() -> None:
    assert list_expected_calls(make_entry(expect=[{"f": {"x": [1]}}])) == (ExpectedCall("f", {"x": [1]}),)
    assert list_expected_calls(make_entry("irrelevance")) == ()
