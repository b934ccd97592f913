"""What became of a call that was carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.entry import PathCall


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
    """A web API would have to be asked that cannot be asked here."""

    function: str
    """The function or, of a request, the host."""
    reason: str = "nobody recorded its answer"


Outcome: TypeAlias = Returned | Raised | Stopped | Unanswered


class Execute(Protocol):
    """Carries calls out, each by itself."""

    def __call__(
        self, calls: Sequence[str], recorded: Sequence[PathCall], own: Sequence[str]
    ) -> Sequence[Outcome]:
        """Return what became of each call.

        ``recorded`` are the known answers of web APIs, ``own`` the functions of a team that calls may name.
        """


@dataclass(frozen=True, slots=True)
class Responded:
    """A request was answered, with whatever status."""

    asked: str
    """Two requests that ask the same have the same text here."""
    host: str
    status: int
    body: str


@dataclass(frozen=True, slots=True)
class Unreached:
    """A request was sent, or would have been, but no whole answer came."""

    reason: str


Response: TypeAlias = Responded | Raised | Unanswered | Unreached


class Perform(Protocol):
    """Sends the request of a call."""

    def __call__(self, call: str, /) -> Response:
        """Return what became of it: ``Raised`` if it is no call of ``requests.get`` or must not be sent."""
