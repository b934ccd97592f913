"""The two drivers and the relay send every reply to where its demand came from, and return the result."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.transcript import (
    Completion,
    drive_conversation,
    drive_conversation_async,
    drop_official_reasoning,
    drop_reasoning,
    find_reasoning,
    relay_conversation,
    separate_reasoning,
)
from tests.cases import each_case


def demand_numbers(*demands: int) -> Generator[int, str, list[str]]:
    """Demand numbers and return the replies."""
    replies = []
    for demand in demands:
        replies.append((yield demand))
    return replies


@pytest.mark.parametrize("demands", [(), (1,), (1, 2, 3)])
def test_every_way_returns_what_the_conversation_returns(demands: tuple[int, ...]) -> None:
    async def answer_later(demand: int) -> str:
        await asyncio.sleep(0)
        return str(demand)

    def relay_demand(demand: int) -> Generator[int, str, str]:
        return (yield demand)

    expected = [str(demand) for demand in demands]
    assert drive_conversation(demand_numbers(*demands), str) == expected
    assert asyncio.run(drive_conversation_async(demand_numbers(*demands), answer_later)) == expected
    assert drive_conversation(relay_conversation(demand_numbers(*demands), relay_demand), str) == expected


def test_a_relay_answers_by_itself_or_asks_as_often_as_it_likes() -> None:
    asked: list[float] = []

    def ask_per_demand(demand: int) -> Generator[float, bytes, str]:
        replies = []
        for _ in range(demand):
            replies.append((yield demand / 2))
        return b"".join(replies).decode()

    def note_demand(demand: float) -> bytes:
        asked.append(demand)
        return b"x"

    assert drive_conversation(relay_conversation(demand_numbers(0, 2, 1), ask_per_demand), note_demand) == [
        "",
        "xx",
        "x",
    ]
    assert asked == [1.0, 1.0, 0.5]


def test_an_error_of_an_answer_ends_the_conversation() -> None:
    def raise_error(demand: int) -> str:
        raise ValueError(demand)

    async def await_answer(demand: int) -> str:
        raise ValueError(demand)

    with pytest.raises(ValueError, match="7"):
        drive_conversation(demand_numbers(7), raise_error)
    with pytest.raises(ValueError, match="7"):
        asyncio.run(drive_conversation_async(demand_numbers(7), await_answer))


def test_answers_that_run_out_are_not_the_end_of_a_conversation() -> None:
    answers = iter(["one"])
    with pytest.raises(StopIteration):
        drive_conversation(demand_numbers(1, 2), lambda _: next(answers))


PIECES = st.sampled_from(
    ["<think>", "</think>", "<|thought_start|>", "<|thought_end|>", "\n", "[f(a=1)]", "é "]
)


@each_case(
    ("text", "reasoning", "answer"),
    [
        ("<think>\nThe user wants f.\n</think>\n\n[f()]", "The user wants f.", "[f()]"),
        # Templates of some servers begin the reasoning themselves.
        ("The user wants f.\n</think>[f()]", "The user wants f.", "[f()]"),
        ("Sure. <think>a</think>b</think>[f()]", "a", "[f()]"),
        ("<|thought_start|>\na\n<|thought_end|>\n[f()]", "a", "[f()]"),
        ("<think></think>", "", ""),
        ("<think>\n\n</think>\n", "", ""),
    ],
)
def test_reasoning_ends_at_the_first_mark_and_the_answer_begins_behind_the_last(
    text: str, reasoning: str, answer: str
) -> None:
    separated, _ = separate_reasoning(Completion(text=text))
    assert (separated.reasoning, separated.text) == (reasoning, answer)
    assert drop_reasoning(text) == answer


@each_case("text", ["[f()]", "<think>The user wants", "<|thought_start|>a", ""])
def test_a_text_without_the_mark_of_an_end_has_no_reasoning(text: str) -> None:
    assert find_reasoning(text) is None
    assert separate_reasoning(Completion(text=text)) == (Completion(text=text), None)


def test_reasoning_in_its_own_field_is_left_alone() -> None:
    completion = Completion(text="a</think>b", reasoning="c")
    assert separate_reasoning(completion) == (completion, None)


def test_only_one_mark_ends_reasoning_officially() -> None:
    assert drop_official_reasoning("a</think>\n\nb") == "b"
    assert drop_official_reasoning("\n<|thought_end|>b") == "\n<|thought_end|>b"


@given(st.lists(PIECES).map("".join))
def test_the_parts_of_a_text_are_the_text(text: str) -> None:
    if marked := find_reasoning(text):
        assert marked.opening + marked.reasoning + marked.closing + marked.answer == text
