"""The official questions to a judge: what is asked, and which replies are read as what."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import pytest

from pytest_fcbench.domain.recorded_call import RecordedCall
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, Fault
from pytest_fcbench.kinds.golden_path.official_questions import (
    TRIES,
    UnexpectedJudgementError,
    compare_calls,
    decode_json,
    rate_response,
)
from pytest_fcbench.kinds.golden_path.wording import JudgePrompt, PathWording
from tests.factories import make_entry

Result = TypeVar("Result")

WORDING = PathWording(
    version="a version",
    wrong_call="{}",
    refusals={},
    equivalence=JudgePrompt(
        "You compare.",
        "[args1] | [args2] | [args3] | [args4]",
        ("functions", "history", "function_call_1", "function_call_2"),
    ),
    completeness=JudgePrompt("You count.", "[args1] > [args2]", ("query", "gen_response")),
    correctness=JudgePrompt("You check.", "[args1] > [args2]", ("history", "gen_response")),
)
ENTRY = make_entry(query="Two nights in Bergen, please.")
MADE = Call("book", {"town": "Bergen", "nights": 2})
EXPECTED = RecordedCall("book", {"nights": "2", "town": "Bergen"}, reply="{}")


def hold(
    questions: Generator[AskModel, Completion, Result], *replies: str | Completion
) -> tuple[Result, list[AskModel]]:
    """Answer the questions in order; return what came of it, and the questions."""
    asked: list[AskModel] = []
    left = iter(replies)
    try:
        request = next(questions)
        while True:
            asked.append(request)
            reply = next(left)
            request = questions.send(reply if isinstance(reply, Completion) else Completion(text=reply))
    except StopIteration as end:
        assert not [*left], "a reply was not asked for"
        result: Result = end.value
        return result, asked


def read_messages(request: AskModel) -> list[tuple[object, object]]:
    return [(message["role"], message["content"]) for message in request.messages]


@pytest.mark.parametrize(
    ("reply", "opinion", "reason"),
    [
        ('{"is_equal": true, "reason": "the same"}', True, "the same"),
        ('{"is_equal": False, "reason": "no"}', False, "no"),
        ('```json\n{"is_equal": "no"}\n```', True, ""),
        ('{"is_equal": 0}', False, ""),
        ("They are equal.", None, "the judgement is not JSON"),
        ("[]", None, "the judgement is not JSON"),
        ("", None, "the judgement is not JSON"),
    ],
)
def test_whether_two_calls_are_equal_is_asked_once(reply: str, opinion: bool | None, reason: str) -> None:
    (completion, read, why), asked = hold(compare_calls(ENTRY, WORDING, MADE, EXPECTED, ()), reply)
    assert (completion.text, read, why) == (reply, opinion, reason)
    assert len(asked) == 1


@pytest.mark.parametrize("reply", ['{"equal": true}', "[1]", "7"])
def test_a_judgement_without_is_equal_is_unexpected(reply: str) -> None:
    with pytest.raises(UnexpectedJudgementError, match="the judgement has no is_equal"):
        hold(compare_calls(ENTRY, WORDING, MADE, EXPECTED, ()), reply)


def test_the_question_holds_both_calls_with_sorted_arguments_and_the_replies_as_values() -> None:
    history: list[dict[str, object]] = [
        {"role": "user", "content": "Hello."},
        {"role": "observation", "content": ['{"status": true}']},
        {"role": "observation", "content": "no list"},
    ]
    _, (request,) = hold(compare_calls(ENTRY, WORDING, MADE, EXPECTED, history), '{"is_equal": true}')
    (system, (role, question)) = read_messages(request)
    assert system == ("system", "You compare.")
    assert role == "user"
    _, told, made, expected = str(question).split(" | ")
    assert told == (
        '[{"role": "user", "content": "Hello."}, {"role": "observation", "content": [{"status": true}]}, '
        '{"role": "observation", "content": "no list"}]'
    )
    assert made == '{"name": "book", "arguments": {"nights": 2, "town": "Bergen"}}'
    assert expected == '{"name": "book", "arguments": {"nights": "2", "town": "Bergen"}}'
    assert request.defaults == {"temperature": 0.0}


@pytest.mark.parametrize(
    ("replies", "ratings", "attempts"),
    [
        (['{"score": 2}', '{"score": 0}'], (2, 0), [0, 0]),
        (['{"score": true}', '{"score": 2.0}'], (1, 2), [0, 0]),
        (["no JSON", '{"score": 3}', "[2]", '{"score": 1}', '{"score": 1}'], (1, 1), [0, 1, 2, 3, 0]),
        (["no JSON"] * TRIES + ['{"score": 1}'], (None, 1), [*range(TRIES), 0]),
        ([Completion(text="Error", fault=Fault.INFERENCE_ERROR), '{"score": 1}'], (None, 1), [0, 0]),
    ],
    ids=["both", "equal to whole numbers", "asked again", "given up", "a judge that fails"],
)
def test_a_rating_is_asked_for_until_it_can_be_read(
    replies: list[str | Completion], ratings: tuple[int | None, int | None], attempts: list[int]
) -> None:
    found, asked = hold(rate_response(ENTRY, WORDING, "It is booked.", ()), *replies)
    assert found == ratings
    assert [request.attempt for request in asked] == attempts


def test_completeness_is_rated_by_the_question_and_correctness_by_the_dialogue() -> None:
    golden = [{"role": "user", "content": "Hello."}]
    _, asked = hold(rate_response(ENTRY, WORDING, "Done.", golden), '{"score": 2}', '{"score": 2}')
    completeness, correctness = map(read_messages, asked)
    assert completeness == [("system", "You count."), ("user", "Two nights in Bergen, please. > Done.")]
    assert correctness == [
        ("system", "You check."),
        ("user", '[{"role": "user", "content": "Hello."}] > Done.'),
    ]


def test_no_response_is_not_rated() -> None:
    assert hold(rate_response(ENTRY, WORDING, "", ())) == ((None, None), [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": True, "b": False}', {"a": True, "b": False}),
        ('{"a":\n1}', {"a": 1}),
        ("```JSON\n[1]\n```", [1]),
        ("```\n[1]\n```", [1]),
        ("null", None),
        ("nul", None),
        ("[" * 100_000, None),
    ],
    ids=["Python's words", "a break", "upper case", "no language", "null", "no JSON", "too deep"],
)
def test_a_reply_is_read_as_the_official_code_does(text: str, value: object) -> None:
    assert decode_json(text) == value
