"""The leaderboard as a page: ranks, ties, links, columns, and a policy that fits its blocks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.charts.drawing import MOST_SERIES
from pytest_fcbench.present.html.board_page import render_boards, render_runs
from pytest_fcbench.scorecard.compare.leaderboard import rank_boards
from pytest_fcbench.scorecard.record import Usage
from pytest_fcbench.scorecard.scorecard_files import KeptRun, Scorecard
from tests.factories import make_card
from tests.present.html.parsed import Parsed
from tests.present.html.test_island import HOSTILE
from tests.present.html.test_page import hash_text, read_policy


def make_run(name: str, passed: int, category: str = "parallel", **facts: object) -> Scorecard:
    """Make a run of 40 entries, of which the first so many passed."""
    return make_card({category: [n < passed for n in range(40)]}, name, (), **facts)


def render(*cards: Scorecard, reports: dict[str, str] | None = None) -> Parsed:
    boards = rank_boards(cards, Profile.OFFICIAL, "parallel")
    return Parsed("\n".join(render_boards(boards, reports=reports)))


def list_heads(parsed: Parsed) -> list[str]:
    """List the headings of the first table; their texts stand in elements of their own."""
    table = parsed.page.split("</thead>")[0]
    return [
        element.text
        for element in Parsed(f"{table}</thead></table></div></section></main></body></html>").find_all("th")
    ]


THREE = (make_run("low", 5), make_run("high", 38), make_run("other", 36))


def test_runs_stand_in_the_order_of_their_ranks() -> None:
    parsed = render(*THREE)
    places = [parsed.page.index(f"<bdi>{name}</bdi>") for name in ("high", "other", "low")]
    assert places == sorted(places)
    assert [text for text in parsed.read_texts("td") if text in ("1–2", "3")] == ["1–2", "1–2", "3"]


def test_a_run_names_those_that_it_is_not_told_apart_from() -> None:
    parsed = render(*THREE)
    (ties,) = ([e for e in parsed.elements if "ties" in e.attributes.get("class", "")][:1],)
    assert ties[0].attributes["data-value"] == "1"
    many = render(*(make_run(f"m{number}", 30) for number in range(4)))
    assert many.read_texts("summary") == ["3 models"] * 4


def test_no_column_of_ties_where_all_are_told_apart() -> None:
    assert "not told apart from" not in render(make_run("low", 5), make_run("high", 38)).page
    assert "not told apart from" in render(*THREE).page


def test_a_run_links_to_its_report_where_there_is_one() -> None:
    parsed = render(*THREE, reports={str(THREE[1].path): "runs/a b#.html"})
    assert [link.attributes["href"] for link in parsed.find_all("a")] == ["runs/a%20b%23.html"]
    assert "A model links to its report" not in parsed.page
    assert "A model links to its report" in render(*THREE).page


def test_cost_and_latency_stand_beside_the_score_where_they_are_known() -> None:
    assert "p50 s" not in render(*THREE).page
    step = Usage(latency_s=1.5, usd=0.002)
    priced = [make_card({"parallel": [True] * 4}, name, (step,)) for name in ("a", "b")]
    page = render(*priced).page
    assert page.index("p50 s") < page.index("Cost and latency")
    assert page.count('role="img"') == 2, "a chart of dollars and one of seconds"


def test_many_runs_have_one_colour_and_no_legend() -> None:
    cards = [make_run(f"m{number}", number) for number in range(MOST_SERIES + 1)]
    assert 'class="swatch"' not in render(*cards).page
    assert 'class="swatch"' in render(*cards[1:]).page


def test_modes_are_filtered_where_they_differ() -> None:
    assert render(*THREE).find_all("select") == []
    (field,) = render(*THREE, make_run("asked", 20, mode="prompt")).find_all("select")
    assert field.attributes["name"] == "mode"


def test_runs_of_other_categories_have_a_table_of_their_own() -> None:
    parsed = render(make_run("a", 5), make_run("b", 9), make_run("c", 9, "multiple"))
    assert len([e for e in parsed.find_all("table") if "board" in e.attributes["class"]]) == 2
    assert "2 tables: only runs of the same categories" in parsed.page


def test_the_policy_fits_the_blocks() -> None:
    parsed = render(*THREE)
    (style,), (script,) = parsed.find_all("style"), parsed.find_all("script")
    assert read_policy(parsed) == (
        f"default-src 'none'; style-src 'sha256-{hash_text(style.text)}'; "
        f"script-src 'sha256-{hash_text(script.text)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


RUN = KeptRun(
    path=Path("runs/20270115-080000-test.json"),
    model="test",
    profile="official",
    suites=("core",),
    labels={"branch": "main"},
    commit=None,
    narrowed_by="-k",
    passed=3,
    failed=1,
    not_scored=2,
    overall=0.5,
    low=0.4,
    high=0.6,
    gate="broken",
)


def test_a_run_is_shown_with_score_gate_and_links() -> None:
    parsed = Parsed(render_runs([RUN], "runs"))
    cells = [" ".join(text.split()) for text in parsed.read_texts("td")]
    assert {"50.00%", "2", "part (-k)", "branch=main"} <= set(cells)
    assert parsed.read_texts("strong") == ["75.00%"]
    links = [each.attributes["href"] for each in parsed.find_all("a")]
    assert links == [f"/run/{RUN.name}", f"/run/{RUN.name}#verdict=failed"]
    (badge,) = [e for e in parsed.find_all("span") if "badge" in e.attributes.get("class", "")]
    assert (badge.text, badge.attributes["class"]) == ("broken", "badge failed")


def test_a_folder_without_runs_says_what_to_do() -> None:
    text = render_runs([], "runs")
    assert "No runs are kept here yet: run pytest" in text
    assert "<form" not in text


def test_the_policy_lets_in_its_blocks_and_the_progress_only() -> None:
    parsed = Parsed(render_runs([RUN], "runs"))
    (style,), (script,) = parsed.find_all("style"), parsed.find_all("script")
    assert read_policy(parsed) == (
        f"default-src 'none'; style-src 'sha256-{hash_text(style.text)}'; "
        f"script-src 'sha256-{hash_text(script.text)}'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'self'"
    )


def test_hostile_names_are_text() -> None:
    # The name of a file has no slash.
    path = Path(HOSTILE.replace("/", ""))
    labels = {HOSTILE: HOSTILE}
    run = replace(RUN, path=path, model=HOSTILE, labels=labels, suites=(HOSTILE,), narrowed_by=HOSTILE)
    parsed = Parsed(render_runs([run], HOSTILE))
    assert len(parsed.find_all("script")) == 1
    assert parsed.find_all("img") == []
    for element in parsed.elements:
        assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
