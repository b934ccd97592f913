"""Calls that serve the requests of several turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry, Expectation


@dataclass(frozen=True, slots=True)
class Withheld:
    """Functions without which a turn cannot be answered."""

    turn: int
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trajectory(Expectation):
    """Calls that serve the requests, turn by turn, as Python text (``cd(folder='docs')``).

    In an empty turn nothing can be called yet: a function or a value is missing.
    """

    turns: tuple[tuple[str, ...], ...]
    withheld: Withheld | None = None
    """Functions that come late in an entry about missing functions that is made of this one."""


def list_expected_turns(entry: Entry) -> Sequence[Sequence[str]]:
    """List the calls that each turn of an entry needs; none where its right answer is something else."""
    return entry.expectation.turns if isinstance(entry.expectation, Trajectory) else ()
