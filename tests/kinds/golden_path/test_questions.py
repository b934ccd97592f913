"""What a judge is asked about calls and final answers, and what counts as its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.recorded_call import write_reply
from pytest_fcbench.domain.transcript import Completion, Party, Transcript
from pytest_fcbench.domain.verdict import JudgeRating
from pytest_fcbench.judging.opinions import Equivalence
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit, fence_material, put_question
from pytest_fcbench.kinds.golden_path import questions
from pytest_fcbench.kinds.golden_path.questions import (
    CONTEXT,
    EVIDENCE,
    ask_completeness,
    ask_correctness,
    ask_equivalence,
    share_length,
)
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


@pytest.mark.parametrize(
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
