"""Comparison of two sets of texts by how much they surprise a model.

Means have intervals of 95 % by the percentile bootstrap, which assumes nothing about the distribution (that
of perplexities has a long tail): 10,000 draws from a fixed seed. A rank test shows whether one set has the
lower values, so that a few very strange texts count no more than others (Mann & Whitney 1947, two-sided,
normal approximation corrected for ties and continuity).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from pytest_fcbench.tools.contamination.measures import TextMeasure

_DRAWS = 10_000
_AT_ONCE = 500
"""Draws that are made together, so that thousands of texts fit into memory easily."""
SIGNIFICANT = 0.05

MEASURES: Mapping[str, Callable[[TextMeasure], float]] = {
    "perplexity": lambda found: found.perplexity,
    "nats per character": lambda found: found.nats_per_character,
}
"""The measures by which two sets are compared."""

LIMITS = (
    "Sets also differ in length, subject, language and style, and each of these changes "
    "both measures; a newer or larger model finds all texts less surprising.",
    "So a lower value is a sign, not a proof: compare with a model that cannot have seen "
    "either set, and check whether it shows the difference too.",
    "The absence of a difference proves nothing either: the model may have seen both sets, or neither.",
)


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over a set. The limits are those of 95 % confidence for the mean; None for fewer than two."""

    n: int
    mean: float
    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """A measure over both sets."""

    measure: str
    a: Summary
    b: Summary
    difference: float
    """The mean of a minus that of b: below 0 where a surprises less."""
    low: float | None
    high: float | None
    share: float
    """The share of pairs of a text of a and one of b in which that of a is lower; ties count half."""
    p: float
    """Probability of so uneven a share in either direction, if both sets are alike."""

    @property
    def lower(self) -> str | None:
        """``a`` or ``b``, whichever surprises less; None where chance can explain the difference."""
        if self.p >= SIGNIFICANT:
            return None
        return "a" if self.share > 0.5 else "b"


def compare_sets(a: Sequence[TextMeasure], b: Sequence[TextMeasure]) -> tuple[MeasureComparison, ...]:
    """Compare two sets, neither of them empty, by each measure. The order of the texts does not matter."""
    comparisons = []
    for name, value in MEASURES.items():
        # Sorted, because the draws of the bootstrap and float sums depend on the order.
        values_a, values_b = sorted(map(value, a)), sorted(map(value, b))
        means_a, means_b = _bootstrap_means(values_a, seed=0), _bootstrap_means(values_b, seed=1)
        summary_a, summary_b = _summarize(values_a, means_a), _summarize(values_b, means_b)
        differences = [one - other for one, other in zip(means_a, means_b, strict=True)]
        low, high = _compute_interval(differences, min(len(a), len(b)))
        difference = summary_a.mean - summary_b.mean
        share, p = rank_test(values_a, values_b)
        comparisons.append(MeasureComparison(name, summary_a, summary_b, difference, low, high, share, p))
    return tuple(comparisons)


def _summarize(values: Sequence[float], means: Sequence[float]) -> Summary:
    return Summary(len(values), fmean(values), median(values), *_compute_interval(means, len(values)))


def _bootstrap_means(values: Sequence[float], seed: int) -> list[float]:
    """Resample the values with replacement many times and return the means."""
    import numpy

    chance, value_array, n = numpy.random.default_rng(seed), numpy.array(values), len(values)
    means: list[float] = []
    while len(means) < _DRAWS:
        means += value_array[chance.integers(n, size=(_AT_ONCE, n))].mean(axis=1).tolist()
    return means


def _compute_interval(means: Sequence[float], n: int) -> tuple[float | None, float | None]:
    import numpy

    if n < 2:
        return None, None
    low, high = numpy.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def rank_test(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Compute the share of pairs in which the value of ``a`` is the lower one, and its two-sided p."""
    import numpy

    sorted_b = numpy.sort(b)
    above = len(b) - (numpy.searchsorted(sorted_b, a, "left") + numpy.searchsorted(sorted_b, a, "right")) / 2
    pairs, total = len(a) * len(b), len(a) + len(b)
    lower = float(above.sum())
    _, ties = numpy.unique([*a, *b], return_counts=True)
    # If all values are equal, nothing varies.
    spread = total + 1 - float((ties.astype(float) ** 3 - ties).sum()) / (total * max(1, total - 1))
    if spread <= 0:
        return lower / pairs, 1.0
    # The correction for continuity must not change the sign.
    z = max(0.0, abs(lower - pairs / 2) - 0.5) / math.sqrt(pairs * spread / 12)
    return lower / pairs, math.erfc(z / math.sqrt(2))


def describe_finding(comparisons: Sequence[MeasureComparison], a: str, b: str) -> str:
    """Describe the result of all measures together in a sentence or two."""
    ps = "by ranks, " + ", ".join(
        f"{each.measure} {'p < 0.0001' if each.p < 1e-4 else f'p = {each.p:.2g}'}" for each in comparisons
    )
    lower = {comparison.lower for comparison in comparisons}
    if lower == {None}:
        return (
            f"Chance can explain the difference between {a} and {b} ({ps}): there is no sign that "
            f"the model knows one better."
        )
    if len(lower) > 1:
        return f"The two measures disagree ({ps}), so nothing can be concluded."
    known_set, other = (a, b) if lower == {"a"} else (b, a)
    return (
        f"{known_set} surprises the model less than {other} does, by both measures and by more "
        f"than chance ({ps}). Training on {known_set} would explain this, but other causes are "
        f"possible."
    )
