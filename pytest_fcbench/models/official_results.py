"""Rows of an official result file (``BFCL_v4_<category>_result.json``), read and written.

A row is ``{id, result, input_token_count, output_token_count, latency}``, with ``reasoning_content`` where
there is one. The result is text, or a list of ``{name: arguments}`` and text parts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path

from pytest_fcbench.answers import Completion, Fault, completion_to_json, part_from_json
from pytest_fcbench.entries import Category

_ERROR = "Error during inference:"
_OVERFLOW = ("context length", "context window", "maximum context", "context_length_exceeded")


def path_of(category: Category) -> Path:
    """Where a category's results lie in the folder of a model."""
    return Path(category.group, f"BFCL_v4_{category.name}_result.json")


def completion_of(row: Mapping[str, object]) -> Completion:
    """The completion of a row. Counts of any other shape than a number are unknown."""
    result = row["result"]
    text, tool_calls, fault = None, None, None
    if isinstance(result, list):
        tool_calls = tuple(part_from_json(item) for item in result)
    elif isinstance(result, str):
        text = result
        if text.startswith(_ERROR):
            fault = Fault.OVERFLOW if any(w in text.lower() for w in _OVERFLOW) else Fault.INFERENCE_ERROR
    elif result is not None:
        text = json.dumps(result)
    reasoning = row.get("reasoning_content")
    return Completion(
        text=text,
        tool_calls=tool_calls,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        input_tokens=count_of(row.get("input_token_count")),
        output_tokens=count_of(row.get("output_token_count")),
        latency_s=number_of(row.get("latency")),
        fault=fault,
    )


def row_of(entry_id: str, completion: Completion) -> dict[str, object]:
    """The row of a completion, what is unknown left out.

    A row cannot hold a text beside tool calls, ids of tool calls, nor a fault that its text does not tell.
    """
    answer = completion_to_json(completion)
    counts = {
        "input_token_count": completion.input_tokens,
        "output_token_count": completion.output_tokens,
        "latency": completion.latency_s,
        "reasoning_content": completion.reasoning,
    }
    return {
        "id": entry_id,
        "result": answer["text"] if answer["tool_calls"] is None else answer["tool_calls"],
        **{name: value for name, value in counts.items() if value is not None},
    }


def number_of(value: object) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def count_of(value: object) -> int | None:
    """A number cut to a whole one; None for anything else."""
    number = number_of(value)
    return None if number is None else int(number)
