"""The charts. Each is an image with a sentence for readers who cannot see it; a table has the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.dates import date2num

from pytest_fcbench.present.charts.drawing import (
    INK,
    SERIES,
    open_figure,
    render_inline,
)

_WIDE = 640
"""Units across of a chart that has a page's width."""


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A model by release date and accuracy, with the limits of the accuracy."""

    day: date
    accuracy: float
    low: float
    high: float
    name: str


@dataclass(frozen=True, slots=True)
class AccuracyPair:
    """A model by two accuracies."""

    x: float
    y: float
    name: str


def _label_accuracies(plot: Axes) -> None:
    """Label the vertical axis with accuracies in percent."""
    low, high = plot.get_ylim()
    plot.set_ylim(max(0.0, low), min(1.0 + 0.03 * (high - low), high))
    plot.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}" if high - low > 0.05 else f"{value:.1%}")
    plot.grid(axis="y")


def draw_releases(releases: Iterable[Release], metric: str, says: str) -> str:
    """Draw accuracy over release date, with a line of the best (BFCL paper, Patil et al. 2025, Figure 8)."""
    timeline = sorted(releases)
    # matplotlib has no types for its dates.
    days = [float(date2num(one.day)) for one in timeline]  # type: ignore[no-untyped-call]
    accuracies = [one.accuracy for one in timeline]
    reach = [[one.accuracy - one.low for one in timeline], [one.high - one.accuracy for one in timeline]]
    best = list(accumulate(accuracies, max))
    with open_figure(370, _WIDE) as figure:
        plot = figure.add_axes((0.11, 0.13, 0.87, 0.84))
        plot.step(days, best, where="post", color=INK, lw=1, label="best so far")
        plot.errorbar(days, accuracies, reach, fmt="o", color=SERIES[0], capsize=3, label="95% interval")
        for n, one in enumerate(timeline):
            # The line climbs to the right, so there is room to the left of it above and to the right below.
            up = one.accuracy == best[n] and (n + 1 == len(timeline) or days[n + 1] != days[n])
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


def draw_pairs(pairs: Iterable[AccuracyPair], across: str, up: str, says: str) -> str:
    """Draw one accuracy over another, with a line where both are the same (BFCL paper, Figure 3)."""
    models = sorted(pairs, key=lambda one: -one.y)
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
        heights = [up for texts in sets.values() for _, up in texts]
        # By powers of ten where the values are far apart.
        if max(heights) > 20 * min(heights) > 0:
            plot.set(yscale="log", ylim=(min(heights) / 2, max(heights) * 2))
            plot.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        else:
            plot.set(ylim=(0, max(heights) * 1.1 or 1))
        plot.set(xlabel="nats per character", ylabel="perplexity")
        plot.grid()
        plot.legend(loc="upper left")
        return render_inline(figure, says)
