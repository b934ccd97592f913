"""Transcripts and whole completions as JSON values, for the answer store and the link between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from pytest_fcbench.domain.json_values import read_json
from pytest_fcbench.domain.prompting import BY_NAME, Mode, Names, Prompting
from pytest_fcbench.domain.text import as_list
from pytest_fcbench.domain.transcript import (
    AuxiliaryCall,
    Completion,
    Party,
    PathSettings,
    Step,
    ToolCall,
    Transcript,
    completion_from_json,
    completion_to_json,
)

_Kind = TypeVar("_Kind")

_TOKENS = ("input_tokens", "output_tokens")
_PARTS = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")
"""Counts that are left out where nothing is known of them, as in all older answers."""


def write_completion(completion: Completion) -> dict[str, object]:
    """Convert a completion to JSON values with nothing left out: usage, message and ids of calls too."""
    members = completion_to_json(completion) | {"latency_s": completion.latency_s}
    members |= {name: getattr(completion, name) for name in _TOKENS}
    members |= {name: count for name in _PARTS if (count := getattr(completion, name)) is not None}
    if completion.served:
        members["served"] = list(completion.served)
    if completion.message is not None:
        members["message"] = completion.message
    # The next request of a conversation names results by them.
    ids = [part.id for part in completion.tool_calls or () if isinstance(part, ToolCall)]
    return members | ({"ids": ids} if any(ids) else {})


def read_completion(value: Mapping[str, object]) -> Completion:
    """Read what ``write_completion`` wrote. Raises KeyError or ValueError for any other object."""
    message, latency_s = value.get("message"), value["latency_s"]
    remaining_ids = map(str, as_list(value.get("ids")))
    counts = {name: value[name] for name in _TOKENS} | {name: value.get(name) for name in _PARTS}
    known_counts: dict[str, Any] = {name: count for name, count in counts.items() if isinstance(count, int)}
    completion = completion_from_json(value)
    return replace(
        completion,
        tool_calls=completion.tool_calls
        and tuple(
            replace(part, id=next(remaining_ids, "")) if isinstance(part, ToolCall) else part
            for part in completion.tool_calls
        ),
        message=message if isinstance(message, Mapping) else None,
        served=tuple(map(str, as_list(value.get("served")))),
        latency_s=float(latency_s) if isinstance(latency_s, (int, float)) else None,
        **known_counts,
    )


def write_transcript(transcript: Transcript) -> dict[str, object]:
    """Convert a transcript to JSON values."""
    prompting = transcript.prompting
    return {
        "entry": transcript.entry,
        "model": transcript.model,
        "prompting": [prompting.mode, prompting.names, prompting.syntax, prompting.format.name],
        "turns": [
            [[write_completion(step.completion), step.calls, step.results] for step in turn]
            for turn in transcript.turns
        ],
        "asides": [
            [aside.party, aside.digest, write_completion(aside.completion), aside.usd]
            for aside in transcript.asides
        ],
        "driven": transcript.driven and asdict(transcript.driven),
    }


def read_transcript(value: Mapping[str, object]) -> Transcript:
    """Read what ``write_transcript`` wrote. Raises KeyError, TypeError or ValueError for any other object."""
    mode, names, syntax, format_name = _take(value, "prompting", list)
    turns, asides, settings = _take(value, "turns", list), _take(value, "asides", list), value["driven"]
    return Transcript(
        _take(value, "entry", str),
        _take(value, "model", str),
        Prompting(Mode(mode), Names(names), syntax, BY_NAME[format_name]),
        tuple(
            tuple(
                Step(read_completion(completion_value), tuple(calls), tuple(results))
                for completion_value, calls, results in turn
            )
            for turn in turns
        ),
        tuple(
            AuxiliaryCall(Party(party), digest, read_completion(completion_value), usd)
            for party, digest, completion_value, usd in asides
        ),
        None if settings is None else read_json(_path_settings(), settings),
    )


@cache
def _path_settings() -> TypeAdapter[PathSettings]:
    return TypeAdapter(PathSettings)


def _take(value: Mapping[str, object], key: str, kind: type[_Kind]) -> _Kind:
    if not isinstance(member := value[key], kind):
        raise TypeError(f"{key} must be {kind.__name__}, is {type(member).__name__}")
    return member
