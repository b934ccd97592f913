"""Checks of a team's own hold beside the rule of an entry, or alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import AnyAnswer, Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed
from pytest_fcbench.matchers import ast, own_check
from pytest_fcbench.matchers.own_check import Answer, add_own_checks, read_answer
from tests.factories import make_doc, make_entry, make_transcript, tool_calls
from tests.matchers.outcomes import name_outcomes

RIGHT, WRONG = "[weather.forecast(city='Bergen')]", "[weather.forecast(city='Oslo')]"


def make_checked(check: Callable[..., object] | None = None, forbidden: tuple[str, ...] = ()) -> Entry:
    functions = [make_doc(), make_doc("alarm", {})]
    entry = make_entry("own_check", functions=functions)
    return replace(entry, expectation=AnyAnswer(), check=check, forbidden=forbidden)


def judge(entry: Entry, answer: str) -> Judgement:
    transcript = make_transcript(answer)
    return add_own_checks(entry, transcript, own_check.judge(entry, transcript))


def assert_words(answer: Answer) -> None:
    assert answer.text.startswith("Rain"), "no rain"


def assert_silently(answer: Answer) -> None:
    raise AssertionError


def fail_by_accident(answer: Answer) -> None:
    raise KeyError(answer.text)


def give_up(answer: Answer) -> None:
    raise NotScoredError("later", "not today")


ACCEPTED: dict[str, Callable[..., object]] = {
    "returns nothing": assert_words,
    "True": lambda answer: answer.text == "Rain." and answer.calls == (),
    "1": lambda answer: 1,
    "1.0": lambda entry: 1.0,
    "both": lambda entry, answer, more=3: more == 3 and entry.id == "own_check_0",
}
REFUSED: dict[str, tuple[Callable[..., object], str]] = {
    "message": (assert_words, "test_own_check:assert_words: no rain"),
    "no message": (assert_silently, ":assert_silently: raise AssertionError; the answer: 'Sun.'"),
    "False": (lambda answer: False, " refused the answer: 'Sun.'"),
    "0.75": (lambda answer: 0.75, " gave 0.75 of 1 to the answer: 'Sun.'"),
}
BROKEN: dict[str, tuple[Callable[..., object], str, str]] = {
    "raises": (fail_by_accident, "broken_check", ":fail_by_accident raised KeyError: 'Sun.' (line "),
    "text": (
        lambda answer: "yes",
        "broken_check",
        " returned 'yes'; return nothing, True, False or a number",
    ),
    "1.5": (lambda answer: 1.5, "broken_check", " returned 1.5; "),
    "nan": (lambda answer: float("nan"), "broken_check", " returned nan; "),
    "not scored": (give_up, "later", ":give_up: not today"),
}


@pytest.mark.parametrize("check", ACCEPTED.values(), ids=ACCEPTED)
def test_an_answer_is_accepted(check: Callable[..., object]) -> None:
    assert judge(make_checked(check), "Rain.") == Judgement.same_in_both(Passed())


@pytest.mark.parametrize(("check", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_answer_is_refused_with_what_the_check_says(check: Callable[..., object], reason: str) -> None:
    judgement = judge(make_checked(check), "Sun.")
    assert isinstance(judgement.official, Failed)
    assert judgement.official.code == "own_assertion"
    assert reason in judgement.official.reason
    assert judgement.corrected == judgement.official


@pytest.mark.parametrize(("check", "cause", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_check_that_fails_otherwise_scores_nothing(
    check: Callable[..., object], cause: str, reason: str
) -> None:
    judgement = judge(make_checked(check), "Sun.")
    assert isinstance(judgement.corrected, NotScored)
    assert judgement.corrected.cause == cause
    assert reason in judgement.corrected.reason


def test_a_check_is_asked_only_where_the_rule_holds() -> None:
    asked: list[Answer] = []

    def refuse(answer: Answer) -> bool:
        asked.append(answer)
        return False

    entry = replace(make_entry(), check=refuse)

    def judge_by_rule(answer: str) -> Judgement:
        transcript = make_transcript(answer)
        return add_own_checks(entry, transcript, ast.judge(entry, transcript))

    assert "own_assertion" not in name_outcomes(judge_by_rule(WRONG))
    assert not asked
    # Only the corrected profile reads a code fence.
    fenced = f"```python\n{RIGHT}\n```"
    assert name_outcomes(judge_by_rule(fenced)) == ("ast_decoder:decoder_failed", "own_assertion")
    (answer,) = asked
    assert answer.calls == (Call("weather.forecast", {"city": "Bergen"}),)


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        (RIGHT, (None, None)),
        ("No call.", (None, None)),
        ("[alarm()]", ("forbidden_call", "forbidden_call")),
        ("[weather.forecast(city='Oslo'), alarm()]", ("forbidden_call", "forbidden_call")),
        ("[alarm(at='Ber", ("unreadable", "unreadable")),
    ],
)
def test_a_forbidden_function_must_not_be_called(answer: str, codes: tuple[str | None, str | None]) -> None:
    assert name_outcomes(judge(make_checked(forbidden=("alarm",)), answer)) == codes


def test_a_forbidden_call_is_told_in_place_of_what_else_is_wrong() -> None:
    entry = replace(make_entry(functions=[make_doc()]), forbidden=("weather.forecast",))
    transcript = make_transcript(WRONG)
    judgement = add_own_checks(entry, transcript, ast.judge(entry, transcript))
    assert isinstance(judgement.official, Failed)
    assert judgement.official.code == "forbidden_call"
    told = "the entry forbids to call weather.forecast: weather.forecast(city='Oslo')"
    assert judgement.official.reason == told


def test_an_answer_has_the_names_of_the_docs_and_no_reasoning() -> None:
    completion = tool_calls(("weather_forecast", '{"city": "Oslo"}'))
    transcript = make_transcript(replace(completion, text="<think>Oslo?</think> So be it. "))
    answer = read_answer(make_entry(), transcript)
    assert answer == Answer("So be it.", (Call("weather.forecast", {"city": "Oslo"}),))
    assert str(answer) == "weather.forecast(city='Oslo')"
