"""Families of tests: p values corrected for how many questions are asked at once."""

from __future__ import annotations

from collections.abc import Sequence


def correct_by_holm(probabilities: Sequence[float]) -> list[float]:
    """Adjust p values for their number by Holm's method."""
    # The least p value counts times their number, the next times one less, and so on; the adjusted values
    # never decrease and never exceed 1.
    n, least = len(probabilities), 0.0
    adjusted_p_values = [0.0] * n
    for rank, index in enumerate(sorted(range(n), key=probabilities.__getitem__)):
        least = max(least, min(1.0, (n - rank) * probabilities[index]))
        adjusted_p_values[index] = least
    return adjusted_p_values
