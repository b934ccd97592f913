"""Charts of points: inline SVG without style, with classes for colours, the same bytes each time."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from pytest_fcbench.domain.text import put_on_one_line
from pytest_fcbench.present.charts import plots
from pytest_fcbench.present.charts.drawing import read_colours
from pytest_fcbench.present.charts.plots import Point
from tests.cases import each_case


def make_release(year: int, month: int, day: int, accuracy: float, name: str) -> Point:
    seconds = datetime(year, month, day, tzinfo=UTC).timestamp()
    return Point(0, seconds, accuracy, accuracy - 0.1, accuracy + 0.1, name)


DATED = [
    make_release(2024, 3, 4, 0.5, "worse"),
    make_release(2024, 3, 4, 0.6, "better"),
    make_release(2023, 6, 13, 0.3, "old"),
    make_release(2025, 2, 1, 0.55, "new"),
]
RELEASES = plots.draw_releases(DATED, "overall", "Over release date.")
SETS = {"bfcl:live": [(0.5, 3.0), (0.7, 40.0), (1.5, 400.0)], "core:live": [(0.6, 2.5)]}
PERPLEXITIES = plots.draw_perplexities(SETS, "Perplexity.")
PAIRS = plots.draw_pairs(
    [Point(0, 0.9, 0.8, name="a"), Point(0, 0.9, 0.8, name="b"), Point(0, 0, 0, name="c")],
    "AST",
    "execution",
    "Two.",
)
SCATTER = plots.draw_scatter([Point(0, 0.5, 0.4, 0.3, 0.5), Point(7, 400, 0.8, 0.7, 0.9)], "dollars", "Cost.")
CHARTS = (RELEASES, PERPLEXITIES, PAIRS, SCATTER)


@each_case("svg", CHARTS)
def test_nothing_that_a_policy_refuses_and_every_colour_is_a_class(svg: str) -> None:
    for element in ElementTree.fromstring(svg).iter():
        assert element.tag in ("svg", "polygon", "polyline", "text")
        assert not {"style", "fill", "stroke", "href", "id"} & element.attrib.keys()
        assert not [value for value in element.attrib.values() if "url(" in value]
        for name in element.get("class", "").split():
            assert re.search(rf"\.{name} \{{", read_colours())


def test_a_chart_says_what_it_is() -> None:
    assert 'role="img" aria-label="Over release date."' in RELEASES


def test_the_same_values_give_the_same_bytes() -> None:
    assert plots.draw_releases(DATED[::-1], "overall", "Over release date.") == RELEASES


WITH_TEXT: dict[str, Callable[[str], str]] = {
    "pairs": lambda name: plots.draw_pairs(
        [Point(0, 0.5, 0.6, name=name), Point(0, 0.4, 0.5, name="b")], name, name, name
    ),
    "releases": lambda name: plots.draw_releases(
        [*DATED, make_release(2024, 1, 1, 0.5, name)], "overall", name
    ),
    "perplexities": lambda name: plots.draw_perplexities({name: [(1.0, 2.0)]}, name),
    "scatter": lambda name: plots.draw_scatter([Point(0, 1, 0.5, 0.4, 0.6)], name, name),
}


@each_case("draw", WITH_TEXT.values(), ids=WITH_TEXT)
@each_case("name", ["$x_1$", "<script>alert(1)</script>", "a&b", "模型", "x" * 300, "\x00\u202e\ud800"])
def test_labels_are_text(draw: Callable[[str], str], name: str) -> None:
    svg = ElementTree.fromstring(draw(name))
    shown = put_on_one_line(name)
    assert svg.get("aria-label") == shown
    assert shown.isprintable()
    assert shown in [(text.text or "").removesuffix(" (1)") for text in svg.iter("text")]
    assert not [*svg.iter("script")]


def list_places(svg: str, name: str) -> list[list[tuple[float, float]]]:
    """Return the places of each shape of a class."""
    found = (e.attrib["points"] for e in ElementTree.fromstring(svg).iter() if e.get("class") == name)
    return [[(float(x), float(y)) for x, y in (p.split(",") for p in points.split())] for points in found]


def find_texts(svg: str) -> dict[str | None, ElementTree.Element]:
    return {text.text: text for text in ElementTree.fromstring(svg).iter("text")}


def test_releases_are_named_above_the_line_or_below_it() -> None:
    """Below are those that are not the best so far, and of several on one day all but the best."""
    texts = find_texts(RELEASES)
    above = [
        float(texts[name].attrib["y"]) < sum(y for _, y in mark) / len(mark)
        for name, mark in zip(
            ("old", "worse", "better", "new"), list_places(RELEASES, "fill-s0"), strict=True
        )
    ]
    assert above == [True, False, True, False]


def test_the_line_of_the_best_never_falls() -> None:
    (steps,) = (places for places in list_places(RELEASES, "line-ink") if len(places) > 2)
    assert all(before[0] <= after[0] and before[1] >= after[1] for before, after in pairwise(steps))
    assert len({y for _, y in steps}) == 2 + 1, "of old, worse and better"


def test_a_mark_for_each_text_and_one_in_the_legend() -> None:
    assert [len(list_places(PERPLEXITIES, f"fill-s{series}")) for series in (0, 1)] == [4, 2]


def test_values_far_apart_go_by_powers_of_ten_and_close_ones_do_not() -> None:
    close = plots.draw_perplexities({"a": [(1.0, 2.0), (1.1, 3.0)]}, "")
    assert ["100" in find_texts(svg) for svg in (PERPLEXITIES, close)] == [True, False]
    near = plots.draw_scatter([Point(0, 1, 0.4, 0.3, 0.5), Point(1, 2, 0.8, 0.7, 0.9)], "dollars", "")
    assert [{"1", "10", "100"} <= find_texts(svg).keys() for svg in (SCATTER, near)] == [True, False]


def test_names_of_pairs_do_not_touch_and_keep_their_order() -> None:
    heights = [float(find_texts(PAIRS)[name].attrib["y"]) for name in "abc"]
    assert all(below - above >= 12 for above, below in pairwise(heights))


def test_points_on_the_line_have_the_same_accuracy_twice() -> None:
    (line,) = (
        e for e in ElementTree.fromstring(PAIRS).iter("polyline") if e.get("stroke-dasharray") is not None
    )
    (start_x, start_y), (end_x, end_y) = (map(float, p.split(",")) for p in line.attrib["points"].split())
    *_, mark = list_places(PAIRS, "fill-s0")
    x, y = (sum(of) / len(mark) for of in zip(*mark, strict=True))
    assert (x - start_x) / (end_x - start_x) == pytest.approx((start_y - y) / (start_y - end_y), abs=0.01)


@pytest.mark.parametrize("points", [[Point(0, 0, 0, 0, 0)], [Point(0, 0, 1, 1, 1), Point(1, 0, 1, 1, 1)]])
def test_points_at_the_edges_can_be_drawn(points: list[Point]) -> None:
    places = [
        place
        for shape in list_places(plots.draw_scatter(points, "dollars", ""), "fill-s0")
        for place in shape
    ]
    assert places
    assert all(-10 <= number <= 460 for place in places for number in place)
