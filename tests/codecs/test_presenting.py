"""How functions are shown: tool schemas, or a system prompt with the docs in it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.presenting import (
    Notes,
    Prompts,
    Sentences,
    Wording,
    build_assistant_message,
    build_first_request,
    build_late_functions_request,
    build_result_messages,
    build_tool,
    build_wire_doc,
    find_shown_name,
    format_docs,
    sanitise_name,
    select_tool_calls,
)
from pytest_fcbench.domain.entry import Entry, Message, PastCall
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import (
    AnswerNotation,
    Docs,
    Layout,
    Mode,
    Names,
    Prompting,
    Reasoning,
    Style,
)
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_golden_path

PROMPTS = Prompts(
    layouts=dict.fromkeys(Layout, "{available_tools}\nOr say no."),
    styles=dict.fromkeys(Style, Sentences("", "", "", "", "", "Call these:\n{functions}")),
    output_formats=dict.fromkeys(AnswerNotation, ""),
    param_types=dict.fromkeys(AnswerNotation, ""),
    docs=dict.fromkeys(Docs, ""),
)
WORDING = Wording(
    prompts=PROMPTS,
    notes={
        Language.PYTHON: Notes(" Python, please."),
        Language.JAVA: Notes(" Java, please.", any_type=" (anything)", typed=" (a {})", elements=" (of {})"),
        Language.JAVASCRIPT: Notes(
            " JavaScript, please.",
            any_type=" (anything)",
            typed=" (a {})",
            elements=" (of {})",
            members=" (with {})",
        ),
    },
    float_note=" (a float)",
    more_functions="There is more now.",
)


def build_only_tool(
    doc: FunctionDoc, category: str = "simple_python", names: Names = Names.UNDERSCORED
) -> dict[str, object]:
    """Return the function of the only tool that is shown for a doc."""
    asked = build_first_request(
        make_entry(category, functions=[doc]), WORDING, Prompting.make_default(Mode.FC, names)
    )
    (tool,) = asked.tools
    assert tool["type"] == "function"
    function = tool["function"]
    assert isinstance(function, dict)
    return function


def build_property(schema: Mapping[str, object]) -> object:
    """Return what a tool schema says of a parameter that is declared like this."""
    parameters = build_only_tool(make_doc("f", {"x": schema}))["parameters"]
    assert isinstance(parameters, dict)
    return parameters["properties"]["x"]


def get_prompt(asked: AskModel) -> str:
    """Return the system prompt of a request."""
    assert asked.messages[0]["role"] == "system"
    return str(asked.messages[0]["content"])


def read_prompt_docs(asked: AskModel) -> list[dict[str, object]]:
    """Read the docs that stand as JSON in the system prompt of a request."""
    text = get_prompt(asked).removeprefix("Call these:\n")
    docs, _ = json.JSONDecoder().raw_decode(text)
    assert isinstance(docs, list)
    return docs


# Function calling


def test_a_tool_has_name_description_and_schema() -> None:
    assert build_only_tool(make_doc("weather.forecast")) == {
        "name": "weather_forecast",
        "description": "About weather.forecast. Python, please.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City."},
                "days": {"type": "integer", "description": "Days ahead.", "default": 1},
            },
            "required": ["city"],
        },
    }


def test_the_question_goes_as_it_is_with_tools() -> None:
    entry = make_entry(query="Bergen?")
    system = replace(entry, turns=((Message("system", "Be brief."), *entry.turns[0]),))
    assert build_first_request(system, WORDING, Prompting.make_default(Mode.FC, Names.DOTTED)).messages == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Bergen?"},
    )


@each_case(("names", "shown"), [(Names.UNDERSCORED, "a_b_c"), (Names.DOTTED, "a.b.c")], ids=str)
@each_case("mode", [Mode.FC, Mode.PROMPT])
def test_dots_are_shown_as_asked(mode: Mode, names: Names, shown: str) -> None:
    asked = build_first_request(
        make_entry(functions=[make_doc("a.b.c")]), WORDING, Prompting.make_default(mode, names)
    )
    function = asked.tools[0]["function"] if mode is Mode.FC else read_prompt_docs(asked)[0]
    assert isinstance(function, Mapping)
    assert function["name"] == shown


@each_case(
    ("name", "tool", "python"),
    [
        ("find_place", "find_place", "find_place"),
        ("Find-Place_2", "Find-Place_2", "Find_Place_2"),
        ("Get_Reviews(Tips)", "Get_Reviews-Tips-", "Get_Reviews_Tips_"),
        ("places.find", "places-find", "places_find"),
        ("x" * 70, "x" * 64, "x" * 70),
    ],
)
def test_names_that_every_interface_takes(name: str, tool: str, python: str) -> None:
    assert (sanitise_name(name, Mode.FC), sanitise_name(name, Mode.PROMPT)) == (tool, python)


@pytest.mark.parametrize("names", Names)
def test_names_of_golden_paths_are_shown_like_that_however_others_are(names: Names) -> None:
    assert find_shown_name("a.b(c)", make_golden_path(), Prompting.make_default(Mode.FC, names)) == "a-b-c-"
    assert (
        find_shown_name("a.b(c)", make_golden_path(), Prompting.make_default(Mode.PROMPT, names)) == "a_b_c_"
    )
    assert {find_shown_name("a.b", make_entry(), Prompting.make_default(mode, names)) for mode in Mode} == {
        names.show_name("a.b")
    }


def test_every_function_is_shown_in_order() -> None:
    entry = make_entry("multiple", functions=[make_doc("b"), make_doc("a")])
    tools = build_first_request(entry, WORDING, Prompting.make_default(Mode.FC, Names.DOTTED)).tools
    assert [tool["function"]["name"] for tool in tools if isinstance(tool["function"], dict)] == ["b", "a"]


def test_without_functions_there_are_no_tools() -> None:
    assert (
        build_first_request(
            make_entry("irrelevance", functions=[]), WORDING, Prompting.make_default(Mode.FC, Names.DOTTED)
        ).tools
        == ()
    )


JSON_TYPES = {
    "integer": ("integer", "byte", "short", "long", "Bigint"),
    "number": ("number", "double"),
    "string": ("string", "any", "Any", "String", "char"),
    "boolean": ("boolean", "bool"),
    "array": ("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"),
    "object": ("dict", "object", "HashMap", "Hashtable"),
}


@each_case(("declared", "shown"), [(name, shown) for shown, names in JSON_TYPES.items() for name in names])
def test_a_type_is_shown_in_the_words_of_json_schema(declared: str, shown: str) -> None:
    assert build_property({"type": declared, "default": 1}) == {"type": shown, "default": 1}


@each_case(
    "schema",
    [{"type": "Boolean"}, {"type": "date"}, {"type": ["string", "null"]}, {}],
    ids=["official gap", "unknown", "list of types", "missing"],
)
def test_any_other_type_is_shown_as_string(schema: Mapping[str, object]) -> None:
    assert build_property(schema) == {"type": "string"}


def test_a_float_is_a_number_with_a_note() -> None:
    assert build_property({"type": "float", "description": "Height."}) == {
        "type": "number",
        "format": "float",
        "description": "Height. (a float)",
    }


def test_equal_functions_are_shown_each_as_its_own_entry_writes_it() -> None:
    docs = [make_doc("f", {"by": {"type": "integer", "default": value}}) for value in (1, 1.0, True)]
    assert docs[0] == docs[1] == docs[2]
    shown = [json.dumps(build_only_tool(doc)) for doc in docs]
    assert [re.findall(r'"default": ([^},]+)', text) for text in shown] == [["1"], ["1.0"], ["true"]]


def test_a_function_that_was_shown_is_shown_anew_in_another_manner() -> None:
    doc = make_doc("a.f", {"by": {"type": "float"}})
    notes = {**WORDING.notes, Language.PYTHON: Notes(" Snakes, please.")}
    other = replace(WORDING, notes=notes, float_note=" (with a point)")
    for wording, names in ((WORDING, Names.DOTTED), (WORDING, Names.UNDERSCORED), (other, Names.DOTTED)):
        (tool,) = build_first_request(
            make_entry(functions=[doc]), wording, Prompting.make_default(Mode.FC, names)
        ).tools
        assert tool == build_tool(build_wire_doc(doc, wording, Language.PYTHON, names), wording)


def test_a_float_without_a_description_gets_the_note_as_one() -> None:
    assert build_property({"type": "float"}) == {
        "type": "number",
        "format": "float",
        "description": " (a float)",
    }


NESTED = {
    "elements": (
        {"type": "array", "items": {"type": "dict"}},
        {"type": "array", "items": {"type": "object"}},
    ),
    "elements of elements": (
        {"type": "tuple", "items": {"type": "array", "items": {"type": "float"}}},
        {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    ),
    "elements three deep stay": (
        {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "dict"}}}},
        {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "dict"}}}},
    ),
    "members": (
        {"type": "dict", "properties": {"a": {"type": "dict", "properties": {"b": {"type": "any"}}}}},
        {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}},
    ),
    "float member": (
        {"type": "dict", "properties": {"a": {"type": "float", "description": "A."}}},
        {
            "type": "object",
            "properties": {"a": {"type": "number", "format": "float", "description": "A. (a float)"}},
        },
    ),
    "members of elements": (
        {"type": "array", "items": {"type": "dict", "properties": {"a": {"type": "tuple"}}}},
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "array"}}}},
    ),
    "items beside properties stay": (
        {"type": "dict", "properties": {"a": {"type": "any"}}, "items": {"type": "dict"}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "items": {"type": "dict"}},
    ),
    "items of a string stay": (
        {"type": "string", "items": {"type": "dict"}},
        {"type": "string", "items": {"type": "dict"}},
    ),
}


@each_case(("declared", "shown"), NESTED.values(), ids=NESTED)
def test_types_inside_types_are_shown_too(declared: Mapping[str, object], shown: object) -> None:
    assert build_property(declared) == shown


def test_further_keys_of_a_doc_stay() -> None:
    doc = replace(make_doc("f"), extra={"response": {"type": "dict"}})
    assert build_only_tool(doc)["response"] == {"type": "dict"}
    assert read_prompt_docs(
        build_first_request(make_entry(functions=[doc]), WORDING, Prompting.make_default(Mode.PROMPT))
    )[0]["response"] == {"type": "dict"}


# Prompting


def test_the_docs_stand_in_the_system_prompt() -> None:
    asked = build_first_request(make_entry(query="Bergen?"), WORDING, Prompting.make_default(Mode.PROMPT))
    assert (
        get_prompt(asked)
        == """Call these:
