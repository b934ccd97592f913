"""Rows of official result files, read and written.

A row is ``{id, result, input_token_count, output_token_count, latency}``, with ``reasoning_content`` where
there is one. The result is text, or a list of ``{name: arguments}`` and text parts. In a multi-turn row it,
the counts and the reasoning are lists of turns, each a list of steps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path

from pytest_fcbench.domain.entry import SELECTIONS, Category, Entry
from pytest_fcbench.domain.transcript import (
    Completion,
    Fault,
    Transcript,
    Turns,
    completion_to_json,
    part_from_json,
)
from pytest_fcbench.models.providers.failures import diagnose_failure

_ERROR = "Error during inference:"
"""The beginning of the result that the official generator writes for an entry for which a call failed."""
_OVERFLOW = re.compile(r"(?i)context length|context ?window|maximum context|context_length_exceeded")
_VENDOR_KEYS = ({"tool_name", "parameters"}, {"name", "arguments"})
"""The keys of calls in the forms of vendors."""
_MULTI_TURN_PREFIX = "multi_turn"
"""The beginning of the ids of conversations that are judged by states."""
_STEP_KEYS = ("result", "input_token_count", "output_token_count", "latency", "reasoning_content")
"""The members of a row that have a value for each step."""


def find_result_path(category: Category, kind: str = "result") -> Path:
    """Return the path of a category's results, or of its scores (``kind``), within a model's folder."""
    # Officially each kind of memory has a folder of its own.
    in_memory = category.name in SELECTIONS["memory"]
    folders = ("memory", category.name.removeprefix("memory_")) if in_memory else ()
    return Path(category.group, *folders, f"BFCL_v4_{category.name}_{kind}.json")


def read_turns(row: Mapping[str, object]) -> Turns:
    """Return the completions of a row by turn and step."""
    result = row["result"]
    if not isinstance(result, list) or not result:
        return ((_read_step(row),),)
    if str(row.get("id")).startswith(_MULTI_TURN_PREFIX) and all(isinstance(turn, str) for turn in result):
        # Official: the characters of a text are taken for its steps, none of which is a call.
        return tuple((Completion(text=turn, in_parts=True),) for turn in result)
    if not all(isinstance(turn, list) for turn in result):
        return ((_read_step(row),),)
    return tuple(
        tuple(
            _read_step({key: _find_element(_find_element(row.get(key), turn), step) for key in _STEP_KEYS})
            for step in range(len(steps))
        )
        for turn, steps in enumerate(result)
    )


def _find_element(value: object, index: int) -> object:
    return value[index] if isinstance(value, list) and index < len(value) else None


def _read_step(row: Mapping[str, object]) -> Completion:
    """Read the completion of a step. Counts of any other shape than a number are unknown."""
    result = row["result"]
    text, tool_calls, fault = None, None, None
    if isinstance(result, list):
        # Calls in the form of a vendor stay text, which the syntax reads.
        tool_calls = tuple(
            json.dumps(item)
            if isinstance(item, dict) and any(keys <= item.keys() for keys in _VENDOR_KEYS)
            else part_from_json(item)
            for item in result
        )
    elif isinstance(result, str):
        text = result
        if text.startswith(_ERROR):
            known_fault = Fault.OVERFLOW if _OVERFLOW.search(text) else diagnose_failure(200, text).fault
            fault = known_fault or Fault.INFERENCE_ERROR
    elif result is not None:
        text = json.dumps(result)
    reasoning = row.get("reasoning_content")
    return Completion(
        text=text,
        tool_calls=tool_calls,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        input_tokens=_read_count(row.get("input_token_count")),
        output_tokens=_read_count(row.get("output_token_count")),
        latency_s=_read_number(row.get("latency")),
        fault=fault,
    )


def select_judged_text(transcript: Transcript) -> Turns:
    """Return completions as rows store them: without tool calls where calls are written as text."""
    if transcript.prompting.syntax == "tool_calls":
        return transcript.answers
    return tuple(tuple(replace(answer, tool_calls=None) for answer in turn) for turn in transcript.answers)


def write_row(entry: Entry, turns: Turns) -> dict[str, object]:
    """Write the row of an entry's completions; unknown values are left out.

    The text of a fault says that it is one, as the official generator writes it. A row cannot hold a text
    beside tool calls, nor ids of tool calls.
    """
    if turns[-1][-1].fault is Fault.OTHER_TURNS:
        # So that the row has another number of turns than the entry again: one less, or an empty one more.
        whole = replace(turns[-1][-1], fault=None)
        turns = turns[:-1] if whole == Completion(text="") else (*turns[:-1], (*turns[-1][:-1], whole), ())
    steps: list[list[Mapping[str, object]]] = []
    for turn in turns:
        steps.append([])
        for completion in turn:
            text, calls = completion.text, completion_to_json(completion)["tool_calls"]
            if completion.fault and not (text or "").startswith(_ERROR):
                text = f"{_ERROR} {text}"
            steps[-1].append(
                {
                    "result": text if calls is None else calls,
                    "input_token_count": completion.input_tokens,
                    "output_token_count": completion.output_tokens,
                    "latency": completion.latency_s,
                    "reasoning_content": completion.reasoning,
                }
            )
    row: dict[str, object] = {"id": entry.id}
    for name in _STEP_KEYS:
        values = [[step[name] for step in turn_steps] for turn_steps in steps]
        if entry.category.single_turn or (turns[-1] and turns[-1][-1].fault):
            value = values[-1][-1]
            is_known = value is not None or name == "result"
        else:
            # A turn that was a text is no list.
            value = [
                parts[0] if len(turn) == 1 and turn[0].in_parts and parts[0] is not None else parts
                for turn, parts in zip(turns, values, strict=True)
            ]
            is_known = name == "result" or any(part is not None for parts in values for part in parts)
        if is_known:
            row[name] = value
    return row


def _read_number(value: object) -> float | None:
    """Return a finite number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        # JSON can have a whole number that is too large for a float.
        return None
    return number if isfinite(number) else None


def _read_count(value: object) -> int | None:
    """Return a number cut to a whole one, None for anything else."""
    number = _read_number(value)
    return None if number is None else int(number)
