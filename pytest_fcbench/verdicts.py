"""What a matcher says of a transcript: passed, failed, or not scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

_LONGEST = 600
"""Characters of a reason; names of a model's own making can have any length."""


def printable(text: str) -> str:
    """A text that can go to any terminal and file: no control characters, no lone surrogates, not endless."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    if text.isprintable():
        return text
    shown = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
    return shown.encode("utf-8", "backslashreplace").decode()


class Profile(StrEnum):
    """Whose rules a verdict follows; both are computed for every entry."""

    OFFICIAL = "official"
    """The verdict that the benchmark's own code gives, quirks included."""
    CORRECTED = "corrected"
    """The same rules with the known quirks repaired (each named where it is)."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The answer is right."""

    status = "passed"
    passed = True


@dataclass(frozen=True, slots=True)
class Failed:
    """The answer is wrong.

    ``code`` is the official ``error_type`` in the official profile; ``reason`` is a sentence a person
    can act on; ``details`` holds its parts as JSON values (function, parameter, found, accepted).
    """

    code: str
    reason: str
    details: Mapping[str, object] = field(default_factory=dict)

    status = "failed"
    passed = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", printable(self.reason))

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


@dataclass(frozen=True, slots=True)
class NotScored:
    """The answer could not be judged, which says nothing about the model.

    ``cause`` is a short code (``timeout``, ``no_result``, ``set_aside`` ...), ``reason`` a sentence.
    """

    cause: str
    reason: str

    status = "not_scored"

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", printable(self.reason))


Verdict: TypeAlias = Passed | Failed | NotScored

SET_ASIDE = "set_aside"
"""Cause of entries that the corrected profile leaves out because their data are known to be bad."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of both profiles on one transcript."""

    official: Verdict
    corrected: Verdict

    def under(self, profile: Profile) -> Verdict:
        """The verdict of one profile."""
        return self.official if profile is Profile.OFFICIAL else self.corrected

    @classmethod
    def both(cls, verdict: Verdict) -> Judgement:
        """The same verdict in both profiles."""
        return cls(verdict, verdict)
