"""Texts are made printable and encodable, and cut where they are too long."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.text import (
    DEEPEST,
    DEEPEST_OF_REPLY,
    cut_counting,
    cut_text,
    escape_controls,
    escape_surrogates,
    make_printable,
    read_json_at,
    read_json_text,
    read_reply_text,
    shorten_middle,
    shorten_text,
    write_value,
)
from tests.cases import each_case
from tests.conftest import ROOT
from tests.hostile_texts import HOSTILE_TEXTS

ANY_TEXT = st.text(st.characters())
"""Lone surrogates and control characters too."""


@each_case(
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


@each_case("text", ["x" * 601, "\r" * 300, "\r" * 301, "x" * 599 + "\r", "x" * 600 + "\0", "é\n" * 999])
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


@each_case("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_nothing_that_commands_a_terminal_is_left(text: str) -> None:
    left = escape_controls(text)
    assert not [c for c in left.replace("\r\n", "\n") if c not in "\t\n" and COMMANDS.fullmatch(c)]
    assert escape_controls(left) == left
    assert (left == text) is not any(map(COMMANDS.fullmatch, text.replace("\r\n", "\n").translate(KEPT)))


COMMANDS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]")
KEPT = {ord("\t"): None, ord("\n"): None}


DEPTHS = (DEEPEST + 1, 500, 5_000, 100_000)


def nest(depth: int, kind: str = "list") -> str:
    """Write a value of so many levels, the innermost of which is empty."""
    opening, closing = ("[", "]") if kind == "list" else ('{"a":', "}")
    return opening * (depth - 1) + ("[]" if kind == "list" else "{}") + closing * (depth - 1)


@each_case("read", [read_json_text, read_json_at])
@each_case("kind", ["list", "object"])
def test_json_is_read_to_a_depth(read: Callable[[str], object], kind: str) -> None:
    assert read(nest(DEEPEST, kind))
    for depth in DEPTHS:
        with pytest.raises(ValueError, match=r"^nested more than 300 deep$"):
            read(nest(depth, kind))


def test_a_value_may_be_wide() -> None:
    wide = f"[{', '.join([nest(DEEPEST - 1)] * 100)}]"
    assert len(read_json_text(wide.encode())) == 100
    assert read_json_at(f"x{wide}y", 1)[1] == len(wide) + 1


@pytest.mark.parametrize("kind", ["list", "object"])
def test_a_reply_is_emptied_below_a_depth(kind: str) -> None:
    kept = read_json_text(nest(DEEPEST_OF_REPLY + 1, kind))
    for depth in (DEEPEST_OF_REPLY + 1, DEEPEST_OF_REPLY + 2, 500):
        assert read_reply_text(nest(depth, kind)) == kept
    assert read_reply_text(nest(DEEPEST_OF_REPLY, kind)) != kept
    with pytest.raises(ValueError, match="nested"):
        read_reply_text(nest(100_000, kind))


@pytest.mark.parametrize("form", [str, str.encode])
def test_a_reply_is_one_value(form: Callable[[str], str | bytes]) -> None:
    assert read_reply_text(form(" {}\r\n\t")) == {}
    for text in ("{} {}", "{}]", "", "{}\xa0"):
        with pytest.raises(ValueError, match=r"follows|Extra data|Expecting value"):
            read_reply_text(form(text))


def test_json_text_is_read_in_one_place() -> None:
    """The decoders of answers look for the depth before they read, because broken JSON is an answer too."""
    package = ROOT / "pytest_fcbench"
    reading = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"\bjson\.loads?\(|\bJSONDecoder\b", path.read_text(encoding="utf-8"))
    }
    assert reading == {
        "domain/text.py",
        "codecs/decoders/syntax.py",
        "codecs/decoders/prompt_formats.py",
        # What it reads was written by this program, on the other side of a link that knows its key.
        "dispatch/worker_link.py",
        # Its values are no JSON, and are made by a process that is confined.
        "execution/sandbox/frames.py",
    }
