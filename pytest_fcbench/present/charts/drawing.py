"""Drawings: a few kinds of shapes, written as SVG into a page or into a file of its own.

Colours are roles ("ink", "s3"). In a page they are classes of its style sheet, because a page follows the
reader's dark mode and its policy refuses style attributes; a file of its own has the colours of the day.
Places are rounded, so the same values give the same bytes. Texts may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from math import ceil, cos, floor, log10, pi, sin
from pathlib import Path
from typing import Literal, TypeAlias

from pytest_fcbench.domain.text import put_on_one_line

MOST_SERIES = 8
"""The most series that colour, marker and dashes can tell apart."""

Anchor: TypeAlias = Literal["start", "middle", "end"]
Points: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: Points
    role: str
    width: float = 1
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """A filled area within points."""

    points: Points
    role: str
    opacity: float = 1


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text by its baseline; without a size it has that of its surroundings."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    size: float | None = 12
    role: str = "ink"


Shape: TypeAlias = Line | Area | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in units from the upper left corner, the later above the earlier."""

    width: float
    height: float
    says: str
    """A sentence for readers who cannot see them; empty where other texts have it."""
    shapes: Sequence[Shape]


def make_box(x: float, y: float, width: float, height: float, role: str, opacity: float = 1) -> Area:
    """Make a filled rectangle."""
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    return Area(corners, role, opacity)


_OUTLINES = (
    " ".join(f"{sin(pi * turn / 8)},{cos(pi * turn / 8)}" for turn in range(16)),
    "-.85,-.85 .85,-.85 .85,.85 -.85,.85",
    "0,-1.1 1.05,.8 -1.05,.8",
    "0,-1.25 1.25,0 0,1.25 -1.25,0",
    "0,1.1 1.05,-.8 -1.05,-.8",
    "-.4,-1.1 .4,-1.1 .4,-.4 1.1,-.4 1.1,.4 .4,.4 .4,1.1 -.4,1.1 -.4,.4 -1.1,.4 -1.1,-.4 -.4,-.4",
    "-1.1,-.6 -.6,-1.1 0,-.5 .6,-1.1 1.1,-.6 .5,0 1.1,.6 .6,1.1 0,.5 -.6,1.1 -1.1,.6 -.5,0",
    "0,-1.25 .36,-.42 1.2,-.39 .54,.16 .74,1.01 0,.53 -.74,1.01 -.54,.16 -1.2,-.39 -.36,-.42",
)
"""The marker of each series within a radius of 1, for readers who see no colours."""
assert len(_OUTLINES) == MOST_SERIES


def make_marker(x: float, y: float, series: int, size: float = 5, opacity: float = 1) -> Area:
    """Make the marker of a series at a place."""
    corners = (corner.split(",") for corner in _OUTLINES[series % MOST_SERIES].split())
    points = [(x + size * float(across), y + size * float(down)) for across, down in corners]
    return Area(points, f"s{series % MOST_SERIES}", opacity)


@cache
def read_colours() -> str:
    """Read the style sheet of drawings; its variables are the colours of pages, too."""
    return Path(__file__).with_name("colours.css").read_text(encoding="utf-8")


@cache
def read_palette() -> Mapping[str, str]:
    """Read the colours that pages have by day, by role."""
    by_day = read_colours().partition("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", by_day))


def render_inline(drawing: Drawing, *attributes: str, titled: bool = False) -> str:
    """Render a drawing as an element of a page; ``titled`` shows its sentence to a resting pointer."""
    says = _escape_text(drawing.says)
    about = f'role="img" aria-label="{says}"' if says else 'aria-hidden="true"'
    shapes = "".join(
        _render_shape(shape, lambda role, part: f'class="{part}-{role}"') for shape in drawing.shapes
    )
    size, title = f"{drawing.width:g} {drawing.height:g}", f"<title>{says}</title>" if titled else ""
    return f'<svg viewBox="0 0 {size}" {" ".join((about, *attributes))}>{title}{shapes}</svg>'


_FONT = (
    "system-ui,'DejaVu Sans',Verdana,'Noto Sans','Noto Sans CJK SC','Noto Sans CJK JP','PingFang SC',"
    "'Microsoft YaHei','Noto Color Emoji','Apple Color Emoji','Segoe UI Emoji',sans-serif"
)
"""Programs that do not look for fonts by themselves take the first one that has a character."""


def render_file(drawing: Drawing) -> str:
    """Render a drawing as the text of an SVG file, without style sheet, script or anything from elsewhere."""
    size = f'width="{drawing.width:g}" height="{drawing.height:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {drawing.width:g} {drawing.height:g}" role="img" font-family="{_FONT}">',
        f"<title>{_escape_text(drawing.says)}</title>",
        *(_render_shape(shape, _paint_by_day) for shape in drawing.shapes),
        "</svg>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _paint_by_day(role: str, part: str) -> str:
    colour = read_palette().get(role, role)
    return f'fill="{colour}"' if part == "fill" else f'fill="none" stroke="{colour}"'


def _render_shape(shape: Shape, paint: Callable[[str, str], str]) -> str:
    match shape:
        case Line(points=points, role=role, width=width, dashes=dashes):
            dash = f' stroke-dasharray="{" ".join(f"{part:g}" for part in dashes)}"' if dashes else ""
            line = f'{paint(role, "line")} stroke-width="{width:g}"{dash}'
            return f'<polyline points="{_list_points(points)}" {line}/>'
        case Area(points=points, role=role, opacity=opacity):
            faint = f' fill-opacity="{opacity:.2f}"' if opacity < 1 else ""
            return f'<polygon points="{_list_points(points)}" {paint(role, "fill")}{faint}/>'
        case Label(x=x, y=y, text=text, anchor=anchor, size=size, role=role):
            height = f' font-size="{size:g}"' if size else ""
            place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{height}'
            return f"<text {place} {paint(role, 'fill')}>{_escape_text(text)}</text>"


def _list_points(points: Points) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _escape_text(text: str) -> str:
    # XML holds no control characters, and an escape cannot bring them in.
    return escape(put_on_one_line(text))


def estimate_width(text: str, size: float) -> float:
    """Estimate the width of a text, generously: readers have other fonts."""
    # Characters of East Asian scripts and emoji are as wide as high.
    return sum(1.0 if sign > "\u2fff" else 0.62 for sign in text) * size


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
            # Beyond some hundredfold there is room for the powers of ten only.
            digits = (1, 2, 5) if self.high <= 300 * self.low else (1,)
            ticks = [digit * 10.0**power for power in powers for digit in digits]
        else:
            step = find_round_step(self.high - self.low)
            ticks = [step * number for number in range(floor(self.low / step), ceil(self.high / step) + 1)]
        # Steps such as 0.1 are not exact, and the last of them may lie beyond the end.
        margin = 1e-9 * abs(self.high)
        return [tick for tick in ticks if self.low - margin <= tick <= self.high + margin]


def find_round_step(reach: float) -> float:
    """Return 1, 2 or 5 times a power of ten that divides a reach into four to ten steps."""
    power = 10.0 ** floor(log10(reach / 4))
    # Where the logarithm was rounded up, not even the smallest step fits.
    return next((step * power for step in (5, 2) if step * power * 4 <= reach), power)


def fit_scale(values: Sequence[float], start: float, end: float) -> Scale:
    """Fit a scale for amounts: from 0, or by powers of ten where they are far apart."""
    low, high = min(values), max(values)
    # Prices differ a hundredfold, and the cheap ones would lie over each other.
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
