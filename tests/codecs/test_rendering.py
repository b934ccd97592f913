"""Calls written the way a model would, and read back."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.codecs.decoders import java, javascript
from pytest_fcbench.codecs.decoders.registry import (
    SYNTAXES,
    OfferedFunctions,
    read_corrected,
    read_official,
)
from pytest_fcbench.codecs.decoders.syntax import Calls, Prose, Unreadable
from pytest_fcbench.codecs.rendering import render_completion, render_in_format
from pytest_fcbench.domain.entry import Entry, Variation
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import (
    DEFAULT_SYNTAX,
    AnswerNotation,
    Mode,
    Names,
    PromptFormat,
    Prompting,
)
from pytest_fcbench.domain.transcript import Call, Completion, ToolCall
from tests.cases import each_case
from tests.factories import make_doc, make_entry

CATEGORY = {
    Language.PYTHON: "simple_python",
    Language.JAVA: "simple_java",
    Language.JAVASCRIPT: "simple_javascript",
}


def make_language_entry(
    language: Language, schema: Mapping[str, object] | None = None, name: str = "A.f"
) -> Entry:
    """Make an entry with one function of one parameter ``x``."""
    doc = make_doc(name, {"x": schema or {"type": "any"}})
    return make_entry(CATEGORY[language], functions=[doc], expect=[{name: {}}])


def render_source(
    language: Language, value: object, schema: Mapping[str, object], mode: Mode = Mode.FC
) -> str:
    """Write a value as an argument: as a text of JSON, or among code."""
    completion = render_completion(
        [Call("A.f", {"x": value})],
        make_language_entry(language, schema),
        Prompting.make_default(mode, Names.DOTTED),
    )
    if mode is Mode.PROMPT:
        assert completion.text is not None
        return completion.text.removeprefix("[A.f(x=").removesuffix(")]")
    assert completion.tool_calls is not None
    (call,) = completion.tool_calls
    assert isinstance(call, ToolCall)
    text = json.loads(str(call.arguments))["x"]
    assert isinstance(text, str)
    return text


def read_both_ways(completion: Completion, entry: Entry, mode: Mode, names: Names) -> tuple[object, object]:
    """Return what the official and the corrected reading make of an answer."""
    language = entry.category.language
    return (
        read_official(completion, DEFAULT_SYNTAX[mode], language),
        read_corrected(completion, DEFAULT_SYNTAX[mode], language, OfferedFunctions(entry.functions, names)),
    )


# Python


def test_a_prompted_answer_is_a_list_of_python_calls() -> None:
    calls = [Call("a.b", {"x": "it's", "y": [1, 2.5, None]}), Call("c", {})]
    completion = render_completion(calls, make_entry("parallel"), Prompting.make_default(Mode.PROMPT))
    assert completion == Completion(text='[a.b(x="it\'s", y=[1, 2.5, None]), c()]')


def test_an_answer_by_tools_has_json_arguments_and_ids() -> None:
    calls = [Call("a.b", {"x": "é", "y": (1, True)}), Call("a.b", {})]
    completion = render_completion(calls, make_entry("parallel"), Prompting.make_default(Mode.FC))
    assert completion == Completion(
        tool_calls=(
            ToolCall("a_b", '{"x": "é", "y": [1, true]}', "call_0"),
            ToolCall("a_b", "{}", "call_1"),
        )
    )


def test_no_calls_are_an_empty_list() -> None:
    entry = make_entry("irrelevance", functions=[])
    assert render_completion([], entry, Prompting.make_default(Mode.PROMPT)) == Completion(text="[]")
    assert render_completion([], entry, Prompting.make_default(Mode.FC, Names.DOTTED)) == Completion(
        tool_calls=()
    )


def test_no_calls_are_read_back_as_none() -> None:
    entry = make_entry("irrelevance", functions=[])
    by_tools = render_completion([], entry, Prompting.make_default(Mode.FC, Names.DOTTED))
    assert read_both_ways(by_tools, entry, Mode.FC, Names.DOTTED) == (Calls(()), Prose(""))
    prompted = render_completion([], entry, Prompting.make_default(Mode.PROMPT))
    assert read_both_ways(prompted, entry, Mode.PROMPT, Names.DOTTED) == (Calls(()), Calls(()))


@pytest.mark.parametrize(("names", "shown"), [(Names.DOTTED, "a.b"), (Names.UNDERSCORED, "a_b")])
def test_a_name_is_written_as_it_was_shown(names: Names, shown: str) -> None:
    completion = render_completion(
        [Call("a.b", {})], make_entry(), Prompting.make_default(Mode.PROMPT, names)
    )
    assert completion.text == f"[{shown}()]"


words = st.text(string.ascii_lowercase, min_size=1, max_size=6).map(lambda word: f"{word}_")
dotted = st.lists(words, min_size=1, max_size=3).map(".".join)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
    | st.text(st.characters(), max_size=12)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
literals = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(scalars, inner, max_size=3)
    ),
    max_leaves=8,
)


def draw_calls(values: st.SearchStrategy[object]) -> st.SearchStrategy[list[Call]]:
    """Draw a few calls with arguments of these values."""
    return st.lists(st.builds(Call, dotted, st.dictionaries(words, values, max_size=3)), max_size=3)


@pytest.mark.parametrize("names", Names)
@given(calls=draw_calls(literals))
@settings(deadline=None)
def test_a_prompted_answer_is_read_back(names: Names, calls: list[Call]) -> None:
    assert_read_back(calls, Mode.PROMPT, names)


@pytest.mark.parametrize("names", Names)
@given(calls=draw_calls(json_values).filter(len))
@settings(deadline=None)
def test_an_answer_by_tools_is_read_back(names: Names, calls: list[Call]) -> None:
    assert_read_back(calls, Mode.FC, names)


def assert_read_back(calls: list[Call], mode: Mode, names: Names) -> None:
    """Officially under the shown names, corrected under the functions' own."""
    docs = [make_doc(call.name, {name: {"type": "any"} for name in call.arguments}) for call in calls]
    entry = make_entry("parallel", functions=docs, expect=[])
    official, corrected = read_both_ways(
        render_completion(calls, entry, Prompting.make_default(mode, names)), entry, mode, names
    )
    shown = [Call(names.show_name(call.name), call.arguments) for call in calls]
    assert repr(official) == repr(Calls(tuple(shown)))  # repr tells True from 1 and (1,) from [1]
    assert repr(corrected) == repr(Calls(tuple(calls)))


