"""Whatever a model answers is read as calls, as words, or as something that cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress

from hypothesis import assume
from hypothesis import strategies as st

from pytest_fcbench.codecs.call_evaluation import NoCallError, carry_out_call, read_function
from pytest_fcbench.codecs.decoders import java, javascript
from pytest_fcbench.codecs.decoders.python import measure_size
from pytest_fcbench.codecs.decoders.registry import (
    SYNTAXES,
    OfferedFunctions,
    list_calls_to_make,
    read_call_texts,
    read_corrected,
    read_official,
)
from pytest_fcbench.codecs.decoders.syntax import Calls, Prose, Undecodable, Unreadable
from pytest_fcbench.codecs.presenting import (
    build_first_request,
    build_system_prompt,
    build_tool,
    build_wire_doc,
)
from pytest_fcbench.codecs.rendering import render_in_format
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import FORMATS, AnswerNotation, Mode, Names, PromptFormat, Prompting
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.walk import Reader
from pytest_fcbench.suites import core
from tests.codecs.test_rendering import assert_read_back, assert_read_back_from, draw_calls, literals
from tests.codecs.test_rendering import json_values as readable_values
from tests.factories import make_doc, make_entry
from tests.fuzzing.strategies import (
    deep_values,
    hostile_text,
    json_values,
    mutate_texts,
    python_values,
    words,
)
from tests.fuzzing.targets import make_target

WRITTEN = (
    "[weather.forecast(city='Bergen', days=2)]",
    '[weather_forecast(city="Bergen", days=[1, {"a": (2, -3.5e3)}])]',
    "```python\n[weather.forecast(city='Bergen'), weather.forecast('Oslo', 1)]\n```",
    '<tool_call>\n{"name": "weather.forecast", "arguments": {"city": "Bergen"}}\n</tool_call>',
    '[{"name": "weather.forecast", "arguments": {"city": "Bergen", "days": 2}}]',
    '{"tool_calls": [{"name": "weather_forecast", "arguments": {"city": "Bergen"}}]}',
    'weather.forecast\n{"city": "Bergen", "days": 2}',
    '<TOOLCALL>[weather.forecast(city="Bergen")]</TOOLCALL>',
    '[{"function": "weather.forecast", "parameters": {"city": "Bergen"}}]',
    '<functions><function name="weather.forecast"><params><param name="city" value="Bergen" type="string"/>'
    "</params></function></functions>",
    '<functions><function name="a.b"><param name="days" type="integer">2</param></function></functions>',
    'W.forecast(city="Bergen", days=new int[]{1, 2L}, m=new HashMap<String, Object>() {{ put("a", 1); }});',
    'forecast({city: "Bergen", days: [1, 2n, null], f: (x) => x * 2});',
    f"[weather.forecast(city='a', days=0x{'f' * 4000})]",
    "weather.forecast(days=2**3 + -1, city='a' * 3, x=f(y=1)[0], **{'z': 1})",
)
"""Calls as they are written in each syntax."""

texts = mutate_texts(WRITTEN) | hostile_text
tool_calls = st.lists(
    st.builds(
        ToolCall,
        st.sampled_from(["weather.forecast", "weather_forecast"]) | words,
        texts | json_values.map(json.dumps) | json_values,
    )
    | texts,
    max_size=3,
).map(tuple)
completions = st.builds(Completion, text=st.none() | texts, tool_calls=st.none() | st.none() | tool_calls)
"""What a model, or the file of a replay, could hold for an answer."""

_LEAVES = (
    *("0", "1", "-1", "True", "None", "...", "1.5", "9e999", "1j", "99999", "10**9", "2**64", "x", "f()"),
    *("''", "'ab'", "b'ab'", "'%s'", "'%(a)999999999d'", "b'%(b).999999999f'", "'%*d'", "f'{x}'", "f''"),
    *(
        "[]",
        "[0]",
        "(1,)",
        "{}",
        "{'a': 1}",
        "{1}",
        "[[0] * 99]",
        "'rot13'",
        "'zlib'",
        "'punycode'",
        "'nope'",
    ),
)
_OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "|",
    "&",
    "^",
    "<<",
    ">>",
    "and",
    "or",
    "==",
    "<",
    "in",
)
_FUNCTIONS = (
    "str",
    "round",
    "int",
    "float",
    "sum",
    "len",
    "max",
    "pow",
    "bytes",
    "range",
    "list",
    "f",
    "abs",
)


def _grow_expression(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    few = st.lists(inner, max_size=3).map(", ".join)
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(_OPERATORS), inner),
        st.builds("{}({})".format, st.sampled_from(("-", "+", "~", "not ")), inner),
        st.builds("{}({})".format, st.sampled_from(_FUNCTIONS), few),
        few.map("[{}]".format),
        st.builds("{{{}: {}, {}: 0}}".format, inner, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}, ".format, inner).map(lambda element: f"[{element * 30}]"),
        st.integers(2, 1_200).map(
            lambda many: f"{{{', '.join(f'{key * (2**61 - 1)}: 0' for key in range(many))}}}"
        ),
    )


arithmetic = st.recursive(st.sampled_from(_LEAVES), _grow_expression, max_leaves=12)
"""Expressions of Python, with what costs much of little or fails in odd ways."""
ARITHMETIC_FORMS: Mapping[str, str] = {
    "python": "[weather.forecast(days={})]",
    "minicpm": "<|tool_call_start|>weather.forecast(days={})<|tool_call_end|>",
    "llama_3_1": "{{'name': 'f', 'parameters': {{'x': {}}}}}",
    "arch": "<tool_call>\n{{'name': 'f', 'arguments': {{'x': {}}}}}\n</tool_call>",
    "granite_3": "<tool_call>[\"{{'name': 'f', 'arguments': {{'x': {}}}}}\"]",
    "verbose_xml": '<functions><function name="f"><param name="x" type="dict" value="{}"/>'
    "</function></functions>",
}
_MISTAKE = re.compile(r"cannot be read: (?!Recursion|Memory|Value)")
"""An error that no reader means to raise."""

syntaxes = st.sampled_from(list(SYNTAXES))
languages = st.sampled_from(Language)
names = st.sampled_from(Names)
DOCS = (make_doc(), make_doc("a.b", {}, ()), make_doc("é", {"x": {"type": "any"}}))


@make_target(completion=completions, syntax=syntaxes, language=languages, named=names)
def test_any_answer_is_read(completion: Completion, syntax: str, language: Language, named: Names) -> None:
    offer = OfferedFunctions(DOCS, named)
    official = read_official(completion, syntax, language)
    corrected = read_corrected(completion, syntax, language, offer)
    assert isinstance(official, (Calls, Unreadable))
    assert isinstance(corrected, (Calls, Prose, Unreadable))
    assert not any(
        isinstance(reading, Unreadable) and _MISTAKE.search(reading.reason)
        for reading in (official, corrected)
    )
    assert repr(read_official(completion, syntax, language)) == repr(official)
    assert repr(read_corrected(completion, syntax, language, offer)) == repr(corrected)


@make_target(value=arithmetic, syntax=st.sampled_from(list(ARITHMETIC_FORMS)))
def test_arithmetic_has_a_value_of_bounded_size_or_is_unreadable(value: str, syntax: str) -> None:
    completion = Completion(text=ARITHMETIC_FORMS[syntax].format(value))
    offer = OfferedFunctions(DOCS, Names.DOTTED)
    for reading in (
        read_official(completion, syntax, Language.PYTHON),
        read_corrected(completion, syntax, Language.PYTHON, offer),
    ):
        if isinstance(reading, Calls):
            size = sum(measure_size(list(call.arguments.values())) for call in reading.calls)
            assert size <= 50 * len(value) + 20 * 5_000
        assert not (isinstance(reading, Unreadable) and _MISTAKE.search(reading.reason))
    with suppress(Undecodable, NoCallError, ArithmeticError, LookupError, TypeError, ValueError):
        carry_out_call(f"f({value})", {"f": lambda *given: [*given, 1]})


@make_target(completion=completions, syntax=syntaxes)
def test_any_answer_is_carried_out_as_text(completion: Completion, syntax: str) -> None:
    assert all(isinstance(text, str) for text in list_calls_to_make(completion, syntax))
    reading = read_official(completion, syntax, Language.PYTHON)
    if isinstance(reading, Calls) and (reader := SYNTAXES[syntax]) and not reader.execution_reader:
        with suppress(Undecodable):
            assert len(read_call_texts(completion, syntax)) == len(reading.calls)


@make_target(completion=completions, syntax=syntaxes, profile=st.sampled_from(Profile))
def test_any_answer_along_a_golden_path_is_read(
    completion: Completion, syntax: str, profile: Profile
) -> None:
    answer = Reader(DOCS, syntax).read(completion, profile)
    assert all(isinstance(text, str) for text in answer.texts)


_JAVA = (
    'new HashMap<String, Object>() {{ put("a", 1); put("b", new int[]{1, 2}); }}',
    'new ArrayList<String>(Arrays.asList("a", "b"))',
    'Map.of("a", 1L, "b", List.of(2.5f, null))',
    "new Integer[][]{{1}, {2}}",
    r'"a\u0041\n\"b\""',
    "0x1F_FFL",
    "(int) -1.5e3",
)
_JAVASCRIPT = (
    "{a: 1, 'b': [true, null, undefined], ...c, [d]: `e${f}`}",
    "new Map([['a', 1n], [2, new Set([3])]])",
    "(x, y) => { return x + y; }",
    "[1, -2.5e3, 0x1f, 0b1, , NaN]",
    r"'a\u{1F600}\x41\'b'",
)
_KINDS = (
    "integer",
    "float",
    "String",
    "Boolean",
    "boolean",
    "long",
    "double",
    "char",
    "byte",
    "Bigint",
    "any",
    "x",
)
_NESTED = (
    "array",
    "Array",
    "ArrayList",
    "HashMap",
    "Hashtable",
    "Queue",
    "Stack",
    "dict",
    "tuple",
    "Set",
    "Map",
)


@make_target(
    text=mutate_texts(_JAVA) | hostile_text,
    kind=st.sampled_from((*_KINDS, *_NESTED)),
    element=st.none() | st.sampled_from(_KINDS),
)
def test_any_text_is_a_value_of_java_or_stays_text(text: str, kind: str, element: str | None) -> None:
    with suppress(Undecodable):
        assert repr(java.parse_official_literal(text, kind, element)) == repr(
            java.parse_official_literal(text, kind, element)
        )
    with suppress(Undecodable):
        assert repr(java.parse_literal(text)) == repr(java.parse_literal(text))


@make_target(
    text=mutate_texts(_JAVASCRIPT) | hostile_text,
    kind=st.sampled_from((*_KINDS, *_NESTED)),
    element=st.none() | st.sampled_from(_KINDS),
)
def test_any_text_is_a_value_of_javascript_or_stays_text(text: str, kind: str, element: str | None) -> None:
    with suppress(Undecodable):
        assert repr(javascript.parse_official_literal(text, kind, element)) == repr(
            javascript.parse_official_literal(text, kind, element)
        )
    with suppress(Undecodable):
        assert repr(javascript.parse_literal(text)) == repr(javascript.parse_literal(text))


@make_target(
    text=mutate_texts(WRITTEN)
    | hostile_text
    | mutate_texts(["f(x=g(1)[0]['a'], y=-2**9)", "f(*[1], **{'a': 'b'*3})"])
)
def test_any_text_is_carried_out_or_is_no_call(text: str) -> None:
    functions: dict[str, Callable[..., object]] = {
        "f": lambda *a, **k: {"a": [*a, *k.values()]},
        "g": lambda *a: [*a],
        "weather.forecast": dict,
    }
    with suppress(Exception):  # as those do who carry calls out
        carry_out_call(text, functions)


@make_target(
    text=mutate_texts(["lambda x: x**2 + 3*x - 1", "lambda x: 2**x", "x**2", "lambda x: 1/x if x else 0"])
    | hostile_text,
    at=st.floats() | st.integers(-9, 10**30),
)
def test_any_text_is_a_function_of_a_number_or_none(text: str, at: float) -> None:
    with suppress(Undecodable, ArithmeticError, TypeError, ValueError):
        read_function(text)(at)


# Writing


@make_target(calls=draw_calls(literals), named=names)
def test_prompted_calls_are_read_back(calls: list[object], named: Names) -> None:
    assert_read_back(calls, Mode.PROMPT, named)  # type: ignore[arg-type]


@make_target(calls=draw_calls(readable_values).filter(len), named=names)
def test_tool_calls_are_read_back(calls: list[object], named: Names) -> None:
    assert_read_back(calls, Mode.FC, named)  # type: ignore[arg-type]


@make_target(calls=draw_calls(literals), returned=st.sampled_from(AnswerNotation), tagged=st.booleans())
def test_calls_in_a_format_are_read_back(calls: list[object], returned: AnswerNotation, tagged: bool) -> None:
    assume(returned is not AnswerNotation.JSON)
    chosen = PromptFormat(returned, tagged)
    assert_read_back_from(render_in_format(calls, chosen), chosen, calls)  # type: ignore[arg-type]


# Showing

_SCHEMA = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from([*_KINDS, *_NESTED]) | json_values},
        optional={"description": words | json_values, "enum": json_values, "default": json_values},
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(_NESTED)},
        optional={
            "items": inner | json_values,
            "properties": st.dictionaries(words, inner, max_size=2) | json_values,
        },
    ),
    max_leaves=4,
)
docs = st.builds(
    FunctionDoc,
    words,
    words,
    st.fixed_dictionaries(
        {"type": st.just("dict"), "properties": st.dictionaries(words, _SCHEMA, max_size=3)}
    ),
    st.dictionaries(st.just("response"), json_values, max_size=1),
)


@make_target(doc=docs, language=languages, chosen=st.sampled_from(FORMATS), named=names, said=words)
def test_any_doc_is_shown(
    doc: FunctionDoc, language: Language, chosen: PromptFormat, named: Names, said: str
) -> None:
    wording = core.read_wording()
    shown = build_wire_doc(doc, wording, language, named)
    assert json.dumps(build_tool(shown, wording))
    assert isinstance(build_system_prompt([shown], wording, chosen), str)
    category = next(
        c.name for c in CATEGORIES.values() if c.language is language and c.name.startswith("simple")
    )
    entry = make_entry(category, functions=[doc], expect=[], query=said)
    for mode in Mode:
        request = build_first_request(entry, wording, Prompting.make_default(mode, named))
        assert (
            request.digest == build_first_request(entry, wording, Prompting.make_default(mode, named)).digest
        )


@make_target(value=python_values | deep_values, chosen=st.sampled_from(FORMATS))
def test_any_value_is_written_in_a_format_or_too_deep(value: object, chosen: PromptFormat) -> None:
    """JSON has no bytes and no complex numbers."""
    with suppress(RecursionError, TypeError):
        text = render_in_format([Call("f", {"x": value})], chosen)
        for profile in ("official", "corrected"):
            readers: Mapping[Language, object] = getattr(SYNTAXES[chosen.syntax], profile)
            with suppress(Undecodable):
                readers[Language.PYTHON](text)  # type: ignore[operator]
