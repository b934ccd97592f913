"""Lines of official score files on wrong calls, and on abstentions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings

from pytest_fcbench.codecs.function_docs.json_schema import describe_function
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc, Language, conforms_to_schema
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed
from pytest_fcbench.kinds.relevance import judge, make_call
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, must_end, wild_text
from tests.factories import make_doc, make_entry, make_transcript, tool_calls
from tests.kinds.official_rows import write_and_read_row
from tests.kinds.outcomes import name_outcome, name_outcomes


def test_a_right_call_has_a_value_of_each_declared_type() -> None:
    docs = {word: make_doc("f", {"x": {"type": word, "enum": ["a"]}}, ["x"]) for word in ("array", "list")}
    docs |= {word: make_doc("f", {"x": {"type": word}}, ["x"]) for word in TYPES[Language.PYTHON]}
    for word, doc in docs.items():
        (value,) = make_call(doc).arguments.values()
        assert conforms_to_schema(value, doc.properties["x"]), word


@each_case(
    ("category", "answer", "decoded", "code"),
    [
        pytest.param(
            "irrelevance", "[f(x=1)]", [{"f": {"x": 1}}], "irrelevance_error:decoder_success", id="call"
        ),
        pytest.param("live_relevance", "Hm.", None, "relevance_error:decoder_failed", id="prose"),
        pytest.param("live_relevance", "[]", [], "relevance_error:decoder_failed", id="no call"),
        pytest.param(
            "live_relevance", tool_calls(("f", "7")), [{"f": 7}], "relevance_error:decoder_failed", id="odd"
        ),
    ],
)
def test_a_wrong_call_or_abstention_is_told(
    category: str, answer: str | Completion, decoded: object, code: str
) -> None:
    row = write_and_read_row(make_entry(category), answer)
    assert row is not None
    assert list(row)[3:] == ["valid", "prompt", "model_result", "decoded_result", "error", "error_type"]
    assert (row["model_result"], row["decoded_result"], row["error_type"]) == ("raw", decoded, code)


def test_the_reason_of_an_entry_that_is_set_aside_is_the_doubt() -> None:
    entry = replace(make_entry("irrelevance"), set_aside="climate answers it")
    judgement = judge(entry, make_transcript("[climate(x=1)]"))
    assert isinstance(judgement.official, Failed)
    assert judgement.official.reason == "climate was called, and the entry is doubtful: climate answers it"
    assert judgement.corrected == NotScored(SET_ASIDE, "climate answers it")


CALLED = "irrelevance_error:decoder_success"
NOT_CALLED = "relevance_error:decoder_failed"


def judge_text(category: str, answer: str) -> tuple[str | None, str | None]:
    return name_outcomes(judge(make_entry(category), make_transcript(answer)))


def by_tools(category: str, completion: Completion) -> tuple[str | None, str | None]:
    return name_outcomes(judge(make_entry(category), make_transcript(completion, mode=Mode.FC)))


# No function fits

IRRELEVANCE_PROMPTED = {
    # id: (answer, official code, corrected code); weather.forecast is offered
    "prose": ("I cannot help with that.", None, None),
    "nothing": ("", None, None),
    "empty list": ("[]", None, None),
    "empty list in a fence": ("```python\n[]\n```", None, None),
    "call": ("[weather.forecast(city='Bergen')]", CALLED, "irrelevance:call"),
    "bare call": ("weather.forecast()", CALLED, "irrelevance:call"),
    "call of another function": ("[climate(city='Bergen')]", CALLED, "irrelevance:call"),
    "call in a python fence": (
        "```python\n[weather.forecast(city='Bergen')]\n```",
        None,
        "irrelevance:call",
    ),
    "call after words": (
        "Sure: weather.forecast(city='Bergen')",
        None,
        "irrelevance:unreadable_call",
    ),
    "cut call": ("[weather.forecast(city='Ber", None, "irrelevance:unreadable_call"),
    "call with an odd value": ("[weather.forecast(city=Town.X)]", None, "irrelevance:call"),
    "words that read as a call": ("Sorry (really)", CALLED, None),
    "words about the function": ("The function weather.forecast does not do that.", None, None),
    "call in JSON": (
        '{"name": "weather.forecast", "arguments": {"city": "Bergen"}}',
        None,
        "irrelevance:unreadable_call",
    ),
}


@each_case(("answer", "official", "corrected"), IRRELEVANCE_PROMPTED.values(), ids=IRRELEVANCE_PROMPTED)
@each_case("category", ["irrelevance", "live_irrelevance"])
def test_irrelevance_of_a_prompted_answer(
    category: str, answer: str, official: str | None, corrected: str | None
) -> None:
    assert judge_text(category, answer) == (official, corrected)


IRRELEVANCE_BY_TOOLS = {
    "prose": (Completion(text="I cannot."), None, None),
    "nothing": (Completion(), None, None),
    "no calls": (Completion(tool_calls=()), None, None),
    "call": (tool_calls(("weather_forecast", '{"city": "Bergen"}')), CALLED, "irrelevance:call"),
    "broken arguments": (tool_calls(("weather_forecast", "{")), None, "irrelevance:unreadable_call"),
    "empty arguments": (tool_calls(("weather_forecast", "")), None, "irrelevance:call"),
    "arguments in a list": (tool_calls(("weather_forecast", "[]")), None, "irrelevance:unreadable_call"),
    "text beside the call": (
        Completion(tool_calls=("Well:", ToolCall("weather_forecast", "{}"))),
        None,
        "irrelevance:call",
    ),
    "call as text": (Completion(text="<tool_call>{}"), None, "irrelevance:unreadable_call"),
}


@each_case(("completion", "official", "corrected"), IRRELEVANCE_BY_TOOLS.values(), ids=IRRELEVANCE_BY_TOOLS)
def test_irrelevance_of_an_answer_by_tools(
    completion: Completion, official: str | None, corrected: str | None
) -> None:
    assert by_tools("irrelevance", completion) == (official, corrected)


def test_the_reason_names_the_call_that_should_not_be() -> None:
    judgement = judge(make_entry("irrelevance"), make_transcript("[climate(x=1), weather.forecast()]"))
    assert isinstance(judgement.official, Failed)
    assert isinstance(judgement.corrected, Failed)
    assert judgement.official.reason == "climate was called, though no function fits"
    assert judgement.official.details == judgement.corrected.details == {"found": "climate"}


# Some function fits

RELEVANCE_PROMPTED = {
    # id: (answer, official code, corrected code); weather.forecast(city, days=1) is offered
    "call": ("[weather.forecast(city='Bergen')]", None, None),
    "any value of the type": ("[weather.forecast(city='', days=-7)]", None, None),
    "positional": ("[weather.forecast('Bergen', 3)]", None, None),
    "two calls": ("[weather.forecast(city='Bergen'), weather.forecast(city='Oslo')]", None, None),
    "python fence": ("```python\n[weather.forecast(city='Bergen')]\n```", NOT_CALLED, None),
    "whole float": ("[weather.forecast(city='Bergen', days=3.0)]", None, None),
    "prose": ("I cannot help with that.", NOT_CALLED, "relevance:no_call"),
    "nothing": ("", NOT_CALLED, "relevance:no_call"),
    "empty list": ("[]", NOT_CALLED, "relevance:no_call"),
    "words that read as a call": ("Sorry (really)", None, "relevance:no_call"),
    "cut call": ("[weather.forecast(city='Ber", NOT_CALLED, "relevance:unreadable_call"),
    "unknown function": ("[climate(city='Bergen')]", None, "relevance:unknown_function"),
    "one unknown function": (
        "[weather.forecast(city='Bergen'), climate(city='Bergen')]",
        None,
        "relevance:unknown_function",
    ),
    "required parameter missing": (
        "[weather.forecast(days=3)]",
        None,
        "simple_function_checker:missing_required",
    ),
    "unknown parameter": (
        "[weather.forecast(city='Bergen', hour=3)]",
        None,
        "simple_function_checker:unexpected_param",
    ),
    "unpacked parameters": (
        "[weather.forecast(city='Bergen', **more)]",
        None,
        "simple_function_checker:unexpected_param",
    ),
    "wrong type": ("[weather.forecast(city=5)]", None, "type_error:simple"),
    "True for an integer": ("[weather.forecast(city='Bergen', days=True)]", None, "type_error:simple"),
}


@each_case(("answer", "official", "corrected"), RELEVANCE_PROMPTED.values(), ids=RELEVANCE_PROMPTED)
def test_relevance_of_a_prompted_answer(answer: str, official: str | None, corrected: str | None) -> None:
    assert judge_text("live_relevance", answer) == (official, corrected)


RELEVANCE_BY_TOOLS = {
    "call": (tool_calls(("weather_forecast", '{"city": "Bergen"}')), None, None),
    "own name": (tool_calls(("weather.forecast", '{"city": "Bergen"}')), None, None),
    "broken arguments": (tool_calls(("weather_forecast", "{")), NOT_CALLED, "relevance:unreadable_call"),
    "empty arguments": (
        tool_calls(("weather_forecast", "")),
        NOT_CALLED,
        "simple_function_checker:missing_required",
    ),
    "prose": (Completion(text="I cannot."), NOT_CALLED, "relevance:no_call"),
    "no calls": (Completion(tool_calls=()), NOT_CALLED, "relevance:no_call"),
    "nothing": (Completion(), NOT_CALLED, "relevance:no_call"),
}


@each_case(("completion", "official", "corrected"), RELEVANCE_BY_TOOLS.values(), ids=RELEVANCE_BY_TOOLS)
def test_relevance_of_an_answer_by_tools(
    completion: Completion, official: str | None, corrected: str | None
) -> None:
    assert by_tools("live_relevance", completion) == (official, corrected)


def test_a_surplus_positional_argument_is_an_unknown_parameter() -> None:
    _, corrected = judge_text("live_relevance", "[weather.forecast('Bergen', 3, 'more')]")
    assert corrected == "simple_function_checker:unexpected_param"


REASONS = {
    "[climate(city='Bergen')]": "climate is not offered (offered: weather.forecast)",
    "[weather.forecast()]": "weather.forecast: required parameter city is missing",
    "[weather.forecast(city='Bergen', hour=3)]": "weather.forecast: hour is not a parameter (came: 3)",
    "[weather.forecast(city=5)]": "weather.forecast: city is 5, accepted: 'string'",
    "[weather.forecast('Bergen', 3, 'more')]": (
        "weather.forecast: a further positional argument is not a parameter (came: 'more')"
    ),
    "I cannot.": "the answer calls nothing: 'I cannot.'",
    "[]": "the answer calls nothing",
}


@each_case(("answer", "reason"), REASONS.items(), ids=REASONS)
def test_the_reason_says_what_is_wrong_with_the_call(answer: str, reason: str) -> None:
    verdict = judge(make_entry("live_relevance"), make_transcript(answer)).corrected
    assert isinstance(verdict, Failed)
    assert verdict.reason == reason


def test_all_functions_that_are_offered_are_named() -> None:
    entry = make_entry("live_relevance", functions=[make_doc("f"), make_doc("g.h")])
    verdict = judge(entry, make_transcript("[climate(x=1)]")).corrected
    assert verdict == Failed("relevance:unknown_function", "climate is not offered (offered: f, g.h)")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I cannot.", "the answer has no call: not Python calls: "),
        ("[]", "the answer has no call: it is empty"),
    ],
)
def test_the_official_reason_says_why_there_is_no_call(answer: str, reason: str) -> None:
    verdict = judge(make_entry("live_relevance"), make_transcript(answer)).official
    assert isinstance(verdict, Failed)
    assert verdict.reason.startswith(reason)


def test_an_enumerated_parameter_names_its_options() -> None:
    doc = make_doc("f", {"unit": {"type": "string", "enum": ["m", "ft"]}})
    verdict = judge(
        make_entry("live_relevance", functions=[doc]), make_transcript("[f(unit='inch')]")
    ).corrected
    assert verdict == Failed(
        "type_error:simple",
        "f: unit is 'inch', accepted: ['m', 'ft']",
        {"function": "f", "parameter": "unit", "found": "'inch'", "accepted": "['m', 'ft']"},
    )


@each_case("value, code", [(None, None), ("m", None), (5, "type_error:simple")])
def test_null_fits_where_a_json_schema_allows_it(value: object, code: str | None) -> None:
    unit = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    entry = make_entry(
        "live_relevance", functions=[describe_function("f", "", {"properties": {"unit": unit}})]
    )
    verdict = judge(entry, make_transcript(tool_calls(("f", {"unit": value})))).corrected
    assert name_outcome(verdict) == code


# What is not scored, and what is no answer


@pytest.mark.parametrize("category", ["irrelevance", "live_relevance"])
def test_a_set_aside_entry_is_not_scored_in_the_corrected_profile(category: str) -> None:
    judgement = judge(make_entry(category, set_aside="bad data"), make_transcript("[]"))
    assert not isinstance(judgement.official, NotScored)
    assert judgement.corrected == NotScored("set_aside", "bad data")


RELEVANCE = pytest.mark.parametrize(
    ("category", "official"), [("irrelevance", None), ("live_relevance", NOT_CALLED)]
)


@RELEVANCE
@each_case("fault", [Fault.OVERFLOW, Fault.UNREADABLE_CALL])
def test_a_fault_of_its_own_is_the_models_failure_and_officially_a_text(
    category: str, official: str | None, fault: Fault
) -> None:
    """A call where none is right fails too, although nobody could read it."""
    told = Completion(text="Error during inference: it says why", fault=fault)
    assert by_tools(category, told) == (official, fault)


@RELEVANCE
def test_a_set_aside_entry_is_not_scored_even_when_it_overflowed(category: str, official: str | None) -> None:
    entry = make_entry(category, set_aside="bad data")
    judgement = judge(entry, make_transcript(Completion(fault=Fault.OVERFLOW)))
    assert name_outcomes(judgement) == (official, "not scored: set_aside")


@pytest.mark.parametrize(("category", "official"), [("irrelevance", None), ("live_relevance", NOT_CALLED)])
def test_an_inference_error_passes_irrelevance_officially_and_is_not_scored_else(
    category: str, official: str | None
) -> None:
    completion = Completion(text="Error during inference: 503", fault=Fault.INFERENCE_ERROR)
    judgement = judge(make_entry(category), make_transcript(completion))
    assert name_outcomes(judgement) == (official, "not scored: inference_error")


# Conforming to a schema

CONFORMS = {
    # id: (schema, values that conform, values that do not)
    "string": ({"type": "string"}, ["", "a"], [1, None, ["a"]]),
    "integer": ({"type": "integer"}, [0, -5, 5.0], [5.5, True, "5", float("inf"), float("nan")]),
    "float": ({"type": "float"}, [1, 1.5, float("inf")], [True, "1.5", None]),
    "number": ({"type": "number"}, [1, 1.5], [False, "1"]),
    "boolean": ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    "array": ({"type": "array"}, [[], [1, "a"], (1,)], ["a", {}, None]),
    "tuple": ({"type": "tuple"}, [[], (1,)], ["a", {}]),
    "dict": ({"type": "dict"}, [{}, {"a": 1}], [[], "a"]),
    "object": ({"type": "object"}, [{}], [[], "a"]),
    "any": ({"type": "any"}, [1, "a", None, [], {}], []),
    "unknown type": ({"type": "date"}, [1, "a"], []),
    "no type": ({}, [1, "a", None], []),
    "enum": ({"type": "string", "enum": ["a", "b"]}, ["a"], ["A", "c", 1]),
    "enum of integers": ({"type": "integer", "enum": [1, 2]}, [1, 2.0], [3, True]),
    "elements": (
        {"type": "array", "items": {"type": "integer"}},
        [[], [1, 2.0], (1, 2)],
        [["1"], [1, None], [True]],
    ),
    "elements of elements": (
        {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        [[], [["a"], []]],
        [["a"], [[1]]],
    ),
    "enumerated elements": (
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        [["a", "b", "a"]],
        [["c"]],
    ),
    "enum beside elements": (
        {"type": "array", "enum": ["a", "b"], "items": {"type": "string"}},
        [["a"]],
        ["a", [1]],
    ),
    "members": (
        {"type": "dict", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
        [{}, {"a": 1}, {"a": 1, "b": "x"}, {"c": None}],
        [{"a": "1"}, {"a": 1, "b": 2}],
    ),
}


@each_case(("schema", "values", "others"), CONFORMS.values(), ids=CONFORMS)
def test_only_conforming_values_conform_to_a_schema(
    schema: Mapping[str, object], values: list[object], others: list[object]
) -> None:
    assert [value for value in values if not conforms_to_schema(value, schema)] == []
    assert [value for value in others if conforms_to_schema(value, schema)] == []


# Whatever a model answers


@each_case("category", ["irrelevance", "live_relevance"])
@each_case("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_gets_a_verdict_at_once(text: str, category: str) -> None:
    entry = make_entry(category, functions=[make_doc("f", {"x": {"type": "integer"}})])
    completions = (Completion(text=text), tool_calls(("f", text)), tool_calls(("f", {"x": text})))

    def judge_all() -> None:
        for completion in completions:
            judge(entry, make_transcript(completion))

    must_end(judge_all)


@pytest.mark.parametrize("category", ["irrelevance", "live_relevance"])
@given(text=wild_text)
@settings(deadline=None)
def test_any_answer_gets_a_verdict(category: str, text: str) -> None:
    entry = make_entry(category, functions=[make_nested_doc()])
    for completion in (Completion(text=text), Completion(text=f"f(x={text})"), tool_calls(("f", text))):
        judgement = judge(entry, make_transcript(completion))
        assert isinstance(judgement.official, Passed | Failed)
        assert isinstance(judgement.corrected, Passed | Failed)


def make_nested_doc() -> FunctionDoc:
    """Make a function whose parameter has elements with members."""
    member = {"type": "dict", "properties": {"a": {"type": "integer", "enum": [1]}}}
    return make_doc("f", {"x": {"type": "array", "items": member}})


def test_repetition_inside_repetition_gets_a_verdict_at_once() -> None:
    rows = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    entry = make_entry("live_relevance", functions=[make_doc("f", {"x": rows})])
    transcript = make_transcript("[f(x=[[0]*1000]*1000)]")
    must_end(lambda: judge(entry, transcript))
