"""Answers that a team's own check judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_fcbench.domain.entry import Expectation


@dataclass(frozen=True, slots=True)
class AnyAnswer(Expectation):
    """Words or calls: only a check of the team's own judges them."""

    is_known: ClassVar[bool] = False
