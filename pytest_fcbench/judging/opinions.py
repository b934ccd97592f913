"""A judge's opinion on whether two things mean the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.judging.questions import Unfit, read_members
from pytest_fcbench.judging.ratings import read_reason


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A judge's opinion on whether two calls, or two texts, are the same."""

    same: bool
    reason: str


def read_equivalence(reply: Mapping[str, object]) -> Equivalence:
    """Read the opinion in a judge's reply. Raises ``Unfit``."""
    same, reason = read_members(reply, "same", "reason")
    if not isinstance(same, bool):
        raise Unfit("must have as same true or false")
    return Equivalence(same, read_reason(reason))
