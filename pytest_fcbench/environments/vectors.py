"""Make vectors of texts without a model: words and parts of words that two texts share make them alike.

Each word, and each three letters of it in a row, is hashed into one of 1,024 places; longer words count more.
No text changes the vector of another, and every machine makes the same vectors.
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

Vector: TypeAlias = Sequence[float]
"""A vector of length 1, or all zeros, so that a dot product is a cosine."""

Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]
"""A function from texts to vectors of the same size."""

_PLACES = 1024
_LONG = 8
"""The number of letters from which on a word counts in full."""


def embed_by_hash(texts: Sequence[str]) -> Sequence[Vector]:
    """Make the vectors of texts."""
    return [_embed(text) for text in texts]


@lru_cache(512)
def _embed(text: str) -> Vector:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    # Parts of the text with their weights: whole words, and three letters for a third of a word.
    times: Counter[tuple[str, float]] = Counter()
    for word in re.findall(r"\w+", plain):
        size = min(len(word), _LONG) / _LONG
        times[word, size] += 1
        times.update((f" {word} "[at : at + 3], size / 3) for at in range(len(word)))
    vector = [0.0] * _PLACES
    for (part, size), number in times.items():
        # Not hash(), which Python seeds anew in each process; a lone surrogate has no UTF-8.
        place = zlib.crc32(part.encode("utf-8", "backslashreplace")) % _PLACES
        vector[place] += size * (1 + math.log(number))
    length = math.hypot(*vector) or 1.0
    return tuple(value / length for value in vector)


def measure_likeness(one: Vector, other: Vector) -> float:
    """Return the cosine in single precision, as the official index computes it."""
    # Adding 0.0 makes 0.0 of -0.0.
    (cosine,) = struct.unpack(
        "f", struct.pack("f", math.fsum(a * b for a, b in zip(one, other, strict=True)))
    )
    return float(cosine) + 0.0
