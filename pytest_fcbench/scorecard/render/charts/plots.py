"""The charts. Each is an image with a sentence for readers who cannot see it; a table has the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import accumulate
from math import cos, pi, sin

from matplotlib.axes import Axes
from matplotlib.dates import date2num
from matplotlib.markers import MarkerStyle
from matplotlib.patches import PathPatch
from matplotlib.projections.polar import PolarAxes
from matplotlib.transforms import Affine2D, IdentityTransform

from pytest_fcbench.scorecard.render.charts.drawing import (
    DASHES,
    INK,
    MARKERS,
    PAPER,
    SERIES,
    open_figure,
    render_inline,
)

_WIDE = 640
"""Units across of a chart that has a page's width."""


@dataclass(frozen=True, slots=True)
class Point:
    """A model by cost or latency and accuracy, with the limits of the accuracy. ``series`` counts from 0."""

    series: int
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A model by release date and accuracy, with the limits of the accuracy."""

    day: date
    accuracy: float
    low: float
    high: float
    name: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A model by two accuracies."""

    x: float
    y: float
    name: str


def draw_wheel(axes: Sequence[str], series: Sequence[Sequence[float]], says: str) -> str:
    """Draw a wagon wheel: the fractions of each series on three axes or more."""
    with open_figure(370) as figure:
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
            # A long name gets two lines, broken at the underscore nearest to its middle.
            breaks = [place + 1 for place, sign in enumerate(name) if sign == "_"]
            label = name
            if len(name) >= 14 and breaks:
                _, middle = min((abs(place - len(name) / 2), place) for place in breaks)
                label = f"{name[:middle]}\n{name[middle:]}"
            plot.text(angle, 1.07, label, ha=beside, va=above, linespacing=1.1)
        for number, values in enumerate(series):
            colour, closed = SERIES[number], [*values, values[0]]
            (line,) = plot.plot([*angles, 2 * pi], closed, color=colour, marker=MARKERS[number], lw=1.8, ms=6)
            # The first line is solid; the others differ by dashes, too, for those who see no colours.
            if number:
                line.set_dashes(DASHES[number])
            if len(series) == 1:
                plot.fill([*angles, 2 * pi], closed, color=colour, alpha=0.12)
        return render_inline(figure, says)


def draw_bars(rows: Sequence[tuple[str, Sequence[int]]], says: str, *, shares: bool = False) -> str:
    """Draw a stacked bar for each row, its label above; the parts are lettered as in the table.

    Bars are as long as their sums, or all alike where they show shares.
    """
    with open_figure(8 + 40 * len(rows)) as figure:
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
                    plot.barh(row, wide, 0.42, left=left, color=SERIES[part], edgecolor=PAPER, lw=1.5)
                # A narrower part has no room for its letter.
                if wide > most * 0.04:
                    plot.text(
                        left + wide / 2, row + 0.1, name_part(part), color=PAPER, fontsize=11, ha="center"
                    )
        return render_inline(figure, says)


def draw_scatter(points: Sequence[Point], label: str, says: str) -> str:
    """Draw accuracy, with its limits, against cost or latency; each model has its marker."""
    with open_figure(300) as figure:
        plot = figure.add_axes((0.12, 0.16, 0.85, 0.8))
        for point in points:
            reach = [[point.y - point.low], [point.high - point.y]]
            colour, marker = SERIES[point.series], MARKERS[point.series]
            plot.errorbar([point.x], [point.y], reach, fmt=marker, color=colour, ms=9, capsize=4, lw=1.4)
        _set_scale(plot, "x", [point.x for point in points])
        _label_accuracies(plot)
        plot.set_xlabel(label)
        return render_inline(figure, says)


def _set_scale(plot: Axes, name: str, values: Sequence[float]) -> None:
    """Scale an axis from 0, or by powers of ten where the values are far apart."""
    if max(values) > 20 * min(values) > 0:
        plot.set(**{f"{name}scale": "log", f"{name}lim": (min(values) / 2, max(values) * 2)})
        {"x": plot.xaxis, "y": plot.yaxis}[name].set_major_formatter(lambda value, _: f"{value:g}")
    else:
        plot.set(**{f"{name}lim": (0, max(values) * 1.1 or 1)})


def _label_accuracies(plot: Axes) -> None:
    """Label the vertical axis with accuracies in percent."""
    low, high = plot.get_ylim()
    plot.set_ylim(max(0.0, low), min(1.0 + 0.03 * (high - low), high))
    plot.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}" if high - low > 0.05 else f"{value:.1%}")
    plot.grid(axis="y")


