"""Student's t distribution: its tail and its quantile, for intervals from few clusters.

scipy has both, but the package does without it. The tail is the regularised incomplete beta function by
Lentz's continued fraction (Press et al., "Numerical Recipes", 6.4).
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, inf, lgamma, log, sqrt

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
