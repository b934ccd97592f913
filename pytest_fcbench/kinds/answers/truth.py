"""Right answers in words, and facts that later conversations ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_fcbench.domain.entry import Expectation


@dataclass(frozen=True, slots=True)
class Answers(Expectation):
    """The final answer must say one of these, each of which is right."""

    rests_on_results: ClassVar[bool] = True

    texts: tuple[str, ...]
    trail: tuple[tuple[str, ...], ...] = ()
    """Calls that lead to it, step by step, as Python text; none where only the answer is known."""


@dataclass(frozen=True, slots=True)
class Facts(Expectation):
    """Facts that later conversations ask for, turn by turn. This conversation is not judged."""

    is_judged: ClassVar[bool] = False

    turns: tuple[tuple[str, ...], ...]
