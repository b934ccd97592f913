"""A failure is explained by the answer beside what was expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.explanation import Explanation, FailedEntry
from pytest_fcbench.domain.transcript import Completion, Fault, Step
from pytest_fcbench.domain.verdict import OWN_ASSERTION, Failed, Profile
from pytest_fcbench.kinds.execution.verdict import ExpectedResponse, ExpectedResults, ResultRule
from pytest_fcbench.kinds.explanation import explain_failure
from pytest_fcbench.kinds.own_check import FORBIDDEN, AnyAnswer
from pytest_fcbench.kinds.relevance import AnyCall, NoCall
from pytest_fcbench.kinds.state.verdict import Trajectory
from tests.cases import each_case
from tests.factories import make_entry, make_transcript

FORECAST = "weather.forecast"
FAILED = Failed("value_error:others", "why")


def explain(
    entry: Entry,
    answer: Completion | str,
    verdict: Failed = FAILED,
    turns: Sequence[Sequence[Completion]] = (),
) -> Explanation:
    transcript = make_transcript(answer)
    if turns:
        transcript = replace(transcript, turns=tuple(tuple(map(Step, turn)) for turn in turns))
    return explain_failure(FailedEntry(entry, transcript, verdict, Profile.OFFICIAL))


def test_an_answer_without_calls_is_shown_as_it_is() -> None:
    found = explain(make_entry(), "I cannot.")
    assert (found.calls, found.found) == ((), ("I cannot.",))
    assert found.expected == (f"{FORECAST}(city='Bergen', days=1 or left out)",)
    assert explain(make_entry(), "").found == ("(an empty answer)",)
    assert explain(make_entry(), Completion(refusal="I will not.")).found == ("I will not.",)
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


@each_case(
    ("category", "expectation", "shown"),
    [
        ("irrelevance", NoCall(), "no call"),
        ("live_relevance", AnyCall(), "a call of a function that is offered"),
        (
            "exec_simple",
            ExpectedResults(("add(a=1)",), (ResultRule.EXACT,)),
            "a call that returns what add(a=1) returns",
        ),
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
    assert [(each.at, each.found, each.expected) for each in found] == [
        ("files.a", None, "'x'"),
        ("n", "1", None),
    ]


def test_a_turn_that_was_not_reached_has_no_answer() -> None:
    last = Failed("multi_turn:force_terminated", "why", {"turn": 3})
    found = explain(make_conversation(), "", verdict=last, turns=[[Completion(text="[a()]")]])
    assert (found.turn, found.found) == ("turn 3 of 3", ())


def test_where_there_is_one_turn_none_is_named() -> None:
    assert explain(make_entry(), "x").turn == ""


def accept_all(answer: object) -> None:
    """Accept any answer."""


@each_case(
    ("verdict", "check", "shown"),
    [
        (Failed(OWN_ASSERTION, "why"), accept_all, "an answer that the check accepts"),
        (
            Failed(OWN_ASSERTION, "why", {"place": "x:1"}),
            None,
            "an answer that the assertions of the test accept",
        ),
        (Failed(FORBIDDEN, "why"), accept_all, "no call of alarm or sing"),
    ],
)
@each_case("category", ["simple_python", "own_check"])
def test_what_a_check_of_a_team_wants_is_said_where_it_failed_the_answer(
    category: str, verdict: Failed, check: Callable[..., object] | None, shown: str
) -> None:
    """The call is as expected, so no pair could show what is wrong."""
    entry = replace(make_entry(category), check=check, forbidden=("alarm", "sing"))
    if category == "own_check":
        entry = replace(entry, expectation=AnyAnswer())
    told = explain(entry, f"[{FORECAST}(city='Bergen')]", verdict)
    assert (told.calls, told.expected) == ((), (shown,))


def test_a_wrong_call_is_shown_beside_the_expected_one() -> None:
    (pair,) = explain(make_entry(), f"[{FORECAST}(city='Oslo')]").calls
    assert [argument.name for argument in pair.arguments if argument.wrong] == ["city"]
