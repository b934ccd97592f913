"""Arithmetic that gives the same digits on every version of Python."""

from __future__ import annotations

from collections.abc import Iterable


def add_in_order(numbers: Iterable[float]) -> float:
    """Add numbers one by one from the left, rounding each time.

    The built-in ``sum`` did so until Python 3.11; from 3.12 on it compensates for rounding, so that ten times
    0.1 is 1.0 and no longer 0.9999999999999999. The official figures were published before.
    """
    # Not 0.0: a sum of whole numbers stays a whole number, as with the built-in.
    total: float = 0
    for number in numbers:
        total = total + number
    return total
