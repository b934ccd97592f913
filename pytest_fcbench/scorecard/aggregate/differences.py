"""95 % confidence intervals of differences: a weighted sum of mean changes of the same entries.

One change in either direction is added to what was observed, divided among the categories, so that no
interval vanishes where all entries say the same (Bonett & Price 2012; with several parts, Price & Bonett
2004). Where clusters of entries change together, these two count among the effective number of entries, which
follows from the cluster-robust variance (CR2: Bell & McCaffrey 2002), and Student's t takes the place of the
normal quantile. Categories that share clusters are estimated together. Their variances add up to that of the
sum, and its degrees of freedom follow from how much each adds (Welch 1947, Satterthwaite 1946): five clusters
that make most of the variance leave little more than their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt
from typing import TypeAlias

from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE, Interval, enclose_value, find_freedom
from pytest_fcbench.scorecard.aggregate.student import find_quantile

METHOD = "bonett-price"
CLUSTERED = f"{METHOD}, cluster-robust"
"""Methods of intervals, of single entries and over clusters."""
_ROUNDING = 1e-12
"""More than the rounding of a variance, relative to that of independent entries."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a category's entries in one cluster, summed up."""

    entries: int
    total: float
    """The sum of the changes, each from -1 to 1."""
    flips: float
    """The number of entries that would change if each were put once."""
    trials: int
    """The number of trials, those of the run that has fewer."""


Part: TypeAlias = tuple[float, Mapping[str, Changes]]
"""A category: its weight, and its changes by cluster."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a weighted change after the two added ones."""

    centre: float
    variance: float
    freedom: float
    """The degrees of freedom of the variance; infinite for independent entries put once."""

    def find_interval(self, change: float, most: float = 1.0) -> Interval:
        """Return the interval of the change that was observed; none is larger than ``most``."""
        reach = find_quantile((1 + CONFIDENCE) / 2, self.freedom) * sqrt(self.variance)
        method = METHOD if self.freedom == inf else CLUSTERED
        return enclose_value(change, self.centre - reach, self.centre + reach, method, -most, most)


def sum_changes(changes: Iterable[tuple[str, float, float, int]]) -> dict[str, Changes]:
    """Sum up changes by cluster, each given as the cluster, the change, its flips and its trials."""
    by_cluster: dict[str, list[tuple[float, float, int]]] = {}
    for cluster, change, flips, trials in changes:
        by_cluster.setdefault(cluster, []).append((change, flips, trials))
    return {
        cluster: Changes(
            entries=len(own),
            total=fsum(change for change, _, _ in own),
            flips=fsum(flips for _, flips, _ in own),
            trials=sum(trials for _, _, trials in own),
        )
        for cluster, own in by_cluster.items()
    }


def estimate_change(parts: Sequence[Part]) -> Estimate:
    """Estimate the weighted sum of the mean changes of parts, each of which has an entry."""
    strata: list[list[Part]] = []
    for part in parts:
        # Parts that have clusters in common, directly or through others, are one stratum.
        union, apart = [part], []
        for stratum in strata:
            if any(part[1].keys() & clusters.keys() for _, clusters in stratum):
                union += stratum
            else:
                apart.append(stratum)
        strata = [*apart, union]
    estimates = [_estimate_stratum(stratum, 1 / len(parts)) for stratum in strata]
    variance = fsum(each.variance for each in estimates)
    squares = fsum(each.variance**2 / each.freedom for each in estimates)
    return Estimate(
        fsum(each.centre for each in estimates), variance, variance**2 / squares if squares else inf
    )


def _estimate_stratum(parts: Sequence[Part], added_share: float) -> Estimate:
    """Estimate the change of parts with common clusters, whose share of the added ones is ``added_share``."""
    residuals: dict[str, float] = {}
    shares: dict[str, float] = {}
    counts, independent = [], 0.0
    for weight, clusters in parts:
        n = sum(each.entries for each in clusters.values())
        trials = sum(each.trials for each in clusters.values())
        mean = fsum(each.total for each in clusters.values()) / n
        flips = fsum(each.flips for each in clusters.values()) / n
        counts.append((weight, trials, mean, flips))
        independent += weight**2 * (flips - mean**2) / trials
        for unit, each in clusters.items():
            # A large cluster pulls the mean towards itself; one that is the category leaves no residual.
            leverage = each.entries / n if each.entries < n else 0.0
            residual = weight / n * (each.total - mean * each.entries) / sqrt(1 - leverage)
            residuals[unit] = residuals.get(unit, 0.0) + residual
            shares[unit] = shares.get(unit, 0.0) + weight**2 * each.entries / n**2
    number = sum(trials for _, trials, _, _ in counts)
    spread = fsum(residual**2 for residual in residuals.values())
    alone, differ = number == len(residuals), spread > _ROUNDING * independent
    # So many entries of a cluster tell as much as one that is alone; nothing is known of clusters all alike.
    effect = 1.0 if alone else max(1.0, spread / independent) if differ else number / len(residuals)
    centre = variance = 0.0
    for weight, trials, mean, flips in counts:
        effective = trials / effect
        together = effective + 2 * added_share
        shrunk = mean * effective / together
        centre += weight * shrunk
        variance += weight**2 * ((flips * effective + 2 * added_share) / together - shrunk**2) / together
    if differ:
        # Clusters that differ less than independent entries would are not made to differ as much.
        variance = max(spread, variance - max(0.0, independent - spread))
    return Estimate(centre, variance, inf if alone else find_freedom(list(shares.values())))
