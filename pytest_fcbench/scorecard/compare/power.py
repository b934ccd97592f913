"""The power of a paired comparison: the loss that it would probably show, known before the run."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.scorecard.aggregate.intervals import find_freedom
from pytest_fcbench.scorecard.aggregate.student import find_quantile
from pytest_fcbench.scorecard.compare.paired import Pair

POWER = 0.8
"""The probability with which the loss is shown (Cohen 1988, "Statistical Power Analysis", 2.4)."""
CHANGING = 0.1
"""The share of entries that is assumed to change beside the loss, in either direction."""
_ALIKE = 0.23
"""The correlation of two changes in a cluster: that of published runs of 17 models (docs/statistics.md)."""


def find_smallest_loss(
    parts: Sequence[tuple[float, Sequence[Pair]]], confidence: float, tests: int = 1
) -> float | None:
    """Find the smallest true loss, from 0 to 1, that is shown with probability ``POWER``; None if none is.

    ``parts`` are pairs with the weight of their category, ``tests`` is the number of losses asked about
    together, of which the first needs the least p value (Holm).
    """
    # Categories that were not run have weight too, so those of the parts may add up to less than 1.
    total = add_in_order(weight for weight, _ in parts)
    clusters: dict[str, list[float]] = {}
    for weight, pairs in parts:
        for pair in pairs:
            clusters.setdefault(pair.unit, []).append(weight / total / len(pairs))
    limit = (1 - confidence) / tests
    # All clusters with a loss have this chance, and no outcome has a smaller one.
    if 2.0 ** -len(clusters) >= limit:
        return None
    sizes = [
        (1 - _ALIKE) * add_in_order(w**2 for w in weights) + _ALIKE * add_in_order(weights) ** 2
        for weights in clusters.values()
    ]
    reach = find_quantile(1 - limit, find_freedom(sizes)) + NormalDist().inv_cdf(POWER)
    # loss = reach * sqrt(variance), where the variance grows with the entries that change: CHANGING + loss.
    scale = reach**2 * add_in_order(sizes)
    loss = (scale + sqrt(scale**2 + 4 * scale * CHANGING)) / 2
    return loss * total if loss < 1 else None
