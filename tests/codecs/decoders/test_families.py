"""What the official handlers of model families read in their answers: calls, wrong formats, nothing.

Each row was compared with the handler named in the module of its syntax, see tests/parity/test_decoders.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders.families import parse_glm, parse_xlam
from pytest_fcbench.codecs.decoders.registry import (
    SYNTAXES,
    list_calls_to_make,
    read_corrected,
    read_official,
)
from pytest_fcbench.codecs.decoders.syntax import (
    WRONG_FORMAT,
    Calls,
    Prose,
    Undecodable,
    Unreadable,
    WrongFormat,
)
from pytest_fcbench.codecs.decoders.tagged_families import parse_hermes, parse_hermes_as_texts
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall
from tests.cases import each_case
from tests.codecs.decoders.test_registry import make_offer
from tests.codecs.hostile import HOSTILE, must_end, wild_text

FAILED, WRONG = "ast_decoder:decoder_failed", WRONG_FORMAT
F1 = Call("f", {"x": 1})
G = Call("g.h", {})
ONE = '{"name": "f", "arguments": {"x": 1}}'
TWO = f'[{ONE}, {{"name": "g.h", "arguments": {{}}}}]'
AS_PARAMETERS = ONE.replace("arguments", "parameters")


def tag(text: str) -> str:
    return f"<tool_call>\n{text}\n</tool_call>"


def start(text: str) -> str:
    return f"<start_function_call>call:{text}<end_function_call>"


READ: Mapping[str, tuple[str, str, Sequence[Call] | str, Sequence[str]]] = {
    "arch, two": ("arch", f"{tag(ONE)}\n{tag(ONE)}", [F1, F1], ["f(x=1)", "f(x=1)"]),
    "arch, Python": ("arch", tag(ONE.replace('"', "'")), [F1], ["f(x=1)"]),
    "arch, prose": ("arch", "No.", FAILED, []),
    "bitagent, list": ("bitagent", TWO, [F1, G], ["f(x=1)", "g.h()"]),
    "bitagent, one": ("bitagent", ONE, [F1], ["f(x=1)"]),
    "bitagent, no name": ("bitagent", "{}", FAILED, []),
    "cohere, prose": ("cohere", "No.", [], []),
    "falcon, list": ("falcon", f"<tool_call>{TWO}</tool_call>", [F1, G], ["f(x=1)", "g.h()"]),
    "falcon, left open": ("falcon", f"Well: <tool_call>\n{ONE}", [F1], ["f(x=1)"]),
    "falcon, fenced": ("falcon", f"<tool_call>```json\n{ONE}\n```</tool_call>", [F1], ["f(x=1)"]),
    "falcon, the first only": ("falcon", f"{tag(ONE)}{tag('{}')}", [F1], ["f(x=1)"]),
    "falcon, no tag": ("falcon", ONE, FAILED, []),
    "functiongemma": (
        "functiongemma",
        start("f{x:1,t:<escape>a, {b}<escape>,l:[true,null,2.5,word],d:{<escape>k<escape>:-3}}"),
        [Call("f", {"x": 1, "t": "a, {b}", "l": [True, None, 2.5, "word"], "d": {"k": -3}})],
        ["f(x=1, t='a, {b}', l=[True, None, 2.5, 'word'], d={'k': -3})"],
    ),
    "functiongemma, no arguments": ("functiongemma", start("f "), [Call("f", {})], ["f()"]),
    "functiongemma, mark left open": (
        "functiongemma",
        start("f{x:<escape>a}"),
        [Call("f", {"x": "<escape>a}"})],
        ["f(x='<escape>a}')"],
    ),
    "functiongemma, key of a word": (
        "functiongemma",
        start("f{true:1}"),
        [Call("f", {"True": 1})],
        ["f(True=1)"],
    ),
    "functiongemma, null is no key": ("functiongemma", start("f{null:1}"), [Call("f", {})], ["f()"]),
    "functiongemma, values without keys": ("functiongemma", start("f{1,2}"), [Call("f", {})], ["f()"]),
    "functiongemma, other prefix": ("functiongemma", start("f{}").replace("call:", "say:"), [], []),
    "functiongemma, prose": ("functiongemma", "No.", [], []),
    "gemini, prose": ("gemini", "No.", WRONG, []),
    "gemini_python": ("gemini_python", "```tool_code\n[f(x=1)]\n```", [F1], ["f(x=1)"]),
    "gemini_python, no fence": ("gemini_python", "f(x=1)", [F1], ["f(x=1)"]),
    "gorilla, cannot be carried out": ("gorilla", "f(x=1), g.h()", [F1, G], []),
    "gorilla, has brackets": ("gorilla", "[f(x=1)]", FAILED, []),
    "granite_20b": (
        "granite_20b",
        f'<function_call> {ONE} <function_call> {{"name": " g.h ", "arguments": {{}}}}',
        [F1, G],
        ["f(x=1)", "g.h()"],
    ),
    "granite_20b, prose": ("granite_20b", "No.", WRONG, ["No."]),
    "granite_20b, none": (
        "granite_20b",
        '<function_call> {"name": "no_function"}',
        WRONG,
        ["No function is called"],
    ),
    "granite_20b, empty": ("granite_20b", "", [], []),
    "granite_20b, no object": ("granite_20b", "<function_call> [1]", FAILED, []),
    "granite_3": ("granite_3", f"ASSISTANT: <tool_call>{TWO}</tool_call>", [F1, G], ["f(x=1)", "g.h()"]),
    "granite_3, token": ("granite_3", f"<|tool_call|>{ONE}", [F1], ["f(x=1)"]),
    "granite_3, more keys": (
        "granite_3",
        '<|tool_call|>[{"name": "f", "arguments": {}, "id": 1}]',
        FAILED,
        [],
    ),
    "granite_3, one bracket": ("granite_3", f"<|tool_call|>[{ONE}", FAILED, []),
    "granite_4": ("granite_4", f"{tag(ONE)}{tag('f(x=1)')}", [F1], ["f(x=1)"]),
    "granite_4, behind reasoning": ("granite_4", f"{tag(ONE)}</think>{tag(ONE)}", [F1, F1], ["f(x=1)"] * 2),
    "hammer": ("hammer", f"```\n{TWO}\n```", [F1, G], ["f(x=1)", "g.h()"]),
    "hammer, prose": ("hammer", "No.", [], []),
    "hammer, object": ("hammer", f'{{"tool_calls": [{ONE}]}}', FAILED, ["f(x=1)"]),
    "hammer, number": ("hammer", "5", FAILED, []),
    "hammer, texts": ("hammer", '["f"]', FAILED, []),
    "llama_3_1": ("llama_3_1", f"<|python_tag|>{AS_PARAMETERS}", [F1], ["f(x=1)"]),
    "llama_3_1, list": ("llama_3_1", f"[{AS_PARAMETERS}]", [F1], ["f(x=1)"]),
    "llama_3_1, pair": ("llama_3_1", f"{AS_PARAMETERS}, {AS_PARAMETERS}", [F1, F1], ["f(x=1)", "f(x=1)"]),
    "llama_3_1, semicolon": ("llama_3_1", f"{AS_PARAMETERS}; {AS_PARAMETERS}", [F1, F1], ["f(x=1)"] * 2),
    "llama_3_1, semicolon at the end": ("llama_3_1", f"{AS_PARAMETERS};", FAILED, []),
    "llama_3_1, pipe": ("llama_3_1", f'{{"a": 1}} | {AS_PARAMETERS}', [F1], ["f(x=1)"]),
    "llama_3_1, true of JSON": ("llama_3_1", AS_PARAMETERS.replace("1", "true"), FAILED, []),
    "llama_3_1, true of JSON with a semicolon": (
        "llama_3_1",
        f"{AS_PARAMETERS.replace('1', 'true')};{AS_PARAMETERS}",
        [Call("f", {"x": True}), F1],
        ["f(x=True)", "f(x=1)"],
    ),
    "llama_3_1, set": ("llama_3_1", AS_PARAMETERS.replace('"x": 1', '"x"'), WRONG, []),
    "llama_3_1, set of lists": ("llama_3_1", AS_PARAMETERS.replace('"x": 1', "[]"), FAILED, []),
    "llama_3_1, arithmetic": ("llama_3_1", AS_PARAMETERS.replace("1", "3 - 2"), [F1], ["f(x=1)"]),
    "llama_3_1, no text is run": ("llama_3_1", "__import__('os').getcwd()", FAILED, []),
    "minicpm": (
        "minicpm",
        "<|thought_start|>\nHm <|tool_call_start|>.\n<|thought_end|>\n"
        "<|tool_call_start|>\n```python\nf(x=1)\ng.h()\n```\n<|tool_call_end|>\nDone.",
        [F1, G],
        ["f(x=1)", "g.h()"],
    ),
    "minicpm, assigned": ("minicpm", "<|tool_call_start|>y = f(x=1)<|tool_call_end|>", [F1], ["f(x=1)"]),
    "minicpm, letters of the fence": (
        "minicpm",
        "<|tool_call_start|>```python\nf(x=1)```<|tool_call_end|>",
        [F1],
        ["f(x=1)"],
    ),
    "minicpm, no call": ("minicpm", "<|tool_call_start|>import os<|tool_call_end|>", WRONG, []),
    "minicpm, no Python": ("minicpm", "<|tool_call_start|>f(<|tool_call_end|>", WRONG, []),
    "minicpm, marks in the wrong order": ("minicpm", "<|tool_call_end|><|tool_call_start|>f()", FAILED, []),
    "minicpm, thought in the wrong order": ("minicpm", "<|thought_end|><|thought_start|>f()", FAILED, []),
    "minicpm, prose": ("minicpm", "No.", WRONG, []),
    "mining": (
        "mining",
        f"<think>Hm</think>\n<tool_calls>\n{TWO}\n</tool_calls>",
        [F1, G],
        ["f(x=1)", "g.h()"],
    ),
    "mining, empty object": ("mining", "{}", [], []),
    "mining, no arguments": ("mining", '[{"name": "f"}]', FAILED, ["f()"]),
    "mining, prose": ("mining", "No.", FAILED, []),
    "mistral": ("mistral", TWO, [F1, G], ["f(x=1)", "g.h()"]),
    "mistral, empty object": ("mistral", "{}", [], []),
    "mistral, prose": ("mistral", "No.", FAILED, []),
    "nemotron": ("nemotron", "So: <TOOLCALL>[f(x=1)]</TOOLCALL>", [F1], ["f(x=1)"]),
    "nemotron, prose": ("nemotron", "No.", [], []),
    "nova, prose": ("nova", "No.", WRONG, []),
    "phi": ("phi", f"<|tool_call|>{TWO}<|/tool_call|>", [F1, G], ["f(x=1)", "g.h()"]),
    "phi, left open": ("phi", f"<|tool_call|>{ONE}", [F1], ["f(x=1)"]),
    "phi, prose": ("phi", "No.", FAILED, []),
    "phi_python": ("phi_python", "```python\n[f(x=1)]\n```", [F1], ["f(x=1)"]),
    "phi_python, blank first": ("phi_python", " ```python\n[f(x=1)]\n```", [F1], []),
    "python": ("python", "[f(x=1), g.h()]", [F1, G], ["f(x=1)", "g.h()"]),
    "python, prose": ("python", "No, thanks.", FAILED, []),
    "python_behind_reasoning": (
        "python_behind_reasoning",
        "<think>\n[g()]\n</think>\n\n[f(x=1)]",
        [F1],
        ["f(x=1)"],
    ),
    "qwen": ("qwen", f"<think>{tag(ONE)}</think>\n\n{tag(ONE)}", [F1], ["f(x=1)"]),
    "qwen, apostrophe": (
        "qwen",
        tag('{"name": "f", "arguments": {"x": "it\'s"}}'),
        [Call("f", {"x": "it's"})],
        ['f(x="it\'s")'],
    ),
    "qwen, arguments in a list": ("qwen", tag('{"name": "f", "arguments": [1]}'), FAILED, []),
    "qwen, prose": ("qwen", "No.", [], []),
    "think_agent, cannot be carried out": ("think_agent", f"Hm</think>{TWO}", [F1, G], []),
    "think_agent, single quotes": ("think_agent", f"Hm</think>[{ONE}]".replace('"', "'"), [F1], []),
    "think_agent, no reasoning": ("think_agent", TWO, [], []),
    "xlam_2, list": ("xlam_2", TWO, [F1, G], ["f(x=1)", "g.h()"]),
    "xlam_2, semicolon": ("xlam_2", f"{ONE}; {ONE}", [F1, F1], ["f(x=1)", "f(x=1)"]),
    "xlam_2, prose": ("xlam_2", "No.", FAILED, []),
}


@each_case(("syntax", "text", "expected", "texts"), READ.values(), ids=READ)
def test_a_text_is_read_as_its_official_handler_reads_it(
    syntax: str, text: str, expected: Sequence[Call] | str, texts: Sequence[str]
) -> None:
    completion = Completion(text=text)
    reading = read_official(completion, syntax, Language.PYTHON)
    assert (list(reading.calls) if isinstance(reading, Calls) else reading.code) == expected
    assert list(list_calls_to_make(completion, syntax)) == list(texts)


PARTS: Mapping[str, tuple[str, list[ToolCall | str], Sequence[Call] | str, Sequence[str]]] = {
    "gemini": ("gemini", [ToolCall("f", {"x": 1})], [F1], ["f(x=1)"]),
    "gemini, text": ("gemini", ["No."], WRONG, []),
    "nova, an endpoint's text of arguments": ("nova", [ToolCall("f", '{"x": 1}')], [F1], ["f(x=1)"]),
    "nova, broken arguments": ("nova", [ToolCall("f", "{")], WRONG, []),
    "arch": ("arch", [ToolCall("f", {"x": 1})], [F1], ["f(x=1)"]),
    "arch, text": ("arch", [ToolCall("f", {"x": 1}), "No."], FAILED, []),
    "cohere": ("cohere", ['{"tool_name": "f", "parameters": {"x": 1}}'], [F1], ["f(x=1)"]),
    "cohere, other keys": ("cohere", ['{"name": "f"}'], FAILED, []),
    "cohere, ordinary": ("cohere", [ToolCall("f", '{"x": 1}')], [F1], ["f(x=1)"]),
    "mining": ("mining", [ONE], [F1], ["f(x=1)"]),
    "a family that writes text, read by its server": ("qwen", [ToolCall("f", '{"x": 1}')], [F1], ["f(x=1)"]),
    "hammer, read by its server": ("hammer", [ToolCall("f", '{"x": 1}')], [F1], ["f(x=1)"]),
}


@pytest.mark.parametrize("text", [None, "", "I look."])
@each_case(("syntax", "parts", "expected", "texts"), PARTS.values(), ids=PARTS)
def test_a_list_is_read_as_its_official_handler_reads_it(
    syntax: str,
    parts: list[ToolCall | str],
    expected: Sequence[Call] | str,
    texts: Sequence[str],
    text: str | None,
) -> None:
    completion = Completion(text=text, tool_calls=tuple(parts))
    reading = read_official(completion, syntax, Language.PYTHON)
    assert (list(reading.calls) if isinstance(reading, Calls) else reading.code) == expected
    assert list(list_calls_to_make(completion, syntax)) == list(texts)


JSON_FAMILIES = [
    name
    for name, syntax in SYNTAXES.items()
    if syntax and syntax.mode is Mode.FC and name not in ("glm", "gorilla", "hermes", "xlam", "functiongemma")
]


@each_case("syntax", JSON_FAMILIES)
def test_the_corrected_reading_finds_json_calls_among_words(syntax: str) -> None:
    told = f"<think>f or g?</think>I call {ONE.replace('f', 'weather.forecast', 1)} now."
    reading = read_corrected(Completion(text=told), syntax, Language.PYTHON, make_offer())
    assert reading == Calls((Call("weather.forecast", {"x": 1}),))


def test_the_corrected_reading_of_nemotron_takes_calls_without_tags() -> None:
    for text, reading in (
        ("[weather.forecast(x=1)]", Calls((Call("weather.forecast", {"x": 1}),))),
        ("No.", Prose("No.")),
    ):
        assert read_corrected(Completion(text=text), "nemotron", Language.PYTHON, make_offer()) == reading


FAMILIES = [name for name, syntax in SYNTAXES.items() if syntax]


@pytest.mark.parametrize("syntax", FAMILIES)
@given(
    text=st.text(alphabet="{}[]<>|\"':;,/ \nabcdef_1", max_size=60)
    | st.sampled_from([row[1] for row in READ.values()])
)
def test_any_text_is_read_by_every_family(syntax: str, text: str) -> None:
    completion = Completion(text=text)
    assert isinstance(read_official(completion, syntax, Language.PYTHON), Calls | Unreadable)
    assert all(isinstance(call, str) for call in list_calls_to_make(completion, syntax))


READERS = {
    "hermes": parse_hermes,
    "hermes_texts": parse_hermes_as_texts,
    "xlam": parse_xlam,
    "glm": parse_glm,
}


def wrap_in_tags(*lines: str) -> str:
    """Put lines between tool-call tags, one pair for each."""
    return "\n".join(f"<tool_call>\n{line}\n</tool_call>" for line in lines)


READ_BY_PARSER = {
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


@each_case(("reader", "text", "expected"), READ_BY_PARSER.values(), ids=READ_BY_PARSER)
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
        'expected objects with "name"',
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
        'expected objects with "name" and "arguments"',
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
    "xlam, texts": (parse_xlam, '["f"]', Undecodable, 'expected objects with "name"'),
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
