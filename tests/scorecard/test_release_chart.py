"""The chart of accuracy over release date: what it holds, and that it runs and loads nothing."""

from __future__ import annotations

import re
from datetime import date
from xml.etree.ElementTree import fromstring

from pytest_fcbench.scorecard.leaderboard import Board, boards
from pytest_fcbench.scorecard.release_chart import release_chart
from pytest_fcbench.verdicts import Profile
from tests.factories import make_card

DATES = {"old": date(2023, 6, 13), "mid": date(2024, 3, 4), "new": date(2025, 2, 1)}


def _board(*names: str, dates: dict[str, date] | None = None) -> Board:
    cards = [make_card({"parallel": [n < 9 - 2 * k for n in range(9)]}, name) for k, name in enumerate(names)]
    (board,) = boards(cards, Profile.OFFICIAL, "parallel", DATES if dates is None else dates)
    return board


def _texts(svg: str) -> list[str]:
    return [element.text or "" for element in fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_every_dated_model_is_named() -> None:
    svg = release_chart(_board("old", "mid", "new", "undated"))
    assert svg is not None
    assert {"old", "mid", "new", "best so far", "release date", "parallel"} <= set(_texts(svg))
    assert "undated" not in _texts(svg)
    assert "<title>parallel over release date</title>" in svg


def test_one_date_makes_no_chart() -> None:
    assert release_chart(_board("old", "undated")) is None


def test_the_same_board_gives_the_same_chart() -> None:
    assert release_chart(_board("old", "new")) == release_chart(_board("old", "new"))


def test_it_runs_and_loads_nothing_and_takes_the_colour_of_the_text() -> None:
    svg = release_chart(_board("old", "new")) or ""
    assert svg.startswith("<svg ")
    assert "currentColor" in svg
    assert "#010101" not in svg
    assert re.findall(r'href="([^#][^"]*)"|url\(([^#][^)]*)\)|<(script|image|foreignObject)\b', svg) == []


def test_a_hostile_name_is_text() -> None:
    names = ["<script>alert(1)</script>", "$x^2$\u202e\udc80", "日本" * 40]
    dates = {name: date(2024, 1, 1 + n) for n, name in enumerate(names)}
    svg = release_chart(_board(*names, dates=dates)) or ""
    assert "<script" not in svg
    texts = _texts(svg)
    assert "<script>alert(1)</script>" in texts
    assert "$x^2$\\u202e\\udc80" in texts
    assert f"{('日本' * 40)[:39]}…" in texts