[
    {
        "name": "weather.forecast",
        "description": "About weather.forecast. Python, please.",
        "parameters": {
            "type": "dict",
            "properties": {
                "city": {
                    "type": "string",
                    "description": "City."
                },
                "days": {
                    "type": "integer",
                    "description": "Days ahead.",
                    "default": 1
                }
            },
            "required": [
                "city"
            ]
        }
    }
]
Or say no."""
    )
    assert asked.messages[1:] == ({"role": "user", "content": "Bergen?"},)
    assert asked.tools == ()


def test_types_stay_as_declared_in_a_prompt() -> None:
    doc = make_doc("f", {"x": {"type": "float", "description": "X."}})
    parameters = read_prompt_docs(
        build_first_request(make_entry(functions=[doc]), WORDING, Prompting.make_default(Mode.PROMPT))
    )[0]["parameters"]
    assert parameters == {
        "type": "dict",
        "properties": {"x": {"type": "float", "description": "X."}},
        "required": [],
    }


def test_the_system_prompt_comes_before_the_entrys_own() -> None:
    entry = make_entry(query="Bergen?")
    entry = replace(entry, turns=((Message("system", "Be brief."), *entry.turns[0]),))
    asked = build_first_request(entry, WORDING, Prompting.make_default(Mode.PROMPT))
    assert get_prompt(asked).endswith("\nOr say no.\n\nBe brief.")
    assert [message["role"] for message in asked.messages] == ["system", "user"]


def test_a_later_system_message_stays_where_it_is() -> None:
    entry = make_entry(query="Bergen?")
    entry = replace(entry, turns=((*entry.turns[0], Message("system", "Be brief.")),))
    asked = build_first_request(entry, WORDING, Prompting.make_default(Mode.PROMPT))
    assert [message["role"] for message in asked.messages] == ["system", "user", "system"]


def test_without_functions_the_list_in_the_prompt_is_empty() -> None:
    asked = build_first_request(
        make_entry("irrelevance", functions=[]), WORDING, Prompting.make_default(Mode.PROMPT)
    )
    assert get_prompt(asked) == "Call these:\n[]\nOr say no."


# Languages


@each_case(
    ("category", "hint"),
    [
        ("simple_python", " Python, please."),
        ("simple_java", " Java, please."),
        ("simple_javascript", " JavaScript, please."),
        ("irrelevance", " Python, please."),
    ],
)
@each_case("mode", [Mode.FC, Mode.PROMPT])
def test_every_description_names_the_language(mode: Mode, category: str, hint: str) -> None:
    asked = build_first_request(
        make_entry(category, functions=[make_doc("f")]), WORDING, Prompting.make_default(mode, Names.DOTTED)
    )
    function = asked.tools[0]["function"] if mode is Mode.FC else read_prompt_docs(asked)[0]
    assert isinstance(function, Mapping)
    assert function["description"] == f"About f.{hint}"


AS_SOURCE_TEXT = {
    # id: (language, declared, shown)
    "java integer": (
        Language.JAVA,
        {"type": "integer", "description": "X.", "default": 1},
        {"type": "string", "description": "X. (a integer)", "default": 1},
    ),
    "java String": (
        Language.JAVA,
        {"type": "String", "description": "X."},
        {"type": "string", "description": "X. (a String)"},
    ),
    "java any": (
        Language.JAVA,
        {"type": "any", "description": "X."},
        {"type": "string", "description": "X. (anything)"},
    ),
    "java Array": (
        Language.JAVA,
        {"type": "Array", "description": "X.", "items": {"type": "long"}},
        {"type": "string", "description": "X. (a Array) (of long)"},
    ),
    "java ArrayList": (
        Language.JAVA,
        {"type": "ArrayList", "description": "X.", "items": {"type": "any"}},
        {"type": "string", "description": "X. (a ArrayList) (of any)"},
    ),
    "java ArrayList of anything": (
        Language.JAVA,
        {"type": "ArrayList", "description": "X."},
        {"type": "string", "description": "X. (a ArrayList)"},
    ),
    "java HashMap keeps its properties": (
        Language.JAVA,
        {"type": "HashMap", "description": "X.", "properties": {"a": {"type": "long"}}},
        {"type": "string", "description": "X. (a HashMap)", "properties": {"a": {"type": "long"}}},
    ),
    "java dict keeps its properties": (
        Language.JAVA,
        {"type": "dict", "description": "X.", "properties": {"a": {"type": "long"}}},
        {"type": "string", "description": "X. (a dict)", "properties": {"a": {"type": "long"}}},
    ),
    "javascript array": (
        Language.JAVASCRIPT,
        {"type": "array", "description": "X.", "items": {"type": "String"}},
        {"type": "string", "description": "X. (a array) (of String)"},
    ),
    "javascript dict": (
        Language.JAVASCRIPT,
        {"type": "dict", "description": "X.", "properties": {"a": {"type": "Bigint"}}},
        {"type": "string", "description": 'X. (a dict) (with {"a": {"type": "Bigint"}})'},
    ),
    "javascript dict without properties": (
        Language.JAVASCRIPT,
        {"type": "dict", "description": "X."},
        {"type": "string", "description": "X. (a dict)"},
    ),
    "no description": (Language.JAVA, {"type": "char"}, {"type": "string", "description": " (a char)"}),
    "python": (
        Language.PYTHON,
        {"type": "array", "description": "X.", "items": {"type": "any"}},
        {"type": "array", "description": "X.", "items": {"type": "any"}},
    ),
}


@each_case(("language", "declared", "shown"), AS_SOURCE_TEXT.values(), ids=AS_SOURCE_TEXT)
def test_parameters_of_java_and_javascript_are_asked_for_as_text(
    language: Language, declared: Mapping[str, object], shown: object
) -> None:
    doc = build_wire_doc(make_doc("f", {"x": declared}, ["x"]), WORDING, language, Names.DOTTED)
    assert doc["parameters"] == {"type": "dict", "properties": {"x": shown}, "required": ["x"]}


@pytest.mark.parametrize("category", ["simple_java", "simple_javascript"])
def test_a_tool_of_java_and_javascript_takes_strings_only(category: str) -> None:
    doc = make_doc("f", {"x": {"type": "float", "description": "X."}})
    parameters = build_only_tool(doc, category)["parameters"]
    assert isinstance(parameters, dict)
    assert parameters["properties"] == {"x": {"type": "string", "description": "X. (a float)"}}


# Functions that come late

LATE = [make_doc("tide.low", {"depth": {"type": "float"}}), make_doc("tide.high", {})]


@pytest.mark.parametrize(("names", "shown"), [(Names.DOTTED, "tide.low"), (Names.UNDERSCORED, "tide_low")])
def test_late_functions_are_tools_and_a_sentence(names: Names, shown: str) -> None:
    """Their descriptions get no word about the language; the types are cast."""
    told = build_late_functions_request(LATE, WORDING, Prompting.make_default(Mode.FC, names))
    assert told.messages == ({"role": "user", "content": "There is more now."},)
    first, second = (tool["function"] for tool in told.tools)
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert (first["name"], first["description"]) == (shown, "About tide.low.")
    depth = {"type": "number", "format": "float", "description": " (a float)"}
    assert first["parameters"] == {"type": "object", "properties": {"depth": depth}, "required": []}
    assert second["name"] == names.show_name("tide.high")


def test_late_functions_are_docs_before_a_sentence_in_prompting() -> None:
    """The docs as Python writes a list, their types as declared."""
    told = build_late_functions_request(LATE[1:], WORDING, Prompting.make_default(Mode.PROMPT))
    assert told == AskModel(
        (
            {
                "role": "user",
                "content": "[{'name': 'tide.high', 'description': 'About tide.high.', 'parameters': "
                "{'type': 'dict', 'properties': {}, 'required': []}}]\nThere is more now.",
            },
        )
    )


# Answers and results in later requests


@each_case(
    ("parts", "calls"),
    [
        (None, ()),
        ((), ()),
        (("a text part",), ()),
        ((ToolCall("a", "{"), "a text part", ToolCall("b", {})), (ToolCall("a", "{"), ToolCall("b", {}))),
    ],
)
def test_text_parts_are_no_tool_calls(
    parts: tuple[ToolCall | str, ...] | None, calls: tuple[ToolCall, ...]
) -> None:
    assert select_tool_calls(Completion(text="a()", tool_calls=parts)) == calls


@each_case(
    ("completion", "content"),
    [
        (Completion(text="Low."), "Low."),
        (Completion(text=""), ""),
        (Completion(), ""),
        (Completion(tool_calls=()), ""),
        (Completion(text="Low.", reasoning="hm", input_tokens=5), "Low."),
        (Completion(text="Low.", tool_calls=(ToolCall("a", "{}"),)), "Low."),
    ],
)
def test_an_answer_shown_without_calls_is_a_text(completion: Completion, content: str) -> None:
    assert build_assistant_message(completion, (), 0, 0) == {"role": "assistant", "content": content}


CALLS = (ToolCall("a", '{"b": ', "id_1"), ToolCall("c", {"d": [1]}))


@pytest.mark.parametrize("text", [None, "", "At once."])
def test_an_answer_with_calls_keeps_them_and_its_text(text: str | None) -> None:
    assert build_assistant_message(Completion(text=text, tool_calls=("x", *CALLS)), CALLS, 3, 12) == {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {"id": "t03s12c00", "type": "function", "function": {"name": "a", "arguments": '{"b": '}},
            {"id": "t03s12c01", "type": "function", "function": {"name": "c", "arguments": '{"d": [1]}'}},
        ],
    }


def test_each_tool_call_gets_its_result() -> None:
    assert build_result_messages(CALLS, ["a()", "c(d=[1])"], ["one", "two"], 3, 12) == [
        {"role": "tool", "tool_call_id": "t03s12c00", "content": "one"},
        {"role": "tool", "tool_call_id": "t03s12c01", "content": "two"},
    ]


def test_calls_in_a_text_get_one_message_for_all() -> None:
    shown = (
        "[{'role': 'tool', 'name': 'a()', 'content': 'one'}, "
        """{'role': 'tool', 'name': "b(c='d')", 'content': 'two\\n'}]"""
    )
    assert build_result_messages((), ["a()", "b(c='d')"], ["one", "two\n"], 3, 12) == [
        {"role": "user", "content": shown}
    ]


def test_without_calls_nothing_is_said() -> None:
    assert build_result_messages((), [], [], 0, 0) == []


def test_no_result_may_be_missing_in_a_text() -> None:
    with pytest.raises(ValueError, match="zip"):
        build_result_messages((), ["a()", "b()"], ["one"], 0, 0)


# Nothing is changed on the way


def make_elaborate_entry(category: str) -> Entry:
    """Make an entry with something of everything that presenting looks at."""
    doc = make_doc(
        "a.b",
        {
            "array": {"type": "array", "description": "A.", "items": {"type": "dict", "properties": {}}},
            "list": {"type": "ArrayList", "items": {"type": "any"}},
            "dict": {"type": "dict", "properties": {"float": {"type": "float", "description": "F."}}},
            "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "float"}}},
        },
        ["array"],
    )
    entry = make_entry(category, functions=[replace(doc, extra={"response": {"type": "dict"}})])
    return replace(entry, turns=((Message("system", "Be brief."), *entry.turns[0]),))


@each_case("category", ["simple_python", "simple_java", "simple_javascript"])
@each_case("mode", [Mode.FC, Mode.PROMPT])
def test_an_entry_is_the_same_after_it_was_shown(mode: Mode, category: str) -> None:
    entry = make_elaborate_entry(category)
    before = copy.deepcopy(entry)
    first = build_first_request(entry, WORDING, Prompting.make_default(mode, Names.UNDERSCORED))
    assert entry == before
    assert build_first_request(entry, WORDING, Prompting.make_default(mode, Names.UNDERSCORED)) == first


@each_case("category", ["simple_python", "simple_java", "simple_javascript"])
@each_case("mode", [Mode.FC, Mode.PROMPT])
def test_a_request_can_be_written_as_json(mode: Mode, category: str) -> None:
    asked = build_first_request(
        make_elaborate_entry(category), WORDING, Prompting.make_default(mode, Names.UNDERSCORED)
    )
    assert json.loads(json.dumps([asked.messages, asked.tools]))


# Ahead of the question


@each_case("told", ["Answer so.", "You know nothing."])
@each_case("own", ["", "Be brief."])
def test_what_the_system_says_is_one_message_in_front(told: str, own: str) -> None:
    """What is told, and what the entry itself says."""
    entry = make_entry()
    if own:
        entry = replace(entry, turns=((Message("system", own), *entry.turns[0]),))
    wording, said = WORDING, "\n\n".join(filter(None, (told, own)))
    system, user = build_first_request(
        entry, wording, Prompting.make_default(Mode.FC, Names.DOTTED), told
    ).messages
    assert system == {"role": "system", "content": said}
    assert user["role"] == "user"
    system, user = build_first_request(
        entry, wording, Prompting.make_default(Mode.PROMPT, Names.DOTTED), told
    ).messages
    assert str(system["content"]).endswith(f"Or say no.\n\n{said}")


# Answers in later requests


RAW = {
    "role": "assistant",
    "content": "<think>hm</think>\n\nNo.",
    "reasoning_content": "It rains.",
    "tool_calls": [{"id": "srv-1", "function": {"name": "f", "arguments": "{}"}, "signature": "S"}],
}
CALL = (ToolCall("f", "{}", "srv-1"),)


def test_an_answer_is_repeated_as_it_came() -> None:
    completion = Completion(text="No.", message=RAW)
    assert presenting.repeat_answer(completion, CALL, 0, 0, Reasoning.KEEP) == RAW


@each_case("content", [RAW["content"], "hm\n</think>\n\nNo.", "<think>a <think> b</think>No."])
def test_reasoning_can_be_left_out(content: object) -> None:
    completion = Completion(message={**RAW, "content": content})
    repeated = presenting.repeat_answer(completion, CALL, 0, 0, Reasoning.STRIP)
    assert repeated == {"role": "assistant", "content": "No.", "tool_calls": RAW["tool_calls"]}


def test_reasoning_among_parts_can_be_left_out() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "No."},
    ]
    repeated = presenting.repeat_answer(
        Completion(message={**RAW, "content": parts}), CALL, 0, 0, Reasoning.STRIP
    )
    assert repeated["content"] == parts[1:]


@each_case("content", ["a <think>b</think>", "<think>never closed", None, [{"text": "a"}]])
def test_only_thoughts_at_the_beginning_of_a_text_are_left_out(content: object) -> None:
    completion = Completion(message={"role": "assistant", "content": content})
    assert presenting.repeat_answer(completion, (), 0, 0, Reasoning.STRIP)["content"] == content


def test_an_answer_without_its_message_is_written_anew() -> None:
    completion = Completion(tool_calls=CALL)
    repeated = presenting.repeat_answer(completion, CALL, 2, 1, Reasoning.KEEP)
    assert repeated == presenting.build_assistant_message(completion, CALL, 2, 1)


def test_results_have_the_ids_of_the_message() -> None:
    twice = {"tool_calls": [{"id": "a"}, {"id": "a"}, {}]}
    results = presenting.build_result_messages(CALL * 3, ["f()"] * 3, ["1", "2", "3"], 0, 0, twice)
    assert [result["tool_call_id"] for result in results] == ["a", "a", None]


def test_calls_that_nobody_answered_get_an_error_where_a_server_wants_one() -> None:
    user = {"role": "user", "content": "Go."}
    asked = AskModel((user, RAW, user, RAW, {"role": "tool", "tool_call_id": "srv-1", "content": "1"}, user))
    answered = presenting.answer_unreadable_calls(asked).messages
    told = {"role": "tool", "tool_call_id": "srv-1", "content": presenting.UNREADABLE_CALLS}
    assert list(answered) == [*asked.messages[:2], told, *asked.messages[2:]]


def test_a_request_whose_calls_are_answered_stays() -> None:
    asked = AskModel((RAW, {"role": "tool", "tool_call_id": "srv-1", "content": "1"}))
    assert presenting.answer_unreadable_calls(asked) is asked


BEGUN = (
    Message("user", "Salt and tea?"),
    Message(
        "assistant", "Both.", (PastCall("shop.price", {"item": "salt"}), PastCall("stock", {"item": "thé"}))
    ),
    Message("tool", "2 euros"),
    Message("tool", "none left"),
)


def test_past_calls_are_shown_as_tool_calls_with_their_results() -> None:
    entry = replace(make_entry(), turns=(BEGUN,))
    request = build_first_request(entry, WORDING, Prompting.make_default(Mode.FC))
    question, answer, *results = request.messages
    assert question == {"role": "user", "content": "Salt and tea?"}
    wire_calls = answer["tool_calls"]
    assert isinstance(wire_calls, list)
    assert answer["content"] == "Both."
    assert [each["function"] for each in wire_calls] == [
        {"name": "shop_price", "arguments": '{"item": "salt"}'},
        {"name": "stock", "arguments": '{"item": "thé"}'},
    ]
    ids = [each["id"] for each in wire_calls]
    assert len(set(ids)) == 2
    assert results == [
        {"role": "tool", "tool_call_id": ids[0], "content": "2 euros"},
        {"role": "tool", "tool_call_id": ids[1], "content": "none left"},
    ]


def test_past_calls_are_shown_as_text_where_calls_are_text() -> None:
    entry = replace(make_entry(), turns=(BEGUN,))
    _, _, answer, results = build_first_request(entry, WORDING, Prompting.make_default(Mode.PROMPT)).messages
    assert answer == {"role": "assistant", "content": "Both.\n[shop.price(item='salt'), stock(item='thé')]"}
    assert results["role"] == "user"
    assert results["content"] == repr(
        [
            {"role": "tool", "name": "shop.price(item='salt')", "content": "2 euros"},
            {"role": "tool", "name": "stock(item='thé')", "content": "none left"},
        ]
    )


def test_a_tool_message_without_a_call_stays_where_it_is() -> None:
    said = (Message("user", "Salt?"), Message("tool", "2 euros"), *BEGUN)
    request = build_first_request(
        replace(make_entry(), turns=(said,)), WORDING, Prompting.make_default(Mode.FC)
    )
    assert request.messages[1] == {"role": "tool", "content": "2 euros"}
    assert [each["content"] for each in request.messages[-2:]] == ["2 euros", "none left"]


DOC = {
    "name": "garden.water",
    "description": "Water a bed.",
    "parameters": {
        "type": "dict",
        "properties": {
            "bed": {"type": "string", "description": "Which.", "enum": ["a", "b"], "default": "a, b"},
            "times": {"type": "array", "items": {"type": "integer"}},
            "valve": {
                "type": "dict",
                "description": "Settings.",
                "properties": {"open": {"type": "boolean"}, "flow": {"type": "float"}},
                "required": ["open"],
            },
            "names": {"type": "dict", "additionalProperties": {"type": "number"}},
        },
        "required": ["bed"],
    },
}

XML = """\
<function name="garden.water">
  <desc>Water a bed.</desc>
  <params>
    <param name="bed" type="string" required="true" default="'a b'">
      <desc>Which. Enum values: ['a', 'b'].</desc>
    </param>
    <param name="times" type="array[integer]" required="false">
      <desc></desc>
    </param>
    <param name="valve" type="dict" required="false">
      <desc>Settings.</desc>
      <params>
        <param name="open" type="boolean" required="true">
          <desc></desc>
        </param>
        <param name="flow" type="float" required="false">
          <desc></desc>
        </param>
      </params>
    </param>
    <param name="names" type="dict[number]" required="false">
      <desc></desc>
    </param>
  </params>
