"""Strata of difficulty, by how many features that make an entry hard it has."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class Stratum(StrEnum):
    """A stratum of difficulty."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


def find_stratum(features: Sequence[str]) -> Stratum:
    """Return the stratum of an entry with these features: easy with at most one, hard with three or more."""
    return Stratum.EASY if len(features) < 2 else Stratum.MEDIUM if len(features) == 2 else Stratum.HARD
