"""What stands in for an embedding, a judge and an API, the same for us and for the official evaluator."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from math import sqrt


def embed_text(text: str) -> list[float]:
    """Return a normalised vector of the text's trigrams."""
    counts = [0.0] * 64
    for place in range(len(text) - 2):
        counts[zlib.crc32(text[place : place + 3].encode()) % 64] += 1.0
    length = sqrt(sum(count * count for count in counts)) or 1.0
    return [count / length for count in counts]


def compare_texts(made: Sequence[str], expected: Sequence[str]) -> list[list[float]]:
    """Return the dot products of the texts' vectors."""
    columns = [embed_text(text) for text in expected]
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in map(embed_text, made)
    ]


def is_equal_but_for_case(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Tell whether two calls differ in upper and lower case at most."""
    return _fold_case(one) == _fold_case(other)


def reply_as_api(call: Mapping[str, object]) -> object:
    """Reply as an API that looks at the lengths of texts only."""
    arguments = call["arguments"]
    assert isinstance(arguments, Mapping)
    if "fails" in arguments.values():
        return {"status": False, "message": "no"}
    return {"data": [call["name"], sorted((name, len(str(value))) for name, value in arguments.items())]}


def _fold_case(call: Mapping[str, object]) -> str:
    return json.dumps(call, sort_keys=True).casefold()
