"""The power of a paired comparison: the loss that it would probably show, known before the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.scorecard.aggregate.intervals import find_freedom
from pytest_fcbench.scorecard.aggregate.student import find_quantile
from pytest_fcbench.scorecard.compare.paired import EntryPair

POWER = 0.8
"""The probability with which the loss is shown (Cohen 1988, "Statistical Power Analysis", 2.4)."""
CHANGING, MANY = 0.1, 0.2
"""The share of entries that is assumed to change by chance, in either direction, and twice as many."""
_ALIKE = 0.23
"""The correlation of two changes in a cluster: that of published runs of 17 models (docs/statistics.md)."""


@dataclass(frozen=True, slots=True)
class ComparisonDesign:
    """What decides on the power of a comparison, before any run."""

    total: float
    """The weight of the categories: those that were not run have weight too."""
    variance: float
    """The variance of the change per share of entries that change."""
    quantile: float
    """The number of standard errors beyond which a loss is shown."""
    trials: int
    """The trials of an entry, over which chance evens out."""

    def find_smallest_loss(self, changing: float) -> float | None:
        """Find the smallest true loss, from 0 to 1, shown with probability ``POWER``; None if none is.

        ``changing`` is the share of entries that would change by chance if each were put once.
        """
        # loss = reach * sqrt(variance), where the variance grows with the entries that change.
        scale = (self.quantile + NormalDist().inv_cdf(POWER)) ** 2 * self.variance
        loss = (scale + sqrt(scale**2 + 4 * scale * changing / self.trials)) / 2
        return loss * self.total if loss < 1 else None

    def find_power(self, loss: float, changing: float) -> float:
        """Find the probability with which a true loss is shown."""
        loss /= self.total
        error = sqrt(self.variance * (changing / self.trials + loss))
        return NormalDist().cdf(loss / error - self.quantile)


def plan_comparison(
    parts: Sequence[tuple[float, Sequence[EntryPair]]], confidence: float, tests: int = 1
) -> ComparisonDesign | None:
    """Plan the comparison of pairs, given with the weight of their category; None if it can show no loss.

    ``tests`` is the number of losses asked about together, of which the first needs the least p value (Holm).
    """
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
    quantile = find_quantile(1 - limit, find_freedom(sizes))
    return ComparisonDesign(
        total, add_in_order(sizes), quantile, min(pair.trials for _, pairs in parts for pair in pairs)
    )


def measure_flips(parts: Sequence[tuple[float, Sequence[EntryPair]]]) -> float | None:
    """Measure the weighted share of entries whose verdict differs between two trials of the earlier run.

    None where some entry has a single trial.
    """
    if any(pair.trials < 2 for _, pairs in parts for pair in pairs):
        return None
    total = add_in_order(weight for weight, _ in parts)
    # Of two different trials of k; p (1 - p) would count each trial against itself, too.
    return add_in_order(
        weight / total * 2 * pair.before * (1 - pair.before) * pair.trials / (pair.trials - 1) / len(pairs)
        for weight, pairs in parts
        for pair in pairs
    )
