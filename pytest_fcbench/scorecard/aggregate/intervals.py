"""95 % confidence intervals of scores and of their differences.

A share of independent entries gets Wilson's score interval (Wilson 1927), which stays within 0 and 1 and
does not vanish where all passed. Where verdicts come in clusters that are alike (the trials of an entry, the
paraphrases of a template), the same formula takes the effective number of entries, from the cluster-robust
variance (as for survey data: Korn & Graubard 1998), and Student's t in place of the normal quantile, with
degrees of freedom from the sizes of the clusters (after Satterthwaite 1946). A weighted mean of shares gets
its limits from those of its parts (MOVER: Zou & Donner 2008): the distance to each limit is the root of the
sum of the squared weighted distances. Parts with clusters in common are correlated, which counts (Zou 2008).

Differences, weighted sums of mean changes of the same entries: one change in either direction is added to
what was observed, divided among the categories, so that no interval vanishes where all entries say the same
(Bonett & Price 2012; with several parts, Price & Bonett 2004). Where clusters of entries change together,
these two count among the effective number of entries, which follows from the cluster-robust variance (CR2:
Bell & McCaffrey 2002). Categories that share clusters are estimated together. Their variances add up to that
of the sum, and its degrees of freedom follow from how much each adds (Welch 1947, Satterthwaite 1946): five
clusters that make most of the variance leave little more than their own.

Student's t and correlations are written out, because the package does without scipy. The tail is the
regularised incomplete beta function by Lentz's continued fraction (Press et al., "Numerical Recipes", 6.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import erfc, exp, fsum, inf, lgamma, log, prod, sqrt
from statistics import NormalDist
from types import MappingProxyType
from typing import Annotated, TypeAlias

from pydantic import Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.json_values import DESCRIBED

CONFIDENCE = 0.95
FEWEST = 6
"""With fewer clusters an interval is wide whatever they show: their variance is hardly known."""
CLUSTERED = "wilson, cluster-robust"
CLUSTERED_FEW = f"{CLUSTERED}, fewer than {FEWEST} clusters"
"""Methods of intervals over clusters."""
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
"""The normal quantile of that confidence."""

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
"""A fraction from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The limits of 95 % confidence, and the method that found them."""

    __pydantic_config__ = DESCRIBED

    low: float
    high: float
    method: str
    clusters: Annotated[int, Field(ge=1, lt=FEWEST)] | None = None
    """The number of clusters where they are so few that the interval is wide; else null. Of a group, the
    number in the categories that have most of its variance."""


def enclose_value(
    value: float, low: float, high: float, method: str, least: float = 0.0, most: float = 1.0
) -> Interval:
    """Return the interval of a value within what is possible, which holds the value however limits round."""
    return Interval(min(value, max(least, low)), max(value, min(most, high)), method)


def within(limit: Mapping[str, float], *methods: str) -> FieldInfo:
    """Narrow the JSON Schema of an interval to limits and methods that it can have where it stands."""
    limits: JsonDict = dict(limit)
    properties: JsonDict = {"low": limits, "high": limits, "method": {"enum": list(methods)}}
    field_info: FieldInfo = Field(json_schema_extra={"properties": properties})
    return field_info


@dataclass(frozen=True, slots=True)
class Part:
    """A share within a weighted mean."""

    weight: float
    share: float
    interval: Interval


def find_share_interval(passes: int, n: int) -> Interval | None:
    """Return the interval of a share of independent entries; None without entries."""
    return _find_wilson_interval(passes / n, n, "wilson") if n else None


def find_cluster_interval(clusters: Sequence[tuple[int, int]], most: float | None = None) -> Interval | None:
    """Return the interval of a share whose verdicts come in clusters, each given as passed and number.

    None without verdicts. With a single cluster, or without variance between clusters, the effective number
    of entries is that of clusters, because nothing shows that they hold more information. It is at most
    ``most``, by default the number of verdicts.
    """
    n = sum(size for _, size in clusters)
    if not n:
        return None
    share = sum(passes for passes, _ in clusters) / n
    full = [(passes, size) for passes, size in clusters if size]
    number = len(full)
    # The variance below divides by 0 for one cluster, and the share by it where all clusters are alike.
    effective = float(number)
    spread = fsum((passes - share * size) ** 2 for passes, size in full)
    if number > 1 and spread:
        # A large cluster pulls the mean towards itself, so its residual counts more (CR2: Bell & McCaffrey).
        spread = fsum((p - share * size) ** 2 / (1 - size / n) for p, size in full)
        variance = spread / n**2
        effective = min(most or float(n), share * (1 - share) / variance)
    quantile = find_quantile((1 + CONFIDENCE) / 2, find_freedom([size for _, size in full]))
    if number >= FEWEST:
        return _find_wilson_interval(share, effective, CLUSTERED, quantile)
    return replace(_find_wilson_interval(share, effective, CLUSTERED_FEW, quantile), clusters=number)


def find_unit_interval(verdicts: Mapping[str, Sequence[bool]]) -> Interval | None:
    """Return the interval of the share of verdicts that passed, given by the unit of sampling."""
    # In the same order whatever that of the Records, because sums of fractions depend on it.
    clusters = sorted((sum(each), len(each)) for each in verdicts.values())
    n = sum(size for _, size in clusters)
    if n > len(clusters):
        return find_cluster_interval(clusters)
    return find_share_interval(sum(passes for passes, _ in clusters), n)


def find_freedom(shares: Sequence[float]) -> float:
    """Return the degrees of freedom of a variance over clusters with these shares in it, at least one.

    Of clusters of the same share, their number less one.
    """
    return max(1.0, fsum(shares) ** 2 / (fsum(share**2 for share in shares) or 1.0) - 1)


def find_ratio_interval(clusters: Sequence[tuple[int, int]]) -> Interval | None:
    """Return the interval of a ratio R of two sums over clusters, such as right calls and calls.

    The variance is that of the linearised ratio, k / (k - 1) * sum((y - R x)^2) / sum(x)^2 for k clusters
    (Cochran 1977, "Sampling Techniques", chapter 6), which ``find_cluster_interval`` puts into Wilson's
    formula. Where more can be right than there is (officially a lookup is right each time it is made) R is no
    share: its limits are R -/+ so many standard errors as t says, and None where
    the clusters show no variance.
    """
    # Wilson's formula takes the root of R (1 - R), so it is for shares only.
    if all(part <= whole for part, whole in clusters):
        return find_cluster_interval(clusters)
    if len(clusters) < 2 or not any(whole for _, whole in clusters):
        return None
    n, k = sum(whole for _, whole in clusters), len(clusters)
    ratio = sum(part for part, _ in clusters) / n
    spread = fsum((part - ratio * whole) ** 2 for part, whole in clusters)
    quantile = find_quantile((1 + CONFIDENCE) / 2, find_freedom([whole for _, whole in clusters]))
    reach = quantile * sqrt(k / (k - 1) * spread) / n
    return enclose_value(ratio, ratio - reach, ratio + reach, "linearised ratio", most=inf) if reach else None


def find_mean_interval(
    parts: Sequence[Part],
    correlations: Mapping[tuple[int, int], float] = MappingProxyType({}),
    mean: float | None = None,
) -> Interval | None:
    """Return the interval of a weighted sum of shares; None without shares.

    ``correlations`` are those of parts with clusters in common, by their places, the lower one first.
    ``mean`` is the sum where it was added up in another order, which rounds differently.
    """
    if not parts:
        return None
    if mean is None:
        mean = add_in_order(part.weight * part.share for part in parts)
    # Wilson's limits are not symmetrical, so either side has its own distances.
    below = [part.weight * (part.share - part.interval.low) for part in parts]
    above = [part.weight * (part.interval.high - part.share) for part in parts]
    lower, upper = (
        sqrt(
            add_in_order(reach**2 for reach in side)
            + add_in_order(2 * r * side[one] * side[two] for (one, two), r in correlations.items())
        )
        for side in (below, above)
    )
    return enclose_value(mean, mean - lower, mean + upper, "mover of its parts")


def correlate_parts(parts: Sequence[Mapping[str, Sequence[bool]]]) -> Mapping[tuple[int, int], float]:
    """Estimate the correlations of the shares of parts, each given as verdicts by cluster.

    Only those above 0, so that chance makes no interval narrower.
    """
    residuals = []
    for part in parts:
        mean = sum(map(sum, part.values())) / (sum(map(len, part.values())) or 1)
        residuals.append({name: sum(verdicts) - mean * len(verdicts) for name, verdicts in part.items()})
    correlations = {}
    for one, two in combinations(range(len(parts)), 2):
        first, second = residuals[one], residuals[two]
        both = add_in_order(value * second[name] for name, value in first.items() if name in second)
        norm = sqrt(prod(add_in_order(x * x for x in each.values()) for each in (first, second)))
        if norm and both > 0:
            correlations[one, two] = min(1.0, both / norm)
    return correlations


def _find_wilson_interval(share: float, n: float, method: str, z: float = Z) -> Interval:
    centre = share + z**2 / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    scale = 1 + z**2 / n
    return enclose_value(share, (centre - reach) / scale, (centre + reach) / scale, method)


_TINY = 1e-300
_TERMS = 500


def find_tail(t: float, freedom: float) -> float:
    """Return the probability of a value above ``t`` (0 or more) with so many degrees of freedom.

    Infinitely many are those of the normal distribution.
    """
    if freedom == inf:
        return 0.5 * erfc(t / sqrt(2))
    return 0.5 * _find_beta_share(freedom / 2, 0.5, freedom / (freedom + t * t))


@lru_cache(1024)
def find_quantile(probability: float, freedom: float) -> float:
    """Return the value that is exceeded with probability 1 - ``probability``, which is above one half."""
    low, high = 0.0, 1.0
    while find_tail(high, freedom) > 1 - probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if find_tail(middle, freedom) > 1 - probability:
            low = middle
        else:
            high = middle
    return high


def _find_beta_share(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return float(x >= 1)
    # The fraction converges fast on one side only; the other follows by symmetry.
    if x > (a + 1) / (a + b + 2):
        return 1 - _find_beta_share(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    fraction = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d or _TINY)
            c = 1 + term / c or _TINY
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * fraction


CHANGE_METHOD = "bonett-price"
CHANGE_CLUSTERED = f"{CHANGE_METHOD}, cluster-robust"
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


CategoryChanges: TypeAlias = tuple[float, Mapping[str, Changes]]
"""A category: its weight, and its changes by cluster."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a weighted change after the two added ones."""

    centre: float
    variance: float
    freedom: float
    """The degrees of freedom of the variance; infinite for independent entries put once."""

    def find_interval(self, change: float, most: float = 1.0, tail: float = (1 - CONFIDENCE) / 2) -> Interval:
        """Return the interval of the change that was observed; none is larger than ``most``.

        ``tail`` is the probability of a value beyond either limit.
        """
        reach = find_quantile(1 - tail, self.freedom) * sqrt(self.variance)
        method = CHANGE_METHOD if self.freedom == inf else CHANGE_CLUSTERED
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


