"""Calls written as XML, read as officially and leniently."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from pytest_fcbench.codecs.decoders import xml_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import TextReader
from pytest_fcbench.codecs.decoders.xml_calls import (
    parse_corrected_concise,
    parse_corrected_verbose,
    parse_official_concise,
    parse_official_verbose,
)
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text

VERBOSE = '<function name="f"><params><param name="x" value="{}" type="{}"/></params></function>'
CONCISE = '<function name="f"><param name="x" type="{1}">{0}</param></function>'
READERS = {
    "verbose": (VERBOSE, parse_official_verbose, parse_corrected_verbose),
    "concise": (CONCISE, parse_official_concise, parse_corrected_concise),
}
each_form = pytest.mark.parametrize(("written", "official", "corrected"), READERS.values(), ids=list(READERS))


def _wrap_function(written: str, value: str = "1", kind: str = "integer") -> str:
    return f"<functions>{written.format(value, kind)}</functions>"


def _read_value(read: TextReader, text: str) -> object:
    (call,) = read(text)
    assert call.name == "f"
    return call.arguments["x"]


@each_form
@each_case(
    ("value", "kind", "meant"),
    [
        *(("1", "integer", 1), ("-1.5", "float", -1.5), ("2", "float", 2.0), ("a &lt; b", "string", "a < b")),
        *(("True", "boolean", True), ("false", "boolean", False), ("x", "null", None), ("1", "string", "1")),
        *(("[1, 'a']", "array", [1, "a"]), ("(1, 2)", "tuple", (1, 2)), ("{'a': None}", "dict", {"a": None})),
        ("{'a': 1}", "object", {"a": 1}),
    ],
)
def test_values_have_the_type_that_is_written(
    written: str, official: TextReader, corrected: TextReader, value: str, kind: str, meant: object
) -> None:
    for read in (official, corrected):
        found = _read_value(read, _wrap_function(written, value, kind))
        assert (found, type(found)) == (meant, type(meant))


BARE = {
    "verbose": ('<function name="f"><params><param name="x"/></params></function>', *READERS["verbose"][1:]),
    "concise": ('<function name="f"><param name="x"></param></function>', *READERS["concise"][1:]),
}


@pytest.mark.parametrize(("written", "official", "corrected"), BARE.values(), ids=list(BARE))
def test_a_parameter_without_value_and_type_is_an_empty_text(
    written: str, official: TextReader, corrected: TextReader
) -> None:
    for read in (official, corrected):
        assert _read_value(read, f"<functions>{written}</functions>") == ""


@each_form
def test_a_literal_too_deep_for_the_parser_names_the_error(
    written: str, official: TextReader, corrected: TextReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_silently(text: str) -> object:
        raise MemoryError

    monkeypatch.setattr(xml_calls, "read_literal", fail_silently)
    with pytest.raises(Undecodable, match="not a literal: MemoryError"):
        official(_wrap_function(written, "[1]", "array"))


@each_form
@each_case(
    ("value", "kind", "strictly", "leniently"),
    [
        pytest.param("yes", "boolean", False, "yes", id="no boolean"),
        pytest.param("5", "int", "5", 5, id="another word for a type"),
        pytest.param("[1]", "list", "[1]", [1], id="another word for an array"),
    ],
)
def test_what_is_read_differently(
    written: str,
    official: TextReader,
    corrected: TextReader,
    value: str,
    kind: str,
    strictly: object,
    leniently: object,
) -> None:
    text = _wrap_function(written, value, kind)
    assert (_read_value(official, text), _read_value(corrected, text)) == (strictly, leniently)


@each_form
@each_case(
    ("value", "kind", "leniently", "reason"),
    [
        (
            "five",
            "integer",
            "five",
            "not of the type integer: invalid literal for int() with base 10: 'five'",
        ),
        ("1,5", "float", "1,5", "not of the type float: could not convert string to float: '1,5'"),
        ("[oops", "array", "[oops", "not a literal: '[' was never closed"),
        ("[true]", "array", [True], "not a literal: malformed node or string"),
        ("AT&T", "string", "AT&T", "not XML: not well-formed (invalid token)"),
        ("f(x)", "dict", "f(x)", "not a literal: malformed node or string"),
    ],
)
def test_what_is_officially_no_call_at_all(
    written: str,
    official: TextReader,
    corrected: TextReader,
    value: str,
    kind: str,
    leniently: object,
    reason: str,
) -> None:
    text = _wrap_function(written, value, kind)
    with pytest.raises(Undecodable, match=re.escape(reason)):
        official(text)
    assert _read_value(corrected, text) == leniently


@each_form
def test_words_and_fences_around_do_not_matter(
    written: str, official: TextReader, corrected: TextReader
) -> None:
    text = f"Here <you> are:\n```xml\n{_wrap_function(written)}\n```\nDone & dusted."
    assert official(text) == corrected(text) == (Call("f", {"x": 1}),)


@each_form
def test_officially_only_the_first_element_counts(
    written: str, official: TextReader, corrected: TextReader
) -> None:
    text = _wrap_function(written) + _wrap_function(written, "2")
    assert official(text) == (Call("f", {"x": 1}),)
    assert corrected(text) == (Call("f", {"x": 1}), Call("f", {"x": 2}))


@each_form
@each_case(
    ("text", "reason"),
    [
        ("", "there is no <functions> element"),
        ("I cannot.", "there is no <functions> element"),
        ("[f(x=1)]", "there is no <functions> element"),
        ('<function name="f"/>', "there is no <functions> element"),
        ("<functions/>", "there is no <functions> element"),
        ("<functions><functions></functions>", "not XML: no element found"),
        ("<functions><function/></functions>", "a <function> has no 'name'"),
        ("<functions><function name='f'></functions>", "not XML: mismatched tag"),
        ("<functions>", "there is no <functions> element"),
        ("<functions>\0</functions>", "not XML: not well-formed (invalid token)"),
        (
            "<functions>\ud800</functions>",
            "not XML: 'utf-8' codec can't encode character '\\ud800' in position 11: surrogates not allowed",
        ),
        ("<functions>&a;<x></functions>", "not XML: "),
    ],
)
def test_what_neither_reads(
    written: str, official: TextReader, corrected: TextReader, text: str, reason: str
) -> None:
    for read in (official, corrected):
        with pytest.raises(Undecodable, match=re.escape(reason)):
            read(text)


@each_form
def test_no_function_is_no_call(written: str, official: TextReader, corrected: TextReader) -> None:
    assert official("<functions></functions>") == corrected("<functions>none</functions>") == ()


def test_parameters_may_stand_without_their_list_and_names() -> None:
    text = '<functions><function name="f"><param value=" 7 " type="integer"/></function></functions>'
    assert parse_official_verbose(text) == (Call("f", {"**": 7}),)
    with pytest.raises(Undecodable, match="a <param> has no 'name'"):
        parse_official_concise(text)


def test_text_between_tags_is_stripped_and_ends_at_a_tag() -> None:
    assert (
        _read_value(parse_official_concise, _wrap_function(CONCISE, "\n a b <i>c</i> d ", "string")) == "a b"
    )
    assert _read_value(parse_official_verbose, _wrap_function(VERBOSE, " a ", "string")) == " a "


MORE = {
    "many elements": "<functions></functions>" * 50_000,
    "many beginnings": "<functions>" * 100_000,
    "deep": f"<functions>{'<a>' * 100_000}{'</a>' * 100_000}</functions>",
    "many ampersands": f"<functions>{'&' * 500_000}</functions>",
    "entities": "<!DOCTYPE x [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><functions>&b;</functions>",
    "entities inside": "<functions><!DOCTYPE x [<!ENTITY a 'aa'>]>&a;</functions>",
    "a deep literal": _wrap_function(VERBOSE, "[" * 50_000, "array"),
    "a long number": _wrap_function(VERBOSE, "9" * 50_000, "integer"),
    "a long literal": _wrap_function(VERBOSE, "9" * 50_000, "array"),
    "signs": _wrap_function(CONCISE, "-" * 50_000 + "1", "dict"),
}


@each_case("text", [*HOSTILE.values(), *MORE.values()], ids=[*HOSTILE, *MORE])
def test_hostile_texts_end(text: str) -> None:
    for _, *readers in READERS.values():
        for read in readers:
            must_end(lambda read=read: _read_outcome(read, text))  # type: ignore[misc]


@given(wild_text)
def test_any_text_is_read_or_refused(text: str) -> None:
    for written, *readers in READERS.values():
        for read in readers:
            _read_outcome(read, text)
            _read_outcome(read, f"<functions>{text}</functions>")
            _read_outcome(read, _wrap_function(written, text, "array"))


def _read_outcome(read: TextReader, text: str) -> object:
    try:
        return read(text)
    except Undecodable as refused:
        return refused
