"""The official formulas from categories to groups to the overall score (reference: BFCL v4 leaderboard).

A part that was not run counts as 0, as in the official tables. Parts of the official overall score that
this project has no category for yet stand here already, so that the weights stay the official ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Weighing(Enum):
    """How the parts of a group count."""

    EQUAL = "unweighted mean"
    BY_COUNT = "weighted by the number of entries"


@dataclass(frozen=True, slots=True)
class Formula:
    """A group's score from its parts (categories or other groups)."""

    parts: tuple[str, ...]
    weighing: Weighing = Weighing.EQUAL


GROUPS: Mapping[str, Formula] = {
    "simple": Formula(("simple_python", "simple_java", "simple_javascript")),
    "non_live": Formula(("simple", "multiple", "parallel", "parallel_multiple")),
    "live": Formula(
        ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"), Weighing.BY_COUNT
    ),
    "irrelevance_all": Formula(("irrelevance", "live_irrelevance")),
    "multi_turn": Formula(
        ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
    ),
}
"""Groups in the order they can be computed. ``live_relevance`` is reported and has no weight."""

OVERALL: Mapping[str, float] = {
    "non_live": 0.1,
    "live": 0.1,
    "irrelevance_all": 0.1,
    "multi_turn": 0.3,
    "agentic": 0.4,
}
"""Weights of the overall score."""
