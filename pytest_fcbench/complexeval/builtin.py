"""stub"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.entries import FunctionDoc


@dataclass(frozen=True, slots=True)
class Comparison:
    same: bool
    reason: str


def compare(doc: FunctionDoc, made: Mapping[str, object], expected: Mapping[str, object]) -> Comparison:
    same = str(made).casefold() == str(expected).casefold()
    return Comparison(same, "stub")
