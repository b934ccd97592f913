"""Texts that the official code of a benchmark shows along golden paths, read from a copy of that code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A prompt for a judge: a system message, and a user message with numbered places for values."""

    system: str
    user: str
    """``[args1]`` stands for the first value, ``[args2]`` for the second."""
    arguments: tuple[str, ...]
    """The names of the values in the order of their places."""

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the user message with these values in it."""
        text = self.user
        # One after the other: a place that a value brings in is filled by a later value (official).
        for number, name in enumerate(self.arguments, 1):
            text = text.replace(f"[args{number}]", values[name])
        return text


@dataclass(frozen=True, slots=True)
class PathWording:
    """The texts of one version of the official code."""

    version: str
    """The commit whose texts these are, or the beginning of their hash where they are of no known one."""
    wrong_call: str
    """The reply to a call that is not right, as JSON."""
    refusals: Mapping[str, str]
    """The sentences about calls of a wrong form, by what is wrong; ``{function}`` and the like stand for
    values."""
    equivalence: JudgePrompt
    completeness: JudgePrompt
    correctness: JudgePrompt
