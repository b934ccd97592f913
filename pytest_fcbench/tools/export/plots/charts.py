"""The charts of ``fcbench export plot``: scores with intervals, a wheel, scores over time and over cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, pairwise, product
from math import cos, pi, sin

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import put_on_one_line, shorten_text
from pytest_fcbench.present.charts.pages import MOST_SERIES
from pytest_fcbench.scorecard.aggregate.scores import ALL, Score
from pytest_fcbench.scorecard.aggregate.usage import measure_bill
from pytest_fcbench.scorecard.compare.names import name_scorecards, name_suites
from pytest_fcbench.tools.export.order import ExportRequest, find_end
from pytest_fcbench.tools.export.plots.axes import Scale, find_round_step, fit_scale, fit_shares
from pytest_fcbench.tools.export.plots.shapes import (
    DASHES,
    Anchor,
    Area,
    Drawing,
    Label,
    Line,
    Shape,
    draw_marker,
    estimate_width,
    read_palette,
    select_colour,
)

_WIDTH = 720.0
_TEXT = 12.0
"""Height of a text."""
_LINE = 18.0
"""Height of a line of a list."""
_LABEL = 13.0
"""Height from one label of a wheel to the next."""
_LONGEST = 40
"""Characters of a name."""
_HOUR, _DAY = 3600.0, 86400.0


@dataclass(frozen=True, slots=True)
class _Point:
    """A score of a run beside another value, in the series of its model."""

    series: int
    x: float
    score: Score


def _name_runs(order: ExportRequest) -> list[str]:
    return [shorten_text(put_on_one_line(name), _LONGEST) for name in name_scorecards(order.cards)]


def _describe_what(order: ExportRequest, what: str) -> str:
    suites = "; ".join(dict.fromkeys(map(name_suites, order.cards)))
    return put_on_one_line(f"{what}: {suites}, {order.profile} profile")


def _draw_legend(names: Sequence[str], top: float) -> Iterator[Shape]:
    """Draw a line for each series: its marker and its name."""
    for series, name in enumerate(names):
        y = top + _LINE * series
        yield draw_marker(14, y, series)
        yield Label(26, y + 4, name)


def draw_forest(order: ExportRequest) -> Drawing:
    """Draw every score with its interval, as points on one scale from 0 to 100 %."""
    all_scores = [card.scores(order.profile) for card in order.cards]
    names = dict.fromkeys(
        name for scores in all_scores for name in ("overall", ALL, *scores.groups, *scores.categories)
    )
    rows = [
        (name, series, score)
        for name in names
        for series, scores in enumerate(all_scores)
        if (score := scores.find_score(name)) and score.accuracy is not None
    ]
    if not rows:
        raise UsageError(
            f"{order.card.path}: nothing was scored; give the scorecard of a run that was scored"
        )
    score_names = dict.fromkeys(name for name, _, _ in rows)
    labels = {name: shorten_text(put_on_one_line(name), _LONGEST) for name in score_names}
    scale_start = 20 + max(estimate_width(label, _TEXT) for label in labels.values())
    scale = Scale(0, 1, scale_start, _WIDTH - 200)
    palette, y = read_palette(), 34.0
    shapes: list[Shape] = []
    top = y - 6
    # The runs stand below each other within a score, so that their intervals can be compared by eye.
    for name, block in groupby(rows, key=lambda row: row[0]):
        shapes.append(Label(scale_start - 12, y + 12, labels[name], "end"))
        for _, series, score in block:
            shapes += _draw_interval(score, series, scale, y + 8)
            y += _LINE
        y += 4
    ticks = (0, 0.25, 0.5, 0.75, 1)
    grid: list[Shape] = [
        Line([(scale.place(tick), top), (scale.place(tick), y)], palette["faint"]) for tick in ticks
    ]
    grid += [Label(scale.place(tick), y + 16, f"{tick:.0%}", "middle", 11) for tick in ticks]
    head = Label(8, 18, shorten_text(_describe_what(order, "Accuracy with 95% interval"), 100), size=13)
    runs = _name_runs(order)
    legend = tuple(_draw_legend(runs, y + 42))
    what = f"Accuracy of {', '.join(runs)} in {len(score_names)} scores, with 95% intervals"
    says = _describe_what(order, what)
    return Drawing(_WIDTH, y + 42 + _LINE * len(runs), says, (head, *grid, *shapes, *legend))


def _draw_interval(score: Score, series: int, scale: Scale, y: float) -> Iterator[Shape]:
    """Draw a score as a point on its interval, with the numbers at the right."""
    assert score.accuracy is not None
    numbers = f"{100 * score.accuracy:.1f}"
    if limits := score.interval:
        low, high = scale.place(limits.low), scale.place(limits.high)
        yield Line([(low, y), (high, y)], select_colour(series), 1.6)
        numbers += f"  ({100 * limits.low:.1f} to {100 * limits.high:.1f})"
    yield draw_marker(scale.place(score.accuracy), y, series)
    yield Label(scale.end + 14, y + 4, f"{numbers}, n = {score.scored:,}", size=11)


def draw_wheel(order: ExportRequest) -> Drawing:
    """Draw the categories that all runs have a score in as the spokes of a wheel."""
    scores = [card.scores(order.profile).categories for card in order.cards]
    spokes: dict[str, list[float]] = {}
    for name in scores[0]:
        shares = [score.accuracy for of in scores if (score := of.get(name)) and score.accuracy is not None]
        if len(shares) == len(scores):
            spokes[name] = shares
    if len(spokes) < 3:
        raise UsageError(
            f"--chart=wheel: {len(spokes)} categories have a score in all scorecards; a wheel needs 3, so "
            "use --chart=forest"
        )
    centre, radius, palette = (_WIDTH / 2, 290.0), 190.0, read_palette()
    angles = [2 * pi * number / len(spokes) for number in range(len(spokes))]

    def place(angle: float, share: float) -> tuple[float, float]:
        return centre[0] + radius * share * sin(angle), centre[1] - radius * share * cos(angle)

    shapes: list[Shape] = [
        Label(8, 18, shorten_text(_describe_what(order, "Accuracy by category"), 100), size=13)
    ]
    for share in (0.25, 0.5, 0.75, 1):
        ring = [place(angle, share) for angle in (*angles, 0.0)]
        shapes += [
            Line(ring, palette["faint"]),
            Label(centre[0] + 4, centre[1] - radius * share + 4, f"{share:.0%}", size=10),
        ]
    heights = _spread_labels(
        angles, [place(angle, 1.07)[1] + 4 - 6 * round(cos(angle), 3) for angle in angles]
    )
    for angle, name, y in zip(angles, spokes, heights, strict=True):
        x, across = place(angle, 1.07)[0], round(sin(angle), 3)
        anchor: Anchor = "start" if across > 0 else "end" if across < 0 else "middle"
        shapes += [
            Line([centre, place(angle, 1)], palette["faint"]),
            Label(x, y, shorten_text(put_on_one_line(name), _LONGEST), anchor),
        ]
    for series in range(len(order.cards)):
        corners = [
            place(angle, shares[series]) for angle, shares in zip(angles, spokes.values(), strict=True)
        ]
        colour = select_colour(series)
        # Areas of several runs would hide each other.
        if len(order.cards) == 1:
            shapes.append(Area(corners, colour, 0.12))
        shapes.append(Line([*corners, corners[0]], colour, 1.8, DASHES[series]))
        shapes += [draw_marker(x, y, series) for x, y in corners]
    runs, bottom = _name_runs(order), 540.0
    says = _describe_what(order, f"Accuracy of {', '.join(runs)} in {len(spokes)} categories")
    return Drawing(_WIDTH, bottom + _LINE * len(runs), says, (*shapes, *_draw_legend(runs, bottom)))


def _spread_labels(angles: Sequence[float], heights: Sequence[float]) -> Sequence[float]:
    """Move labels up in the upper half and down in the lower one until a line of text fits between two."""
    spread = list(heights)
    for side, half in product((1, -1), (1, -1)):
        column = [
            number
            for number, angle in enumerate(angles)
            if side * round(sin(angle), 3) >= 0 and half * round(cos(angle), 3) <= 0
        ]
        # From the side of the wheel to its top or bottom, where names are closest.
        column.sort(key=lambda number: abs(cos(angles[number])))
        for inner, outer in pairwise(column):
            spread[outer] = half * max(half * spread[outer], half * spread[inner] + _LABEL)
    return spread


def draw_times(order: ExportRequest) -> Drawing:
    """Draw a score over the times at which the runs ended, with a line for each model."""
    metric = order.find_metric()
    names = dict.fromkeys(f"{card.facts.model} ({card.facts.mode})" for card in order.cards)
    series = {name: number for number, name in enumerate(names)}
    if len(series) > MOST_SERIES:
        raise UsageError(f"--chart=time: {len(series)} models; a chart shows {MOST_SERIES}, so give fewer")
    points = [
        _Point(series[f"{card.facts.model} ({card.facts.mode})"], end_time.timestamp(), score)
        for card in order.cards
        if (end_time := find_end(card)) and (score := order.find_score(card, metric))
    ]
    if not points:
        raise UsageError(
            f"--chart=time: no scorecard has a time and a score of {metric}; baselines have no time, so give "
            "scorecards"
        )
    first, last = (choose(point.x for point in points) for choose in (min, max))
    # Runs of one minute are shown within an hour, or the axis would have no length.
    margin = max((last - first) * 0.05, _HOUR)
    across = Scale(first - margin, last + margin, 70, _WIDTH - 45)
    form = "%Y-%m-%d" if last - first > 3 * _DAY else "%m-%d %H:%M"
    ticks = (across.low + (across.high - across.low) * part / 4 for part in range(5))
    labels = {second: f"{datetime.fromtimestamp(second, UTC):{form}}" for second in ticks}
    title = f"Accuracy over time: {order.label_metric()}"
    return _draw_points(
        order, title, points, across, labels, "end of the run (UTC)", list(series), joined=True
    )


def draw_costs(order: ExportRequest) -> Drawing:
    """Draw a score over the dollars of 1,000 calls."""
    metric = order.find_metric()
    points = [
        _Point(series, usd, score)
        for series, card in enumerate(order.cards)
        if (usd := measure_bill(card.records, card.facts.earlier).usd_per_1000_calls) is not None
        and (score := order.find_score(card, metric))
    ]
    if not points:
        raise UsageError(
            f"--chart=cost: no scorecard has a price and a score of {metric}; state the model's price in "
            "fcbench.yaml and run again"
        )
    across = fit_scale([point.x for point in points], 70, _WIDTH - 45)
    labels = {tick: f"{tick:g}" for tick in across.list_ticks()}
    title = f"Accuracy against cost: {order.label_metric()}"
    return _draw_points(order, title, points, across, labels, "dollars per 1,000 calls", _name_runs(order))


def _draw_points(
    order: ExportRequest,
    title: str,
    points: Sequence[_Point],
    across: Scale,
    labels: Mapping[float, str],
    below: str,
    names: Sequence[str],
    *,
    joined: bool = False,
) -> Drawing:
    """Draw scores with their intervals over another value; ``joined`` draws a line through each series."""
    shares = [point.score.accuracy for point in points if point.score.accuracy is not None]
    intervals = [point.score.interval for point in points if point.score.interval]
    shares += [limit for interval in intervals for limit in (interval.low, interval.high)]
    top, bottom, palette = 40.0, 360.0, read_palette()
    up = fit_shares(shares, bottom, top)
    decimals = 0 if find_round_step(max(up.high - up.low, 1e-9)) >= 0.01 else 1
    shapes: list[Shape] = [Label(8, 18, shorten_text(_describe_what(order, title), 100), size=13)]
    for tick in up.list_ticks():
        y = up.place(tick)
        shapes += [
            Line([(across.start, y), (across.end, y)], palette["faint"]),
            Label(across.start - 8, y + 4, f"{tick:.{decimals}%}", "end", 11),
        ]
    for value, label in labels.items():
        x = across.place(value)
        shapes += [
            Line([(x, bottom), (x, bottom + 5)], palette["quiet"]),
            Label(x, bottom + 18, label, "middle", 11),
        ]
    shapes.append(Label((across.start + across.end) / 2, bottom + 38, below, "middle"))
    by_series = sorted(points, key=lambda point: (point.series, point.x))
    for series, group in groupby(by_series, key=lambda point: point.series):
        own, colour = list(group), select_colour(series)
        places = [(across.place(point.x), up.place(point.score.accuracy or 0.0)) for point in own]
        if joined and len(own) > 1:
            shapes.append(Line(places, colour, 1.4, DASHES[series]))
        for point, (x, y) in zip(own, places, strict=True):
            if interval := point.score.interval:
                ends = [(x, up.place(interval.low)), (x, up.place(interval.high))]
                shapes.append(Line(ends, colour, 1.2))
            shapes.append(draw_marker(x, y, series))
    short_names = [shorten_text(put_on_one_line(name), _LONGEST) for name in names]
    legend = tuple(_draw_legend(short_names, bottom + 64))
    says = _describe_what(order, f"{title} of {', '.join(short_names)}")
    return Drawing(_WIDTH, bottom + 64 + _LINE * len(short_names), says, (*shapes, *legend))


CHARTS: Mapping[str, Callable[[ExportRequest], Drawing]] = {
    "forest": draw_forest,
    "wheel": draw_wheel,
    "time": draw_times,
    "cost": draw_costs,
}
"""Charts by name."""
