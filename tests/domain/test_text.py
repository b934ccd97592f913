"""Texts are made printable and encodable, and cut where they are too long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.text import (
    cut_counting,
    cut_text,
    escape_controls,
    escape_surrogates,
    make_printable,
    shorten_middle,
    shorten_text,
    write_value,
)
from tests.hostile_texts import HOSTILE_TEXTS

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
    assert make_printable(text) == shown


@given(ANY_TEXT)
def test_any_text_becomes_printable(text: str) -> None:
    shown = make_printable(text)
    assert shown.replace("\n", "").isprintable()
    shown.encode()  # no surrogates are left
    assert make_printable(shown) == shown


@pytest.mark.parametrize(
    "text", ["x" * 601, "\r" * 300, "\r" * 301, "x" * 599 + "\r", "x" * 600 + "\0", "é\n" * 999]
)
def test_a_long_text_is_cut_once(text: str) -> None:
    """Escaped it can be longer than it was; what is kept of it is not cut again when it is read."""
    shown = make_printable(text)
    assert len(shown) <= 601
    assert make_printable(shown) == shown


def test_what_utf_8_cannot_hold_is_escaped() -> None:
    assert escape_surrogates("a\ud800b\n\u6771") == "a\\ud800b\n\u6771"


@given(ANY_TEXT)
def test_any_text_can_be_encoded(text: str) -> None:
    assert escape_surrogates(text).encode().decode() == escape_surrogates(text)


def test_a_text_that_is_too_long_tells_so() -> None:
    assert [cut_text("abcd", 4), cut_text("abcde", 4)] == ["abcd", "abcd\u2026"]
    assert [shorten_text("abcd", 4), shorten_text("abcde", 4)] == ["abcd", "abc\u2026"]
    assert [shorten_middle("abcdef", 6), shorten_middle("abcdefg", 6)] == ["abcdef", "abc\u2026fg"]
    assert [cut_counting("abcd", 4), cut_counting("abcde", 4)] == ["abcd", "abcd\u2026 (1 more characters)"]


def test_values_that_json_cannot_write() -> None:
    assert write_value({1, 2}) == "{1, 2}"
    assert write_value("å") == '"å"'
    assert write_value(10**30) == str(10**30)


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_nothing_that_commands_a_terminal_is_left(text: str) -> None:
    left = escape_controls(text)
    assert not [c for c in left.replace("\r\n", "\n") if c not in "\t\n" and COMMANDS.fullmatch(c)]
    assert escape_controls(left) == left
    assert (left == text) is not any(map(COMMANDS.fullmatch, text.replace("\r\n", "\n").translate(KEPT)))


COMMANDS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]")
KEPT = {ord("\t"): None, ord("\n"): None}
