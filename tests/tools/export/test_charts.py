"""Charts: what they place where, what they refuse, and that every text is a text in both kinds of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import matplotlib.image
import pytest
from matplotlib.font_manager import FontEntry, fontManager

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.present.charts.drawing import Area, Drawing, Label, Line
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.tools.export import charts, png
from pytest_fcbench.tools.export.charts import CHARTS, draw_costs, draw_forest, draw_times, draw_wheel
from pytest_fcbench.tools.export.formats import ExportRequest
from tests.cases import each_case
from tests.factories import make_card, make_record
from tests.hostile_texts import HOSTILE_TEXTS
from tests.tools.export.runs import WRONG, make_order, make_records, make_run

SVG = "{http://www.w3.org/2000/svg}"
every_chart = pytest.mark.parametrize("chart", CHARTS)


def list_labels(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Label)]


def list_marker_places(drawing: Drawing, series: int) -> list[tuple[float, float]]:
    """List the centres of the markers of a series, without that of the legend."""
    markers = [shape for shape in drawing.shapes if isinstance(shape, Area) and shape.role == f"s{series}"]
    centres = [tuple(sum(of) / len(of) for of in zip(*shape.points, strict=True)) for shape in markers]
    return [(round(x, 6), round(y, 6)) for x, y in centres][:-1]


def make_wheel_order(*cards: Scorecard, **chosen: object) -> ExportRequest:
    return make_order(*cards, chart="wheel", **chosen)


# Forest


def test_a_forest_has_a_line_for_each_score() -> None:
    (_, *labels), shares = list_labels(draw_forest(make_order())), ("0%", "25%", "50%", "75%", "100%")
    named = [label for label in labels if label not in shares and "n =" not in label]
    assert named == ["all", "simple_python", "multiple", "parallel", "test"]
    numbers = [label.split("  ")[0] for label in labels if "n =" in label]
    assert numbers == ["66.7", "50.0", "100.0", "50.0"]
    # The lower limit by Wilson for two of two is 2 / (2 + 1.96 squared).
    assert "100.0  (34.2 to 100.0), n = 2" in labels


def test_a_forest_places_scores_on_one_scale() -> None:
    drawing = draw_forest(make_order())
    at = {label.text: label for label in drawing.shapes if isinstance(label, Label)}
    start, half, end = (at[f"{share}%"].x for share in (0, 50, 100))
    assert half == pytest.approx((start + end) / 2)
    across = {round(x, 3) for x, _ in list_marker_places(drawing, 0)}
    assert {round(half, 3), round(end, 3)} <= across


def test_an_interval_encloses_its_score() -> None:
    drawing = draw_forest(make_order())
    bars = [shape for shape in drawing.shapes if isinstance(shape, Line) and shape.role == "s0"]
    places = list_marker_places(drawing, 0)
    assert len(bars) == len(places)
    for bar, (x, y) in zip(bars, places, strict=True):
        (low, height), (high, _) = bar.points
        assert low - 1e-6 <= x <= high + 1e-6
        assert height == pytest.approx(y)


def test_a_run_without_scores_is_refused() -> None:
    empty = replace(make_run(), records=(make_records()[2],))
    with pytest.raises(UsageError, match="nothing was scored; give the scorecard of a run that was scored"):
        draw_forest(make_order(empty))


# Wheel


def test_a_wheel_has_a_spoke_for_each_category() -> None:
    labels = list_labels(draw_wheel(make_wheel_order()))
    assert {"simple_python", "multiple", "parallel"} <= set(labels)
    assert "non_live" not in labels


def test_a_wheel_places_full_marks_on_the_rim() -> None:
    drawing = draw_wheel(make_wheel_order())
    (x, y), *_ = list_marker_places(drawing, 0)[-3:]
    assert (x, y) == pytest.approx((360.0, 290.0 - 0.5 * 190.0))


def test_a_wheel_of_two_categories_is_refused() -> None:
    few = replace(make_run(), records=tuple(make_records()[:5]))
    with pytest.raises(
        UsageError, match=r"2 categories have a score in all scorecards; .* use --chart=forest"
    ):
        draw_wheel(make_wheel_order(few))


# Over time and over cost


def make_history(*shares: int) -> Sequence[Scorecard]:
    """Make a run a day of which so many of ten entries passed."""
    return [
        replace(
            make_run(f"day-{day}"),
            created_s=1_780_000_000.0 + 86_400 * day,
            records=tuple(
                make_record(None if n < passed else WRONG, category="parallel", number=n) for n in range(10)
            ),
        )
        for day, passed in enumerate(shares)
    ]


def test_runs_of_a_model_are_a_line_over_time() -> None:
    drawing = draw_times(make_order(*make_history(2, 5, 8), metric="parallel"))
    places = list_marker_places(drawing, 0)
    (first, second, third) = places
    assert second[0] - first[0] == pytest.approx(third[0] - second[0], abs=1e-5)
    assert first[1] - second[1] == pytest.approx(second[1] - third[1], abs=1e-5)
    assert first[1] > third[1]
    (line,) = (shape for shape in drawing.shapes if isinstance(shape, Line) and len(shape.points) == 3)
    assert [(round(x, 4), round(y, 4)) for x, y in line.points] == [
        (round(x, 4), round(y, 4)) for x, y in places
    ]


def test_the_time_axis_names_days() -> None:
    labels = list_labels(draw_times(make_order(*make_history(2, 5, 8, 8, 8), metric="parallel")))
    assert "2026-05-30" in labels


def test_labels_of_the_time_axis_are_within_the_chart() -> None:
    drawing = draw_times(make_order(*make_history(2), metric="parallel"))
    times = [
        shape for shape in drawing.shapes if isinstance(shape, Label) and re.search(r":\d\d$", shape.text)
    ]
    assert len(times) == 5
    # A character is a little wider than half its height of 12.
    assert max(time.x + 6.3 * len(time.text) / 2 for time in times) <= drawing.width


def test_runs_without_a_time_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"no scorecard has a time and a score of parallel; .* give scorecards"
    ):
        draw_times(make_order(replace(make_run(), created_s=None), metric="parallel"))


def test_a_dearer_run_stands_to_the_right() -> None:
    cheap, dear = make_run("a", "cheap"), make_run("b", "dear")
    priced = tuple(
        replace(record, steps=tuple(replace(step, usd=3 * (step.usd or 0)) for step in record.steps))
        for record in dear.records
    )
    drawing = draw_costs(make_order(cheap, replace(dear, records=priced), metric="parallel"))
    ((left, _),), ((right, _),) = (list_marker_places(drawing, series) for series in (0, 1))
    labels = {shape.text: shape.x for shape in drawing.shapes if isinstance(shape, Label)}
    # 0.003 dollars in 2 calls are 1.5 dollars per 1,000, and three times as much 4.5.
    assert right - labels["0"] == pytest.approx(3 * (left - labels["0"]))
    assert labels["1"] < left < labels["2"]


def test_runs_without_a_price_are_refused() -> None:
    free = replace(make_run(), records=tuple(make_records()[1:]))
    with pytest.raises(
        UsageError, match="no scorecard has a price and a score of parallel; state the model's price"
    ):
        draw_costs(make_order(free, metric="parallel"))


# Files


def parse_svg(order: ExportRequest) -> Element:
    return fromstring("".join(charts.render_svg(order)))


@every_chart
def test_svg_is_described_and_needs_nothing_from_elsewhere(chart: str) -> None:
    text = "".join(charts.render_svg(make_order(chart=chart, metric="parallel")))
    assert "core version 1, official profile" in (fromstring(text).findtext(f"{SVG}title") or "")
    assert [word for word in ("href", "style", "<script", "url(", "var(") if word in text] == []


@every_chart
def test_png_is_an_image_of_the_same_shape(chart: str, tmp_path: Path) -> None:
    order, path = make_order(chart=chart, metric="parallel"), tmp_path / "chart.png"
    (says,) = charts.write_png(order, path)
    svg = parse_svg(order)
    assert says == svg.findtext(f"{SVG}title")
    height, width, _ = matplotlib.image.imread(path).shape
    assert width / height == pytest.approx(float(svg.attrib["width"]) / float(svg.attrib["height"]), rel=0.01)


def test_more_runs_than_series_are_refused() -> None:
    with pytest.raises(UsageError, match="9 scorecards: a chart shows 8 runs; give fewer"):
        parse_svg(make_order(*(make_run(f"{n}") for n in range(9))))


@pytest.mark.few(8)
@every_chart
@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_svg_has_the_elements_of_a_harmless_chart(chart: str, text: str) -> None:
    hostile, harmless = (
        parse_svg(make_order(make_run(text=said), chart=chart, metric="parallel")) for said in (text, "word")
    )
    # Names of categories of own suites are texts, too, but these runs have the official ones.
    assert [(one.tag, sorted(one.attrib)) for one in hostile.iter()] == [
        (one.tag, sorted(one.attrib)) for one in harmless.iter()
    ]


def test_names_around_a_full_wheel_do_not_touch() -> None:
    names = [category.name for category in CATEGORIES.values() if category.scored]
    card = make_card({name: [True] for name in names}, "all")
    labels = [
        label
        for label in draw_wheel(make_wheel_order(card)).shapes
        if isinstance(label, Label) and label.text in names
    ]
    assert len(labels) == len(names) > 25
    boxes = []
    for label in labels:
        width = 6.2 * len(label.text)
        left = label.x - {"start": 0, "middle": width / 2, "end": width}[label.anchor]
        boxes.append((left, left + width, label.y))
    for number, (left, right, y) in enumerate(boxes):
        for other_left, other_right, other in boxes[number + 1 :]:
            assert right <= other_left or other_right <= left or abs(y - other) >= 12


def test_a_note_names_the_scripts_that_no_font_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "_list_fonts", lambda: ["DejaVu Sans"])
    assert len(charts.write_png(make_order(), tmp_path / "a.png")) == 1
    _, note = charts.write_png(make_order(make_run(text="模型한")), tmp_path / "b.png")
    assert note.startswith(
        "note: no installed font has all characters (cjk, hangul), so the image shows empty boxes; "
    )


def test_fonts_of_the_system_are_used_beside_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    fonts = [FontEntry(name=name) for name in ("Noto Sans CJK JP", "Other", "DejaVu Sans")]
    monkeypatch.setattr(fontManager, "ttflist", fonts)
    assert png._list_fonts() == ["DejaVu Sans", "Noto Sans CJK JP"]


@each_case("text", ["$x^2$", "\\frac{1}{2}", "a\x00b", "\ud800", "名前"])
def test_png_takes_every_text(text: str, tmp_path: Path) -> None:
    order = make_order(make_run(text=text))
    charts.write_png(order, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").stat().st_size > 10_000
