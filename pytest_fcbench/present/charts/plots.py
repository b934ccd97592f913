"""Charts of points. Each has a sentence for readers who cannot see it; a table has the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, groupby, pairwise

from pytest_fcbench.present.charts.drawing import (
    Drawing,
    Label,
    Line,
    Scale,
    Shape,
    find_round_step,
    fit_scale,
    fit_shares,
    make_marker,
    render_inline,
)

_NARROW, _WIDE = 460, 640
"""Units across of charts, so that a text of 12 units is still 9 pixels high on a phone in the narrow one."""
_LINE = 18.0
"""Height of a line of a legend."""
_HOUR, _DAY = 3600.0, 86400.0

DASHES: Sequence[tuple[float, ...]] = (
    *((), (6, 2), (2, 2), (8, 2, 2, 2)),
    *((4, 4), (10, 3), (1, 1), (6, 2, 1, 2, 1, 2)),
)
"""The dashes of the line of each series."""


@dataclass(frozen=True, slots=True)
class Point:
    """A model by another value and its accuracy, with its limits; ``series`` counts from 0."""

    series: int
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    name: str = ""


def draw_frame(
    across: Scale, up: Scale, across_labels: Mapping[float, str], up_labels: Mapping[float, str], below: str
) -> Iterator[Shape]:
    """Draw both axes with their labels, and the name of the horizontal one below it."""
    for value, text in up_labels.items():
        y = up.place(value)
        yield Line([(across.start, y), (across.end, y)], "faint")
        yield Label(across.start - 6, y + 4, text, "end")
    for value, text in across_labels.items():
        x = across.place(value)
        yield Line([(x, up.start), (x, up.start + 5)], "faint")
        yield Label(x, up.start + 18, text, "middle")
    yield Line([(across.start, up.start), (across.end, up.start)], "ink")
    yield Label((across.start + across.end) / 2, up.start + 38, below, "middle")


def draw_legend(names: Iterable[str], top: float) -> Iterator[Shape]:
    """Draw a line for each series: its marker and its name."""
    for series, name in enumerate(names):
        y = top + _LINE * series
        yield make_marker(14, y, series)
        yield Label(26, y + 4, name)


def fit_accuracies(points: Sequence[Point], start: float, end: float) -> Scale:
    """Fit the scale of accuracies with their limits."""
    shares = [share for one in points for share in (one.y, one.low, one.high) if share is not None]
    return fit_shares(shares, start, end)


def draw_points(
    points: Sequence[Point], across: Scale, up: Scale, *, joined: bool = False
) -> Iterator[Shape]:
    """Draw points on the lines of their limits; ``joined`` draws a line through each series."""
    for series, group in groupby(sorted(points, key=lambda one: (one.series, one.x)), lambda one: one.series):
        own = [(one, across.place(one.x), up.place(one.y)) for one in group]
        if joined and len(own) > 1:
            yield Line([(x, y) for _, x, y in own], f"s{series}", 1.4, DASHES[series])
        for one, x, y in own:
            if one.low is not None and one.high is not None:
                low, high = up.place(one.low), up.place(one.high)
                capped = [(x - 4, low), (x + 4, low), (x, low), (x, high), (x - 4, high), (x + 4, high)]
                yield Line(capped, f"s{series}", 1.3)
            yield make_marker(x, y, series)


def label_shares(scale: Scale) -> Mapping[float, str]:
    """Label the ticks of a scale of shares in percent."""
    decimals = 0 if find_round_step(max(scale.high - scale.low, 1e-9)) >= 0.01 else 1
    return {tick: f"{tick:.{decimals}%}" for tick in scale.list_ticks()}


def label_amounts(scale: Scale) -> Mapping[float, str]:
    """Label the ticks of a scale of amounts."""
    return {tick: f"{tick:.4g}" for tick in scale.list_ticks()}


def fit_times(seconds: Sequence[float], start: float, end: float) -> tuple[Scale, Mapping[float, str]]:
    """Fit a scale for times in seconds since 1970, and label it with days or minutes."""
    first, last = min(seconds), max(seconds)
    # Runs of one minute are shown within an hour, or the axis would have no length.
    margin = max((last - first) * 0.05, _HOUR)
    scale = Scale(first - margin, last + margin, start, end)
    form = "%Y-%m-%d" if last - first > 3 * _DAY else "%m-%d %H:%M"
    ticks = (scale.low + (scale.high - scale.low) * part / 4 for part in range(5))
    return scale, {second: f"{datetime.fromtimestamp(second, UTC):{form}}" for second in ticks}


def draw_scatter(points: Sequence[Point], label: str, says: str) -> str:
    """Draw accuracy, with its limits, against cost or latency; each model has its marker."""
    across = fit_scale([one.x for one in points], 52, _NARROW - 12)
    up = fit_accuracies(points, 256, 10)
    frame = draw_frame(across, up, label_amounts(across), label_shares(up), label)
    return render_inline(Drawing(_NARROW, 300, says, (*frame, *draw_points(points, across, up))))


def draw_levels(points: Sequence[Point], levels: Mapping[float, str], label: str, says: str) -> str:
    """Draw accuracy, with its limits, at levels that are labelled; a line joins those of a model."""
    across, up = Scale(min(levels), max(levels), 64, _NARROW - 24), fit_accuracies(points, 256, 10)
    frame = draw_frame(across, up, levels, label_shares(up), label)
    return render_inline(Drawing(_NARROW, 300, says, (*frame, *draw_points(points, across, up, joined=True))))


def draw_releases(releases: Iterable[Point], metric: str, says: str) -> str:
    """Draw accuracy over release date, with a line of the best (BFCL paper, Patil et al. 2025, Figure 8)."""
    timeline = sorted(releases, key=lambda one: (one.x, one.y, one.name))
    across, labels = fit_times([one.x for one in timeline], 60, _WIDE - 40)
    up = fit_accuracies(timeline, 330, 20)
    best = list(accumulate((one.y for one in timeline), max))
    steps = [(across.place(one.x), up.place(most)) for one, most in zip(timeline, best, strict=True)]
    corners = [place for before, after in pairwise(steps) for place in ((after[0], before[1]), after)]
    below = f"release date; line: the best {metric} so far"
    shapes = [
        *draw_frame(across, up, labels, label_shares(up), below),
        Line([steps[0], *corners], "ink"),
        *draw_points(timeline, across, up),
    ]
    first, last = timeline[0].x, timeline[-1].x
    for n, one in enumerate(timeline):
        # The line climbs to the right, so there is room to the left of it above and to the right below.
        is_best = one.y == best[n] and (n + 1 == len(timeline) or timeline[n + 1].x != one.x)
        is_late = one.x - first > (0.4 if is_best else 0.6) * (last - first)
        x, y = across.place(one.x) + (-6 if is_late else 6), up.place(one.y) + (-5 if is_best else 13)
        shapes.append(Label(x, y, one.name, "end" if is_late else "start", 10))
    return render_inline(Drawing(_WIDE, 374, says, shapes))


def draw_pairs(pairs: Iterable[Point], across: str, up: str, says: str) -> str:
    """Draw one accuracy over another, with a line where both are the same (BFCL paper, Figure 3)."""
    models = sorted(pairs, key=lambda one: -one.y)
    values = [value for one in models for value in (one.x, one.y)]
    low, high = max(0.0, min(values) - 0.05), min(1.03, max(values) + 0.05)
    x_scale, y_scale = Scale(low, high, 60, 380), Scale(low, high, 350, 30)
    labels = label_shares(x_scale)
    shapes = [*draw_frame(x_scale, y_scale, labels, labels, across), Label(16, 16, up)]
    shapes.append(Line([(60, 350), (380, 30)], "ink", 0.8, (1, 3)))
    # Names stand in a column beside the plot: good models are close together.
    heights = _spread_places([(one.y - low) / (high - low) for one in models])
    for one, height in zip(models, heights, strict=True):
        x, y, beside = x_scale.place(one.x), y_scale.place(one.y), 350 - 320 * height
        shapes.append(Line([(x, y), (390, beside)], "ink", 0.4))
        shapes.append(Label(393, beside + 3.5, one.name, size=10))
    shapes += [make_marker(x_scale.place(one.x), y_scale.place(one.y), 0, 4) for one in models]
    return render_inline(Drawing(_WIDE, 394, says, shapes))


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
    x_values, y_values = zip(*(text for texts in sets.values() for text in texts), strict=True)
    margin = 0.05 * (max(x_values) - min(x_values)) or 1
    across = Scale(min(x_values) - margin, max(x_values) + margin, 60, _WIDE - 20)
    up = fit_scale(y_values, 350, 30)
    shapes = [*draw_frame(across, up, label_amounts(across), label_amounts(up), "nats per character")]
    names = [f"{name} ({len(texts):,})" for name, texts in sets.items()]
    shapes += [Label(16, 16, "perplexity"), *draw_legend(names, 408)]
    shapes += [
        make_marker(across.place(x), up.place(y), series, 2.5, 0.6)
        for series, texts in enumerate(sets.values())
        for x, y in texts
    ]
    return render_inline(Drawing(_WIDE, 408 + _LINE * len(sets), says, shapes))
