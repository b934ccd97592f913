"""Questions to a judge: how they are recognised, and the reply that agrees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.recorded_call import RecordedCall
from pytest_fcbench.domain.transcript import Call, Completion
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit, put_question
from pytest_fcbench.judging.ratings import ask_relevance
from pytest_fcbench.kinds.calls.free_texts import ask_same_text
from pytest_fcbench.kinds.calls.truth import ExpectedCall
from pytest_fcbench.kinds.golden_path.official_questions import compare_calls, rate_response
from pytest_fcbench.kinds.golden_path.questions import ask_completeness, ask_correctness, ask_equivalence
from pytest_fcbench.server.body import RefusedRequestError
from pytest_fcbench.server.judging import Judge
from tests.factories import make_entry, make_golden_path
from tests.kinds.golden_path.test_official_questions import WORDING
from tests.served import served, stats
from tests.server.asking import Sent, make_body
from tests.server.clients import post_chat, post_json

ENTRY = make_golden_path([("find", {"query": "Bergen"}, {"id": 7})])
CALL = {"name": "find", "arguments": {"query": "Bergen"}}
RATING = {"score": 2, "reason": "This server agrees with everything."}
SAME = {"same": True, "reason": RATING["reason"]}
TOLD = make_entry()
QUESTIONS: list[tuple[JudgeQuestion[Any], Sent]] = [
    (ask_equivalence(ENTRY, CALL, CALL, []), SAME),
    (ask_same_text(TOLD, ExpectedCall("weather.forecast", {"city": ["Bergen"]}), "city", "There"), SAME),
    (ask_completeness(ENTRY, "Found."), RATING),
    (ask_correctness(ENTRY, [], "Found."), RATING),
    (ask_relevance(ENTRY, "Found."), RATING),
]


def _ask_question(question: JudgeQuestion[Any], *replies: str) -> list[Any]:
    """Return the messages of the request after these replies."""
    conversation = put_question(question, "judge")
    request = next(conversation)
    for reply in replies:
        request = conversation.send(Completion(text=reply))
    return list(request.messages)


@pytest.mark.parametrize(("question", "opinion"), QUESTIONS)
@pytest.mark.parametrize("replies", [(), ("Yes.",), ("Yes.", "No.")])
def test_each_question_gets_an_opinion_in_its_form(
    question: JudgeQuestion[Any], opinion: Sent, replies: tuple[str, ...]
) -> None:
    reply = Judge().answer_question(_ask_question(question, *replies))
    assert reply is not None
    assert json.loads(reply) == opinion
    question.answer(Completion(text=reply))


@pytest.mark.parametrize(
    "messages",
    [
        [],
        ["Hi"],
        [{"role": "user"}],
        [{"role": "user", "content": "Rate this."}],
        make_body(make_entry())["messages"],
    ],
)
def test_other_requests_are_no_questions_to_a_judge(messages: list[object]) -> None:
    assert Judge(WORDING).answer_question(messages) is None
    assert Judge(WORDING, "No idea.").answer_question(messages) is None


def test_a_question_of_another_kind_is_refused_with_the_option_to_use() -> None:
    with pytest.raises(RefusedRequestError) as caught:
        Judge().answer_question(_ask_question(JudgeQuestion(ENTRY, "Name the cause.", {}, dict)))
    assert (caught.value.status, str(caught.value)) == (
        404,
        "this question to a judge is of a kind unknown to this server; give a reply with --judge-reply",
    )


def test_official_questions_get_opinions_in_their_form() -> None:
    judge, call = Judge(WORDING), RecordedCall("find", {"query": "Bergen"}, reply="{}")
    comparison = compare_calls(ENTRY, WORDING, Call("find", {"query": "There"}), call, [])
    reply = judge.answer_question(next(comparison).messages)
    with pytest.raises(StopIteration) as compared:
        comparison.send(Completion(text=reply))
    assert compared.value.value[1:] == (True, RATING["reason"])
    rating = rate_response(ENTRY, WORDING, "Found.", [])
    second = rating.send(Completion(text=judge.answer_question(next(rating).messages)))
    with pytest.raises(StopIteration) as rated:
        rating.send(Completion(text=judge.answer_question(second.messages)))
    assert rated.value.value == (2, 2)


def test_official_questions_are_known_by_the_texts_of_the_code() -> None:
    question = next(rate_response(ENTRY, WORDING, "Found.", [])).messages
    assert Judge().answer_question(question) is None
    assert Judge(WORDING, "No idea.").answer_question(question) == "No idea."


# Over HTTP


def test_an_opinion_is_counted_as_the_judges_and_not_for_an_entry() -> None:
    question, opinion = QUESTIONS[0]
    asked: Sent = {"messages": _ask_question(question)}
    with served("--model", "oracle") as api_base:
        answer = post_chat(api_base, asked, "core:simple_python_0")
        response = post_json(api_base, "/v1/responses", {"input": asked["messages"]})
        assert stats(api_base)["answered"] == {"judge": 2}
    assert json.loads(answer.message["content"]) == opinion
    assert json.loads(response.body["output"][0]["content"][0]["text"]) == opinion
    assert answer.body["usage"]["prompt_tokens"] > 100


@pytest.mark.parametrize("from_file", [False, True])
def test_another_reply_can_be_given(tmp_path: Path, *, from_file: bool) -> None:
    path = tmp_path / "reply.txt"
    path.write_text("No idea.", encoding="utf-8")
    given = f"@{path}" if from_file else "No idea."
    with served("--model", "oracle", "--judge-reply", given) as api_base:
        answers = [post_chat(api_base, {"messages": _ask_question(question)}) for question, _ in QUESTIONS]
    assert [answer.message["content"] for answer in answers] == ["No idea."] * len(QUESTIONS)


def test_faults_come_to_questions_too() -> None:
    question = QUESTIONS[0][0]
    with served("--model", "oracle", "--fault", "json:1") as api_base:
        answer = post_chat(api_base, {"messages": _ask_question(question)})
        assert stats(api_base)["faults"] == {"json": 1}
    with pytest.raises(Unfit, match="is not one JSON object"):
        question.answer(Completion(text=answer.message["content"]))
