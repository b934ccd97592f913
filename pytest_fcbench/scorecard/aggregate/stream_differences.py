"""How often the stream of a reply says something else than the whole one, part by part, beside noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.stream_comparison import PARTS
from pytest_fcbench.scorecard.record import Record


@dataclass(frozen=True, slots=True)
class StreamDifferences:
    """Counts of replies, each asked for whole and as a stream."""

    __pydantic_config__ = DESCRIBED

    replies: Count
    different: Count
    """Replies whose stream differs in this part."""
    noise: Count
    """Of these, replies that differ in this part from a second one to an equal request, whole or streamed."""


def count_stream_differences(records: Iterable[Record]) -> Mapping[str, StreamDifferences]:
    """Count by part of a reply; nothing where no stream was compared."""
    compared = [each for record in records for each in record.streams]
    different = Counter(part for each in compared for part in each.differences)
    noise = Counter(part for each in compared for part in each.noise)
    if not compared:
        return {}
    return {part: StreamDifferences(len(compared), different[part], noise[part]) for part in PARTS}
