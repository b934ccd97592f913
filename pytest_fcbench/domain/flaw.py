"""Flaws of entries, and how certain they are."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """The certainty of a finding."""

    CERTAIN = "certain"
    """The fault was tried out, or follows from the entry alone."""
    LIKELY = "likely"
    """Mostly a mistake; a person should look."""
    HINT = "hint"
    """Often no mistake."""


CERTAIN, LIKELY, HINT = Severity


class Flaw(NamedTuple):
    """A flaw of one entry."""

    severity: Severity
    evidence: str
    advice: str | None = None
    """Replaces the advice of the check."""
