"""The official formulas from categories to groups to the overall score (reference: BFCL v4 leaderboard).

``complex`` is ComplexFuncBench's own: the success rate over all entries, whatever their domain. BFCL's
overall score has no part for it, nor for ``executable``, of which it had four until 2025, nor for ``v1``, the
categories of its first version that no longer count.

A part that was not run counts as 0, as in the official tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.categories import SELECTIONS


class Weighing(Enum):
    """The weights of a group's parts."""

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
    # The mean of two, not by count, although live has far more; it is no part of live or non_live since v4.
    "irrelevance_all": Formula(("irrelevance", "live_irrelevance")),
    "multi_turn": Formula(
        ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
    ),
    "web_search": Formula(SELECTIONS["web_search"]),
    "memory": Formula(SELECTIONS["memory"]),
    "agentic": Formula(("web_search", "memory")),
    "complex": Formula(SELECTIONS["complex"], Weighing.BY_COUNT),
    "executable_simple": Formula(("exec_simple", "rest")),
    "executable": Formula(("executable_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple")),
    "v1": Formula(SELECTIONS["v1"], Weighing.BY_COUNT),
    "next_step": Formula(SELECTIONS["next_step"], Weighing.BY_COUNT),
}
"""Groups in the order they can be computed. ``live_relevance`` is reported and has no weight."""

SUITES = ("core", "bfcl", "complexfuncbench")
"""Suites that the formulas are for; in runs of other suites only, all entries count alike."""

OVERALL: Mapping[str, float] = {
    "non_live": 0.1,
    "live": 0.1,
    "irrelevance_all": 0.1,
    "multi_turn": 0.3,
    "agentic": 0.4,
}
"""Weights of the overall score."""


def weigh_categories(metric: str, size_of: Callable[[str], float]) -> Mapping[str, float]:
    """Compute the weights of categories within ``overall``, a group or a single category.

    ``size_of`` gives the number of entries by which the categories of some groups count.
    """
    # Groups hold groups, so this calls itself; categories end it.
    if metric == "overall":
        shares: Mapping[str, float] = {name: share for name, share in OVERALL.items() if name in GROUPS}
    elif metric in GROUPS:
        formula = GROUPS[metric]
        equal = formula.weighing is Weighing.EQUAL
        sizes = {part: 1.0 if equal else size_of(part) for part in formula.parts}
        shares = {part: size / (add_in_order(sizes.values()) or 1.0) for part, size in sizes.items()}
    else:
        return {metric: 1.0}
    weights: dict[str, float] = {}
    for part, share in shares.items():
        for name, weight in weigh_categories(part, size_of).items():
            weights[name] = weights.get(name, 0.0) + share * weight
    return weights
