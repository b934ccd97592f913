"""Explain a failed entry: what was asked, and the answer beside what was expected."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fcbench.codecs.decoders.registry import list_calls_to_make
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import Explanation, FailedEntry, StateDifference
from pytest_fcbench.domain.text import list_objects, shorten_text
from pytest_fcbench.domain.transcript import Completion, ToolCall, drop_reasoning
from pytest_fcbench.domain.verdict import OWN_ASSERTION, Failed, PathScore
from pytest_fcbench.judging.text_normalization import mark_lookalikes
from pytest_fcbench.kinds.calls.kind import describe_accepted
from pytest_fcbench.kinds.own_check import FORBIDDEN
from pytest_fcbench.kinds.table import find_kind

_LONGEST = 600
"""The most characters of a text that are shown."""


def explain_failure(failure: FailedEntry, path: PathScore | None = None) -> Explanation:
    """Explain a verdict on a conversation; ``path`` is the progress on a golden path."""
    entry, transcript, verdict = failure.entry, failure.transcript, failure.verdict
    turn = verdict.details.get("turn")
    number = turn if isinstance(turn, int) and 0 < turn <= len(entry.turns) else len(entry.turns)
    right = verdict.details.get("right_turns")
    count = "" if right is None else f", {right} turn{'s' * (right != 1)} right"
    answers = transcript.answers[number - 1] if number <= len(transcript.answers) else ()
    kind, syntax = find_kind(entry), transcript.prompting.syntax
    answer = [kind.shorten_answer(_describe_answer(completion, syntax)) for completion in answers]
    expected_texts = list(_list_expected(entry, number, verdict))
    pairs = kind.pair_calls(failure, path)
    is_wrong = any(pair.wrong or any(each.wrong for each in pair.arguments) for pair in pairs)
    return Explanation(
        question=tuple((message.role, message.shown_text) for message in entry.turns[number - 1]),
        turn=f"turn {number} of {len(entry.turns)}{count}" if len(entry.turns) > 1 else "",
        # A check of a team's own can refuse calls that are as expected; nothing is wrong in their pairs.
        calls=pairs if is_wrong else (),
        found=tuple(mark_lookalikes(text, " ".join(expected_texts))[0] for text in answer),
        expected=tuple(mark_lookalikes(text, " ".join(answer))[0] for text in expected_texts),
        differences=tuple(_list_state_differences(verdict)),
    )


def _describe_answer(completion: Completion, syntax: str) -> str:
    """Describe an answer by its calls as they are carried out, or by its text."""
    if calls := list_calls_to_make(completion, syntax):
        return shorten_text("; ".join(calls), _LONGEST)
    parts = completion.tool_calls or ()
    raw = [f"{each.name} {each.arguments}" if isinstance(each, ToolCall) else each for each in parts]
    text = drop_reasoning(completion.text or "").strip() or "; ".join(raw) or completion.refusal or ""
    return shorten_text(text, _LONGEST) or f"({completion.fault or 'an empty answer'})"


def _list_expected(entry: Entry, turn: int, verdict: Failed) -> Iterable[str]:
    if verdict.code in (OWN_ASSERTION, FORBIDDEN) or not entry.expectation.is_known:
        if "place" in verdict.details:
            yield "an answer that the assertions of the test accept"
        elif entry.check and verdict.code != FORBIDDEN:
            yield "an answer that the check accepts"
        else:
            yield f"no call of {' or '.join(entry.forbidden)}"
        return
    truth = find_kind(entry).describe_truth(entry)
    if truth.turns:
        yield from truth.turns[turn - 1] or ("no call yet",)
    for result in truth.results:
        effect = "returns what {} returns" if result.rule else "is answered as {} is"
        yield f"a call that {effect.format(result.call)}"
    for call in truth.calls:
        arguments = (f"{each.name}={describe_accepted(each)}" for each in call.parameters)
        yield f"{call.name}({', '.join(arguments)})"
    if truth.texts:
        yield f"an answer that says {' or '.join(truth.texts)}"
    if entry.expectation.takes_any_call:
        yield "a call of a function that is offered"
    elif truth.rule:
        yield truth.rule


def _list_state_differences(verdict: Failed) -> Iterable[StateDifference]:
    for each in list_objects(verdict.details.get("differences")):
        if "at" in each:
            values = (each.get(key) for key in ("expected", "found"))
            yield StateDifference(str(each["at"]), *(None if v is None else str(v) for v in values))
