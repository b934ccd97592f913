"""What became of a call that was carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from pytest_fcbench.entries import PathCall


@dataclass(frozen=True, slots=True)
class Returned:
    """A Python value; a tuple at the top is a list, as officially."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """It is no call of a known function, or the function raised an error."""

    reason: str


class Limit(StrEnum):
    """What a call took too much of."""

    TIME = "time"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Stopped:
    """It was ended."""

    limit: Limit
    reason: str


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A web API would have to be asked whose answer nobody recorded."""

    function: str


Outcome: TypeAlias = Returned | Raised | Stopped | Unanswered


class Execute(Protocol):
    """Carries calls out, each by itself."""

    def __call__(self, calls: Sequence[str], recorded: Sequence[PathCall]) -> Sequence[Outcome]:
        """What became of each; ``recorded`` are the answers of web APIs that are known."""
