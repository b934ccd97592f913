"""Charts as inline SVG: matplotlib draws them, the page's style sheet gives them their colours.

Drawn colours stand for roles. ``_inline`` turns them into classes (``fill-ink``, ``line-s3``) and all other
style into attributes, because the page's policy refuses ``style="..."`` and a dark page wants other colours.
The same values give the same bytes. Each chart is an image with a sentence for those who do not see it; the
table beside it has the numbers.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import cos, pi, sin
from typing import Any
from xml.etree.ElementTree import fromstring, tostring

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.patches import PathPatch
from matplotlib.projections.polar import PolarAxes
from matplotlib.transforms import Affine2D, IdentityTransform

MOST_SERIES = 8
"""As many as can be told apart by colour, marker and dashes."""

_INK, _FAINT, _PAPER = "#010101", "#010102", "#010103"
_SERIES = tuple(f"#0102{number:02x}" for number in range(MOST_SERIES))
_ROLES: Mapping[str, str] = {
    _INK: "ink",
    _FAINT: "faint",
    _PAPER: "paper",
    **{colour: f"s{number}" for number, colour in enumerate(_SERIES)},
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES: tuple[tuple[int, ...], ...] = (
    (1, 0),
    (6, 2),
    (2, 2),
    (8, 2, 2, 2),
    (4, 4),
    (10, 3),
    (1, 1),
    (6, 2, 1, 2, 1, 2),
)
_WIDTH = 460
"""Units across, so that a text of 12 units is still 9 pixels high on a phone."""
_STYLE: Mapping[Any, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fcbench",
    "text.parse_math": False,
    "text.color": _INK,
    "font.size": 12,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FAINT,
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": _FAINT,
    "grid.linewidth": 0.8,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
}


@dataclass(frozen=True, slots=True)
class Point:
    """One model: what it took, its accuracy and the limits of that. ``series`` counts from 0."""

    series: int
    x: float
    y: float
    low: float
    high: float


def wheel(axes: Sequence[str], series: Sequence[Sequence[float]], says: str) -> str:
    """A wagon wheel: the fractions of each series on three axes or more."""
    with _drawing(370) as figure:
        plot = figure.add_axes((0.217, 0.148, 0.566, 0.704), projection="polar")
        assert isinstance(plot, PolarAxes)
        angles = [2 * pi * number / len(axes) for number in range(len(axes))]
        plot.set(theta_offset=pi / 2, theta_direction=-1, ylim=(0, 1))
        plot.set_xticks(angles, [""] * len(axes))
        plot.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "50%", "", ""], fontsize=10)
        plot.set_rlabel_position(180 / len(axes))
        for angle, name in zip(angles, axes, strict=True):
            across, up = round(sin(angle), 3), round(cos(angle), 3)
            beside = "left" if across > 0 else "right" if across < 0 else "center"
            above = "bottom" if up > 0.92 else "top" if up < -0.92 else "center"
            plot.text(angle, 1.07, _in_two(name), ha=beside, va=above, linespacing=1.1)
        for number, values in enumerate(series):
            colour, closed = _SERIES[number], [*values, values[0]]
            (line,) = plot.plot(
                [*angles, 2 * pi], closed, color=colour, marker=_MARKERS[number], lw=1.8, ms=6
            )
            if number:
                line.set_dashes(_DASHES[number])
            if len(series) == 1:
                plot.fill([*angles, 2 * pi], closed, color=colour, alpha=0.12)
        return _inline(figure, "wheel", says)


def bars(rows: Sequence[tuple[str, Sequence[int]]], name: str, says: str, *, shares: bool = False) -> str:
    """A stacked bar for each row, its label above; the parts are lettered as in the table.

    Bars are as long as their sums, or all alike where they show shares.
    """
    with _drawing(8 + 40 * len(rows)) as figure:
        plot = figure.add_axes((0, 0, 1, 1))
        most = max(sum(counts) for _, counts in rows) or 1
        plot.set(xlim=(0, most * 1.005), ylim=(len(rows) - 0.7, -0.7))
        plot.axis("off")
        for row, (label, counts) in enumerate(rows):
            plot.text(0, row - 0.3, label, va="baseline")
            scale = most / (sum(counts) or 1) if shares else 1
            for part, count in enumerate(counts):
                left, wide = sum(counts[:part]) * scale, count * scale
                if count:
                    plot.barh(row, wide, 0.42, left=left, color=_SERIES[part], edgecolor=_PAPER, lw=1.5)
                if wide > most * 0.04:
                    plot.text(
                        left + wide / 2, row + 0.1, letter(part), color=_PAPER, fontsize=11, ha="center"
                    )
        return _inline(figure, name, says)


def scatter(points: Sequence[Point], label: str, name: str, says: str) -> str:
    """Accuracy, with its limits, against what it took; a marker is that of its model."""
    with _drawing(300) as figure:
        plot = figure.add_axes((0.12, 0.16, 0.85, 0.8))
        for point in points:
            reach = [[point.y - point.low], [point.high - point.y]]
            colour, marker = _SERIES[point.series], _MARKERS[point.series]
            plot.errorbar([point.x], [point.y], reach, fmt=marker, color=colour, ms=9, capsize=4, lw=1.4)
        _scale(plot, [point.x for point in points])
        plot.set_xlabel(label)
        low, high = plot.get_ylim()
        plot.set_ylim(max(0.0, low), min(1.0 + 0.03 * (high - low), high))
        plot.yaxis.set_major_formatter(
            lambda value, _: f"{value:.0%}" if high - low > 0.05 else f"{value:.1%}"
        )
        plot.spines[["top", "right"]].set_visible(False)
        plot.grid(axis="y")
        return _inline(figure, name, says)


def _scale(plot: Axes, values: Sequence[float]) -> None:
    """From 0 on, or by powers of ten where the values are far apart."""
    if max(values) > 20 * min(values) > 0:
        plot.set_xscale("log")
        plot.set_xlim(min(values) / 2, max(values) * 2)
        plot.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        plot.set_xlim(0, max(values) * 1.1 or 1)


@cache
def swatch(series: int) -> str:
    """The marker of a series, for a legend."""
    with _drawing(14, 14) as figure:
        marker = MarkerStyle(_MARKERS[series])
        shape = marker.get_path().transformed(marker.get_transform() + Affine2D().scale(5.5).translate(7, 7))
        figure.add_artist(PathPatch(shape, color=_SERIES[series], transform=IdentityTransform()))
        return _inline(figure, f"swatch{series}", "")


def letter(part: int) -> str:
    """The letter of a part of a bar."""
    return chr(ord("A") + part)


def _in_two(name: str) -> str:
    """A long name on two lines, broken at the underscore nearest to its middle."""
    breaks = [place + 1 for place, sign in enumerate(name) if sign == "_"]
    if len(name) < 14 or not breaks:
        return name
    middle = min(breaks, key=lambda place: abs(place - len(name) / 2))
    return f"{name[:middle]}\n{name[middle:]}"


@contextmanager
def _drawing(height: float, width: float = _WIDTH) -> Iterator[Figure]:
    """A figure without pyplot's shared state, ``width`` by ``height`` units."""
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # the same drawing whatever the user's own style is
        mpl.rcParams.update(_STYLE)
        warnings.simplefilter("ignore")  # a font without some sign: the reader's browser has another one
        yield Figure(figsize=(width / 72, height / 72))


