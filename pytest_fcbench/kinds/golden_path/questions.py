"""Questions to a judge about an entry with a golden path, ours and those of the official code.

The criteria are those of the paper (Zhong et al. 2025, arXiv:2501.10132: the judge that matches calls,
completeness, correctness); all wording is ours.

A reply of an API can have 100,000 characters, and a dialogue more than many judges can read; the official
evaluator sends all of it. Here calls and replies of a dialogue share a number of characters: short ones are
whole, long ones are cut to the same length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import cut_counting, escape_surrogates, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, Inquiry, Party, RecordedCall
from pytest_fcbench.domain.verdict import JudgeRating
from pytest_fcbench.judging import questions as judging
from pytest_fcbench.judging.questions import Equivalence, JudgeQuestion
from pytest_fcbench.kinds.golden_path.truth import JudgePrompt, PathWording

CONTEXT = 40_000
"""Characters of all earlier calls and replies where two calls are compared: they only tell where values come
from."""
EVIDENCE = 240_000
"""Characters of all calls and replies where an answer is checked against them: about 80,000 tokens, so that a
judge with a context of 128,000 has room for the rest."""


_EQUIVALENCE = judging.read_prompt("equivalence")
_COMPLETENESS = judging.read_prompt("completeness")
_CORRECTNESS = judging.read_prompt("correctness")


def ask_equivalence(
    entry: Entry,
    made_call: Mapping[str, object],
    expected_call: Mapping[str, object],
    history: Sequence[Mapping[str, object]],
) -> JudgeQuestion[Equivalence]:
    """Ask whether two calls (``{"name": ..., "arguments": {...}}``) mean the same after the dialogue.

    ``history`` is in the form of a record: the request, calls (``function_call``), their replies
    (``content`` of an ``observation``, as JSON text), calls ...
    """
    names = {call.get("name") for call in (made_call, expected_call)}
    material = {
        "functions": {
            doc.name: _write_json({"description": doc.description, "parameters": doc.shown_schema})
            for doc in entry.functions
            if doc.name in names
        },
        "request": judging.join_requests(entry),
        "earlier steps": _list_steps(history, CONTEXT),
        "call that was made": _write_json(made_call),
        "call that was expected": _write_json(expected_call),
    }
    return JudgeQuestion(entry, _EQUIVALENCE, material, judging.read_equivalence)


def ask_completeness(entry: Entry, response: str) -> JudgeQuestion[JudgeRating]:
    """Ask how much of the request a final answer deals with."""
    material = {"request": judging.join_requests(entry), "answer": cut_counting(response, judging.LONGEST)}
    return JudgeQuestion(entry, _COMPLETENESS, material, judging.read_rating)


def ask_correctness(
    entry: Entry, dialogue: Sequence[Mapping[str, object]], response: str
) -> JudgeQuestion[JudgeRating]:
    """Ask whether a final answer agrees with the replies of a dialogue, in the form of a record."""
    material = {
        "request": judging.join_requests(entry),
        "calls and replies": _list_steps(dialogue, EVIDENCE),
        "answer": cut_counting(response, judging.LONGEST),
    }
    return JudgeQuestion(entry, _CORRECTNESS, material, judging.read_rating)


# Material


def _write_json(value: object) -> str:
    return cut_counting(_dump_json(value), judging.LONGEST)


def _dump_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):
        return "(cannot be written as JSON)"


def _list_steps(dialogue: Sequence[Mapping[str, object]], most: int) -> list[Mapping[str, object]]:
    """List each call of a dialogue with its reply, cut to ``most`` characters in total."""
    call_turns = [turn for turn in dialogue if "function_call" in turn]
    steps = [step for step, turn in enumerate(call_turns, 1) for _ in _get_list(turn, "function_call")]
    calls = [_dump_json(call) for turn in call_turns for call in _get_list(turn, "function_call")]
    replies = [str(reply) for turn in dialogue for reply in _get_list(turn, "content")]
    longest = share_length([len(text) for text in (*calls, *replies)], most)
    return [
        {"step": step, "call": cut_counting(call, longest), "reply": cut_counting(reply, longest)}
        for step, call, reply in zip(steps, calls, replies, strict=False)
    ]


def _get_list(turn: Mapping[str, object], key: str) -> Sequence[object]:
    value = turn.get(key)
    return value if isinstance(value, (list, tuple)) else ()


def share_length(lengths: Sequence[int], most: int) -> int:
    """Return the length to cut texts to so that together they have at most ``most`` characters."""
    budget = most
    for at, length in enumerate(sorted(lengths)):
        share = budget // (len(lengths) - at)
        if length > share:
            return share
        budget -= length
    return most


def describe_function(doc: FunctionDoc, name: str) -> Mapping[str, object]:
    """Describe a function under a name, as the official code does."""
    return {"name": name, "description": doc.description, "parameters": doc.shown_schema, **doc.extra}


TRIES = 10
"""Requests for a rating before the code goes on without it."""

_PARAMETERS: Mapping[str, object] = {"temperature": 0.0}


class UnexpectedJudgementError(Exception):
    """A judgement is JSON of a form that ends the official worker."""


def compare_calls(
    entry: Entry,
    wording: PathWording,
    made_call: Call,
    expected_call: RecordedCall,
    history: Sequence[Mapping[str, object]],
) -> Inquiry[tuple[Completion, bool | None, str]]:
    """Ask whether two calls are equal.

    Return the judge's completion, its opinion (None where it cannot be read), and its reason. Raises
    ``UnexpectedJudgementError``.
    """
    values = {
        "functions": _write_officially([describe_function(doc, doc.name) for doc in entry.functions]),
        "history": _write_officially(_parse_replies(history)),
        "function_call_1": _write_call(made_call),
        "function_call_2": _write_call(expected_call),
    }
    completion = yield _build_request(wording.equivalence, values)
    value = decode_json(completion.text or "")
    if not value:
        return completion, None, "the judgement is not JSON"
    if not isinstance(value, Mapping) or "is_equal" not in value:
        raise UnexpectedJudgementError("the judgement has no is_equal")
    # Officially any true value of Python will do.
    return completion, bool(value["is_equal"]), str(value.get("reason", ""))


def rate_response(
    entry: Entry, wording: PathWording, response: str, golden: Sequence[Mapping[str, object]]
) -> Inquiry[tuple[int | None, int | None]]:
    """Ask for both ratings of a final response: completeness and correctness; None where there is none.

    ``golden`` is the recorded dialogue up to the last reply, against which facts are checked (official).
    """
    if not response:
        return None, None
    query = entry.turns[0][0].content
    completeness = yield from _rate(wording.completeness, {"query": query, "gen_response": response})
    history = _write_officially(_parse_replies(golden))
    correctness = yield from _rate(wording.correctness, {"history": history, "gen_response": response})
    return completeness, correctness


def _rate(prompt: JudgePrompt, values: Mapping[str, str]) -> Inquiry[int | None]:
    for attempt in range(TRIES):
        completion = yield _build_request(prompt, values, attempt)
        if completion.fault:
            break
        value = decode_json(completion.text or "")
        score = value.get("score") if isinstance(value, Mapping) else None
        # ``true`` is 1 and ``2.0`` is 2 (official: ``in [0, 1, 2]``).
        if isinstance(score, (int, float)) and score in (0, 1, 2):
            return int(score)
    return None


def _build_request(prompt: JudgePrompt, values: Mapping[str, str], attempt: int = 0) -> AskModel:
    text = escape_surrogates(prompt.fill(values))
    messages = {"role": "system", "content": prompt.system}, {"role": "user", "content": text}
    return AskModel(messages, party=Party.JUDGE, defaults=_PARAMETERS, attempt=attempt)


def decode_json(text: str) -> object:
    """Read a judge's reply as the official code does; None where it is no JSON."""
    # Official: ``strip`` takes characters and not words, so letters at the ends go too.
    for characters in ("`JSON\n", "`json\n", "\n`"):
        text = text.strip(characters)
    try:
        text = text.replace("\n", "").replace("False", "false").replace("True", "true")
        value: object = read_json_text(text)
    except (ValueError, RecursionError):
        return None
    return value


def _parse_replies(dialogue: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Return a dialogue with its replies as JSON values instead of as JSON text."""
    return [
        {**turn, "content": [read_json_text(str(reply)) for reply in replies]}
        if turn["role"] == "observation" and isinstance(replies := turn["content"], list)
        else turn
        for turn in dialogue
    ]


def _write_call(call: Call | RecordedCall) -> str:
    return _write_officially({"name": call.name, "arguments": dict(sorted(call.arguments.items()))})


def _write_officially(value: object) -> str:
    """Write JSON of any length, as the official code does."""
    return json.dumps(value, ensure_ascii=False)
