"""The outcomes of reading an answer: calls, prose, or something unreadable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.domain.transcript import Call


class Undecodable(Exception):  # noqa: N818 - a parser's "no", not a fault of ours
    """The text is not calls in the expected syntax; the message says why."""


class WrongFormat(Exception):  # noqa: N818 - a parser's "no", not a fault of ours
    """The text was decoded, but to something that is not calls with named arguments."""


@contextmanager
def refuse_faults() -> Iterator[None]:
    """Turn every other error of a reader into ``Undecodable``, because a model can write any text.

    The reason names the error, so that a mistake of a reader is seen. What ends a program comes through.
    """
    try:
        yield
    except (Undecodable, WrongFormat):
        raise
    except Exception as error:
        raise Undecodable(f"the text cannot be read: {type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class Calls:
    """The answer is these calls, in order; an empty list is possible (``[]``)."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """The answer is text that does not try to call anything."""

    text: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The answer cannot be read as calls; ``code`` is the official decoder's error type."""

    reason: str
    code: str = "ast_decoder:decoder_failed"


Reading: TypeAlias = Calls | Prose | Unreadable

LONGEST_LITERAL = 5_000
"""The limit of a literal's length: the time of some official patterns grows with its square."""

WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format"


def as_call(name: str, arguments: object) -> Call:
    """Make a call of a name and decoded arguments. Raises ``WrongFormat`` unless they are an object."""
    if not isinstance(arguments, Mapping):
        raise WrongFormat(f"the arguments of {name!r} are {type(arguments).__name__}, not an object")
    return Call(name, {str(key): value for key, value in arguments.items()})
