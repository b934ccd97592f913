"""The two drivers and the relay send every reply to where its demand came from, and return the result."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest

from pytest_fcbench.domain.driving import drive_conversation, drive_conversation_async, relay_conversation


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
