"""Calls written as JSON, read as officially and leniently."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders import prompt_formats
from pytest_fcbench.codecs.decoders.prompt_formats import (
    make_corrected_tag_reader,
    make_official_tag_reader,
    parse_corrected_concise,
    parse_corrected_json,
    parse_corrected_verbose,
    parse_official_concise,
    parse_official_json,
    parse_official_json_between_tags,
    parse_official_verbose,
)
from pytest_fcbench.codecs.decoders.syntax import TextReader, Undecodable, WrongFormat
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text

ONE = '[{"function": "f", "parameters": {"x": 1}}]'
F = Call("f", {"x": 1})
NESTED = '[{"function": "f", "parameters": {"x": [{"y": 1}]}}]'

# Official


@each_case(
    ("text", "calls"),
    [
        pytest.param(ONE, (F,), id="a list"),
        pytest.param(f"```json\n{ONE}\n```", (F,), id="fenced"),
        pytest.param(f"Here: {ONE} Done.", (F,), id="words around"),
        pytest.param(f"See [1]. {ONE}", (F,), id="a bracket in the words before"),
        pytest.param(ONE[1:-1], (F,), id="brackets are added"),
        pytest.param(f"{ONE} [x]", (F,), id="the first that looks like a list"),
        pytest.param("", (), id="nothing"),
        pytest.param("I cannot do that.", (), id="prose is no call"),
        pytest.param(ONE.replace('"x"', "x"), (), id="what is no JSON is no call"),
        pytest.param("[1, null, []]", (), id="elements that are no objects"),
        pytest.param(NESTED, (), id="a list of objects inside"),
        pytest.param('[{"function": 7, "parameters": {}}]', (Call("7", {}),), id="a number for a name"),
    ],
)
def test_the_official_reading_finds_these_calls(text: str, calls: tuple[Call, ...]) -> None:
    assert parse_official_json(text) == calls


@each_case(
    ("text", "reason"),
    [
        ('[{"function": "f"}]', "a call needs 'function' and 'parameters'"),
        ('[{"parameters": {}}]', "a call needs 'function' and 'parameters'"),
        ('[{"name": "f", "arguments": {}}]', "a call needs 'function' and 'parameters'"),
        ('[{"function": ["f"], "parameters": {}}]', "a function's name is text"),
        (f"{ONE[:-1]}, {{}}]", "a call needs 'function' and 'parameters'"),
    ],
)
def test_officially_an_object_without_a_key_spoils_all(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        parse_official_json(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Sure: {'[' * 100_000}{']' * 100_000} there.", id="too deep, in words"),
        pytest.param(ONE.replace("1", "1" * 5_000), id="a number that Python does not read"),
    ],
)
def test_officially_what_json_cannot_hold_spoils_all(text: str) -> None:
    with pytest.raises(Undecodable, match=r"^not JSON: (Exceeds the limit|nested more than 200 deep)"):
        parse_official_json_between_tags(text)


def test_officially_what_is_as_deep_as_can_be_read_is_a_call() -> None:
    (call,) = parse_official_json(ONE.replace("1", f"{'[' * 197}{']' * 197}"))
    assert str(call.arguments).count("[") == 197
    with pytest.raises(Undecodable, match=r"^not JSON: nested more than 200 deep$"):
        parse_official_json(ONE.replace("1", f"{'[' * 198}{']' * 198}"))


def test_officially_parameters_are_an_object() -> None:
    with pytest.raises(WrongFormat, match="the parameters of 'f' are list, not an object"):
        parse_official_json('[{"function": "f", "parameters": [1]}]')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("5", "expected a JSON list of calls, found int"),
        ("null", "expected a JSON list of calls, found NoneType"),
        ("true", "expected a JSON list of calls, found bool"),
    ],
)
def test_between_tags_there_may_be_no_list_at_all(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        parse_official_json_between_tags(text)
    assert (
        parse_official_json_between_tags('"text"')
        == parse_official_json_between_tags('{"function": "f"}')
        == ()
    )


_pieces = st.lists(
    st.sampled_from(["[", "]", "{", "}", ",", ", {", "},{", " ", "\n", "x", "[{", "}]", "[ {", "} \n]"]),
    max_size=12,
)


@settings(max_examples=5 * settings().max_examples)
@given(_pieces.map("".join))
def test_the_list_that_is_decoded_is_that_of_the_official_pattern(text: str) -> None:
    decoded: list[str] = []

    def decode(text: str) -> list[object]:
        decoded.append(text)
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("json.loads", decode)
        assert parse_official_json_between_tags(text) == ()
    within = re.search(r"\[.*\]", text, re.DOTALL)
    whole = within[0] if within else text
    found = re.search(r"\[\s*{.*?}\s*(?:,\s*{.*?}\s*)*\]", whole, re.DOTALL)
    assert decoded == [found[0] if found else whole]


def test_a_list_without_its_end_takes_no_time() -> None:
    """The official pattern would take 2 ** 100,000 steps."""
    must_end(lambda: parse_official_json("[" + '{"function": "f"}, ' * 100_000 + "x"))


# Corrected


@each_case(
    ("text", "calls"),
    [
        pytest.param(ONE, (F,), id="a list"),
        pytest.param(f"Sure [1]:\n```json\n{ONE}\n```\nDone [x].", (F,), id="words and a fence around"),
        pytest.param(ONE[1:-1], (F,), id="one object"),
        pytest.param(f"{ONE[1:-1]}\n{ONE[1:-1]}", (F, F), id="objects one after the other"),
        pytest.param(f"{ONE} and {ONE}", (F, F), id="two lists"),
        pytest.param('[{"function": "f"}]', (Call("f", {}),), id="no parameters"),
        pytest.param("[]", (), id="an empty list"),
        pytest.param(
            NESTED,
            (Call("f", {"x": [{"y": 1}]}),),
            id="a list of objects inside",
        ),
    ],
)
def test_the_corrected_reading_finds_these_calls(text: str, calls: tuple[Call, ...]) -> None:
    assert parse_corrected_json(text) == calls


@each_case(
    ("text", "reason"),
    [
        ("", "there is no JSON list of calls"),
        ("I cannot.", "there is no JSON list of calls"),
        ("[1, 2]", "there is no JSON list of calls"),
        ('{"error": "none fits"}', 'expected objects with "function" and "parameters"'),
        (f"{ONE[:-1]}, 5]", 'expected objects with "function" and "parameters"'),
        ('[{"function": 5}]', 'expected objects with "function" and "parameters"'),
        pytest.param(ONE[:-1], "not JSON: Expecting ',' delimiter", id="cut off"),
        pytest.param(
            f'{ONE[:-1]}, {{"function": "g", "para',
            "not JSON: Unterminated string starting at",
            id="cut off in the second call",
        ),
        pytest.param(
            ONE.replace('"x"', "x"),
            "not JSON: Expecting property name enclosed in double quotes",
            id="no JSON",
        ),
    ],
)
def test_corrected_it_cannot_be_read(text: str, reason: str) -> None:
    with pytest.raises(Undecodable, match=f"^{re.escape(reason)}"):
        parse_corrected_json(text)


def test_corrected_parameters_are_an_object() -> None:
    with pytest.raises(WrongFormat, match="the arguments of 'f' are list, not an object"):
        parse_corrected_json('[{"function": "f", "parameters": [1]}]')


@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_end_as_json(text: str) -> None:
    for read in (parse_official_json, parse_corrected_json):
        must_end(lambda read=read: _read_outcome(read, text))  # type: ignore[misc]


@given(wild_text)
def test_any_text_is_read_or_refused_as_json(text: str) -> None:
    for read in (parse_official_json, parse_corrected_json):
        _read_outcome(read, text)


def _read_outcome(read: TextReader, text: str) -> object:
    try:
        return read(text)
    except (Undecodable, WrongFormat) as refused:
        return refused


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


def test_an_ampersand_needs_no_escape_in_a_section_without_escapes() -> None:
    text = _wrap_function(CONCISE, "<![CDATA[Bergen & Voss]]> & &amp;", "string")
    assert _read_value(parse_corrected_concise, text) == "Bergen & Voss & &"


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

    monkeypatch.setattr(prompt_formats, "read_literal", fail_silently)
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
        ("&gt;&&#60;", "string", ">&<", "not XML: not well-formed (invalid token)"),
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
    "many sections": f"<functions>{'<![CDATA[' * 50_000}</functions>",
    "entities": "<!DOCTYPE x [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><functions>&b;</functions>",
    "entities inside": "<functions><!DOCTYPE x [<!ENTITY a 'aa'>]>&a;</functions>",
    "a deep literal": _wrap_function(VERBOSE, "[" * 50_000, "array"),
    "a long number": _wrap_function(VERBOSE, "9" * 50_000, "integer"),
    "a long literal": _wrap_function(VERBOSE, "9" * 50_000, "array"),
    "signs": _wrap_function(CONCISE, "-" * 50_000 + "1", "dict"),
}


@each_case("text", [*HOSTILE.values(), *MORE.values()], ids=[*HOSTILE, *MORE])
def test_hostile_texts_end_as_xml(text: str) -> None:
    for _, *readers in READERS.values():
        for read in readers:
            must_end(lambda read=read: _read_outcome(read, text))  # type: ignore[misc]


@given(wild_text)
def test_any_text_is_read_or_refused_as_xml(text: str) -> None:
    for written, *readers in READERS.values():
        for read in readers:
            _read_outcome(read, text)
            _read_outcome(read, f"<functions>{text}</functions>")
            _read_outcome(read, _wrap_function(written, text, "array"))


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
    assert _read_names(make_official_tag_reader, text) == official
    assert _read_names(make_corrected_tag_reader, text) == corrected


@each_case("text", ["", "a", "a</TOOLCALL>", "<toolcall>a</toolcall>"])
@each_case("make_reader", [make_official_tag_reader, make_corrected_tag_reader])
def test_without_a_tag_there_are_no_calls(make_reader: Callable[[TextReader], TextReader], text: str) -> None:
    with pytest.raises(Undecodable, match=r"^there is no <TOOLCALL> tag$"):
        _read_names(make_reader, text)


def test_the_last_tags_may_be_left_open_but_not_officially() -> None:
    text = "<TOOLCALL>a</TOOLCALL><TOOLCALL>b"
    assert _read_names(make_corrected_tag_reader, text) == ["a", "b"]
    assert _read_names(make_corrected_tag_reader, "<TOOLCALL>b") == ["b"]
    with pytest.raises(Undecodable, match=r"^there is no <TOOLCALL> tag$"):
        _read_names(make_official_tag_reader, "<TOOLCALL>b")