FORMS = [PromptFormat(returned, tagged) for returned in AnswerNotation for tagged in (True, False)]


def assert_read_back_from(
    text: str, chosen: PromptFormat, calls: list[Call], *, officially: bool = True
) -> None:
    """By the corrected reader, and, or not, by the official one."""
    syntax = SYNTAXES[chosen.syntax]
    assert syntax is not None
    assert repr(syntax.corrected[Language.PYTHON](text)) == repr(tuple(calls))
    assert (repr(syntax.official[Language.PYTHON](text)) == repr(tuple(calls))) is officially


@pytest.mark.parametrize(
    "chosen",
    [form for form in FORMS if form.returned is not AnswerNotation.JSON],
    ids=lambda form: form.syntax,
)
@given(calls=draw_calls(literals))
@settings(deadline=None)
def test_calls_in_a_return_format_are_read_back(chosen: PromptFormat, calls: list[Call]) -> None:
    assert_read_back_from(render_in_format(calls, chosen), chosen, calls)


@pytest.mark.parametrize("tagged", [True, False])
@given(calls=draw_calls(json_values))
@settings(deadline=None)
def test_calls_as_json_are_read_back(calls: list[Call], *, tagged: bool) -> None:
    """Officially not where what looks like the end of an object and of a list comes before both."""
    chosen = PromptFormat(AnswerNotation.JSON, tagged)
    text = render_in_format(calls, chosen)
    ends = re.findall(r"}\s*\]", text)
    assert_read_back_from(text, chosen, calls, officially=len(ends) < 2)


def test_an_end_of_the_tag_within_a_value_does_not_end_the_calls() -> None:
    calls = [Call("f", {"x": "</TOOLCALL>", "y": {"z": ["\\</TOOLCALL>", "</functions>"]}})]
    for chosen in FORMS:
        assert_read_back_from(render_in_format(calls, chosen), chosen, calls)


def test_what_xml_has_no_form_for_is_written_as_a_literal() -> None:
    calls = [Call("f", {"a": "\0", "b": " x ", "c": "\r\n\t", "d": "\ud800"})]
    concise = render_in_format(calls, PromptFormat(AnswerNotation.CONCISE_XML))
    assert """<param name="b" type="dict">' x '</param>""" in concise
    assert """<param name="d" type="dict">'\\ud800'</param>""" in concise


def test_the_answer_to_a_variation_is_in_its_format() -> None:
    entry = make_entry(functions=[make_doc("a.b")])
    told = {}
    for chosen in FORMS:
        varied = replace(entry, variation=Variation(entry.category, chosen))
        told[chosen.syntax] = render_completion(
            [Call("a.b", {"x": [1]})], varied, Prompting.make_default(Mode.PROMPT, Names.UNDERSCORED)
        ).text
    json_text = '[{"function": "a_b", "parameters": {"x": [1]}}]'
    verbose = '<param name="x" value="[1]" type="array"/>'
    verbose = f'<functions><function name="a_b"><params>{verbose}</params></function></functions>'
    concise = (
        '<functions><function name="a_b"><param name="x" type="array">[1]</param></function></functions>'
    )
    texts = ("[a_b(x=[1])]", json_text, verbose, concise)
    for returned, text in zip(AnswerNotation, texts, strict=True):
        assert told[returned] == text
        assert told[f"{returned}_tagged"] == f"<TOOLCALL>{text}</TOOLCALL>"


