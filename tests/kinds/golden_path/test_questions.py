"""What a judge is asked about calls and final answers, and what counts as its answer."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.transcript import (
    AskModel,
    Call,
    Completion,
    Fault,
    Party,
    RecordedCall,
    Transcript,
    write_reply,
)
from pytest_fcbench.domain.verdict import JudgeRating
from pytest_fcbench.judging.questions import Equivalence, JudgeQuestion, Unfit, fence_material, put_question
from pytest_fcbench.kinds.golden_path import questions
from pytest_fcbench.kinds.golden_path.questions import (
    CONTEXT,
    EVIDENCE,
    TRIES,
    UnexpectedJudgementError,
    ask_completeness,
    ask_correctness,
    ask_equivalence,
    compare_calls,
    decode_json,
    rate_response,
    share_length,
)
from pytest_fcbench.kinds.golden_path.truth import JudgePrompt, PathWording
from tests.cases import each_case
from tests.factories import make_doc, make_entry

ENTRY = make_entry(functions=[make_doc(), make_doc("map.find"), make_doc("hotel.book")], query="Find Bergen.")
MADE = {"name": "weather.forecast", "arguments": {"city": "Bergen"}}
EXPECTED = {"name": "map.find", "arguments": {"city": "Bergen, Norway"}}


def make_dialogue(*steps: Sequence[tuple[str, object]]) -> list[Mapping[str, object]]:
    """Make a request and steps of calls with replies, in the form of a record."""
    turns: list[Mapping[str, object]] = [{"role": "user", "content": "Find Bergen."}]
    for step in steps:
        calls = [{"name": name, "arguments": {}} for name, _ in step]
        turns.append({"role": "assistant", "function_call": calls})
        turns.append({"role": "observation", "content": [write_reply(reply) for _, reply in step]})
    return turns


HISTORY = make_dialogue([("map.find", {"id": 7}), ("map.find", [])], [("weather.forecast", "rain")])


def answer_question(question: JudgeQuestion[Any], reply: object) -> object:
    return question.answer(Completion(json.dumps(reply)))


def test_what_is_asked_about_two_calls() -> None:
    question = ask_equivalence(ENTRY, MADE, EXPECTED, HISTORY)
    assert question.about is ENTRY
    assert list(question.material) == [
        *("functions", "request", "earlier steps", "call that was made", "call that was expected")
    ]
    functions: Any = question.material["functions"]
    assert list(functions) == ["weather.forecast", "map.find"]
    assert json.loads(functions["map.find"])["parameters"]["required"] == ["city"]
    assert question.material["request"] == "Find Bergen."
    assert json.loads(str(question.material["call that was made"])) == MADE
    assert json.loads(str(question.material["call that was expected"])) == EXPECTED
    assert question.material["earlier steps"] == [
        {"step": 1, "call": '{"name": "map.find", "arguments": {}}', "reply": '{"id": 7}'},
        {"step": 1, "call": '{"name": "map.find", "arguments": {}}', "reply": "[]"},
        {"step": 2, "call": '{"name": "weather.forecast", "arguments": {}}', "reply": '"rain"'},
    ]
    assert answer_question(question, {"same": True, "reason": " a city and its country "}) == Equivalence(
        True, "a city and its country"
    )


def test_what_is_asked_about_an_answer() -> None:
    complete, correct = ask_completeness(ENTRY, "It rains."), ask_correctness(ENTRY, HISTORY, "It rains.")
    assert complete.material == {"request": "Find Bergen.", "answer": "It rains."}
    assert list(correct.material) == ["request", "calls and replies", "answer"]
    assert len(correct.material["calls and replies"]) == 3  # type: ignore[arg-type]
    for question in (complete, correct):
        assert answer_question(question, {"score": 2, "reason": "all"}) == JudgeRating(2, "all")
    assert complete.task != correct.task


@each_case(
    ("question", "reply", "says"),
    [
        (
            ask_equivalence(ENTRY, MADE, EXPECTED, ()),
            {"same": "yes", "reason": "x"},
            "must have as same true or",
        ),
        (ask_equivalence(ENTRY, MADE, EXPECTED, ()), {"same": 1, "reason": "x"}, "must have as same true or"),
        (
            ask_equivalence(ENTRY, MADE, EXPECTED, ()),
            {"same": True, "reason": ""},
            "must have as reason a text",
        ),
        (
            ask_equivalence(ENTRY, MADE, EXPECTED, ()),
            {"same": True},
            "must have the keys same, reason and no",
        ),
        (ask_completeness(ENTRY, ""), {"score": 3, "reason": "x"}, "must have as score 0, 1 or 2"),
        (ask_completeness(ENTRY, ""), {"score": 1.0, "reason": "x"}, "must have as score 0, 1 or 2"),
        (ask_completeness(ENTRY, ""), {"score": True, "reason": "x"}, "must have as score 0, 1 or 2"),
        (ask_completeness(ENTRY, ""), {"score": "2", "reason": "x"}, "must have as score 0, 1 or 2"),
        (ask_correctness(ENTRY, (), ""), {"score": [], "reason": "x"}, "must have as score 0, 1 or 2"),
        (ask_correctness(ENTRY, (), ""), {"score": 2, "reason": None}, "must have as reason a text"),
    ],
)
def test_what_is_no_answer(question: JudgeQuestion[Any], reply: object, says: str) -> None:
    with pytest.raises(Unfit, match=says):
        answer_question(question, reply)


def test_the_judge_is_asked_as_the_party_that_it_is() -> None:
    question = ask_completeness(ENTRY, "It rains.")
    for party, talk in (
        (Party.JUDGE, put_question(question, "judge", Party.JUDGE)),
        (Party.MODEL, put_question(question, "judge")),
    ):
        replies = ["Fine.", "Two.", '{"score": 2, "reason": "all"}']
        asked = [next(talk), *(talk.send(Completion(reply)) for reply in replies[:2])]
        with pytest.raises(StopIteration) as done:
            talk.send(Completion(replies[2]))
        transcript: Transcript = done.value.value
        assert [request.party for request in asked] == [party] * 3
        assert len(transcript.turns[0]) == 3
        assert question.answer(transcript.last) == JudgeRating(2, "all")


# Long and hostile material


def test_long_replies_share_the_room() -> None:
    long = make_dialogue([("map.find", "x" * 500_000), ("map.find", "y")], [("map.find", "z" * 100_000)] * 3)
    for question, key, most in (
        (ask_equivalence(ENTRY, MADE, EXPECTED, long), "earlier steps", CONTEXT),
        (ask_correctness(ENTRY, long, "x"), "calls and replies", EVIDENCE),
    ):
        steps: Any = question.material[key]
        replies = [step["reply"] for step in steps]
        assert replies[1] == '"y"'
        assert "more characters)" in replies[0]
        assert most * 0.9 < sum(len(step["reply"]) + len(step["call"]) for step in steps) < most + 500
        assert len(fence_material(question.material)) < most * 1.1 + 1_000


def test_many_calls_do_not_make_a_question_endless() -> None:
    many = make_dialogue(*[[("x" * 10_000, "y" * 10_000)]] * 2_000)
    assert len(fence_material(ask_equivalence(ENTRY, MADE, EXPECTED, many).material)) < 10 * CONTEXT


def test_what_json_cannot_hold_is_said_to_be_there() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    made = {"name": "map.find", "arguments": {"city": deep, "at": "\ud800"}}
    shown = fence_material(ask_equivalence(ENTRY, made, EXPECTED, HISTORY).material)
    assert shown.count("(cannot be written as JSON)") == 1
    shown.encode()


@given(st.lists(st.integers(min_value=0, max_value=10_000), min_size=1), st.integers(0, 100_000))
def test_room_is_shared_fairly(lengths: list[int], most: int) -> None:
    """Nothing is left over that somebody lacks, and whoever needs less than a share has it."""
    longest = share_length(lengths, most)
    used = sum(min(length, longest) for length in lengths)
    assert used <= most
    if any(length > longest for length in lengths):
        assert used > most - len(lengths)


def test_the_tasks_say_what_the_reply_must_look_like() -> None:
    tasks = (questions._EQUIVALENCE, questions._COMPLETENESS, questions._CORRECTNESS)
    assert all("one JSON object" in task and '"reason"' in task for task in tasks)


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
OFFICIAL_ENTRY = make_entry(query="Two nights in Bergen, please.")
MADE_CALL = Call("book", {"town": "Bergen", "nights": 2})
RECORDED_CALL = RecordedCall("book", {"nights": "2", "town": "Bergen"}, reply="{}")


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


@each_case(
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
    (completion, read, why), asked = hold(
        compare_calls(OFFICIAL_ENTRY, WORDING, MADE_CALL, RECORDED_CALL, ()), reply
    )
    assert (completion.text, read, why) == (reply, opinion, reason)
    assert len(asked) == 1


@pytest.mark.parametrize("reply", ['{"equal": true}', "[1]", "7"])
def test_a_judgement_without_is_equal_is_unexpected(reply: str) -> None:
    with pytest.raises(UnexpectedJudgementError, match="the judgement has no is_equal"):
        hold(compare_calls(OFFICIAL_ENTRY, WORDING, MADE_CALL, RECORDED_CALL, ()), reply)


def test_the_question_holds_both_calls_with_sorted_arguments_and_the_replies_as_values() -> None:
    history: list[dict[str, object]] = [
        {"role": "user", "content": "Hello."},
        {"role": "observation", "content": ['{"status": true}']},
        {"role": "observation", "content": "no list"},
    ]
    _, (request,) = hold(
        compare_calls(OFFICIAL_ENTRY, WORDING, MADE_CALL, RECORDED_CALL, history), '{"is_equal": true}'
    )
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


@each_case(
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
    found, asked = hold(rate_response(OFFICIAL_ENTRY, WORDING, "It is booked.", ()), *replies)
    assert found == ratings
    assert [request.attempt for request in asked] == attempts


def test_completeness_is_rated_by_the_question_and_correctness_by_the_dialogue() -> None:
    golden = [{"role": "user", "content": "Hello."}]
    _, asked = hold(rate_response(OFFICIAL_ENTRY, WORDING, "Done.", golden), '{"score": 2}', '{"score": 2}')
    completeness, correctness = map(read_messages, asked)
    assert completeness == [("system", "You count."), ("user", "Two nights in Bergen, please. > Done.")]
    assert correctness == [
        ("system", "You check."),
        ("user", '[{"role": "user", "content": "Hello."}] > Done.'),
    ]


def test_no_response_is_not_rated() -> None:
    assert hold(rate_response(OFFICIAL_ENTRY, WORDING, "", ())) == ((None, None), [])


@each_case(
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
