"""What both walks along a golden path share: what they yield and return, how answers are read, the
lookups."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry, GoldenPath, Lookup, PathCall, reply_text
from pytest_fcbench.domain.transcript import BUILTIN, AskModel, Call, Completion, Driven, Party
from pytest_fcbench.domain.verdict import NotScored, PathScore, Verdict
from pytest_fcbench.matchers.golden_path import questions
from pytest_fcbench.matchers.judging.questions import answered, put


@dataclass(frozen=True, slots=True)
class Shown:
    """What the model is shown before it is asked again: a text for each of its calls, none at first.

    Where no call could be read, one text tells it so.
    """

    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a walk ended. ``score`` is None where officially nothing is counted."""

    verdict: Verdict
    score: PathScore | None


Walk: TypeAlias = Generator[Shown | AskModel, Completion, Outcome]
"""Sent the model's completion for what is shown, the other party's for what is asked."""


Dialogue: TypeAlias = list[Mapping[str, object]]
"""What was said so far, in the form of a record: a request, calls, replies (as JSON text), calls ..., for
judges."""


def path_of(entry: Entry) -> GoldenPath:
    """Return the golden path of an entry. Raises TypeError where it has none."""
    if not isinstance(entry.expectation, GoldenPath):
        raise TypeError(f"{entry.key} has no golden path")
    return entry.expectation


def opening(entry: Entry) -> Dialogue:
    """Return the dialogue before the first answer."""
    return [{"role": message.role, "content": message.content} for message in entry.turns[0]]


GENERIC = reply_text(
    {"api_status": True, "content": "This call did not work. Check the function and its arguments."}
)
"""The reply to a call that is not right."""


def refused(reason: str) -> str:
    """Return the reply to a call whose form violates its function doc."""
    return reply_text({"error": reason})


def response_judged(
    entry: Entry, driven: Driven, response: str, dialogue: Sequence[Mapping[str, object]], score: PathScore
) -> Generator[AskModel, Completion, PathScore]:
    """Add a judge's ratings of the final answer to the score, where a judge can be asked."""
    # The builtin judge compares calls; it cannot rate words.
    if driven.judge == BUILTIN or not response.strip():
        return score
    scores: list[int | None] = []
    for question in (
        questions.completeness(entry, response),
        questions.correctness(entry, dialogue, response),
    ):
        transcript = yield from put(question, driven.judge, Party.JUDGE)
        answer = answered(question, transcript)
        scores.append(None if isinstance(answer, NotScored) else answer.score)
    return replace(score, completeness=scores[0], correctness=scores[1])


def golden_dialogue(entry: Entry) -> Dialogue:
    """Return the dialogue as it was recorded, up to the last reply."""
    dialogue = opening(entry)
    for step in path_of(entry).steps:
        dialogue += said(step, [call.reply for call in step])
    return dialogue


def said(calls: Iterable[Call | PathCall], replies: Iterable[str]) -> Dialogue:
    """Return calls and their replies as two turns of a dialogue."""
    made = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return [
        {"role": "assistant", "function_call": made},
        {"role": "observation", "content": list(replies)},
    ]


def is_lookup(call: PathCall, lookups: Sequence[Lookup]) -> bool:
    """Return whether a call of the path may be left out."""
    return any(
        call.name == lookup.name and lookup.where.items() <= call.arguments.items() for lookup in lookups
    )


def is_special(call: PathCall, lookups: Sequence[Lookup]) -> bool:
    """Return whether a call is a lookup only with its arguments (official: the hotel rule)."""
    return is_lookup(call, [lookup for lookup in lookups if lookup.where])


def first_open(path: GoldenPath, left: Sequence[PathCall]) -> int:
    """Count the steps before the first one with a call that is left. Official: ``get_success_turn``."""
    open_steps = (
        index
        for index, step in enumerate(path.steps)
        if any(same(call, other) for call in step for other in left)
    )
    return next(open_steps, len(path.steps))


def same(one: Call | PathCall, other: Call | PathCall) -> bool:
    """Return whether two calls are equal by Python's equality, so 1 is 1.0 (official)."""
    return one.name == other.name and one.arguments == other.arguments
