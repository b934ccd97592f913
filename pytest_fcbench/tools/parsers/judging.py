"""Compare what a parser made of a right answer with the calls that the answer was written from."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from types import FrameType
from typing import NoReturn

from pytest_fcbench.domain.text import read_json_text, shorten_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.tools.parsers.engine import ParsedAnswer


class Outcome(StrEnum):
    """What became of the calls of a right answer."""

    EXACT = "exact"
    """All came back, in their order, with equal values, and nothing else."""
    WRONG = "wrong"
    """There are more calls, others, or other values."""
    LOST = "lost"
    """There are fewer calls."""
    LEAKED = "leaked"
    """The calls are exact, but a part of their text is shown to the user too."""
    CRASHED = "crashed"
    """The parser raised an exception."""
    SLOW = "slow"
    """The parser took more processor time than the limit, and was stopped."""


@dataclass(frozen=True, slots=True)
class AnswerFinding:
    """An outcome, and what differs."""

    outcome: Outcome
    reason: str = ""


def judge_answer(truth: Sequence[Call], answer: ParsedAnswer) -> AnswerFinding:
    """Compare the calls of an answer with the right ones: 2 and 2.0 are equal, 1 and true are not."""
    count = len(answer.calls)
    if count < len(truth):
        rest = f", and the text {shorten_text(answer.text, 80)!r}" if answer.text.strip() else ""
        return AnswerFinding(Outcome.LOST, f"{count} of {len(truth)} calls{rest}")
    if count > len(truth):
        names = ", ".join(each.name for each in answer.calls)
        return AnswerFinding(Outcome.WRONG, f"{count} calls for {len(truth)}: {shorten_text(names, 80)}")
    for right, call in zip(truth, answer.calls, strict=True):
        if right.name != call.name:
            return AnswerFinding(Outcome.WRONG, f"name: {right.name!r} → {call.name!r}")
        try:
            # No arguments at all are sent as an empty text by some servers.
            arguments = read_json_text(call.arguments or "{}")
        except (ValueError, TypeError):
            return AnswerFinding(Outcome.WRONG, f"no JSON: {shorten_text(str(call.arguments), 120)}")
        if difference := find_difference(right.arguments, arguments, right.name):
            return AnswerFinding(Outcome.WRONG, difference)
    if answer.indexes is not None and [*answer.indexes] != [*range(count)]:
        return AnswerFinding(Outcome.WRONG, f"indexes of the calls: {', '.join(map(str, answer.indexes))}")
    if text := answer.text.strip():
        return AnswerFinding(Outcome.LEAKED, f"text: {shorten_text(text, 80)!r}")
    return AnswerFinding(Outcome.EXACT)


def find_difference(right: object, value: object, place: str) -> str | None:
    """Describe the first place where a JSON value differs from the right one, or return None."""
    match right, value:
        case (Mapping(), Mapping()) if right.keys() == value.keys():
            pairs = [(each, value[key], f"{place}.{key}") for key, each in right.items()]
        case (list() | tuple(), list()) if len(right) == len(value):
            pairs = [
                (each, other, f"{place}[{number}]")
                for number, (each, other) in enumerate(zip(right, value, strict=True))
            ]
        case _:
            # In Python, True equals 1.
            has_flag = isinstance(right, bool) or isinstance(value, bool)
            is_equal = right is value if has_flag else right == value
            return None if is_equal else f"{place}: {_write_value(right)} → {_write_value(value)}"
    return next((text for pair in pairs if (text := find_difference(*pair))), None)


def _write_value(value: object) -> str:
    return shorten_text(json.dumps(value, ensure_ascii=False, default=list), 60)


class CpuLimitReached(BaseException):
    """The processor time of a call has run out; no parser may take it for an error of its own."""


@contextmanager
def limit_cpu(seconds: float) -> Iterator[None]:
    """Raise ``CpuLimitReached`` in the block after this much processor time of the process.

    Without effect outside the main thread and on systems without virtual timers.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise CpuLimitReached

    former_handler = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former_handler)
