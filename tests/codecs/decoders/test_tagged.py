"""Texts between ``<TOOLCALL>`` tags are handed to the reader of another syntax."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import TextReader
from pytest_fcbench.codecs.decoders.tagged import make_corrected_reader, make_official_reader
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case


def _read_words(text: str) -> tuple[Call, ...]:
    """Read each line as a call of that name, white space included."""
    return tuple(Call(line, {}) for line in text.split("\n"))


def _read_names(make_reader: Callable[[TextReader], TextReader], text: str) -> list[str]:
    return [call.name for call in make_reader(_read_words)(text)]


@each_case(
    ("text", "official", "corrected"),
    [
        pytest.param("<TOOLCALL>a\nb</TOOLCALL>", ["a", "b"], ["a", "b"], id="one pair of tags"),
        pytest.param("Well: <TOOLCALL>a</TOOLCALL> Done.", ["a"], ["a"], id="words around"),
        pytest.param("<TOOLCALL> a\t</TOOLCALL>", ["a"], [" a\t"], id="white space"),
        pytest.param(
            "<TOOLCALL>a</TOOLCALL> and <TOOLCALL>b</TOOLCALL>", ["a"], ["a", "b"], id="the first officially"
        ),
        pytest.param("</TOOLCALL><TOOLCALL>a</TOOLCALL>", ["a"], ["a"], id="an end before the beginning"),
        pytest.param(
            "<TOOLCALL>a</TOOLCALL>b</TOOLCALL>", ["a"], ["a"], id="a second end belongs to the words"
        ),
    ],
)
def test_the_text_between_tags_is_read(text: str, official: list[str], corrected: list[str]) -> None:
    assert _read_names(make_official_reader, text) == official
    assert _read_names(make_corrected_reader, text) == corrected


@each_case("text", ["", "a", "a</TOOLCALL>", "<toolcall>a</toolcall>"])
@each_case("make_reader", [make_official_reader, make_corrected_reader])
def test_without_a_tag_there_are_no_calls(make_reader: Callable[[TextReader], TextReader], text: str) -> None:
    with pytest.raises(Undecodable, match=r"^there is no <TOOLCALL> tag$"):
        _read_names(make_reader, text)


def test_the_last_tags_may_be_left_open_but_not_officially() -> None:
    text = "<TOOLCALL>a</TOOLCALL><TOOLCALL>b"
    assert _read_names(make_corrected_reader, text) == ["a", "b"]
    assert _read_names(make_corrected_reader, "<TOOLCALL>b") == ["b"]
    with pytest.raises(Undecodable, match=r"^there is no <TOOLCALL> tag$"):
        _read_names(make_official_reader, "<TOOLCALL>b")
