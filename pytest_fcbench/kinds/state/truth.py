"""Calls that serve the requests of several turns."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcbench.domain.entry import Expectation


@dataclass(frozen=True, slots=True)
class Trajectory(Expectation):
    """Calls that serve the requests, turn by turn, as Python text (``cd(folder='docs')``).

    In an empty turn nothing can be called yet: a function or a value is missing.
    """

    turns: tuple[tuple[str, ...], ...]
