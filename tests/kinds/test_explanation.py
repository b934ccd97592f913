"""What a failure is explained by: the answer beside what was expected, marked as the verdict was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.explanation import CallPair, Explanation
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.kinds.calls import verdict as ast_matcher
from pytest_fcbench.kinds.execution.truth import ExpectedResponse, ExpectedResults
from pytest_fcbench.kinds.explanation import explain_failure
from pytest_fcbench.kinds.relevance.truth import AnyCall, NoCall
from pytest_fcbench.kinds.state.truth import Trajectory
from tests.factories import make_call_verdict, make_doc, make_entry, make_path_score, make_transcript

FORECAST = "weather.forecast"
FAILED = Failed("value_error:others", "why")


def explain(
    entry: Entry,
    answer: Completion | str,
    profile: Profile = Profile.OFFICIAL,
    verdict: Failed = FAILED,
    turns: Sequence[Sequence[Completion]] | None = None,
) -> Explanation:
    transcript = make_transcript(answer)
    answers = turns or transcript.answers
    return explain_failure(entry, answers, transcript.prompting, verdict, profile)


def list_wrong(pairs: Sequence[CallPair]) -> list[tuple[int, str]]:
    """List the wrong arguments by the number of their call, a wrong call as ``call``."""
    found = [(n, "call") for n, pair in enumerate(pairs) if pair.wrong]
    return found + [(n, each.name) for n, pair in enumerate(pairs) for each in pair.arguments if each.wrong]


def test_a_wrong_value_stands_beside_the_accepted_ones() -> None:
    (pair,) = explain(make_entry(), f"[{FORECAST}(city='Oslo', days=1)]").calls
    city, days = pair.arguments
    assert (city.name, city.found, city.expected, city.wrong) == ("city", "'Oslo'", "'Bergen'", True)
    assert (days.found, days.expected, days.wrong) == ("1", "1 or left out", False)
    assert not pair.wrong


def test_a_call_that_is_right_has_no_mark() -> None:
    (pair,) = explain(make_entry(), f"[{FORECAST}(city='Bergen')]").calls
    assert list_wrong([pair]) == []


@pytest.mark.parametrize("profile", list(Profile))
def test_what_is_missing_and_what_is_too_many_is_marked(profile: Profile) -> None:
    doc = make_doc(
        properties={"city": {"type": "string"}, "days": {"type": "integer"}}, required=("city", "days")
    )
    entry = make_entry(functions=[doc], expect=[{doc.name: {"city": ["Bergen"], "days": [2]}}])
    (pair,) = explain(entry, f"[{FORECAST}(city='Bergen', unit='C')]", profile).calls
    assert list_wrong([pair]) == [(0, "days"), (0, "unit")]
    days, unit = pair.arguments[1:]
    assert (days.found, days.expected) == (None, "2")
    assert (unit.found, unit.expected) == ("'C'", None)


def test_another_function_is_marked_and_its_arguments_are_not() -> None:
    (pair,) = explain(make_entry(), "[other(city='Oslo')]").calls
    assert (pair.found, pair.expected, pair.wrong) == ("other", FORECAST, True)
    assert list_wrong([pair]) == [(0, "call")]


def test_names_are_shown_as_the_model_saw_them() -> None:
    called = Completion(text=None, tool_calls=(ToolCall("weather_forecast", '{"city": "Oslo"}'),))
    (pair,) = explain(make_entry(), called).calls
    assert (pair.found, pair.expected, pair.wrong) == ("weather_forecast", "weather_forecast", False)
    assert list_wrong([pair]) == [(0, "city")]


def test_calls_in_parallel_are_paired_by_what_fits() -> None:
    entry = make_entry(
        "parallel",
        expect=[{FORECAST: {"city": [city], "days": [1, ""]}} for city in ("Bergen", "Oslo", "Bodø")],
    )
    pairs = explain(entry, f"[{FORECAST}(city='Oslo'), {FORECAST}(city='Rome'), hello()]").calls
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
    first, second = explain(entry, f"[{FORECAST}(city='Oslo', days=2)]").calls
    assert (first.found, second.found) == (None, FORECAST)
    assert list_wrong([second]) == [(0, "days")]


def test_calls_that_are_missing_or_too_many_have_no_partner() -> None:
    entry = make_entry("parallel", expect=[{FORECAST: {"city": ["Bergen"], "days": [""]}}] * 2)
    (first, second) = explain(entry, f"[{FORECAST}(city='Bergen')]").calls
    assert (list_wrong([first]), second.found, second.wrong) == ([], None, True)
    *_, third = explain(entry, f"[{', '.join([f'{FORECAST}(city=' + repr('Bergen') + ')'] * 3)}]").calls
    assert (third.found, third.expected, third.wrong) == (FORECAST, None, True)


def test_marks_follow_the_rules_of_the_profile() -> None:
    """Officially 1.0 is no whole number; corrected it is."""
    entry = make_entry(expect=[{FORECAST: {"city": ["Bergen"], "days": [1]}}])
    answer = f"[{FORECAST}(city='Bergen', days=1.0)]"
    assert list_wrong(explain(entry, answer).calls) == [(0, "days")]
    assert list_wrong(explain(entry, answer, Profile.CORRECTED).calls) == []


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize(
    "answer",
    [
        "[weather.forecast(city='Bergen')]",
        "[weather.forecast(city='Bergen', days=1)]",
        "[weather.forecast(city='Bergen', days='1')]",
        "[weather.forecast(city='bergen')]",
        "[weather.forecast(days=1)]",
        "[weather.forecast(city=['Bergen'])]",
        "[weather.forecast(city='Bergen', more=1)]",
        "[forecast(city='Bergen')]",
    ],
)
def test_something_is_marked_where_the_verdict_is_a_failure(answer: str, profile: Profile) -> None:
    entry, transcript = make_entry(), make_transcript(answer)
    passed = ast_matcher.judge(entry, transcript).select_profile(profile).status == "passed"
    pairs = explain(entry, answer, profile).calls
    assert (list_wrong(pairs) == []) == passed


def test_an_answer_without_calls_is_shown_as_it_is() -> None:
    found = explain(make_entry(), "I cannot.")
    assert (found.calls, found.found) == ((), ("I cannot.",))
    assert found.expected == (f"{FORECAST}(city='Bergen', days=1 or left out)",)
    assert explain(make_entry(), "").found == ("(an empty answer)",)
    overflow = Completion(text=None, fault=Fault.OVERFLOW)
    assert explain(make_entry(), overflow).found == ("(context_overflow)",)


def test_thousands_of_calls_are_not_compared_one_by_one() -> None:
    answer = "[" + ", ".join(f"{FORECAST}(city='Bergen')" for _ in range(51)) + "]"
    found = explain(make_entry("parallel"), answer)
    assert found.calls == ()
    assert len(found.found[0]) == 600


def test_long_answers_are_cut() -> None:
    (found,) = explain(make_entry(), "x" * 100_000).found
    assert len(found) == 600


@pytest.mark.parametrize(
    ("category", "expectation", "shown"),
    [
        ("irrelevance", NoCall(), "no call"),
        ("live_relevance", AnyCall(), "a call of a function that is offered"),
        ("exec_simple", ExpectedResults(("add(a=1)",), ()), "a call that returns what add(a=1) returns"),
        ("rest", ExpectedResponse("get(url='x')"), "a call that is answered as get(url='x') is"),
    ],
)
def test_other_expectations_are_said_in_words(category: str, expectation: object, shown: str) -> None:
    entry = replace(make_entry(category), expectation=expectation)  # type: ignore[arg-type]
    assert explain(entry, "hello").expected == (shown,)


def make_conversation() -> Entry:
    return replace(
        make_entry("multi_turn_base"),
        turns=tuple((Message("user", text),) for text in ("first", "second", "third")),
        expectation=Trajectory((("a()",), (), ("c(x=1)", "d()"))),
    )


def test_a_conversation_is_explained_at_the_turn_that_failed() -> None:
    answers = [[Completion(text="[a()]")], [Completion(text="[b()]")], [Completion(text="[c(x=2)]")]]
    third = Failed("multi_turn:instance_state_mismatch", "why", {"turn": 3})
    found = explain(make_conversation(), "", verdict=third, turns=answers)
    assert (found.turn, found.question) == ("turn 3 of 3", (("user", "third"),))
    assert (found.found, found.expected) == (("c(x=2)",), ("c(x=1)", "d()"))
    second = Failed("multi_turn:irrelevance_error:decoder_success", "why", {"turn": 2})
    found = explain(make_conversation(), "", verdict=second, turns=answers)
    assert (found.turn, found.found, found.expected) == ("turn 2 of 3", ("b()",), ("no call yet",))


def test_differences_of_the_state_are_listed() -> None:
    differences = [
        {"at": "files.a", "expected": "'x'", "found": None},
        {"at": "n", "expected": None, "found": "1"},
    ]
    verdict = Failed("multi_turn:instance_state_mismatch", "why", {"turn": 1, "differences": differences})
    found = explain(make_conversation(), "", verdict=verdict).differences
    assert [(each.place, each.found, each.expected) for each in found] == [
        ("files.a", None, "'x'"),
        ("n", "1", None),
    ]


def test_wrong_calls_of_a_golden_path_stand_beside_the_expected_ones() -> None:
    wrong = make_call_verdict(expected={"city": "Oslo"}, code="value_error")
    path = make_path_score(make_call_verdict(), wrong)
    entry, transcript = make_entry("hotels"), make_transcript("")
    found = explain_failure(
        entry, transcript.answers, transcript.prompting, FAILED, Profile.OFFICIAL, path
    ).calls
    assert [(pair.found, pair.expected, pair.wrong) for pair in found] == [
        ("find_hotels", "find_hotels", False)
    ]
    assert list_wrong(found) == [(0, "city")]
    assert (found[0].arguments[0].found, found[0].arguments[0].expected) == ("'Bergen'", "'Oslo'")


def test_a_turn_that_was_not_reached_has_no_answer() -> None:
    last = Failed("multi_turn:force_terminated", "why", {"turn": 3})
    found = explain(make_conversation(), "", verdict=last, turns=[[Completion(text="[a()]")]])
    assert (found.turn, found.found) == ("turn 3 of 3", ())


def test_where_there_is_one_turn_none_is_named() -> None:
    assert explain(make_entry(), "x").turn == ""
