"""The drawings of the report as SVG, written here: marks of models, rows of a forest plot, scatter plots.

Colours are classes of the page's style sheet, and places are rounded, so the same values give the same bytes.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.present.charts.pages import MOST_SERIES

_OUTLINES = (
    "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0-1 0Z",
    "M-.85-.85H.85V.85H-.85Z",
    "M0-1.1L1.05.8H-1.05Z",
    "M0-1.25L1.25 0L0 1.25L-1.25 0Z",
    "M0 1.1L1.05-.8H-1.05Z",
    "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "M-1.1-.6L-.6-1.1L0-.5L.6-1.1L1.1-.6L.5 0L1.1 .6L.6 1.1L0 .5L-.6 1.1L-1.1 .6L-.5 0Z",
    "M0-1.25L.36-.42L1.2-.39L.54.16L.74 1.01L0 .53L-.74 1.01L-.54.16L-1.2-.39L-.36-.42Z",
)
"""The shape of each series within a radius of 1, for readers who see no colours."""
assert len(_OUTLINES) == MOST_SERIES


@dataclass(frozen=True, slots=True)
class Range:
    """A share with its limits, by the series that it is of; ``low`` is None where they are not known."""

    series: int
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """A model by cost or latency and accuracy, with the limits of the accuracy. ``series`` counts from 0."""

    series: int
    x: float
    y: float
    low: float
    high: float


def draw_mark(series: int, across: float, down: float, radius: float) -> str:
    """Draw the mark of a series at a place of a drawing."""
    place = f"translate({across:.1f} {down:.1f}) scale({radius:g})"
    return f'<path class="fill-s{series}" transform="{place}" d="{_OUTLINES[series]}"/>'


def draw_swatch(series: int) -> str:
    """Draw the mark of a series alone, for a legend."""
    return f'<svg viewBox="0 0 14 14" aria-hidden="true" class="swatch">{draw_mark(series, 7, 7, 5)}</svg>'


_PLOT, _EDGE, _LINE = 160, 12, 7
"""Units of a row of the forest plot: its width, the space beside it, the height of each model."""


Axis = tuple[float, float]
"""The lowest and the highest share of a forest plot."""


def _place_share(share: float, axis: Axis) -> float:
    low, high = axis
    return _EDGE + (_PLOT - 2 * _EDGE) * (share - low) / (high - low)


def choose_axis(shares: Iterable[float]) -> Axis:
    """Choose tenths between which all shares are."""
    values = list(shares) or [0.0, 1.0]
    low, high = floor(10 * min(values)), ceil(10 * max(values))
    # All may be 0 or 1, and an axis has two ends.
    return (low / 10, high / 10) if low < high else ((low - 1) / 10, high / 10) if low else (0.0, 0.1)


def draw_ranges(ranges: Sequence[Range], *, is_group: bool = False, axis: Axis = (0.0, 1.0)) -> str:
    """Draw a row of a forest plot: each share as a mark on the line of its limits."""
    height = max(20, 6 + _LINE * len(ranges))
    quarters = (axis[0] + quarter / 4 * (axis[1] - axis[0]) for quarter in range(5))
    ticks = "".join(f"M{_place_share(share, axis):.1f} 0V{height}" for share in quarters)
    elements = [f'<path class="line-faint" d="{ticks}"/>']
    for row, one in enumerate(ranges):
        down = height / 2 + _LINE * (row - (len(ranges) - 1) / 2)
        if one.low is not None and one.high is not None:
            low, high = _place_share(one.low, axis), _place_share(one.high, axis)
            width = 3 if is_group else 1.6
            elements.append(
                f'<path class="line-s{one.series}" stroke-width="{width}" '
                f'd="M{low:.1f} {down:.1f}H{high:.1f}"/>'
            )
        elements.append(draw_mark(one.series, _place_share(one.share, axis), down, 4 if is_group else 3.2))
    return (
        f'<svg class="range" viewBox="0 0 {_PLOT} {height}" width="{_PLOT}" height="{height}" '
        f'aria-hidden="true">{"".join(elements)}</svg>'
    )


def draw_scale(axis: Axis = (0.0, 1.0)) -> str:
    """Draw the scale above the rows of a forest plot."""
    texts = "".join(
        f'<text class="fill-quiet" x="{_place_share(share, axis):.1f}" y="11">{share:.0%}</text>'
        for share in (axis[0], sum(axis) / 2, axis[1])
    )
    size = f'viewBox="0 0 {_PLOT} 14" width="{_PLOT}" height="14"'
    return f'<svg class="range" {size} text-anchor="middle" aria-hidden="true">{texts}</svg>'


def draw_bar(share: float) -> str:
    """Draw a share of all as a bar of a table."""
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="fill-s0" d="M0 0H{max(100 * share, 0.5):.1f}V10H0Z"/></svg>'
    )


def draw_parts(counts: Sequence[int], says: str) -> str:
    """Draw the shares of counts as one bar, each part in a fuller shade of the same colour than the last."""
    elements, start = [], 0.0
    for part, count in enumerate(counts):
        width = 100 * count / (sum(counts) or 1)
        if count:
            # A gap tells parts of nearly the same shade apart.
            end = start + max(width - 0.6, 0.2)
            shade = f'fill-opacity="{_shade_part(part, len(counts)):.2f}"'
            elements.append(f'<path class="fill-s0" {shade} d="M{start:.2f} 0H{end:.2f}V10H{start:.2f}Z"/>')
        start += width
    says = html.escape(make_printable(says))
    return (
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{says}">'
        f"<title>{says}</title>{''.join(elements)}</svg>"
    )


def draw_shade(part: int, parts: int) -> str:
    """Draw a square in the shade of a part of a bar, for a legend."""
    shade = f'fill-opacity="{_shade_part(part, parts):.2f}"'
    square = f'<path class="fill-s0" {shade} d="M1 1H13V13H1Z"/>'
    return f'<svg viewBox="0 0 14 14" aria-hidden="true" class="swatch">{square}</svg>'


def _shade_part(part: int, parts: int) -> float:
    return 0.15 + 0.85 * part / max(parts - 1, 1)


_WIDE, _HIGH, _LEFT, _BELOW, _ABOVE = 460, 300, 52, 44, 10
"""Units of a scatter plot: its size, and the space around its axes, so that texts are legible on a phone."""


def draw_scatter(points: Sequence[Point], label: str, says: str) -> str:
    """Draw accuracy, with its limits, against cost or latency; each model has its mark."""
    values = [point.x for point in points]
    # Prices differ a hundredfold, and the cheap ones would lie over each other.
    is_log = max(values) > 20 * min(values) > 0
    low = max(0.0, min(point.low for point in points) - 0.02)
    high = min(1.0, max(point.high for point in points) + 0.02)
    first, last = (
        (log10(min(values) / 2), log10(max(values) * 2)) if is_log else (0.0, max(values) * 1.1 or 1)
    )

    def place_x(value: float) -> float:
        return _LEFT + (_WIDE - _LEFT - 12) * ((log10(value) if is_log else value) - first) / (last - first)

    def place_y(share: float) -> float:
        return _ABOVE + (_HIGH - _BELOW - _ABOVE) * (high - share) / ((high - low) or 1)

    def write_text(text: str, across: float, down: float, anchor: str) -> str:
        return f'<text class="fill-ink" x="{across:.1f}" y="{down:.1f}" text-anchor="{anchor}">{text}</text>'

    elements = []
    form = ".0%" if high - low > 0.05 else ".1%"
    for share in _list_ticks(low, high):
        elements.append(f'<path class="line-faint" d="M{_LEFT} {place_y(share):.1f}H{_WIDE - 12}"/>')
        elements.append(write_text(format(share, form), _LEFT - 6, place_y(share) + 4, "end"))
    powers = [10.0**power for power in range(ceil(first), floor(last) + 1)] if is_log else []
    for value in (
        powers if len(powers) > 1 else [min(values), max(values)] if is_log else _list_ticks(0, last)
    ):
        elements.append(write_text(f"{value:.4g}", place_x(value), _HIGH - _BELOW + 18, "middle"))
    elements.append(f'<path class="line-ink" d="M{_LEFT} {_HIGH - _BELOW}H{_WIDE - 12}"/>')
    elements.append(write_text(html.escape(make_printable(label)), _WIDE / 2, _HIGH - 6, "middle"))
    for point in points:
        across, top, bottom = place_x(point.x), place_y(point.high), place_y(point.low)
        elements.append(
            f'<path class="line-s{point.series}" stroke-width="1.4" d="M{across - 4:.1f} {top:.1f}h8'
            f'm-4 0V{bottom:.1f}m-4 0h8"/>'
        )
        elements.append(draw_mark(point.series, across, place_y(point.y), 5))
    return (
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" font-size="12" role="img" '
        f'aria-label="{html.escape(make_printable(says))}">{"".join(elements)}</svg>'
    )


def _list_ticks(low: float, high: float) -> Iterator[float]:
    """List round values between two, about five of them."""
    # Steps of 1, 2 or 5 are those that people read without reckoning.
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough)
    for number in range(ceil(low / step), floor(high / step + 1e-9) + 1):
        yield number * step