@pytest.mark.parametrize("parameter", ["from", "class", "is"])
def test_a_parameter_named_like_a_keyword_is_read_by_all_but_the_official_python_reader(
    parameter: str,
) -> None:
    """``f(from="a")`` is no Python, but it is how models give the parameter."""
    call = Call("f", {parameter: "a"})
    entry = make_entry(functions=[make_doc("f", {parameter: {"type": "string"}})], expect=[])
    by_tools = render_completion([call], entry, Prompting.make_default(Mode.FC, Names.DOTTED))
    assert read_both_ways(by_tools, entry, Mode.FC, Names.DOTTED) == (Calls((call,)), Calls((call,)))
    prompted = render_completion([call], entry, Prompting.make_default(Mode.PROMPT))
    official, corrected = read_both_ways(prompted, entry, Mode.PROMPT, Names.DOTTED)
    assert isinstance(official, Unreadable)
    assert corrected == Calls((call,))


# Java and JavaScript


def array_of(element: str, kind: str = "array") -> Mapping[str, object]:
    return {"type": kind, "items": {"type": element}}


J, JS = Language.JAVA, Language.JAVASCRIPT
SOURCES = {
    # id: (language, value, schema, as an argument of a tool, among code)
    "java integer": (J, 5, {"type": "integer"}, "5", "5"),
    "java long": (J, -5, {"type": "long"}, "-5L", "-5L"),
    "java float": (J, 2.5, {"type": "float"}, "2.5f", "2.5f"),
    "java double": (J, 2, {"type": "double"}, "2.0", "2.0"),
    "java boolean": (J, True, {"type": "boolean"}, "true", "true"),
    "java String": (J, 'a "b"', {"type": "String"}, 'a "b"', r'"a \"b\""'),
    "java String like a name": (J, "red", {"type": "String"}, "red", '"red"'),
    "java variable": (J, "red", {"type": "integer"}, "red", "red"),
    "java expression": (J, "new Foo(1)", {"type": "any"}, "new Foo(1)", "new Foo(1)"),
    "java any text": (J, "a b", {"type": "any"}, "a b", '"a b"'),
    "java array": (J, [1, 2], array_of("integer", "Array"), "new int[]{1, 2}", "new int[]{1, 2}"),
    "java array of texts": (
        J,
        ["a", "b"],
        array_of("String", "Array"),
        "new String[]{a, b}",
        '"""new String[]{a, b}"""',
    ),
    "java list": (
        J,
        ["a", "b"],
        array_of("String", "ArrayList"),
        'new ArrayList<String>(Arrays.asList("a", "b"))',
        'new ArrayList<String>(Arrays.asList("a", "b"))',
    ),
    "java list of longs": (
        J,
        [1],
        array_of("long", "ArrayList"),
        "new ArrayList<Long>(Arrays.asList(1L))",
        "new ArrayList<Long>(Arrays.asList(1L))",
    ),
    "java map": (
        J,
        {"a": 1},
        {"type": "HashMap"},
        'new HashMap<String, Object>() {{ put("a", 1); }}',
        '"""new HashMap<String, Object>() {{ put("a", 1); }}"""',
    ),
    "java empty map": (
        J,
        {},
        {"type": "HashMap"},
        "new HashMap<String, Object>()",
        "new HashMap<String, Object>()",
    ),
    "javascript integer": (JS, 5, {"type": "integer"}, "5", "5"),
    "javascript Bigint": (JS, 5, {"type": "Bigint"}, "5n", "5n"),
    "javascript boolean": (JS, False, {"type": "Boolean"}, "false", "false"),
    "javascript String": (JS, "a b", {"type": "String"}, "a b", '"a b"'),
    "javascript variable": (JS, "red", {"type": "dict"}, "red", "red"),
    "javascript array": (JS, ["a", 1], {"type": "array"}, '["a", 1]', '["a", 1]'),
    "javascript array of Bigint": (JS, [1, 2], array_of("Bigint"), "[1n, 2n]", "[1n, 2n]"),
    "javascript dict": (JS, {"a": "b"}, {"type": "dict"}, '{"a": "b"}', '{"a": "b"}'),
}


@each_case(("language", "value", "schema", "argument", "code"), SOURCES.values(), ids=SOURCES)
def test_values_of_java_and_javascript_are_written_as_source_text(
    language: Language, value: object, schema: Mapping[str, object], argument: str, code: str
) -> None:
    assert render_source(language, value, schema) == argument
    assert render_source(language, value, schema, Mode.PROMPT) == code


