"""Three verdicts, in two profiles, in words that any terminal can show."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile, printable

ANY_TEXT = st.text(st.characters())
"""Lone surrogates and control characters too."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("Zürich, 東京, 🙂", "Zürich, 東京, 🙂", id="letters of any script"),
        pytest.param("one\ntwo", "one\ntwo", id="line break stays"),
        pytest.param("a\tb\rc", "a\\tb\\rc", id="other white space"),
        pytest.param("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", id="escape sequence"),
        pytest.param("\x07\x00\x7f\x9b", "\\x07\\x00\\x7f\\x9b", id="control characters"),
        pytest.param("abc\u202ecba", "abc\\u202ecba", id="right to left override"),
        pytest.param("one\u2028two", "one\\u2028two", id="line separator"),
        pytest.param("\ud83d", "\\ud83d", id="lone surrogate"),
        pytest.param("back\\slash\x1b", "back\\slash\\x1b", id="backslash stays"),
    ],
)
def test_what_cannot_be_shown_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY_TEXT)
def test_any_text_becomes_printable(text: str) -> None:
    shown = printable(text)
    assert shown.replace("\n", "").isprintable()
    shown.encode()  # no surrogates are left
    assert printable(shown) == shown


@pytest.mark.parametrize(
    "text", ["x" * 601, "\r" * 300, "\r" * 301, "x" * 599 + "\r", "x" * 600 + "\0", "é\n" * 999]
)
def test_a_long_text_is_cut_once(text: str) -> None:
    """Escaped it can be longer than it was; what is kept of it is not cut again when it is read."""
    shown = printable(text)
    assert len(shown) <= 601
    assert printable(shown) == shown


@given(ANY_TEXT)
def test_reasons_are_printable(text: str) -> None:
    assert Failed("code", text).reason == NotScored("cause", text).reason == printable(text)


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
    with pytest.raises(dataclasses.FrozenInstanceError):
        Failed("c", "r").code = "d"  # type: ignore[misc]


def test_a_judgement_has_a_verdict_for_each_profile() -> None:
    judgement = Judgement(official=Passed(), corrected=Failed("c", "r"))
    assert judgement.under(Profile.OFFICIAL) == Passed()
    assert judgement.under(Profile.CORRECTED) == Failed("c", "r")
    assert Judgement.both(Passed()) == Judgement(Passed(), Passed())
