"""The small drawings of pages: markers of models, rows of a forest plot, bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import TypeAlias

from pytest_fcbench.present.charts.drawing import (
    Drawing,
    Label,
    Line,
    Scale,
    Shape,
    make_box,
    make_marker,
    render_inline,
)


@dataclass(frozen=True, slots=True)
class Range:
    """A share with its limits, by the series that it is of; ``low`` is None where they are not known."""

    series: int
    share: float
    low: float | None
    high: float | None


def draw_swatch(series: int) -> str:
    """Draw the marker of a series alone, for a legend."""
    return render_inline(Drawing(14, 14, "", (make_marker(7, 7, series),)), 'class="swatch"')


_PLOT, _EDGE, _LINE = 160, 12, 7
"""Units of a row of the forest plot: its width, the space beside it, the height of each model."""

Axis: TypeAlias = tuple[float, float]
"""The lowest and the highest share of a forest plot."""


def choose_axis(shares: Iterable[float]) -> Axis:
    """Choose tenths between which all shares are."""
    values = list(shares) or [0.0, 1.0]
    low, high = floor(10 * min(values)), ceil(10 * max(values))
    # All may be 0 or 1, and an axis has two ends.
    return (low / 10, high / 10) if low < high else ((low - 1) / 10, high / 10) if low else (0.0, 0.1)


def draw_ranges(ranges: Sequence[Range], *, is_group: bool = False, axis: Axis = (0.0, 1.0)) -> str:
    """Draw a row of a forest plot: each share as a marker on the line of its limits."""
    height = max(20, 6 + _LINE * len(ranges))
    scale = Scale(*axis, _EDGE, _PLOT - _EDGE)
    ticks = (_EDGE + quarter / 4 * (_PLOT - 2 * _EDGE) for quarter in range(5))
    shapes: list[Shape] = [Line([(tick, 0), (tick, height)], "faint") for tick in ticks]
    for row, one in enumerate(ranges):
        y = height / 2 + _LINE * (row - (len(ranges) - 1) / 2)
        if one.low is not None and one.high is not None:
            limits = [(scale.place(one.low), y), (scale.place(one.high), y)]
            shapes.append(Line(limits, f"s{one.series}", 3 if is_group else 1.6))
        shapes.append(make_marker(scale.place(one.share), y, one.series, 4 if is_group else 3.2))
    return _render_range(height, shapes)


def draw_scale(axis: Axis = (0.0, 1.0)) -> str:
    """Draw the scale above the rows of a forest plot."""
    scale = Scale(*axis, _EDGE, _PLOT - _EDGE)
    # Without a size: that of the page grows on a phone.
    labels = [
        Label(scale.place(share), 11, f"{share:.0%}", "middle", None, "quiet")
        for share in (axis[0], sum(axis) / 2, axis[1])
    ]
    return _render_range(14, labels)


def _render_range(height: float, shapes: Sequence[Shape]) -> str:
    size = f'width="{_PLOT}" height="{height:g}"'
    return render_inline(Drawing(_PLOT, height, "", shapes), 'class="range"', size)


_STRETCHED = 'preserveAspectRatio="none"'


def draw_bar(share: float) -> str:
    """Draw a share of all as a bar of a table."""
    bar = make_box(0, 0, max(100 * share, 0.5), 10, "s0")
    return render_inline(Drawing(100, 10, "", (bar,)), 'class="bar"', _STRETCHED)


def draw_parts(counts: Sequence[int], says: str) -> str:
    """Draw the shares of counts as one bar, each part in a fuller shade of the same colour than the last."""
    shapes, start = [], 0.0
    for part, count in enumerate(counts):
        width = 100 * count / (sum(counts) or 1)
        if count:
            # A gap tells parts of nearly the same shade apart.
            size = (max(width - 0.6, 0.2), 10)
            shapes.append(make_box(start, 0, *size, "s0", _shade_part(part, len(counts))))
        start += width
    return render_inline(Drawing(100, 10, says, shapes), _STRETCHED, titled=True)


def draw_shade(part: int, parts: int) -> str:
    """Draw a square in the shade of a part of a bar, for a legend."""
    square = make_box(1, 1, 12, 12, "s0", _shade_part(part, parts))
    return render_inline(Drawing(14, 14, "", (square,)), 'class="swatch"')


def _shade_part(part: int, parts: int) -> float:
    return 0.15 + 0.85 * part / max(parts - 1, 1)
