"""Answers of the assistant become entries, with all that was said before as their question."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_fcbench.domain.entry import Message, PastCall
from pytest_fcbench.tools.importing.log_forms import read_conversations
from pytest_fcbench.tools.importing.next_steps import (
    LeftOut,
    NextStep,
    ValueStatistics,
    split_conversation,
    write_entry,
)
from tests.cases import each_case
from tests.tools.importing.made import TOOLS, TWO_ANSWERS, make_call, make_chat, say


def _split(value: Mapping[str, object]) -> list[NextStep | LeftOut]:
    (logged,) = read_conversations(json.dumps(value))
    return list(split_conversation(logged))


def test_each_answer_is_asked_for_after_what_was_said_before() -> None:
    first, second = _split(TWO_ANSWERS)
    assert isinstance(first, NextStep)
    assert isinstance(second, NextStep)
    bergen = PastCall("weather", {"city": "Bergen"})
    assert (first.said, first.calls) == ((Message("user", "Weather in Bergen?"),), (bergen,))
    assert second.said == (*first.said, Message("assistant", "", (bergen,)), Message("tool", "rain"))
    assert (second.text, second.calls) == ("It rains.", ())
    assert [first.category, second.category] == ["multiple", "next_reply"]


@each_case(
    ("cities", "tools", "category"),
    [
        (["Bergen"], 1, "simple_python"),
        (["Bergen"], 2, "multiple"),
        (["Bergen", "Oslo"], 1, "parallel"),
        (["Bergen", "Oslo"], 2, "parallel_multiple"),
        ([], 2, "irrelevance"),
    ],
)
def test_a_first_answer_is_an_entry_of_a_single_turn_category(
    cities: list[str], tools: int, category: str
) -> None:
    calls = [make_call(city=city) for city in cities]
    chat = make_chat(say("user", "?"), say("assistant", "No.", tool_calls=calls))
    chat["tools"] = TWO_ANSWERS["tools"][:tools]  # type: ignore[index]
    (step,) = _split(chat)
    assert isinstance(step, NextStep)
    assert step.category == category


def test_a_function_that_is_listed_twice_is_offered_once() -> None:
    listed = say("system", f"Functions: <tools>{json.dumps(TOOLS[0])}</tools>")
    chat = make_chat(listed, say("user", "?"), say("assistant", tool_calls=[make_call(city="Bergen")]))
    (step,) = _split({**chat, "tools": TOOLS[:1]})
    assert isinstance(step, NextStep)
    assert (step.category, step.tools) == ("simple_python", (TOOLS[0],))


def test_results_are_put_in_the_order_of_their_calls() -> None:
    calls = [make_call(call_id="a", city="Bergen"), make_call(call_id="b", city="Oslo")]
    chat = make_chat(
        say("user", "?"),
        say("assistant", tool_calls=calls),
        say("tool", "of Oslo", tool_call_id="b"),
        say("tool", "of Bergen", tool_call_id="a"),
        say("assistant", "Done."),
    )
    _, step = _split(chat)
    assert isinstance(step, NextStep)
    assert [each.content for each in step.said if each.role == "tool"] == ["of Bergen", "of Oslo"]


USER, CALLS = say("user", "?"), say("assistant", tool_calls=[make_call(call_id="a", city="Bergen")])
OTHER, BROKEN = make_call("other"), {"function": {"name": "weather", "arguments": "{"}}
RESULT_OF_ANOTHER = say("tool", "rain", tool_call_id="z")
WORDS = say("assistant", "Yes.")


@each_case(
    ("chat", "reasons"),
    [
        (make_chat(USER, WORDS, tools=[]), ["no functions were offered"]),
        (make_chat(WORDS), ["nothing was asked before"]),
        (make_chat(USER, say("assistant", "")), ["neither calls nor text"]),
        (make_chat(USER, WORDS | {"weight": 0}), ["marked as no example"]),
        (make_chat(USER, say("assistant", tool_calls=[OTHER])), ["a function that was not offered"]),
        (
            make_chat(USER, CALLS, tools=[{"name": "weather"}]),
            ["a call of a function that was logged without its parameters"],
        ),
        (
            make_chat(USER, say("assistant", "<tool_call>{"), USER, WORDS),
            ["text that looks like a call and cannot be read as one", "an earlier call cannot be read"],
        ),
        (make_chat(USER, CALLS, USER, WORDS), ["", "an earlier call without its result"]),
        (make_chat(USER, say("tool", "rain"), WORDS), ["a result without its call"]),
        (make_chat(USER, CALLS, RESULT_OF_ANOTHER, WORDS), ["", "a result without its call"]),
        (make_chat(USER, say("critic", "Bad."), WORDS), ["a message of an unknown role ('critic')"]),
        (
            make_chat(USER, say("assistant", tool_calls=[BROKEN]), USER, WORDS),
            ["arguments that are not a JSON object", "an earlier call cannot be read"],
        ),
        (
            make_chat(say("user") | {"content": [{"type": "image_url"}]}, WORDS),
            ["parts that are not text ('image_url')"],
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_left_out_with_its_reason(
    chat: Mapping[str, object], reasons: list[str]
) -> None:
    found = _split(chat)
    assert [each.reason if isinstance(each, LeftOut) else "" for each in found] == reasons


def test_a_default_may_be_given_or_left_out() -> None:
    for arguments, accepted in (
        ({"city": "Bergen"}, {"city": ["Bergen"], "days": [1, ""]}),
        ({"city": "Bergen", "days": 1}, {"city": ["Bergen"], "days": [1, ""]}),
        ({"city": "Bergen", "days": 3}, {"city": ["Bergen"], "days": [3]}),
    ):
        (step,) = _split(
            make_chat(USER, say("assistant", tool_calls=[make_call("weather", "", **arguments)]))
        )
        assert isinstance(step, NextStep)
        assert write_entry(step, "chat_0")["expect"] == [{"weather": accepted}]


def test_an_id_follows_from_the_content() -> None:
    ids: list[object] = []
    for city in ("Bergen", "Bergen", "Oslo"):
        (step,) = _split(make_chat(USER, say("assistant", tool_calls=[make_call(city=city)])))
        assert isinstance(step, NextStep)
        ids.append(write_entry(step, f"chat_{len(ids)}")["id"])
    assert ids[0] == ids[1] != ids[2]


def _make_step(body: str, said: str = "Write to her.", to: str = "a@b.example") -> NextStep:
    return NextStep(
        (Message("user", said),), "", (PastCall("send_mail", {"to": to, "body": body}),), tuple(TOOLS)
    )


def test_long_texts_that_were_not_said_are_free() -> None:
    statistics = ValueStatistics()
    for number in range(4):
        found = statistics.add_step(_make_step(f"Dear Ann, this is my letter number {number}."))
        assert found == (("send_mail", "to"), ("send_mail", "body"))
    assert statistics.find_free_texts() == {("send_mail", "body"): 4}


def test_long_texts_that_the_question_has_are_not_free() -> None:
    statistics = ValueStatistics()
    for number in range(4):
        body = f"Dear Ann, this is my letter number {number}."
        statistics.add_step(_make_step(body, said=f"Write: {body}"))
    assert statistics.find_free_texts() == {}


def test_a_long_text_that_is_always_the_same_is_not_free() -> None:
    statistics = ValueStatistics()
    for _ in range(4):
        statistics.add_step(_make_step("with kind regards from all of us"))
    assert statistics.find_free_texts() == {}
