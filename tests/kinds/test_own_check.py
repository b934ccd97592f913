"""Checks of a team's own hold beside the rule of an entry, or alone."""

from __future__ import annotations

import json
import sys
import unittest
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed
from pytest_fcbench.kinds import own_check
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.own_check import Answer, AnyAnswer, add_own_checks, read_answer
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_transcript, tool_calls
from tests.kinds.outcomes import name_outcomes

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
    raise TypeError(answer.text)


def take_the_only_call(answer: Answer) -> None:
    (call,) = answer.calls
    assert call.name


def give_up(answer: Answer) -> None:
    raise NotScoredError("later", "not today")


def skip(answer: Answer) -> None:
    raise unittest.SkipTest("no judge")


class Unwritable:
    def __str__(self) -> str:
        raise ValueError

    __repr__ = __str__


class UnwritableRefusalError(Unwritable, AssertionError):
    pass


class UnwritableError(Unwritable, Exception):
    pass


def raise_of(kind: type[BaseException]) -> Callable[[Answer], None]:
    def check(answer: Answer) -> None:
        raise kind

    return check


ACCEPTED: dict[str, Callable[..., object]] = {
    "returns nothing": assert_words,
    "True": lambda answer: answer.text == "Rain." and answer.calls == (),
    "1": lambda answer: 1,
    "1.0": lambda entry: 1.0,
    "weights": lambda answer: 0.7 + 0.2 + 0.1,
    "more weights": lambda answer: 1 + 2**-52,
    "both": lambda entry, answer, more=3: more == 3 and entry.id == "own_check_0",
}
REFUSED: dict[str, tuple[Callable[..., object], str]] = {
    "message": (assert_words, "test_own_check:assert_words: no rain"),
    "no message": (assert_silently, ":assert_silently: raise AssertionError (test_own_check.py:"),
    "the answer": (assert_silently, "); the answer: 'Sun.'"),
    "pytest.fail": (lambda answer: pytest.fail("no rain"), ": no rain"),
    "pytest.fail without words": (lambda answer: pytest.fail(), ": pytest.fail()"),  # noqa: PT016
    "no words for it": (raise_of(UnwritableRefusalError), ": <UnwritableRefusalError>"),
    "no only call": (take_the_only_call, ": (call,) = answer.calls (test_own_check.py:"),
    "no such word": (lambda answer: answer.text.split()[1], ": IndexError: list index out of range; the"),
    "no JSON": (lambda answer: json.loads(answer.text), "json.loads(answer.text)"),
    "no JSON, in words": (lambda answer: json.loads(answer.text), "): JSONDecodeError: Expecting value: "),
    "False": (lambda answer: False, " refused the answer: 'Sun.'"),
    "nearly 1": (lambda answer: 0.9999, " gave 0.9999 of 1 to the answer: 'Sun.'"),
    "0.75": (lambda answer: 0.75, " gave 0.75 of 1 to the answer: 'Sun.'"),
}
BROKEN: dict[str, tuple[Callable[..., object], str, str]] = {
    "raises": (fail_by_accident, "broken_check", ":fail_by_accident raised TypeError: Sun.: raise TypeErr"),
    "exits": (lambda answer: sys.exit(3), "broken_check", " raised SystemExit: 3: "),
    "raises without words": (
        raise_of(UnwritableError),
        "broken_check",
        " UnwritableError: <UnwritableError>: ",
    ),
    "returns without words": (lambda answer: Unwritable(), "broken_check", " returned <Unwritable>; "),
    "pytest.skip": (lambda answer: pytest.skip("no judge"), "skipped_check", ": no judge"),
    "SkipTest": (skip, "skipped_check", ":skip: no judge"),
    "text": (
        lambda answer: "yes",
        "broken_check",
        " returned 'yes'; return nothing, True, False or a number",
    ),
    "1.5": (lambda answer: 1.5, "broken_check", " returned 1.5; "),
    "more than a float": (lambda answer: 10**400, "broken_check", " returned 1000"),
    "nan": (lambda answer: float("nan"), "broken_check", " returned nan; "),
    "not scored": (give_up, "later", ":give_up: not today"),
}


@each_case("check", ACCEPTED.values(), ids=ACCEPTED)
def test_an_answer_is_accepted(check: Callable[..., object]) -> None:
    assert judge(make_checked(check), "Rain.") == Judgement.same_in_both(Passed())


@each_case(("check", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_answer_is_refused_with_what_the_check_says(check: Callable[..., object], reason: str) -> None:
    judgement = judge(make_checked(check), "Sun.")
    assert isinstance(judgement.official, Failed)
    assert judgement.official.code == "own_assertion"
    assert reason in judgement.official.reason
    assert judgement.corrected == judgement.official


@each_case(("check", "cause", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_check_that_fails_otherwise_scores_nothing(
    check: Callable[..., object], cause: str, reason: str
) -> None:
    judgement = judge(make_checked(check), "Sun.")
    assert isinstance(judgement.corrected, NotScored)
    assert judgement.corrected.cause == cause
    assert reason in judgement.corrected.reason


def end_in_time(answer: Answer) -> None:
    pytest.fail("Timeout (>1.0s) from pytest-timeout.")


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (raise_of(KeyboardInterrupt), "^$"),
        (lambda answer: pytest.exit("enough"), "enough"),
        (end_in_time, "from pytest-timeout"),
    ],
)
def test_what_ends_a_run_or_a_test_is_no_verdict(check: Callable[..., object], message: str) -> None:
    ending = (KeyboardInterrupt, pytest.exit.Exception, pytest.fail.Exception)
    with pytest.raises(ending, match=message):
        judge(make_checked(check), "Sun.")


def test_a_check_changes_neither_the_entry_nor_the_answer_of_others() -> None:
    def change(entry: Entry, answer: Answer) -> bool:
        for part in (entry.functions[0].parameters, answer.calls[0].arguments):
            assert isinstance(part, dict)
            part.clear()
        return False

    entry = make_checked(change)
    verdict = judge(entry, RIGHT).corrected
    assert isinstance(verdict, Failed)
    assert verdict.reason.endswith(f"refused the answer: {RIGHT[1:-1]}")
    assert entry.functions[0] == make_doc()


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


@each_case(
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
