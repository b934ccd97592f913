"""Shapes of a drawing, in units from its upper left corner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, pi, sin
from typing import Literal, TypeAlias

from pytest_fcbench.present.charts.pages import MOST_SERIES, read_colours

Anchor: TypeAlias = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: Sequence[tuple[float, float]]
    colour: str
    width: float = 1
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """A filled area within points."""

    points: Sequence[tuple[float, float]]
    colour: str
    opacity: float = 1


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle by its upper left corner, width and height."""

    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text by its baseline; it may hold anything."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    size: float = 12
    colour: str = "#1c1c1f"


Shape: TypeAlias = Line | Area | Box | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes, the later above the earlier, and a sentence for readers who cannot see them."""

    width: float
    height: float
    says: str
    shapes: tuple[Shape, ...]


@cache
def read_palette() -> Mapping[str, str]:
    """Read the colours that pages have by day, by role: files of their own know no style sheet."""
    by_day = read_colours().partition("}")[0]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", by_day))


def select_colour(series: int) -> str:
    """Return the colour of a series, which counts from 0."""
    return read_palette()[f"s{series % MOST_SERIES}"]


_CORNERS = {"circle": 24, "square": 4, "triangle": 3, "diamond": 4, "hexagon": 6, "pentagon": 5}
_TURNS = {"square": pi / 4}
_MARKERS = (*_CORNERS, "narrow diamond", "flat diamond")


def draw_marker(x: float, y: float, series: int, size: float = 5) -> Area:
    """Draw the marker of a series, which tells it from others without its colour."""
    name = _MARKERS[series % MOST_SERIES]
    corners, turn = _CORNERS.get(name, 4), _TURNS.get(name, 0.0)
    wide = 0.55 if name == "narrow diamond" else 1
    high = 0.55 if name == "flat diamond" else 1
    angles = (2 * pi * number / corners + turn for number in range(corners))
    points = [(x + wide * size * sin(angle), y - high * size * cos(angle)) for angle in angles]
    return Area(points, select_colour(series))


DASHES: Sequence[tuple[float, ...]] = (
    (),
    (6, 2),
    (2, 2),
    (8, 2, 2, 2),
    (4, 4),
    (10, 3),
    (1, 1),
    (6, 2, 1, 2, 1, 2),
)
"""The dashes of the line of each series."""


def estimate_width(text: str, size: float) -> float:
    """Estimate the width of a text, generously: readers have other fonts."""
    # Characters of East Asian scripts and emoji are as wide as high.
    return sum(1.0 if sign > "\u2fff" else 0.62 for sign in text) * size
