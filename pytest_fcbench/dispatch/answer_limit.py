"""A limit on the length of an answer, so that no answer takes much time or memory to decode and to judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall

_KEPT = 200
"""Characters of an answer that is too long that are shown."""


def bound_answer(completion: Completion, longest: int) -> Completion:
    """Return an answer, or in place of one that is too long its length and its beginning, as a fault.

    Tokens, time and the reason why the answer ended stay.
    """
    length = measure_answer(completion)
    if length <= longest:
        return completion
    begins = (completion.text or "")[:_KEPT]
    summary = f"the answer has {length:,} characters, and at most {longest:,} are read"
    return replace(
        completion,
        text=f"{summary}; it begins {begins!r}" if begins else summary,
        tool_calls=None,
        reasoning=None,
        refusal=None,
        message=None,
        in_parts=False,
        fault=Fault.TOO_LARGE,
    )


def measure_answer(completion: Completion) -> int:
    """Count the characters of an answer: its text, reasoning, and names and arguments of calls."""
    parts = (completion.text, completion.reasoning, completion.refusal, completion.tool_calls)
    return sum(map(_measure_value, parts))


def _measure_value(value: object) -> int:
    """Count the characters of a value, without recursion: what servers nest has any depth."""
    length, waiting = 0, [value]
    while waiting:
        match waiting.pop():
            case str(text):
                length += len(text)
            case ToolCall(name=name, arguments=arguments):
                waiting += [name, arguments]
            case list(members) | tuple(members):
                length += len(members)
                waiting += members
            case Mapping() as members:
                length += len(members)
                waiting += [*members.keys(), *members.values()]
            case None:
                pass
            case _:
                length += 1
    return length
