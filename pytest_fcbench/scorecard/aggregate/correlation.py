"""Correlation of two numbers over several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt

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
    return Correlation(
        len(pairs), _correlate_values(one, other), _correlate_values(rank_values(one), rank_values(other))
    )


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
