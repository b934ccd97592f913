"""95 % confidence intervals of scores.

A share of independent entries gets Wilson's score interval (Wilson 1927), which stays within 0 and 1 and
does not vanish where all passed. Where verdicts come in clusters that are alike (the trials of an entry, the
paraphrases of a template), the same formula takes the effective number of entries, from the cluster-robust
variance (as for survey data: Korn & Graubard 1998), and Student's t in place of the normal quantile, with
degrees of freedom from the sizes of the clusters (after Satterthwaite 1946). A weighted mean of shares gets
its limits from those of its parts (MOVER: Zou & Donner 2008): the distance to each limit is the root of the
sum of the squared weighted distances. Parts with clusters in common are correlated, which counts (Zou 2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum, inf, sqrt
from statistics import NormalDist
from types import MappingProxyType
from typing import Annotated, TypeAlias

from pydantic import Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.json_values import DESCRIBED
from pytest_fcbench.scorecard.aggregate.student import find_quantile

CONFIDENCE = 0.95
FEWEST = 6
"""With fewer clusters an interval is wide whatever they show: their variance is hardly known."""
CLUSTERED = "wilson, cluster-robust"
CLUSTERED_FEW = f"{CLUSTERED}, fewer than {FEWEST} clusters"
"""Methods of intervals over clusters."""
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

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


def correlate_parts(
    parts: Sequence[Mapping[str, Sequence[bool]]],
) -> Mapping[tuple[int, int], float]:
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
        norm = sqrt(
            add_in_order(x * x for x in first.values()) * add_in_order(x * x for x in second.values())
        )
        if norm and both > 0:
            correlations[one, two] = min(1.0, both / norm)
    return correlations


def _find_wilson_interval(share: float, n: float, method: str, z: float = _Z) -> Interval:
    centre = share + z**2 / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    scale = 1 + z**2 / n
    return enclose_value(share, (centre - reach) / scale, (centre + reach) / scale, method)
