"""Scales of axes: from values to places, with round numbers as ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale from the values ``low`` to ``high`` onto the places ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self.low, self.high
        if self.is_logarithmic:
            low, high, value = log10(low), log10(high), log10(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def list_ticks(self) -> list[float]:
        """List round values within the scale."""
        if self.is_logarithmic:
            powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
            ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        else:
            step = find_round_step(self.high - self.low)
            ticks = [step * number for number in range(floor(self.low / step), ceil(self.high / step) + 1)]
        # Steps such as 0.1 are not exact, and the last of them may lie beyond the end.
        margin = 1e-9 * abs(self.high)
        return [tick for tick in ticks if self.low - margin <= tick <= self.high + margin]


def find_round_step(reach: float) -> float:
    """Return 1, 2 or 5 times a power of ten that divides a reach into four to ten steps."""
    power = 10.0 ** floor(log10(reach / 4))
    return next(step * power for step in (5, 2, 1) if step * power * 4 <= reach)


def fit_scale(values: Sequence[float], start: float, end: float) -> Scale:
    """Fit a scale for amounts: from 0, or by powers of ten where they are far apart."""
    low, high = min(values), max(values)
    if high > 20 * low > 0:
        return Scale(low / 2, high * 2, start, end, is_logarithmic=True)
    return Scale(0, high * 1.1 or 1, start, end)


def fit_shares(values: Sequence[float], start: float, end: float) -> Scale:
    """Fit a scale for shares: a part of 0 to 1 with round limits around the values."""
    step = find_round_step(max(max(values) - min(values), 0.04))
    # Where all are 1 the scale has a step below them, otherwise at least one above.
    low = min(floor(min(values) / step) * step, 1 - step)
    high = ceil(max(values) / step) * step
    return Scale(max(0.0, low), min(1.0, max(high, low + step)), start, end)
