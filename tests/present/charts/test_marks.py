"""The drawings of the report: SVG without style, with classes for colours, and shapes that differ."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from pytest_fcbench.present.charts import marks
from pytest_fcbench.present.charts.marks import Point, Range
from pytest_fcbench.present.charts.pages import MOST_SERIES, read_colours

SWATCHES = [marks.draw_swatch(series) for series in range(MOST_SERIES)]
ROW = marks.draw_ranges([Range(0, 0.25, 0.0, 0.5), Range(1, 1.0, None, None)])
SCATTER = marks.draw_scatter([Point(0, 0.5, 0.4, 0.3, 0.5), Point(7, 400, 0.8, 0.7, 0.9)], "dollars", "Cost.")
PARTS = marks.draw_parts([1, 0, 3], "one: 25%, three: 75%")
SHADES = [marks.draw_shade(part, 7) for part in range(7)]
ALL = (*SWATCHES, ROW, marks.draw_scale(), marks.draw_bar(0.5), SCATTER, PARTS, *SHADES)


def read_numbers(svg: str, name: str) -> list[float]:
    """Return the numbers of the paths of a class."""
    paths = (e for e in ElementTree.fromstring(svg).iter("path") if e.get("class") == name)
    return [float(number) for path in paths for number in re.findall(r"-?[\d.]+", path.attrib["d"])]


@pytest.mark.parametrize("svg", ALL)
def test_nothing_that_a_policy_refuses_and_every_colour_is_a_class(svg: str) -> None:
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag in ("svg", "path", "text", "title")
        assert not {"style", "fill", "stroke", "href", "id"} & element.attrib.keys()
        for name in element.get("class", "").split():
            assert re.search(rf"\.{name} \{{", read_colours()) or name in ("swatch", "range", "bar")


def test_series_differ_in_more_than_colour() -> None:
    shapes = {path.get("d") for svg in SWATCHES for path in ElementTree.fromstring(svg).iter("path")}
    assert len(shapes) == MOST_SERIES


def test_a_row_has_a_mark_for_each_series_on_the_line_of_its_limits() -> None:
    low, down, high = read_numbers(ROW, "line-s0")
    (mark,) = [e for e in ElementTree.fromstring(ROW).iter("path") if e.get("class") == "fill-s0"]
    across, beside = map(float, re.findall(r"[\d.]+", mark.attrib["transform"])[:2])
    assert (across, beside) == ((low + high) / 2, down)
    assert read_numbers(ROW, "line-s1") == [], "limits that are not known have no line"


def test_the_mark_of_a_share_stands_on_the_tick_of_that_share() -> None:
    ticks = read_numbers(ROW, "line-faint")[::3]
    whole = marks.draw_ranges([Range(0, 1.0, 0.5, 1.0)])
    assert read_numbers(whole, "line-s0")[0::2] == [ticks[2], ticks[4]]


@pytest.mark.parametrize(
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
    ticks = read_numbers(row, "line-faint")[::3]
    assert read_numbers(row, "line-s0")[0::2] == [ticks[0], ticks[4]]
    texts = list(ElementTree.fromstring(marks.draw_scale(axis)).iter("text"))
    assert [(text.text, float(text.attrib["x"])) for text in texts] == [
        ("80%", ticks[0]),
        ("90%", ticks[2]),
        ("100%", ticks[4]),
    ]


def test_the_parts_of_a_bar_are_its_shares_in_fuller_shades() -> None:
    drawn = list(ElementTree.fromstring(PARTS).iter("path"))
    assert [path.attrib["d"].split("H")[0] for path in drawn] == ["M0.00 0", "M25.00 0"]
    one, three = (float(path.attrib["fill-opacity"]) for path in drawn)
    assert one < three == 1
    assert 'aria-label="one: 25%, three: 75%"' in PARTS
    assert len(set(SHADES)) == len(SHADES)


def test_a_bar_of_nothing_is_empty() -> None:
    assert list(ElementTree.fromstring(marks.draw_parts([0, 0], "none")).iter("path")) == []


def test_rows_of_several_models_do_not_overlap() -> None:
    row = marks.draw_ranges([Range(series, 0.5, 0.4, 0.6) for series in range(MOST_SERIES)])
    heights = [read_numbers(row, f"line-s{series}")[1] for series in range(MOST_SERIES)]
    assert all(below - above >= 7 for above, below in pairwise(heights))
    assert 0 < heights[0] < heights[-1] < float(ElementTree.fromstring(row).attrib["height"])


def test_values_far_apart_go_by_powers_of_ten_and_close_ones_do_not() -> None:
    close = marks.draw_scatter([Point(0, 1, 0.4, 0.3, 0.5), Point(1, 2, 0.8, 0.7, 0.9)], "dollars", "")
    texts = [[text.text for text in ElementTree.fromstring(svg).iter("text")] for svg in (SCATTER, close)]
    assert {"1", "10", "100"} <= set(texts[0])
    assert "10" not in texts[1]


@pytest.mark.parametrize("points", [[Point(0, 0, 0, 0, 0)], [Point(0, 0, 1, 1, 1), Point(1, 0, 1, 1, 1)]])
def test_points_at_the_edges_can_be_drawn(points: list[Point]) -> None:
    numbers = read_numbers(marks.draw_scatter(points, "dollars", ""), "line-s0")
    assert numbers
    assert all(-10 <= number <= 460 for number in numbers)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a&b", '"x', "\x00\u202e"])
def test_labels_are_text(name: str) -> None:
    svg = ElementTree.fromstring(marks.draw_scatter([Point(0, 1, 0.5, 0.4, 0.6)], name, name))
    assert not [*svg.iter("script")]
    shown = str(svg.get("aria-label"))
    assert shown.isprintable()
    assert shown in [text.text for text in svg.iter("text")]
