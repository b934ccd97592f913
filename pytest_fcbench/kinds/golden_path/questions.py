"""Questions to a judge about an entry with a golden path.

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
from pytest_fcbench.domain.text import cut_counting
from pytest_fcbench.domain.verdict import JudgeRating
from pytest_fcbench.judging.opinions import Equivalence, read_equivalence
from pytest_fcbench.judging.prompts import read_prompt
from pytest_fcbench.judging.questions import JudgeQuestion
from pytest_fcbench.judging.ratings import LONGEST, join_requests, read_rating

CONTEXT = 40_000
"""Characters of all earlier calls and replies where two calls are compared: they only tell where values come
from."""
EVIDENCE = 240_000
"""Characters of all calls and replies where an answer is checked against them: about 80,000 tokens, so that a
judge with a context of 128,000 has room for the rest."""


_EQUIVALENCE = read_prompt("equivalence")
_COMPLETENESS = read_prompt("completeness")
_CORRECTNESS = read_prompt("correctness")


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
        "request": join_requests(entry),
        "earlier steps": _list_steps(history, CONTEXT),
        "call that was made": _write_json(made_call),
        "call that was expected": _write_json(expected_call),
    }
    return JudgeQuestion(entry, _EQUIVALENCE, material, read_equivalence)


def ask_completeness(entry: Entry, response: str) -> JudgeQuestion[JudgeRating]:
    """Ask how much of the request a final answer deals with."""
    material = {"request": join_requests(entry), "answer": cut_counting(response, LONGEST)}
    return JudgeQuestion(entry, _COMPLETENESS, material, read_rating)


def ask_correctness(
    entry: Entry, dialogue: Sequence[Mapping[str, object]], response: str
) -> JudgeQuestion[JudgeRating]:
    """Ask whether a final answer agrees with the replies of a dialogue, in the form of a record."""
    material = {
        "request": join_requests(entry),
        "calls and replies": _list_steps(dialogue, EVIDENCE),
        "answer": cut_counting(response, LONGEST),
    }
    return JudgeQuestion(entry, _CORRECTNESS, material, read_rating)


# Material


def _write_json(value: object) -> str:
    return cut_counting(_dump_json(value), LONGEST)


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
