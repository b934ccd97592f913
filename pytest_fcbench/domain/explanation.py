"""What screens show of an entry: its right answer in parts, and a failed answer beside what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownParameter:
    """A parameter of an expected call."""

    name: str
    accepted: object
    """The accepted values as their suite writes them: a list, or a single value."""

    @property
    def values(self) -> tuple[object, ...]:
        """The accepted values that may be given."""
        return tuple(option for option in self._options if option != "")

    @property
    def may_be_left_out(self) -> bool:
        """True where an empty text is among the values, as BFCL's ground truth writes it."""
        return any(isinstance(option, str) and not option for option in self._options)

    @property
    def _options(self) -> Sequence[object]:
        return self.accepted if isinstance(self.accepted, (list, tuple)) else [self.accepted]


@dataclass(frozen=True, slots=True)
class ShownCall:
    """An expected call with the accepted values of its parameters."""

    name: str
    parameters: tuple[ShownParameter, ...]


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A call whose result is compared."""

    call: str
    rule: str = ""
    """The rule of the comparison; empty where a web API replies and the shape is compared."""


@dataclass(frozen=True, slots=True)
class ShownTruth:
    """A right answer in parts that all screens can draw; a kind fills those that it has."""

    turns: tuple[tuple[str, ...], ...] = ()
    """Calls as text, by turn; in an empty turn nothing can be called yet."""
    calls: tuple[ShownCall, ...] = ()
    results: tuple[ShownResult, ...] = ()
    steps: tuple[tuple[str, ...], ...] = ()
    """Calls as text that lead to the end, step by step."""
    texts: tuple[str, ...] = ()
    """Texts of which the answer must say one."""
    rule: str = ""
    """The right answer in words (``no call``), where no other part says it."""


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
    """True where the names differ, where one of them is missing, or where no such function is offered."""
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
