"""Calls are written in the syntaxes of models and read back equal, or are refused with the reason."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.native_syntaxes import (
    NATIVE_SYNTAXES,
    NativeSyntax,
    Unwritable,
    read_answer,
    read_untyped,
)
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.function_doc import Schema
from pytest_fcbench.domain.transcript import Call, Completion, Ending, ToolCall
from tests.cases import each_case
from tests.codecs.hostile import must_end
from tests.hostile_texts import HOSTILE_TEXTS

TWO_CALLS = (
    Call("get_weather", {"city": "Bergen", "days": 3, "at": 2.5, "wind": True, "unit": None}),
    Call("set_alarm", {"times": [1, "7:30", {"snooze": []}], "note": {"text": "up, at 'dawn'"}}),
)
TEXTS = st.text(max_size=20) | st.sampled_from(
    sorted({mark for syntax in NATIVE_SYNTAXES.values() for mark in syntax.marks})
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}(\.[a-z][a-z0-9_]{0,4})?", fullmatch=True)
CALLS = st.lists(st.builds(Call, NAMES, st.dictionaries(NAMES, VALUES, max_size=3)), min_size=1, max_size=3)
HOLDS_ALL_JSON = [
    syntax
    for syntax in NATIVE_SYNTAXES.values()
    if any(place in syntax.call for place in ("{object}", "{member}", "{arguments}")) and not syntax.most
]


def compare(read: Sequence[Call], calls: Sequence[Call]) -> None:
    """Assert that calls are equal to the type of each value."""
    assert [each.name for each in read] == [each.name for each in calls]
    assert [json.dumps(each.arguments) for each in read] == [json.dumps(each.arguments) for each in calls]


@given(st.sampled_from([*NATIVE_SYNTAXES.values()]), CALLS)
def test_written_calls_are_read_back_equal_or_refused(syntax: NativeSyntax, calls: list[Call]) -> None:
    try:
        text = syntax.write_calls(calls)
    except Unwritable:
        assert syntax not in HOLDS_ALL_JSON
    else:
        compare(syntax.read_calls(text), calls)


@each_case("name", NATIVE_SYNTAXES)
def test_usual_calls_have_a_form_in_every_syntax(name: str) -> None:
    syntax = NATIVE_SYNTAXES[name]
    calls = TWO_CALLS[: syntax.most]
    compare(
        syntax.read_calls(
            f"<think>so</think>{syntax.write_calls(calls)}" if syntax.beginning else syntax.write_calls(calls)
        ),
        calls,
    )
    changed = syntax.write_calls(calls).replace("Bergen", "Tromsø")
    assert syntax.read_calls(changed)[0].arguments["city"] == "Tromsø"


@each_case(
    "name, calls, reason",
    [
        ("gigachat3", TWO_CALLS, "a form for 1 call, not for 2"),
        ("qwen3_coder", (Call("f", {"a": "5"}),), 'reads f({"a": "5"}) as f({"a": 5})'),
        ("qwen3_coder", (Call("f", {"a": "x</parameter>y"}),), "expected '</function> </tool_call>'"),
        ("pythonic", (Call("get-time", {}),), "no form"),
        ("pythonic", (Call("f", {"from": 1}),), "no form"),
        ("gemma4", (Call("f", {"a": '<|"|>'}),), "no form"),
        ("hermes", (Call("f", {"a": float("nan")}),), "no form"),
        ("glm45", (Call("two\nlines", {}),), "no form"),
    ],
)
def test_calls_without_a_form_are_refused(name: str, calls: tuple[Call, ...], reason: str) -> None:
    with pytest.raises(Unwritable, match=name) as error:
        NATIVE_SYNTAXES[name].write_calls(calls)
    assert reason in str(error.value)


def test_a_declared_text_may_look_like_another_value() -> None:
    schemas = {"f": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}}
    syntax = NATIVE_SYNTAXES["glm47"]
    calls = (Call("f", {"a": "5", "b": 5}),)
    compare(syntax.read_calls(syntax.write_calls(calls, schemas), schemas), calls)
    compare(syntax.read_calls(syntax.write_calls(calls, schemas)), (Call("f", {"a": 5, "b": 5}),))


@each_case(
    "text, schema, value",
    [
        ("5", {}, 5),
        ("5", {"type": "string"}, "5"),
        ("5", {"type": ["string", "integer"]}, 5),
        ("5", {"type": ["string", "null"]}, "5"),
        ("5", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "5"),
        ("5", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, 5),
        ("null", {"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ('{"b": 1}', {"anyOf": [{"$ref": "#/$defs/Other"}, {"type": "null"}]}, {"b": 1}),
        ("[1]", {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/Other"}]}, [1]),
        ("5", {"anyOf": [{"type": "string"}, {"enum": ["auto"]}]}, "5"),
        ("5", {"anyOf": [{"type": "integer", "enum": [5]}, {"type": "null"}]}, 5),
        ("null", {"type": "string"}, "null"),
        ('"a"', {"oneOf": [{"type": "array"}, {"type": "null"}]}, "a"),
        ("five", {"type": "integer"}, "five"),
        ("True", {"type": "boolean"}, True),
        ("true", {"enum": ["true", "false"]}, "true"),
        ('"a"', {}, '"a"'),
        ('"a"', {"type": "array"}, "a"),
        ("NaN", {}, "NaN"),
        ("[" * 5_000, {}, "[" * 5_000),
    ],
)
def test_untyped_values_are_read_by_their_schema(
    text: str, schema: Mapping[str, object], value: object
) -> None:
    assert json.dumps(read_untyped(text, schema)) == json.dumps(value)


@each_case(
    "name, text",
    [
        ("hermes", '<tool_call>{"name": "f", "arguments": {"a": 1}'),
        ("hermes", '<tool_call>\n{"name": "f"}\n</tool_call>'),
        ("hermes", "There is nothing to call."),
        ("hermes", '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>'),
        ("xlam", '[{"name": "f", "arguments": {}}] and more'),
        ("jamba", '<tool_calls>[{"name": "f", "arguments": {}} {"name": "g", "arguments": {}}]</tool_calls>'),
        (
            "deepseek_v32",
            '<｜DSML｜function_calls><｜DSML｜invoke name="f">'
            '<｜DSML｜parameter name="a" string="false">x</｜DSML｜parameter>'
            "</｜DSML｜invoke></｜DSML｜function_calls>",
        ),
        ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=a>\n1\n"),
        ("glm45", "<tool_call>\n</tool_call>"),
        ("gemma4", "<|tool_call>call:f{a:{b:1}<tool_call|>"),
        ("mistral_v13", '[TOOL_CALLS] [{"name": "f", "arguments": {}}]'),
        ("pythonic", "Hello (world)"),
        ("olmo3", "<function_calls>\nf('a')\n</function_calls>"),
        ("apertus", '<|tools_prefix|>[{"f": {}, "g": {}}]<|tools_suffix|>'),
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:x"
            "<|tool_call_argument_begin|>{}<|tool_call_end|>",
        ),
    ],
)
def test_broken_calls_are_undecodable(name: str, text: str) -> None:
    with pytest.raises(Undecodable, match=r"\w"):
        NATIVE_SYNTAXES[name].read_calls(text)


@each_case("name", NATIVE_SYNTAXES)
def test_line_ends_of_windows_are_no_part_of_values(name: str) -> None:
    syntax = NATIVE_SYNTAXES[name]
    written = syntax.write_calls(TWO_CALLS[: syntax.most])
    compare(syntax.read_calls(written.replace("\n", "\r\n")), syntax.read_calls(written))


def test_words_stand_before_the_separator_of_a_message() -> None:
    call = '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {"a": "b"}}'
    for text in (f"I look.{call}", call, call.removeprefix("<|message_sep|>\n\n")):
        words, calls, rest = NATIVE_SYNTAXES["gigachat3"].split_text(text)
        assert (words, calls, rest) == ("I look." * text.startswith("I"), (Call("f", {"a": "b"}),), "")


@given(st.sampled_from([*NATIVE_SYNTAXES.values()]), st.data())
def test_any_text_is_read_or_refused(syntax: NativeSyntax, data: st.DataObject) -> None:
    written = syntax.write_calls(TWO_CALLS[: syntax.most])
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(written))] * 2)))
    text = (
        written[:begin]
        + data.draw(st.sampled_from(["", "x", "\n", *syntax.marks, *[*HOSTILE_TEXTS.values()][:8]]))
        + written[end:]
    )
    with suppress(Undecodable):
        syntax.read_calls(text)


TOOLS = [
    {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
]


def test_calls_in_the_text_of_an_answer_become_tool_calls() -> None:
    syntax = NATIVE_SYNTAXES["qwen3_coder"]
    text = f"<think><tool_call></think>I look.\n{syntax.write_calls([Call('f', {'a': 5})])}"
    read = read_answer(Completion(text=text, message={"content": text}), syntax, TOOLS)
    assert read.tool_calls == (ToolCall("f", '{"a": "5"}', "call_0"),)
    assert read.message is None


def test_an_answer_without_readable_calls_stays_and_broken_ones_are_told() -> None:
    syntax = NATIVE_SYNTAXES["qwen3_coder"]
    for answer in (
        Completion(text="Nothing fits."),
        Completion(),
        Completion(tool_calls=(ToolCall("f", "{}"),)),
    ):
        assert read_answer(answer, syntax, TOOLS) is answer
    broken = read_answer(Completion(text="<tool_call>\n<function=f>\n<parameter=a>"), syntax, TOOLS)
    assert broken.tool_calls is None
    assert broken.ending is Ending.MALFORMED


@each_case(
    ("name", "text", "ending"),
    [
        ("pythonic", "[f(a='x", Ending.MALFORMED),
        ("pythonic", "f(a='x')", Ending.MALFORMED),
        ("glm4", 'f\n{"a": "x', Ending.MALFORMED),
        ("pythonic", "[other(a='x", None),
        ("pythonic", "f is of no use here (sorry).", None),
    ],
)
def test_a_broken_call_without_a_mark_begins_with_the_name_of_a_tool(
    name: str, text: str, ending: Ending | None
) -> None:
    assert read_answer(Completion(text=text), NATIVE_SYNTAXES[name], TOOLS).ending is ending


def test_values_without_a_name_get_those_of_the_parameters() -> None:
    schemas: Mapping[str, Schema] = {"f": {"properties": {"a": {}, "b": {}}}}
    syntax = NATIVE_SYNTAXES["lfm2"]
    opening, closing = syntax.marks
    compare(syntax.read_calls(f"{opening}[f(1, b=2)]{closing}", schemas), [Call("f", {"a": 1, "b": 2})])
    for arguments in ("1, a=2", "1, 2, 3"):
        with pytest.raises(Undecodable, match="an argument without a name"):
            syntax.read_calls(f"{opening}[f({arguments})]{closing}", schemas)


@each_case("name", NATIVE_SYNTAXES)
def test_hostile_texts_are_read_at_once(name: str) -> None:
    syntax = NATIVE_SYNTAXES[name]
    written = syntax.write_calls([Call("zz", {"a": "x"})])
    named = written.partition("zz")[0] + "zz"
    for piece in (written, written[: len(written) // 2], named, "(a='\\'", r"\'", "<", "{", " "):
        text = named + piece * (50_000 // len(piece))

        def read(text: str = text) -> None:
            with suppress(Undecodable):
                syntax.read_calls(text)

        must_end(read)


@each_case(
    "name, text",
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": 1e400}}\n</tool_call>'),
        ("lfm2", "<|tool_call_start|>[f(a=1j)]<|tool_call_end|>"),
        ("lfm2", "<|tool_call_start|>['f'(a=1)]<|tool_call_end|>"),
        ("lfm2", "<|tool_call_start|>[f(a={(1, 2): 3})]<|tool_call_end|>"),
    ],
)
def test_values_without_json_and_calls_without_a_name_are_malformed(name: str, text: str) -> None:
    answer = read_answer(Completion(text=text), NATIVE_SYNTAXES[name], TOOLS)
    assert (answer.text, answer.tool_calls, answer.ending) == (text, None, Ending.MALFORMED)
    cut = read_answer(Completion(text=text, ending=Ending.CUT), NATIVE_SYNTAXES[name], TOOLS)
    assert cut.ending is Ending.CUT, "what was cut is not called anything else"


def test_reasoning_before_calls_is_kept() -> None:
    text = f"<think>why</think>{NATIVE_SYNTAXES['hermes'].write_calls([Call('f', {})])}"
    assert read_answer(Completion(text=text), NATIVE_SYNTAXES["hermes"], TOOLS).reasoning == "why"


GROUPED = [
    name
    for name, syntax in NATIVE_SYNTAXES.items()
    # Without an end of its own a group reaches to that of the text.
    if syntax.beginning and not syntax.most and (syntax.closing or not syntax.opening)
]


@each_case("name", GROUPED)
def test_a_second_group_of_calls_is_read_too(name: str) -> None:
    syntax = NATIVE_SYNTAXES[name]
    written = [syntax.write_calls([call]) for call in TWO_CALLS]
    words, calls, rest = syntax.split_text(f"First.\n{written[0]}\nThen\n{written[1]}")
    compare(calls, TWO_CALLS)
    assert (words.strip(), rest.strip()) == ("First.", "Then")
