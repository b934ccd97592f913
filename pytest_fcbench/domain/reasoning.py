"""Separate a model's reasoning from its answer where both came in one text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pytest_fcbench.domain.transcript import Completion

_END = re.compile(r"</think>|<\|thought_end\|>")
_BEGINNING = re.compile(r"<think>\n*|<\|thought_start\|>\n*")


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with reasoning, in the order of its parts; joined they are the text."""

    opening: str
    reasoning: str
    closing: str
    """From the first mark that ends the reasoning to the last one, line breaks around them included."""
    answer: str


def find_reasoning(text: str) -> MarkedText | None:
    """Find the reasoning of a text, whatever model marked it; None where no mark ends one.

    The reasoning ends at the first mark and the answer begins behind the last one, as the official
    ``QwenHandler`` cuts.
    """
    ends = list(_END.finditer(text))
    if not ends:
        return None
    start_index = 0
    for beginning in _BEGINNING.finditer(text, 0, ends[0].start()):
        start_index = beginning.end()
    end_index = max(start_index, len(text[: ends[0].start()].rstrip("\n")))
    answer = text[ends[-1].end() :].lstrip("\n")
    return MarkedText(
        text[:start_index], text[start_index:end_index], text[end_index : len(text) - len(answer)], answer
    )


def drop_official_reasoning(text: str) -> str:
    """Return what a text says behind the last ``</think>``, as the official ``QwenHandler`` reads it."""
    _, mark, answer = text.rpartition("</think>")
    return answer.lstrip("\n") if mark else text


def drop_reasoning(text: str) -> str:
    """Return what a text says behind its reasoning, whatever model marked it."""
    return marked_text.answer if (marked_text := find_reasoning(text)) else text


def separate_reasoning(completion: Completion) -> tuple[Completion, tuple[str, str] | None]:
    """Return a completion with the reasoning of its text in the field for it, and the texts around it.

    These are None where the text marks no reasoning, or where reasoning came in that field already.
    """
    if completion.reasoning is not None or not (marked_text := find_reasoning(completion.text or "")):
        return completion, None
    separated_completion = replace(completion, text=marked_text.answer, reasoning=marked_text.reasoning)
    return separated_completion, (marked_text.opening, marked_text.closing)