def draw_releases(found: Iterable[Release], metric: str, says: str) -> str:
    """Draw accuracy over release date, with a line of the best (BFCL paper, Patil et al. 2025, Figure 8)."""
    dated = sorted(found)
    # matplotlib has no types for its dates.
    days = [float(date2num(one.day)) for one in dated]  # type: ignore[no-untyped-call]
    accuracies = [one.accuracy for one in dated]
    reach = [[one.accuracy - one.low for one in dated], [one.high - one.accuracy for one in dated]]
    best = list(accumulate(accuracies, max))
    with open_figure(370, _WIDE) as figure:
        plot = figure.add_axes((0.11, 0.13, 0.87, 0.84))
        plot.step(days, best, where="post", color=INK, lw=1, label="best so far")
        plot.errorbar(days, accuracies, reach, fmt="o", color=SERIES[0], capsize=3, label="95% interval")
        for n, one in enumerate(dated):
            # The line climbs to the right, so there is room to the left of it above and to the right below.
            up = one.accuracy == best[n] and (n + 1 == len(dated) or days[n + 1] != days[n])
            late = days[n] - days[0] > (0.4 if up else 0.6) * (days[-1] - days[0])
            plot.annotate(
                one.name,
                (days[n], one.accuracy),
                xytext=(-5 if late else 5, 4 if up else -11),
                textcoords="offset points",
                ha="right" if late else "left",
                fontsize=10,
            )
        plot.xaxis_date()
        _label_accuracies(plot)
        plot.set(xlabel="release date", ylabel=metric)
        plot.legend()
        return render_inline(figure, says)


def draw_pairs(found: Iterable[Pair], across: str, up: str, says: str) -> str:
    """Draw one accuracy over another, with a line where both are the same (BFCL paper, Figure 3)."""
    models = sorted(found, key=lambda one: -one.y)
    values = [value for one in models for value in (one.x, one.y)]
    low, high = max(0.0, min(values) - 0.05), min(1.03, max(values) + 0.05)
    with open_figure(400, _WIDE) as figure:
        plot = figure.add_axes((0.11, 0.12, 0.54, 0.86))
        plot.plot([low, high], [low, high], color=INK, lw=0.8, ls=":")
        plot.plot([one.x for one in models], [one.y for one in models], "o", color=SERIES[0])
        # Names stand in a column beside the plot: good models are close together.
        for one, place in zip(
            models, _spread_places([(one.y - low) / (high - low) for one in models]), strict=True
        ):
            plot.annotate(
                one.name,
                (one.x, one.y),
                xytext=(1.04, place),
                textcoords="axes fraction",
                va="center",
                fontsize=10,
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "lw": 0.4, "color": INK, "relpos": (0, 0.5)},
            )
        plot.set(xlim=(low, high), ylim=(low, high), xlabel=across, ylabel=up)
        for axis in (plot.xaxis, plot.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:.0%}")
        plot.grid()
        return render_inline(figure, says)


def _spread_places(heights: Sequence[float]) -> list[float]:
    """Place labels from 1 down to 0, as near to their heights (highest first) as lines of text allow."""
    gap = min(0.045, 1 / len(heights))
    places: list[float] = []
    for number, height in enumerate(heights):
        # Room for those that are still to come below.
        least = gap * (len(heights) - 1 - number)
        most = places[-1] - gap if places else 1.0
        places.append(max(least, min(height, most)))
    return places


def draw_perplexities(sets: Mapping[str, Sequence[tuple[float, float]]], says: str) -> str:
    """Draw perplexity over nats per character, with a mark for each text of one or two sets."""
    with open_figure(400, _WIDE) as figure:
        plot = figure.add_axes((0.11, 0.12, 0.87, 0.86))
        for (name, texts), colour, marker in zip(sets.items(), SERIES, ("o", "^"), strict=False):
            across, up = zip(*texts, strict=True)
            label = f"{name} ({len(texts):,})"
            plot.plot(across, up, marker, color=colour, mfc="none", ms=4.5, mew=1, alpha=0.6, label=label)
        _set_scale(plot, "y", [up for texts in sets.values() for _, up in texts])
        plot.set(xlabel="nats per character", ylabel="perplexity")
        plot.grid()
        plot.legend(loc="upper left")
        return render_inline(figure, says)


@cache
def draw_swatch(series: int) -> str:
    """Draw the marker of a series, for a legend."""
    with open_figure(14, 14) as figure:
        marker = MarkerStyle(MARKERS[series])
        shape = marker.get_path().transformed(marker.get_transform() + Affine2D().scale(5.5).translate(7, 7))
        figure.add_artist(PathPatch(shape, color=SERIES[series], transform=IdentityTransform()))
        return render_inline(figure, "")


def name_part(part: int) -> str:
    """Return the letter of a part of a bar."""
    return chr(ord("A") + part)
