"""Three verdicts, in two profiles, in words that any terminal can show."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile

ANY_TEXT = st.text(st.characters())
"""Lone surrogates and control characters too."""


@given(ANY_TEXT)
def test_reasons_are_printable(text: str) -> None:
    for reason in (Failed("code", text).reason, NotScored("cause", text).reason):
        assert reason.replace("\n", "").isprintable()


def test_what_cannot_be_printed_is_escaped_in_a_reason() -> None:
    assert Failed("code", "a\x00\ud800é").reason == "a\\x00\\ud800é"
    assert NotScored("cause", "a\x00\ud800é").reason == "a\\x00\\ud800é"


def test_a_verdict_that_is_none_says_why() -> None:
    assert str(NotScored("timeout", "it took too long")) == "timeout: it took too long"


def test_a_failure_reads_as_code_and_reason() -> None:
    assert str(Failed("wrong_count", "2 calls, 1 expected")) == "wrong_count: 2 calls, 1 expected"


def test_each_verdict_says_its_status() -> None:
    assert [v.status for v in (Passed(), Failed("c", "r"), NotScored("c", "r"))] == [
        "passed",
        "failed",
        "not_scored",
    ]


def test_only_a_verdict_about_the_model_says_whether_it_passed() -> None:
    """``assert verdict.passed`` cannot be written of an entry that was not scored."""
    assert Passed().passed
    assert not Failed("c", "r").passed
    assert not hasattr(NotScored("c", "r"), "passed")


def test_verdicts_are_values() -> None:
    assert Failed("c", "r", {"a": 1}) == Failed("c", "r", {"a": 1})
    assert Failed("c", "r") != Failed("c", "other")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'code'"):
        Failed("c", "r").code = "d"  # type: ignore[misc]


def test_a_judgement_has_a_verdict_for_each_profile() -> None:
    judgement = Judgement(official=Passed(), corrected=Failed("c", "r"))
    assert judgement.select_profile(Profile.OFFICIAL) == Passed()
    assert judgement.select_profile(Profile.CORRECTED) == Failed("c", "r")
    assert Judgement.same_in_both(Passed()) == Judgement(Passed(), Passed())