</function>
"""

PYTHON = '''\
# Function: garden.water
    """
    Water a bed.

    Args:
        bed (str, default='a, b'): Which. Enum values: ['a', 'b'].
        times (list[int]): \n\
        valve (dict): Settings.
            open (bool): \n\
            flow (float): \n\
        names (dict[str, float]): \n\
    """
'''


def test_docs_as_json_are_an_indented_list() -> None:
    assert format_docs([DOC, DOC], Docs.JSON) == json.dumps([DOC, DOC], indent=4)


def test_docs_as_xml_stand_one_below_the_other() -> None:
    assert format_docs([DOC, DOC], Docs.XML) == f"{XML}\n{XML}"


def test_docs_as_python_have_empty_lines_between_them() -> None:
    assert format_docs([DOC, DOC], Docs.PYTHON) == f"{PYTHON}\n\n\n\n\n{PYTHON}\n\n\n"


def test_where_nothing_says_which_are_required_all_are() -> None:
    bare = {"name": "f", "parameters": {"properties": {"x": {"properties": {"y": {}}}}}}
    text = format_docs([bare], Docs.XML)
    assert text.count('required="true"') == 2
    assert text.count('type="string"') == 2


@pytest.mark.parametrize(("form", "text"), [(Docs.PYTHON, ""), (Docs.XML, ""), (Docs.JSON, "[]")])
def test_without_functions_there_is_no_text_or_an_empty_list(form: Docs, text: str) -> None:
    assert format_docs([], form) == text


_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "items", "properties", "required", "enum", "additionalProperties", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("form", Docs)
@given(schema=_json_values)
def test_odd_schemas_are_shown_too(form: Docs, schema: object) -> None:
    doc = {"name": "f", "description": "F.", "parameters": {"properties": {"x": schema}}}
    assert "f" in format_docs([doc], form)
