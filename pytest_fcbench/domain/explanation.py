"""The question of a failed entry, its answer and what was expected, side by side."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArgumentPair:
    """An argument of a call beside the expected one, both as short text."""

    name: str
    found: str | None
    """None where the call lacks it."""
    expected: str | None
    """The accepted values; None where it should not be given."""
    wrong: bool


@dataclass(frozen=True, slots=True)
class CallPair:
    """A call of the answer beside the expected call that it was compared with."""

    found: str | None
    """The name of the function; None where no call is left for the expected one."""
    expected: str | None
    """The name of the expected function; None for a call too many."""
    wrong: bool
    """True where the names differ, or where one of them is missing."""
    arguments: tuple[ArgumentPair, ...] = ()


@dataclass(frozen=True, slots=True)
class StateDifference:
    """A place of the environments that is not as after the expected calls."""

    place: str
    found: str | None
    """None where nothing is there."""
    expected: str | None
    """None where nothing should be there."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A failed entry in parts; either ``calls``, or ``found`` and ``expected``, hold what is compared."""

    question: tuple[tuple[str, str], ...]
    """Role and text of each message of the turn."""
    turn: str = ""
    """The turn of a conversation that failed (``turn 2 of 3, 1 turn right``); empty where there is one."""
    calls: tuple[CallPair, ...] = ()
    found: tuple[str, ...] = ()
    """The calls or the text of the answer, one for each step."""
    expected: tuple[str, ...] = ()
    differences: tuple[StateDifference, ...] = ()
