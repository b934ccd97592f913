"""The small drawings of pages: SVG without style, with classes for colours, and shapes that differ."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from pytest_fcbench.present.charts import marks
from pytest_fcbench.present.charts.drawing import MOST_SERIES, read_colours
from pytest_fcbench.present.charts.marks import Range
from tests.cases import each_case

SWATCHES = [marks.draw_swatch(series) for series in range(MOST_SERIES)]
ROW = marks.draw_ranges([Range(0, 0.25, 0.0, 0.5), Range(1, 1.0, None, None)])
PARTS = marks.draw_parts([1, 0, 3], "one: 25%, three: 75%")
SHADES = [marks.draw_shade(part, 7) for part in range(7)]
ALL = (*SWATCHES, ROW, marks.draw_scale(), marks.draw_bar(0.5), PARTS, *SHADES)


def read_places(svg: str, name: str) -> list[list[tuple[float, float]]]:
    """Return the places of each shape of a class."""
    found = (e.attrib["points"] for e in ElementTree.fromstring(svg).iter() if e.get("class") == name)
    return [[(float(x), float(y)) for x, y in (p.split(",") for p in points.split())] for points in found]


@each_case("svg", ALL)
def test_nothing_that_a_policy_refuses_and_every_colour_is_a_class(svg: str) -> None:
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag in ("svg", "polygon", "polyline", "text", "title")
        assert not {"style", "fill", "stroke", "href", "id"} & element.attrib.keys()
        for name in element.get("class", "").split():
            assert re.search(rf"\.{name} \{{", read_colours()) or name in ("swatch", "range", "bar")


def test_series_differ_in_more_than_colour() -> None:
    shapes = {area.get("points") for svg in SWATCHES for area in ElementTree.fromstring(svg)}
    assert len(shapes) == MOST_SERIES


def test_a_row_has_a_mark_for_each_series_on_the_line_of_its_limits() -> None:
    (((low, down), (high, _)),) = read_places(ROW, "line-s0")
    (mark,) = read_places(ROW, "fill-s0")
    assert sum(x for x, _ in mark) / len(mark) == pytest.approx((low + high) / 2, abs=0.1)
    assert sum(y for _, y in mark) / len(mark) == pytest.approx(down, abs=0.1)
    assert read_places(ROW, "line-s1") == [], "limits that are not known have no line"


def list_ticks(row: str) -> list[float]:
    return [places[0][0] for places in read_places(row, "line-faint")]


def test_the_mark_of_a_share_stands_on_the_tick_of_that_share() -> None:
    ticks = list_ticks(ROW)
    (limits,) = read_places(marks.draw_ranges([Range(0, 1.0, 0.5, 1.0)]), "line-s0")
    assert [x for x, _ in limits] == [ticks[2], ticks[4]]


@each_case(
    ("shares", "axis"),
    [
        ([0.46, 0.97, 0.71], (0.4, 1.0)),
        ([0.4, 0.5], (0.4, 0.5)),
        ([1.0, 1.0], (0.9, 1.0)),
        ([0.0], (0.0, 0.1)),
        ([], (0.0, 1.0)),
    ],
)
def test_an_axis_has_tenths_for_its_ends(shares: list[float], axis: tuple[float, float]) -> None:
    assert marks.choose_axis(shares) == pytest.approx(axis)


def test_a_row_and_its_scale_have_the_same_axis() -> None:
    axis = (0.8, 1.0)
    row = marks.draw_ranges([Range(0, 0.9, 0.8, 1.0)], axis=axis)
    ticks = list_ticks(row)
    (limits,) = read_places(row, "line-s0")
    assert [x for x, _ in limits] == [ticks[0], ticks[4]]
    texts = list(ElementTree.fromstring(marks.draw_scale(axis)).iter("text"))
    assert [(text.text, float(text.attrib["x"])) for text in texts] == [
        ("80%", ticks[0]),
        ("90%", ticks[2]),
        ("100%", ticks[4]),
    ]


def test_the_parts_of_a_bar_are_its_shares_in_fuller_shades() -> None:
    drawn = list(ElementTree.fromstring(PARTS).iter("polygon"))
    assert [places[0] for places in read_places(PARTS, "fill-s0")] == [(0.0, 0.0), (25.0, 0.0)]
    assert [area.get("fill-opacity") for area in drawn] == ["0.15", None]
    assert 'aria-label="one: 25%, three: 75%"' in PARTS
    assert len(set(SHADES)) == len(SHADES)


def test_a_bar_of_nothing_is_empty() -> None:
    assert read_places(marks.draw_parts([0, 0], "none"), "fill-s0") == []


def test_rows_of_several_models_do_not_overlap() -> None:
    row = marks.draw_ranges([Range(series, 0.5, 0.4, 0.6) for series in range(MOST_SERIES)])
    heights = [read_places(row, f"line-s{series}")[0][0][1] for series in range(MOST_SERIES)]
    assert all(below - above >= 7 for above, below in pairwise(heights))
    assert 0 < heights[0] < heights[-1] < float(ElementTree.fromstring(row).attrib["height"])
