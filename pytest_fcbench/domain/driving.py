"""Ways to run a generator that yields demands and is sent replies: plain, async, inside another one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

Demand = TypeVar("Demand")
Inner = TypeVar("Inner")
Reply = TypeVar("Reply")
InnerReply = TypeVar("InnerReply")
Result = TypeVar("Result")


def drive_conversation(
    conversation: Generator[Demand, Reply, Result], answer: Callable[[Demand], Reply]
) -> Result:
    """Answer every demand of a conversation and return its result."""
    step = _advance(partial(next, conversation))
    while not isinstance(step, _Ended):
        step = _advance(partial(conversation.send, answer(step)))
    result: Result = step.result
    return result


async def drive_conversation_async(
    conversation: Generator[Demand, Reply, Result], answer: Callable[[Demand], Awaitable[Reply]]
) -> Result:
    """Await an answer to every demand of a conversation and return its result."""
    step = _advance(partial(next, conversation))
    while not isinstance(step, _Ended):
        step = _advance(partial(conversation.send, await answer(step)))
    result: Result = step.result
    return result


def relay_conversation(
    conversation: Generator[Inner, InnerReply, Result],
    respond: Callable[[Inner], Generator[Demand, Reply, InnerReply]],
) -> Generator[Demand, Reply, Result]:
    """Run a conversation inside another one, which passes on the demands of ``respond`` to its driver."""
    step = _advance(partial(next, conversation))
    while not isinstance(step, _Ended):
        step = _advance(partial(conversation.send, (yield from respond(step))))
    result: Result = step.result
    return result


@dataclass(frozen=True, slots=True)
class _Ended:
    """The result of a conversation that has ended."""

    # StopIteration does not carry the type of its value; each caller states it again.
    result: Any


def _advance(step: Callable[[], Demand]) -> Demand | _Ended:
    """Return the next demand, or the result of a conversation that has ended.

    Only the step itself is guarded: an answer that raises StopIteration does not end the conversation.
    """
    try:
        return step()
    except StopIteration as done:
        return _Ended(done.value)
