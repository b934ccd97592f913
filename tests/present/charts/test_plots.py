"""Charts: inline SVG without style, with classes for colours, the same bytes each time."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.present.charts import plots
from pytest_fcbench.present.charts.pages import read_colours
from pytest_fcbench.present.charts.plots import AccuracyPair, Release

DATED = [
    Release(date(2024, 3, 4), 0.5, 0.4, 0.6, "worse"),
    Release(date(2024, 3, 4), 0.6, 0.5, 0.7, "better"),
    Release(date(2023, 6, 13), 0.3, 0.2, 0.4, "old"),
    Release(date(2025, 2, 1), 0.55, 0.45, 0.65, "new"),
]
RELEASES = plots.draw_releases(DATED, "overall", "Over release date.")
SETS = {"bfcl:live": [(0.5, 3.0), (0.7, 40.0), (1.5, 400.0)], "core:live": [(0.6, 2.5)]}
PERPLEXITIES = plots.draw_perplexities(SETS, "Perplexity.")
PAIRS = plots.draw_pairs(
    [AccuracyPair(0.9, 0.8, "a"), AccuracyPair(0.9, 0.8, "b"), AccuracyPair(0, 0, "c")],
    "AST",
    "execution",
    "Two.",
)
CHARTS = (RELEASES, PERPLEXITIES, PAIRS)
ALL = pytest.mark.parametrize("svg", CHARTS)


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
        for name in element.get("class", "").split():
            assert re.search(rf"\.{name} \{{", read_colours())


def test_ids_are_unique_in_a_page_with_all_of_them() -> None:
    page = ElementTree.fromstring(f"<div>{''.join(CHARTS)}</div>")
    ids = [element.attrib["id"] for element in page.iter() if "id" in element.attrib]
    assert ids
    assert len(ids) == len(set(ids))
    used = [v.split("#")[1].rstrip(")") for e in page.iter() for v in e.attrib.values() if "#" in v]
    assert set(used) == set(ids)


def test_a_chart_says_what_it_is() -> None:
    assert 'role="img" aria-label="Over release date."' in RELEASES


def test_the_same_values_give_the_same_bytes_whatever_the_users_style() -> None:
    with mpl.rc_context({"font.size": 30, "grid.linestyle": ":", "lines.markeredgewidth": 9}):
        assert plots.draw_releases(DATED[::-1], "overall", "Over release date.") == RELEASES
    assert plots.draw_perplexities(SETS, "Perplexity.") == PERPLEXITIES
    assert mpl.rcParams["svg.fonttype"] == "path", "the settings of others are left as they were"


WITH_TEXT: dict[str, Callable[[str], str]] = {
    "pairs": lambda name: plots.draw_pairs(
        [AccuracyPair(0.5, 0.6, name), AccuracyPair(0.4, 0.5, "b")], name, name, name
    ),
    "releases": lambda name: plots.draw_releases(
        [*DATED, Release(date(2024, 1, 1), 0.5, 0, 1, name)], name, name
    ),
    "perplexities": lambda name: plots.draw_perplexities({name: [(1.0, 2.0)]}, name),
}


@pytest.mark.parametrize("draw", WITH_TEXT.values(), ids=WITH_TEXT)
@pytest.mark.parametrize("name", ["$x_1$", "<script>alert(1)</script>", "a&b", "模型", "\\n", "$", "x" * 300])
def test_labels_are_text(draw: Callable[[str], str], name: str) -> None:
    svg = ElementTree.fromstring(draw(name))
    assert svg.get("aria-label") == name
    texts = [text.text or "" for text in svg.iter("text")]
    assert [text for text in texts if text.removesuffix(" (1)") == name]
    assert not [*svg.iter("script")]


@pytest.mark.parametrize("draw", WITH_TEXT.values(), ids=WITH_TEXT)
def test_signs_that_a_page_cannot_hold_are_told(draw: Callable[[str], str]) -> None:
    name = "\x00\u202e\ud800"
    svg = draw(name)
    assert f">{make_printable(name)}" in svg
    assert svg.replace("\n", "").isprintable()


def group_marks(svg: str) -> list[list[ElementTree.Element]]:
    """Return the uses of each shape, in the order of their first ones."""
    found: dict[str, list[ElementTree.Element]] = {}
    for use in ElementTree.fromstring(svg).iter("use"):
        found.setdefault(use.attrib["href"], []).append(use)
    return list(found.values())


def test_releases_are_named_above_the_line_or_below_it() -> None:
    """Below are those that are not the best so far, and of several on one day all but the best."""
    texts = {text.text: text for text in ElementTree.fromstring(RELEASES).iter("text")}
    assert {"best so far", "95% interval", "release date", "overall"} <= texts.keys()
    *dated, _ = group_marks(RELEASES)[-1]
    above = [
        float(texts[name].attrib["y"]) < float(mark.attrib["y"])
        for name, mark in zip(("old", "worse", "better", "new"), dated, strict=True)
    ]
    assert above == [True, False, True, False]


def test_a_mark_for_each_text() -> None:
    *_, live, core = group_marks(PERPLEXITIES)
    assert [len(live), len(core)] == [4, 2], "and one in the legend"
    assert [{mark.get("class") for mark in of} for of in (live, core)] == [{"line-s0"}, {"line-s1"}]


def test_perplexities_far_apart_go_by_powers_of_ten() -> None:
    close = plots.draw_perplexities({"a": [(1.0, 2.0), (1.1, 3.0)]}, "")
    assert [">100<" in svg for svg in (PERPLEXITIES, close)] == [True, False]


@pytest.mark.parametrize("heights", [[1.0, 1.0, 1.0], [0.0, 0.0], [0.9, 0.5, 0.49], [0.5] * 40])
def test_names_stand_apart_in_their_order(heights: list[float]) -> None:
    places = plots._spread_places(heights)
    gaps = [above - below for above, below in pairwise(places)]
    assert min(gaps) >= min(0.045, 1 / len(heights)) - 1e-9
    assert all(-1e-9 <= place <= 1 for place in places)
