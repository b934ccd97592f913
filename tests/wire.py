"""Streams of real servers, each with its right reading, from the folder ``wire`` beside the oracle."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class RecordedStream:
    """The body of a streamed reply and what it says."""

    name: str
    body: bytes
    is_failure: bool
    """True where the endpoint failed, so that there is no answer."""
    calls: list[tuple[str, dict[str, Any]]] | None
    """The calls with their arguments; None where there is no right reading."""
    text: str


def list_recorded_streams() -> list[RecordedStream]:
    """Return the recorded streams; none where ``FCBENCH_ORACLE`` is not set."""
    folder = os.environ.get("FCBENCH_ORACLE")
    file = Path(folder).with_name("wire") / "streams.jsonl" if folder else None
    if file is None or not file.is_file():
        return []
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [
        RecordedStream(
            row["name"],
            row["stream"].encode("utf-8", "surrogatepass"),
            row["reading"].startswith(("cut stream", "endpoint failure")),
            None if row.get("calls") is None else [(name, given) for name, given in row["calls"]],
            row.get("text", ""),
        )
        for row in rows
    ]


NEEDS_STREAMS = pytest.mark.skipif(
    not list_recorded_streams(), reason="FCBENCH_ORACLE has no folder 'wire' beside it"
)