def test_a_bare_java_call_is_a_statement() -> None:
    completion = render_completion(
        [Call("f", {"x": 1})],
        make_language_entry(J, {"type": "integer"}, "f"),
        Prompting.make_default(Mode.PROMPT, Names.DOTTED),
    )
    assert completion.text == "[f(x=1);]"


@each_case(("language", "value", "schema", "argument", "code"), SOURCES.values(), ids=SOURCES)
def test_both_profiles_can_read_what_is_written(
    language: Language, value: object, schema: Mapping[str, object], argument: str, code: str
) -> None:
    """The official reading by tools and as text, the corrected one by the grammar or by the same patterns."""
    read = java.parse_literal if language is J else javascript.parse_literal
    by_pattern = java.parse_official_literal if language is J else javascript.parse_official_literal
    items = schema.get("items")
    element = str(items["type"]) if isinstance(items, Mapping) else None
    assert by_pattern(argument, str(schema["type"]), element) == value
    assert value in (argument, read(argument), by_pattern(argument, str(schema["type"]), element))


@pytest.mark.parametrize("language", [J, JS])
def test_an_empty_text_is_an_empty_argument(language: Language) -> None:
    assert render_source(language, "", {"type": "String"}) == ""


def test_both_profiles_can_read_a_key_that_is_not_ascii() -> None:
    text = render_source(J, {"é": 1}, {"type": "HashMap"})
    assert java.parse_literal(text) == {"é": 1}
    assert java.parse_official_literal(text, "HashMap") == {"é": 1}


plain_text = st.text(string.ascii_letters + "éß ", min_size=1, max_size=8).filter(
    lambda text: text == text.strip()
)
finite = st.floats(allow_nan=False, allow_infinity=False)
integers = st.integers(min_value=-(2**63), max_value=2**63)

JAVA_VALUES = {
    "integer": (integers, {"type": "integer"}),
    "long": (integers, {"type": "long"}),
    "float": (finite, {"type": "float"}),
    "double": (finite, {"type": "double"}),
    "boolean": (st.booleans(), {"type": "boolean"}),
    "array of integers": (st.lists(integers), array_of("integer", "Array")),
    "array of doubles": (st.lists(finite), array_of("double", "Array")),
    "array of booleans": (st.lists(st.booleans()), array_of("boolean", "Array")),
    "list of integers": (st.lists(integers, min_size=1), array_of("integer", "ArrayList")),
    "list of longs": (st.lists(integers, min_size=1), array_of("long", "ArrayList")),
    "list of texts": (st.lists(plain_text, min_size=1), array_of("String", "ArrayList")),
    "map": (
        st.dictionaries(words, integers | st.booleans() | words, max_size=4),
        {"type": "HashMap"},
    ),
}
JAVASCRIPT_VALUES = {
    "integer": (integers, {"type": "integer"}),
    "Bigint": (integers, {"type": "Bigint"}),
    "boolean": (st.booleans(), {"type": "Boolean"}),
    "array of integers": (st.lists(integers), array_of("integer")),
    "array of texts": (st.lists(plain_text), array_of("String")),
    "array of rows": (st.lists(st.lists(integers, min_size=1), min_size=1), array_of("array")),
    "dict": (st.dictionaries(plain_text, integers | st.booleans(), max_size=4), {"type": "dict"}),
}


@pytest.mark.parametrize(
    ("language", "values", "schema"),
    [(J, *row) for row in JAVA_VALUES.values()] + [(JS, *row) for row in JAVASCRIPT_VALUES.values()],
    ids=[f"java {name}" for name in JAVA_VALUES] + [f"javascript {name}" for name in JAVASCRIPT_VALUES],
)
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_a_plain_value_is_read_back_by_grammar_and_by_pattern(
    language: Language, values: st.SearchStrategy[object], schema: Mapping[str, object], data: st.DataObject
) -> None:
    value = data.draw(values)
    text = render_source(language, value, schema)
    items = schema.get("items")
    element = str(items["type"]) if isinstance(items, Mapping) else None
    module = java if language is J else javascript
    assert module.parse_literal(text) == value
    assert module.parse_official_literal(text, str(schema["type"]), element) == value


@given(
    value=st.recursive(
        st.none() | st.booleans() | integers | finite | st.text(max_size=12),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ).filter(lambda value: not isinstance(value, str))
)
@settings(deadline=None)
def test_javascript_reads_any_json_back_by_the_grammar(value: object) -> None:
    assert javascript.parse_literal(render_source(JS, value, {"type": "any"})) == value


@given(value=st.lists(st.text(max_size=12), max_size=4))
@settings(deadline=None)
def test_java_reads_any_texts_back_by_the_grammar(value: list[str]) -> None:
    assert java.parse_literal(render_source(J, value, array_of("String", "ArrayList"))) == value
