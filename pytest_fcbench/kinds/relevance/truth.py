"""Answers that must call no function, or some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_fcbench.domain.entry import Expectation


@dataclass(frozen=True, slots=True)
class NoCall(Expectation):
    """No function fits: the answer must not call any."""

    forbids_calls: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class AnyCall(Expectation):
    """Some function fits: the answer must call at least one."""

    takes_any_call: ClassVar[bool] = True
