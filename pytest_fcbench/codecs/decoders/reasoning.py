"""Separate a model's reasoning from its answer in one text."""

from __future__ import annotations

import re

_MARKS = re.compile(r"</think>|<\|thought_end\|>")


def split_reasoning(text: str) -> tuple[str | None, str]:
    """Return the reasoning of a text, None where it has none, and the answer behind it.

    Official (``QwenHandler``): the reasoning ends with the first ``</think>`` and the answer begins behind
    the last one.
    """
    first, *more = text.split("</think>")
    if not more:
        return None, text
    return first.rstrip("\n").split("<think>")[-1].lstrip("\n"), more[-1].lstrip("\n")


def drop_reasoning(text: str) -> str:
    """Return what a text says behind its reasoning, whatever model marked it."""
    return _MARKS.split(text)[-1].lstrip("\n")
