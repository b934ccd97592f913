"""The official questions to a judge along a golden path, with the official prompts.

Official: ``llm_based`` of ``utils/compare_method.py``, ``runner/response_runner.py`` and ``decode_json``.
Nothing separates the material from the instructions, so a model that is judged can address the judge. Whether
two calls are equal is asked once; a rating that cannot be read is asked for again with the same request.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.recorded_call import RecordedCall
from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, Party
from pytest_fcbench.kinds.golden_path.wording import JudgePrompt, PathWording

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
) -> Generator[AskModel, Completion, tuple[Completion, bool | None, str]]:
    """Ask whether two calls are equal.

    Return the judge's completion, its opinion (None where it cannot be read), and its reason. Raises
    ``UnexpectedJudgementError``.
    """
    functions = [
        {"name": doc.name, "description": doc.description, "parameters": doc.shown_schema, **doc.extra}
        for doc in entry.functions
    ]
    values = {
        "functions": _write_json(functions),
        "history": _write_json(_parse_replies(history)),
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
) -> Generator[AskModel, Completion, tuple[int | None, int | None]]:
    """Ask for both ratings of a final response: completeness and correctness; None where there is none.

    ``golden`` is the recorded dialogue up to the last reply, against which facts are checked (official).
    """
    if not response:
        return None, None
    query = entry.turns[0][0].content
    completeness = yield from _rate(wording.completeness, {"query": query, "gen_response": response})
    history = _write_json(_parse_replies(golden))
    correctness = yield from _rate(wording.correctness, {"history": history, "gen_response": response})
    return completeness, correctness


def _rate(prompt: JudgePrompt, values: Mapping[str, str]) -> Generator[AskModel, Completion, int | None]:
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
    messages = (
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": escape_surrogates(prompt.fill(values))},
    )
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
    return _write_json({"name": call.name, "arguments": dict(sorted(call.arguments.items()))})


def _write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
