"""How far two numbers of each of several models go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation

LEAST = 3
"""Two points always lie on a line."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Coefficients from -1 to 1; None of fewer than three models, and where one number is the same of all."""

    n: int
    pearson: float | None
    """Of the numbers (Pearson 1895)."""
    spearman: float | None
    """Of their ranks, ties at their mean rank (Spearman 1904)."""


def correlated(pairs: Sequence[tuple[float, float]]) -> Correlation:
    """The correlation of the two numbers of each."""
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    return Correlation(len(pairs), _pearson(one, other), _pearson(ranks(one), ranks(other)))


def _pearson(one: Sequence[float], other: Sequence[float]) -> float | None:
    if len(one) < LEAST:
        return None
    try:
        return max(-1.0, min(1.0, correlation(one, other)))
    except StatisticsError:  # one of them is constant
        return None


def ranks(values: Sequence[float]) -> list[float]:
    """From 1 on; what is equal shares the mean of its ranks."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]