def estimate_change(parts: Sequence[CategoryChanges]) -> Estimate:
    """Estimate the weighted sum of the mean changes of parts, each of which has an entry."""
    strata: list[list[CategoryChanges]] = []
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
    centre = fsum(each.centre for each in estimates)
    return Estimate(centre, variance, variance**2 / squares if squares else inf)


def _estimate_stratum(parts: Sequence[CategoryChanges], added_share: float) -> Estimate:
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


LEAST = 3
"""The fewest models of a correlation: two points always lie on a line."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Coefficients from -1 to 1; None for fewer than three models, and where one number is constant."""

    n: int
    pearson: float | None
    """Correlation of the numbers (Pearson 1895)."""
    spearman: float | None
    """Correlation of their ranks, ties at their mean rank (Spearman 1904)."""


def correlate_pairs(pairs: Sequence[tuple[float, float]]) -> Correlation:
    """Correlate the two numbers of several models."""
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    ranks = rank_values(one), rank_values(other)
    return Correlation(len(pairs), _correlate_values(one, other), _correlate_values(*ranks))


def _correlate_values(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Compute Pearson's coefficient; None where it is undefined."""
    if len(one) < LEAST:
        return None
    mean_one, mean_other = fsum(one) / len(one), fsum(other) / len(other)
    # By hand: digits of statistics.correlation differ between versions of Python; fsum rounds once.
    together = fsum((a - mean_one) * (b - mean_other) for a, b in zip(one, other, strict=True))
    spread = sqrt(fsum((a - mean_one) ** 2 for a in one) * fsum((b - mean_other) ** 2 for b in other))
    # One of them is constant: Pearson's r is 0 / 0.
    if not spread:
        return None
    # Rounding of the root can put points on a line just beyond 1.
    return max(-1.0, min(1.0, together / spread))


def rank_values(values: Sequence[float]) -> list[float]:
    """Rank values from 1; equal values share the mean of their ranks."""
    # By hand: ranked correlation of statistics needs Python 3.12.
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]
