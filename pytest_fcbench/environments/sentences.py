"""Sentences of results: a suite's own where it has sentences, else ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Sentences: TypeAlias = Mapping[str, Sequence[str]]
"""The sentences of a domain by official function, in source order: templates of ``str.format``."""


def write_sentence(
    sentences: Sentences, ours: str, function: str, number: int, values: Mapping[str, object]
) -> str:
    """Write the sentence with that number, counted from 0, of a function, or ``ours`` where there is none.

    Both are templates; their placeholders are names of ``values``.
    """
    official = sentences.get(function)
    return (official[number] if official else ours).format(**values)
