"""The charts of ``fcbench run export plot``: scores with intervals, a wheel, over time and over cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise, product
from math import cos, pi, sin
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.text import put_on_one_line, shorten_text
from pytest_fcbench.present.charts import drawing, plots
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_bill
from pytest_fcbench.scorecard.aggregate.scores import ALL, Score
from pytest_fcbench.scorecard.compare.comparison import name_scorecards, name_suites
from pytest_fcbench.tools.export.formats import ExportRequest, find_end, refuse_unscored

_WIDTH = 720.0
_TEXT = 12.0
"""Height of a text."""
_LINE = 18.0
"""Height of a line of a list."""
_LABEL = 13.0
"""Height from one label of a wheel to the next."""
_LONGEST = 40
"""Characters of a name."""


def _shorten_name(name: str) -> str:
    return shorten_text(put_on_one_line(name), _LONGEST)


def _name_runs(order: ExportRequest) -> list[str]:
    return [*map(_shorten_name, name_scorecards(order.cards))]


def _finish_chart(
    order: ExportRequest,
    title: str,
    says: str,
    shapes: Sequence[drawing.Shape],
    names: Sequence[str],
    bottom: float,
) -> drawing.Drawing:
    """Add the title above the shapes, the legend below them, and paper behind them."""
    suites = "; ".join(dict.fromkeys(map(name_suites, order.cards)))
    rest = f": {suites}, {order.profile} profile"
    height = bottom + _LINE * len(names)
    # Ink by day would not be seen on a dark page.
    paper = drawing.make_box(0, 0, _WIDTH, height, "paper")
    head = drawing.Label(8, 18, shorten_text(put_on_one_line(title + rest), 100), size=13)
    legend = plots.draw_legend(names, bottom)
    return drawing.Drawing(_WIDTH, height, put_on_one_line(says + rest), (paper, head, *shapes, *legend))


def draw_forest(order: ExportRequest) -> drawing.Drawing:
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
        raise refuse_unscored(order.card)
    labels = {name: _shorten_name(name) for name, _, _ in rows}
    scale_start = 20 + max(drawing.estimate_width(label, _TEXT) for label in labels.values())
    scale = drawing.Scale(0, 1, scale_start, _WIDTH - 200)
    y = 34.0
    shapes: list[drawing.Shape] = []
    top = y - 6
    # The runs stand below each other within a score, so that their intervals can be compared by eye.
    for name, block in groupby(rows, key=lambda row: row[0]):
        shapes.append(drawing.Label(scale_start - 12, y + 12, labels[name], "end"))
        for _, series, score in block:
            shapes += _draw_interval(score, series, scale, y + 8)
            y += _LINE
        y += 4
    ticks = (0, 0.25, 0.5, 0.75, 1)
    grid: list[drawing.Shape] = [
        drawing.Line([(scale.place(tick), top), (scale.place(tick), y)], "faint") for tick in ticks
    ]
    grid += [drawing.Label(scale.place(tick), y + 16, f"{tick:.0%}", "middle", 11) for tick in ticks]
    runs = _name_runs(order)
    says = f"Accuracy of {', '.join(runs)} in {len(labels)} scores, with 95% intervals"
    return _finish_chart(order, "Accuracy with 95% interval", says, (*grid, *shapes), runs, y + 42)


def _draw_interval(score: Score, series: int, scale: drawing.Scale, y: float) -> Iterator[drawing.Shape]:
    """Draw a score as a point on its interval, with the numbers at the right."""
    assert score.accuracy is not None
    numbers = f"{100 * score.accuracy:.1f}"
    if limits := score.interval:
        low, high = scale.place(limits.low), scale.place(limits.high)
        yield drawing.Line([(low, y), (high, y)], f"s{series}", 1.6)
        numbers += f"  ({100 * limits.low:.1f} to {100 * limits.high:.1f})"
    yield drawing.make_marker(scale.place(score.accuracy), y, series)
    yield drawing.Label(scale.end + 14, y + 4, f"{numbers}, n = {score.scored:,}", size=11)


def draw_wheel(order: ExportRequest) -> drawing.Drawing:
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
    centre, radius = (_WIDTH / 2, 290.0), 190.0
    angles = [2 * pi * number / len(spokes) for number in range(len(spokes))]

    def place(angle: float, share: float) -> tuple[float, float]:
        return centre[0] + radius * share * sin(angle), centre[1] - radius * share * cos(angle)

    shapes: list[drawing.Shape] = []
    for share in (0.25, 0.5, 0.75, 1):
        ring = [place(angle, share) for angle in (*angles, 0.0)]
        shapes += [
            drawing.Line(ring, "faint"),
            drawing.Label(centre[0] + 4, centre[1] - radius * share + 4, f"{share:.0%}", size=10),
        ]
    heights = _spread_labels(
        angles, [place(angle, 1.07)[1] + 4 - 6 * round(cos(angle), 3) for angle in angles]
    )
    for angle, name, y in zip(angles, spokes, heights, strict=True):
        x, across = place(angle, 1.07)[0], round(sin(angle), 3)
        anchor: drawing.Anchor = "start" if across > 0 else "end" if across < 0 else "middle"
        shapes += [
            drawing.Line([centre, place(angle, 1)], "faint"),
            drawing.Label(x, y, _shorten_name(name), anchor),
        ]
    for series in range(len(order.cards)):
        corners = [
            place(angle, shares[series]) for angle, shares in zip(angles, spokes.values(), strict=True)
        ]
        # Areas of several runs would hide each other.
        if len(order.cards) == 1:
            shapes.append(drawing.Area(corners, f"s{series}", 0.12))
        shapes.append(drawing.Line([*corners, corners[0]], f"s{series}", 1.8, plots.DASHES[series]))
        shapes += [drawing.make_marker(x, y, series) for x, y in corners]
    runs = _name_runs(order)
    says = f"Accuracy of {', '.join(runs)} in {len(spokes)} categories"
    return _finish_chart(order, "Accuracy by category", says, shapes, runs, 540)


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


def draw_times(order: ExportRequest) -> drawing.Drawing:
    """Draw a score over the times at which the runs ended, with a line for each model."""
    metric = order.find_metric()
    names = [f"{card.facts.model} ({card.facts.mode})" for card in order.cards]
    series = list(dict.fromkeys(names))
    if len(series) > drawing.MOST_SERIES:
        raise UsageError(
            f"--chart=time: {len(series)} models; a chart shows {drawing.MOST_SERIES}, so give fewer"
        )
    points = [
        _make_point(series.index(name), end_time.timestamp(), score)
        for name, card in zip(names, order.cards, strict=True)
        if (end_time := find_end(card)) and (score := order.find_score(card, metric))
    ]
    if not points:
        raise UsageError(
            f"--chart=time: no scorecard has a time and a score of {metric}; baselines have no time, so give "
            "scorecards"
        )
    across, labels = plots.fit_times([point.x for point in points], 70, _WIDTH - 45)
    title = f"Accuracy over time: {order.label_metric()}"
    return _draw_run_points(order, title, points, across, labels, "end of the run (UTC)", series, joined=True)


def draw_costs(order: ExportRequest) -> drawing.Drawing:
    """Draw a score over the dollars of 1,000 calls."""
    metric = order.find_metric()
    points = [
        _make_point(series, usd, score)
        for series, card in enumerate(order.cards)
        if (usd := measure_bill(card.records, card.facts.earlier).usd_per_1000_calls) is not None
        and (score := order.find_score(card, metric))
    ]
    if not points:
        raise UsageError(
            f"--chart=cost: no scorecard has a price and a score of {metric}; state the model's price in "
            "fcbench.yaml and run again"
        )
    across = drawing.fit_scale([point.x for point in points], 70, _WIDTH - 45)
    title, labels = f"Accuracy against cost: {order.label_metric()}", plots.label_amounts(across)
    return _draw_run_points(
        order, title, points, across, labels, "dollars per 1,000 calls", _name_runs(order)
    )


def _make_point(series: int, x: float, score: Score) -> plots.Point:
    limits = (score.interval.low, score.interval.high) if score.interval else (None, None)
    return plots.Point(series, x, score.accuracy or 0.0, *limits)


def _draw_run_points(
    order: ExportRequest,
    title: str,
    points: Sequence[plots.Point],
    across: drawing.Scale,
    labels: Mapping[float, str],
    below: str,
    names: Sequence[str],
    *,
    joined: bool = False,
) -> drawing.Drawing:
    """Draw scores with their intervals over another value; ``joined`` draws a line through each series."""
    up = plots.fit_accuracies(points, 360, 40)
    frame = plots.draw_frame(across, up, labels, plots.label_shares(up), below)
    shapes = (*frame, *plots.draw_points(points, across, up, joined=joined))
    short_names = [*map(_shorten_name, names)]
    return _finish_chart(order, title, f"{title} of {', '.join(short_names)}", shapes, short_names, 424)


CHARTS: Mapping[str, Callable[[ExportRequest], drawing.Drawing]] = {
    "forest": draw_forest,
    "wheel": draw_wheel,
    "time": draw_times,
    "cost": draw_costs,
}
"""Charts by name."""


def _draw_chart(order: ExportRequest) -> drawing.Drawing:
    # Over time, many runs are one series.
    if len(order.cards) > drawing.MOST_SERIES and order.chart != "time":
        raise UsageError(
            f"{len(order.cards)} scorecards: a chart shows {drawing.MOST_SERIES} runs; give fewer"
        )
    return CHARTS[order.chart](order)


def render_svg(order: ExportRequest) -> Iterator[str]:
    """Yield the chart as SVG."""
    yield drawing.render_file(_draw_chart(order))


def write_png(order: ExportRequest, path: Path) -> list[str]:
    """Write the chart as PNG and return what it shows."""
    # Here, because SVG does without matplotlib.
    from pytest_fcbench.tools.export.png import write_drawing

    chart = _draw_chart(order)
    return [chart.says, *write_drawing(chart, path)]
