"""The native call syntaxes of open models."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.families.glm import parse_glm
from pytest_fcbench.codecs.decoders.families.hermes import parse_hermes, parse_hermes_as_texts
from pytest_fcbench.codecs.decoders.families.xlam import parse_xlam
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat
from pytest_fcbench.domain.transcript import Call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text

READERS = {
    "hermes": parse_hermes,
    "hermes_texts": parse_hermes_as_texts,
    "xlam": parse_xlam,
    "glm": parse_glm,
}


def wrap_in_tags(*lines: str) -> str:
    """Put lines between tool-call tags, one pair for each."""
    return "\n".join(f"<tool_call>\n{line}\n</tool_call>" for line in lines)


ONE = '{"name": "f", "arguments": {"x": 1}}'

READ = {
    "hermes, one": (parse_hermes, wrap_in_tags(ONE), (Call("f", {"x": 1}),)),
    "hermes, two": (
        parse_hermes,
        wrap_in_tags(ONE, '{"name": "g.h", "arguments": {}}'),
        (Call("f", {"x": 1}), Call("g.h", {})),
    ),
    "hermes, two lines in one pair": (
        parse_hermes,
        f"<tool_call>\n{ONE}\n{ONE}\n</tool_call>",
        (Call("f", {"x": 1}), Call("f", {"x": 1})),
    ),
    "hermes, words around": (
        parse_hermes,
        f"Well:\n{wrap_in_tags(ONE)}\nDone.",
        (Call("f", {"x": 1}),),
    ),
    "hermes, single quotes": (
        parse_hermes,
        wrap_in_tags("{'name': 'f', 'arguments': {'x': 'a'}}"),
        (Call("f", {"x": "a"}),),
    ),
    "hermes, end missing": (parse_hermes, f"<tool_call>\n{ONE}", (Call("f", {"x": 1}),)),
    "hermes, no tags": (parse_hermes, ONE, ()),
    "hermes, tags within a line": (parse_hermes, f"<tool_call>{ONE}</tool_call>", ()),
    "hermes, empty": (parse_hermes, "", ()),
    "hermes_texts": (
        parse_hermes_as_texts,
        wrap_in_tags('{"name": "f", "arguments": {"x": 1, "y": [true, null], "z": "a"}}'),
        (Call("f", {"x": "1", "y": "[True, None]", "z": "a"}),),
    ),
    "xlam, list": (parse_xlam, f"[{ONE}, {ONE}]", (Call("f", {"x": 1}), Call("f", {"x": 1}))),
    "xlam, object": (parse_xlam, f'{{"tool_calls": [{ONE}]}}', (Call("f", {"x": 1}),)),
    "xlam, more keys": (
        parse_xlam,
        '[{"name": "f", "arguments": {}, "id": 1}]',
        (Call("f", {}),),
    ),
    "xlam, no calls": (parse_xlam, "[]", ()),
    "xlam, name is no text": (parse_xlam, '[{"name": 5, "arguments": {}}]', (Call("5", {}),)),
    "glm": (parse_glm, 'f\n{"x": 1}', (Call("f", {"x": 1}),)),
    "glm, more lines": (parse_glm, 'f\n{"x": 1}\nDone.', (Call("f", {"x": 1}),)),
}


@each_case(("reader", "text", "expected"), READ.values(), ids=READ)
def test_calls_in_the_syntax_are_read(
    reader: Callable[[str], tuple[Call, ...]], text: str, expected: tuple[Call, ...]
) -> None:
    assert reader(text) == expected


REFUSED = {
    "hermes, no JSON": (parse_hermes, wrap_in_tags("f(x=1)"), Undecodable, "not JSON"),
    "hermes, apostrophe": (
        parse_hermes,
        wrap_in_tags('{"name": "f", "arguments": {"x": "it\'s"}}'),
        Undecodable,
        "not JSON",
    ),
    "hermes, no object": (
        parse_hermes,
        wrap_in_tags("[1]"),
        Undecodable,
        'expected an object with "name"',
    ),
    "hermes, no name": (
        parse_hermes,
        wrap_in_tags('{"arguments": {}}'),
        Undecodable,
        'with "name"',
    ),
    "hermes, no arguments": (
        parse_hermes,
        wrap_in_tags('{"name": "f"}'),
        Undecodable,
        "'f' has no",
    ),
    "hermes, arguments in a list": (
        parse_hermes,
        wrap_in_tags('{"name": "f", "arguments": [1]}'),
        WrongFormat,
        "the arguments of 'f' are list",
    ),
    "xlam, prose": (parse_xlam, "I cannot help.", Undecodable, "not JSON"),
    "xlam, empty": (parse_xlam, "", Undecodable, "not JSON"),
    "xlam, number": (parse_xlam, "5", Undecodable, "found int"),
    "xlam, no list": (parse_xlam, '{"tool_calls": 5}', Undecodable, "found int"),
    "xlam, other object": (parse_xlam, "{}", Undecodable, "found NoneType"),
    "xlam, texts": (parse_xlam, '["f"]', Undecodable, 'expected an object with "name"'),
    "xlam, arguments as text": (
        parse_xlam,
        '[{"name": "f", "arguments": "{}"}]',
        WrongFormat,
        "the arguments of 'f' are str",
    ),
    "glm, one line": (parse_glm, "I cannot help.", WrongFormat, "a name without arguments"),
    "glm, empty": (parse_glm, "", WrongFormat, "a name without arguments"),
    "glm, prose": (parse_glm, "I cannot\nhelp.", Undecodable, "not JSON"),
    "glm, arguments in a list": (
        parse_glm,
        "f\n[1]",
        WrongFormat,
        "the arguments of 'f' are list",
    ),
}


@each_case(("reader", "text", "refusal", "words"), REFUSED.values(), ids=REFUSED)
def test_a_text_that_breaks_the_syntax_is_refused_with_a_reason(
    reader: Callable[[str], tuple[Call, ...]], text: str, refusal: type[Exception], words: str
) -> None:
    with pytest.raises(refusal) as refused:
        reader(text)
    assert words in str(refused.value)


arguments = st.dictionaries(
    st.text(st.characters(exclude_characters="'", codec="utf-8")),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(st.characters(exclude_characters="'", codec="utf-8")),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


@given(given_arguments=st.lists(arguments, max_size=3))
@settings(deadline=None)
def test_calls_written_as_json_are_read_back(given_arguments: list[dict[str, object]]) -> None:
    calls = tuple(Call(f"f{index}", values) for index, values in enumerate(given_arguments))
    written = [json.dumps({"name": call.name, "arguments": call.arguments}) for call in calls]
    assert parse_hermes(wrap_in_tags(*written)) == calls
    assert parse_xlam(f"[{', '.join(written)}]") == calls
    for call in calls:
        assert parse_glm(f"{call.name}\n{json.dumps(call.arguments)}") == (call,)


def read_or_refused(reader: Callable[[str], tuple[Call, ...]], text: str) -> bool:
    """Whether a reader answers or refuses; anything else is raised."""
    with suppress(Undecodable, WrongFormat):
        reader(text)
    return True


@each_case("text", HOSTILE.values(), ids=HOSTILE)
@each_case("reader", READERS.values(), ids=READERS)
def test_a_hostile_text_is_read_or_refused_at_once(
    reader: Callable[[str], tuple[Call, ...]], text: str
) -> None:
    hostile = (
        text,
        wrap_in_tags(text),
        f"f\n{text}",
        wrap_in_tags(f'{{"name": "f", "arguments": {{"x": {text}}}}}'),
    )
    must_end(lambda: [read_or_refused(reader, each) for each in hostile])


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@given(text=st.one_of(wild_text, wild_text.map(wrap_in_tags), wild_text.map(lambda text: f"f\n{text}")))
@settings(deadline=None)
def test_any_text_is_read_or_refused(reader: Callable[[str], tuple[Call, ...]], text: str) -> None:
    assert read_or_refused(reader, text)