_NAMESPACE = re.compile(r"^\{[^}]*\}")
_REFERENCE = re.compile(r"(?<=#)[\w-]+")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def _inline(figure: Figure, name: str, says: str) -> str:
    """The drawing as an element of a page in which ids that begin with ``name`` are its own."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = fromstring(drawn.getvalue())  # noqa: S314 - written just now by matplotlib
    for parent in list(svg.iter()):
        for child in list(parent):
            if _NAMESPACE.sub("", child.tag) in ("metadata", "style") or not (len(child) or child.attrib):
                parent.remove(child)
    for element in svg.iter():
        element.tag = _NAMESPACE.sub("", element.tag)
        given = {_NAMESPACE.sub("", key): value for key, value in element.attrib.items()}
        element.attrib = dict(_attributes(given, name))
    used = set(
        _REFERENCE.findall(" ".join(value for element in svg.iter() for value in element.attrib.values()))
    )
    for element in svg.iter():
        if element.get("id", "") not in used:
            element.attrib.pop("id", None)
    seen = {"role": "img", "aria-label": says} if says else {"aria-hidden": "true", "class": "swatch"}
    svg.attrib = {"viewBox": svg.get("viewBox", ""), **seen}
    return tostring(svg, "unicode")


def _attributes(given: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    """Attributes without style: classes for colours, ids of this drawing's own, short numbers."""
    style = dict(part.split(":", 1) for part in given.get("style", "").split(";") if ":" in part)
    classes = []
    for key, value in {**given, **style}.items():
        key, value = key.strip(), value.strip()
        role = _ROLES.get(value)
        if role and key in ("fill", "stroke"):
            classes.append(f"{'fill' if key == 'fill' else 'line'}-{role}")
        elif key == "font":
            yield "font-size", value.split("px")[0].split()[-1]
        elif key == "id":
            yield key, f"{name}-{value}"
        elif key not in ("style", "font-family", "version"):
            value = _REFERENCE.sub(lambda found: f"{name}-{found[0]}", value) if "#" in value else value
            yield key, _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", value)
    if classes:
        yield "class", " ".join(classes)
