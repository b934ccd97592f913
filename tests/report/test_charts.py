"""Charts: inline SVG without style, with classes for colours, the same bytes each time."""

from __future__ import annotations

from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from pytest_fcbench.report import charts
from pytest_fcbench.report.charts import Point

AXES = ("simple_python", "parallel_multiple", "multi_turn_long_context", "irrelevance")
WHEEL = charts.wheel(AXES, [(0.1, 0.2, 0.3, 1.0), (0.5, 0.0, 1.0, 0.4)], "Two models.")
BARS = charts.bars([("parallel · 4", (3, 1, 0)), ("multiple · 0", (0, 0, 0))], "codes", "Codes.")
SCATTER = charts.scatter(
    [Point(0, 0.5, 0.4, 0.3, 0.5), Point(7, 400, 0.8, 0.7, 0.9)], "dollars", "cost", "Cost."
)
SWATCHES = [charts.swatch(series) for series in range(charts.MOST_SERIES)]
ALL = pytest.mark.parametrize("svg", [WHEEL, BARS, SCATTER, *SWATCHES])


@ALL
def test_nothing_that_a_policy_refuses_or_that_loads(svg: str) -> None:
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag in ("svg", "g", "defs", "path", "text", "use", "clipPath", "rect")
        assert "style" not in element.attrib
        assert not [value for value in element.attrib.values() if "url(" in value and "url(#" not in value]
        assert element.get("href", "#").startswith("#")


@ALL
def test_every_colour_is_a_class(svg: str) -> None:
    for element in ElementTree.fromstring(svg).iter():
        for name in ("fill", "stroke", "color"):
            assert element.get(name, "none") == "none"


def test_ids_are_unique_in_a_page_with_all_of_them() -> None:
    page = ElementTree.fromstring(f"<div>{WHEEL}{BARS}{SCATTER}{''.join(SWATCHES)}{SWATCHES[0]}</div>")
    ids = [element.attrib["id"] for element in page.iter() if "id" in element.attrib]
    assert ids
    assert len(ids) == len(set(ids))
    used = [v.split("#")[1].rstrip(")") for e in page.iter() for v in e.attrib.values() if "#" in v]
    assert set(used) == set(ids)


def test_a_chart_says_what_it_is_and_a_swatch_does_not() -> None:
    assert 'role="img" aria-label="Two models."' in WHEEL
    assert 'aria-hidden="true"' in SWATCHES[0]


def test_the_same_values_give_the_same_bytes_whatever_the_users_style() -> None:
    with mpl.rc_context({"font.size": 30, "grid.linestyle": ":", "lines.markeredgewidth": 9}):
        assert charts.wheel(AXES, [(0.1, 0.2, 0.3, 1.0), (0.5, 0.0, 1.0, 0.4)], "Two models.") == WHEEL
    assert charts.bars([("parallel · 4", (3, 1, 0)), ("multiple · 0", (0, 0, 0))], "codes", "Codes.") == BARS
    assert mpl.rcParams["svg.fonttype"] == "path", "the settings of others are left as they were"


def test_series_differ_in_more_than_colour() -> None:
    shapes = {path.get("d") for svg in SWATCHES for path in ElementTree.fromstring(svg).iter("path")}
    assert len(shapes) == charts.MOST_SERIES + 1, "a frame, and a shape for each"
    lines = charts.wheel(AXES, [[0.5] * 4 for _ in SWATCHES], "")
    dashes = [
        e.get("stroke-dasharray")
        for e in ElementTree.fromstring(lines).iter()
        if e.get("stroke-width") == "1.8"
    ]
    assert len(dashes) == len(set(dashes)) == charts.MOST_SERIES


@pytest.mark.parametrize("name", ["$x_1$", "<script>alert(1)</script>", "a&b", "模型", "\\n", "$", "x" * 300])
def test_labels_are_text(name: str) -> None:
    svg = charts.bars([(name, (1,))], "codes", name)
    assert name in [text.text for text in ElementTree.fromstring(svg).iter("text")]
    assert "<script" not in svg


def test_parts_are_as_long_as_their_counts_and_lettered() -> None:
    texts = [text.text for text in ElementTree.fromstring(BARS).iter("text")]
    assert texts == ["parallel · 4", "A", "B", "multiple · 0"]
    assert "fill-s2" not in BARS


def test_shares_are_all_of_one_length() -> None:
    rows = [("a", (1, 1)), ("b", (50, 50))]
    shares = charts.bars(rows, "x", "", shares=True)
    counts = charts.bars(rows, "x", "")
    assert [svg.count(">A<") for svg in (shares, counts)] == [2, 1], "a short part has no letter"


@pytest.mark.parametrize("points", [[Point(0, 0, 0, 0, 0)], [Point(0, 0, 1, 1, 1), Point(1, 0, 1, 1, 1)]])
def test_points_at_the_edges_can_be_drawn(points: list[Point]) -> None:
    assert "fill-s0" in charts.scatter(points, "dollars", "cost", "")
