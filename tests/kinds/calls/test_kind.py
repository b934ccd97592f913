"""Lines of official score files on wrong calls: their fields, and the values in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CallPair, FailedEntry
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Fault,
    Party,
    PathSettings,
    ToolCall,
    drive_conversation,
)
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.calls import verdict as ast_matcher
from pytest_fcbench.kinds.calls.kind import PARALLEL
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.kinds.calls.verdict import SURPLUS
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.table import converse
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_transcript, tool_calls
from tests.kinds.golden_path.talking import FC
from tests.kinds.official_rows import QUESTION, write_and_read_row
from tests.kinds.test_chat import CORE


def test_a_wrong_value_is_told_with_call_and_truth() -> None:
    truth = [{"weather.forecast": {"city": ["Bergen"]}}]
    row = write_and_read_row(make_entry(), "[weather.forecast(city='Oslo', days=(1, 2j))]", truth)
    assert row == {
        "id": "simple_python_0",
        "model_name": "my_model",
        "test_category": "simple_python",
        "valid": False,
        "error": ["weather.forecast: city is 'Oslo', accepted: ['Bergen']"],
        "error_type": "value_error:string",
        "prompt": QUESTION,
        "model_result_raw": "raw",
        "model_result_decoded": [{"weather.forecast": {"city": "Oslo", "days": "(1, 2j)"}}],
        "possible_answer": truth,
    }
    assert row is not None
    assert list(row)[4:] == [
        "error",
        "error_type",
        "prompt",
        "model_result_raw",
        "model_result_decoded",
        "possible_answer",
    ]


@pytest.mark.parametrize("answer", ["Bergen is nice.", Completion(text="x", fault=Fault.OVERFLOW)])
def test_what_cannot_be_read_has_nothing_decoded(answer: str | Completion) -> None:
    """The error of a call is read as any text."""
    row = write_and_read_row(make_entry(), answer, result=["raw"])
    assert row is not None
    assert row["error_type"] == "ast_decoder:decoder_failed"
    assert row["model_result_raw"] == ["raw"]
    assert "model_result_decoded" not in row


@each_case(
    ("category", "answer", "decoded"),
    [
        pytest.param(
            "simple_python", tool_calls(("f", "{}"), ("g", "[1]")), "[{'f': {}}, {'g': [1]}]", id="list"
        ),
        pytest.param("simple_python", tool_calls(("f", 7)), "[{'f': 7}]", id="not even text"),
        pytest.param("simple_java", "", "{}", id="Java"),
        pytest.param("simple_javascript", "hello", "None", id="JavaScript"),
    ],
)
def test_what_is_read_as_something_else_is_shown_as_text(
    category: str, answer: Completion | str, decoded: str
) -> None:
    row = write_and_read_row(make_entry(category), answer, result=[{"f": 1}])
    assert row is not None
    assert row["error_type"] == "ast_decoder:decoder_wrong_output_format"
    assert row["model_result_raw"] == "[{'f': 1}]"
    assert row["model_result_decoded"] == decoded


def test_an_argument_without_a_name() -> None:
    """Only a text can have one; a model that calls its argument so in JSON means it."""
    for answer, name in (("[f(**d)]", "null"), (tool_calls(("f", '{"**": "d"}')), "**")):
        row = write_and_read_row(make_entry(), answer)
        assert row is not None
        assert row["model_result_decoded"] == [{"f": {name: "d"}}]


def test_where_no_call_matches_each_that_is_left_is_told() -> None:
    docs = [make_doc("f", {"n": {"type": "integer"}}, ["n"])]
    truth = [{"f": {"n": [number]}} for number in (1, 2, 3)]
    entry = make_entry("parallel", functions=docs, expect=truth)
    row = write_and_read_row(entry, "[f(n='x'), f(n=1), g()]", truth)
    assert row is not None
    assert row["error_type"] == "parallel_function_checker_no_order:cannot_find_match"
    errors = row["error"]
    assert isinstance(errors, list)
    assert isinstance(errors[0], str)
    assert errors[1:] == [
        {
            f"Model Result Index {index}": {
                "sub_error": [reason],
                "sub_error_type": code,
                "model_output_item": call,
                "possible_answer_item": truth[1],
            }
        }
        for index, reason, code, call in (
            (0, "f: n is 'x', accepted: [2]", "type_error:simple", {"f": {"n": "x"}}),
            (2, "g was called, f expected", "simple_function_checker:wrong_func_name", {"g": {}}),
        )
    ]


FORECAST = "weather.forecast"


def pair_answer(
    entry: Entry, answer: Completion | str, profile: Profile = Profile.OFFICIAL
) -> tuple[CallPair, ...]:
    return PARALLEL.pair_calls(
        FailedEntry(entry, make_transcript(answer), Failed("code", "why"), profile), None
    )


def list_wrong(pairs: Sequence[CallPair]) -> list[tuple[int, str]]:
    """List the wrong arguments by the number of their call, a wrong call as ``call``."""
    found = [(n, "call") for n, pair in enumerate(pairs) if pair.wrong]
    return found + [(n, each.name) for n, pair in enumerate(pairs) for each in pair.arguments if each.wrong]


def test_a_wrong_value_stands_beside_the_accepted_ones() -> None:
    (pair,) = pair_answer(make_entry(), f"[{FORECAST}(city='Oslo', days=1)]")
    city, days = pair.arguments
    assert (city.name, city.found, city.expected, city.wrong) == ("city", "'Oslo'", "'Bergen'", True)
    assert (days.found, days.expected, days.wrong) == ("1", "1 or left out", False)
    assert not pair.wrong


def test_a_call_that_is_right_has_no_mark() -> None:
    (pair,) = pair_answer(make_entry(), f"[{FORECAST}(city='Bergen')]")
    assert list_wrong([pair]) == []


@pytest.mark.parametrize("profile", list(Profile))
def test_what_is_missing_and_what_is_too_many_is_marked(profile: Profile) -> None:
    doc = make_doc(
        properties={"city": {"type": "string"}, "days": {"type": "integer"}}, required=("city", "days")
    )
    entry = make_entry(functions=[doc], expect=[{doc.name: {"city": ["Bergen"], "days": [2]}}])
    (pair,) = pair_answer(entry, f"[{FORECAST}(city='Bergen', unit='C')]", profile)
    assert list_wrong([pair]) == [(0, "days"), (0, "unit")]
    days, unit = pair.arguments[1:]
    assert (days.found, days.expected) == (None, "2")
    assert (unit.found, unit.expected) == ("'C'", None)


def test_another_function_is_marked_and_its_arguments_are_not() -> None:
    (pair,) = pair_answer(make_entry(), "[other(city='Oslo')]")
    assert (pair.found, pair.expected, pair.wrong) == ("other", FORECAST, True)
    assert list_wrong([pair]) == [(0, "call")]


def test_names_are_shown_as_the_model_saw_them() -> None:
    called = Completion(text=None, tool_calls=(ToolCall("weather_forecast", '{"city": "Oslo"}'),))
    (pair,) = pair_answer(make_entry(), called)
    assert (pair.found, pair.expected, pair.wrong) == ("weather_forecast", "weather_forecast", False)
    assert list_wrong([pair]) == [(0, "city")]


def test_calls_in_parallel_are_paired_by_what_fits() -> None:
    entry = make_entry(
        "parallel",
        expect=[{FORECAST: {"city": [city], "days": [1, ""]}} for city in ("Bergen", "Oslo", "Bodø")],
    )
    pairs = pair_answer(entry, f"[{FORECAST}(city='Oslo'), {FORECAST}(city='Rome'), hello()]")
    assert [(pair.found, pair.arguments[0].expected, pair.arguments[0].found) for pair in pairs] == [
        (FORECAST, "'Bergen'", "'Rome'"),
        (FORECAST, "'Oslo'", "'Oslo'"),
        ("hello", "'Bodø'", None),
    ]
    assert list_wrong(pairs) == [(2, "call"), (0, "city")]


def test_a_call_is_paired_with_the_expected_one_that_is_most_alike() -> None:
    entry = make_entry(
        "parallel",
        expect=[{FORECAST: {"city": [city], "days": [3]}} for city in ("Bergen", "Oslo")],
    )
    first, second = pair_answer(entry, f"[{FORECAST}(city='Oslo', days=2)]")
    assert (first.found, second.found) == (None, FORECAST)
    assert list_wrong([second]) == [(0, "days")]


def test_calls_that_are_missing_or_too_many_have_no_partner() -> None:
    entry = make_entry("parallel", expect=[{FORECAST: {"city": ["Bergen"], "days": [""]}}] * 2)
    (first, second) = pair_answer(entry, f"[{FORECAST}(city='Bergen')]")
    assert (list_wrong([first]), second.found, second.wrong) == ([], None, True)
    *_, third = pair_answer(entry, f"[{', '.join([f'{FORECAST}(city=' + repr('Bergen') + ')'] * 3)}]")
    assert (third.found, third.expected, third.wrong) == (FORECAST, None, True)


def test_marks_follow_the_rules_of_the_profile() -> None:
    """Officially 1.0 is no whole number; corrected it is."""
    entry = make_entry(expect=[{FORECAST: {"city": ["Bergen"], "days": [1]}}])
    answer = f"[{FORECAST}(city='Bergen', days=1.0)]"
    assert list_wrong(pair_answer(entry, answer)) == [(0, "days")]
    assert list_wrong(pair_answer(entry, answer, Profile.CORRECTED)) == []


@pytest.mark.parametrize(
    ("profile", "wrong"),
    [(Profile.OFFICIAL, [(1, "city"), (2, "city")]), (Profile.CORRECTED, [(2, "city")])],
)
def test_calls_stand_where_the_verdict_paired_them(profile: Profile, wrong: list[tuple[int, str]]) -> None:
    """Corrected, the first two are right crosswise; officially the first takes what the second needs."""
    cities = (["Bergen", "Oslo"], ["Bergen"], ["Bodø"])
    entry = make_entry(
        "parallel", expect=[{FORECAST: {"city": accepted, "days": [""]}} for accepted in cities]
    )
    answer = f"[{', '.join(f'{FORECAST}(city={city!r})' for city in ('Bergen', 'Oslo', 'Rome'))}]"
    assert list_wrong(pair_answer(entry, answer, profile)) == wrong


@pytest.mark.parametrize("profile", list(Profile))
def test_a_parameter_that_only_the_doc_knows_is_marked(profile: Profile) -> None:
    entry = make_entry(expect=[{FORECAST: {"days": [1]}}])
    (pair,) = pair_answer(entry, f"[{FORECAST}(days=1)]", profile)
    (city,) = (argument for argument in pair.arguments if argument.wrong)
    assert (city.name, city.found, city.expected) == ("city", None, "a value")


def test_an_argument_without_a_parameter_is_marked() -> None:
    (pair,) = pair_answer(make_entry(), f"[{FORECAST}('Bergen', 1, 'C')]", Profile.CORRECTED)
    (surplus,) = (argument for argument in pair.arguments if argument.wrong)
    assert (surplus.name, surplus.found) == (SURPLUS, "'C'")


def test_a_default_that_is_written_out_is_not_marked() -> None:
    entry = make_entry(expect=[{FORECAST: {"city": ["Bergen"]}}])
    (pair,) = pair_answer(entry, f"[{FORECAST}(city='Oslo', days=1)]", Profile.CORRECTED)
    assert list_wrong([pair]) == [(0, "city")]


def test_a_text_that_the_judge_took_is_not_marked() -> None:
    bodies = ("I am ill.", "I stay at home.")
    doc = make_doc("mail", {"body": {"type": "string"}}, ["body"])
    calls = tuple(ExpectedCall("mail", {"body": [body]}, judged=("body",)) for body in bodies)
    entry = replace(make_entry("parallel", functions=[doc], expect=[]), expectation=ExpectedCalls(calls))

    def answer(request: AskModel) -> Completion:
        if request.party is Party.MODEL:
            return tool_calls(*(("mail", {"body": body}) for body in ("I am sick.", "Hello!")))
        asked = str(request.messages[1]["content"])
        is_same = '"I am sick."' in asked and bodies[0] in asked
        return Completion(text=json.dumps({"same": is_same, "reason": "Read both."}))

    settings = PathSettings(Profile.OFFICIAL, judge="wise")
    transcript = drive_conversation(converse(entry, ConversationContext(FC, CORE, settings)), answer)
    failed = FailedEntry(entry, transcript, Failed("code", "why"), Profile.CORRECTED)
    assert list_wrong(PARALLEL.pair_calls(failed, None)) == [(1, "body")]


VALUES = st.sampled_from(["Bergen", "bergen", "", 1, 1.0, "1", True, None, ["Bergen"]])
NAMES = st.sampled_from([FORECAST, "alarm", "gone"])
PARAMETERS = st.sampled_from(["city", "days", "unit"])
EXPECTED = st.tuples(NAMES, st.dictionaries(PARAMETERS, st.lists(VALUES, min_size=1, max_size=3)))
MADE = st.tuples(NAMES, st.lists(VALUES, max_size=3), st.dictionaries(PARAMETERS, VALUES))


@given(
    category=st.sampled_from(["simple_python", "multiple", "parallel"]),
    expected=st.lists(EXPECTED, min_size=1, max_size=3),
    made=st.lists(MADE, min_size=1, max_size=3),
    profile=st.sampled_from(Profile),
)
def test_something_is_marked_exactly_where_the_verdict_is_a_failure(
    category: str,
    expected: list[tuple[str, dict[str, list[object]]]],
    made: list[tuple[str, list[object], dict[str, object]]],
    profile: Profile,
) -> None:
    """Nothing in the pairs is unmarked that failed, and nothing is marked in a right answer."""
    if category != "parallel":
        del expected[1:]
    entry = make_entry(
        category,
        functions=[make_doc(), make_doc("alarm", {})],
        expect=[{name: accepted} for name, accepted in expected],
    )
    calls = (
        f"{name}({', '.join([*map(repr, placed), *(f'{key}={value!r}' for key, value in named.items())])})"
        for name, placed, named in made
    )
    transcript = make_transcript(f"[{', '.join(calls)}]")
    verdict = ast_matcher.judge(entry, transcript).select_profile(profile)
    pairs = PARALLEL.pair_calls(FailedEntry(entry, transcript, Failed("code", "why"), profile), None)
    is_unreadable = isinstance(verdict, Failed) and "decod" in verdict.code
    assert bool(pairs) != is_unreadable
    assert bool(list_wrong(pairs)) == (isinstance(verdict, Failed) and not is_unreadable)
