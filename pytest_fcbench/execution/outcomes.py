"""Outcomes of calls that were carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.transcript import RecordedCall


@dataclass(frozen=True, slots=True)
class Returned:
    """The call returned a Python value; a tuple at the top is a list, as officially."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The text is no call of a known function, or the function raised an error."""

    reason: str


class Limit(StrEnum):
    """A resource of which a call took too much."""

    TIME = "time"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The call was ended because it took too much."""

    limit: Limit
    reason: str


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The call needs the answer of a web API that cannot be asked here."""

    function: str
    """The function, or the host of a request."""
    reason: str = "nobody recorded its answer"


Outcome: TypeAlias = Returned | Raised | Stopped | Unanswered


class Execute(Protocol):
    """A way to carry calls out, each by itself."""

    def __call__(
        self, calls: Sequence[str], recorded: Sequence[RecordedCall], own: Sequence[str]
    ) -> Sequence[Outcome]:
        """Return the outcome of each call.

        ``recorded`` are the known answers of web APIs, ``own`` the functions of a team that calls may name.
        """


@dataclass(frozen=True, slots=True)
class Responded:
    """The request was answered, with any status."""

    asked: str
    """A text that equal requests have in common."""
    host: str
    status: int
    body: str


@dataclass(frozen=True, slots=True)
class Unreached:
    """The request was sent, or would have been, but no whole answer came."""

    reason: str


Response: TypeAlias = Responded | Raised | Unanswered | Unreached


class Perform(Protocol):
    """A way to send the request of a call."""

    def __call__(self, call: str, /) -> Response:
        """Return the response: ``Raised`` if it is no call of ``requests.get`` or must not be sent."""
