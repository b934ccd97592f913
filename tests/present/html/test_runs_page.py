"""The list of runs: what it shows, and that texts of files stay text."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.present.html.runs_page import KeptRun, render_runs
from pytest_fcbench.scorecard.aggregate.intervals import Interval
from tests.present.html.parsed import Parsed
from tests.present.html.test_island import HOSTILE
from tests.present.html.test_page import hash_text, read_policy

RUN = KeptRun(
    name="20270115-080000-test",
    ended="2027-01-15 08:00:00",
    model="test",
    suites="core",
    passed=3,
    failed=1,
    not_scored=2,
    overall=0.5,
    interval=Interval(0.4, 0.6, "wilson"),
    gate="broken",
    part="-k",
    labels="branch=main",
)


def test_a_run_is_shown_with_score_gate_and_links() -> None:
    parsed = Parsed(render_runs([RUN], "runs"))
    cells = [" ".join(text.split()) for text in parsed.read_texts("td")]
    assert {"75.00%", "2", "part (-k)", "branch=main"} <= set(cells)
    assert parsed.read_texts("strong") == ["50.00%"]
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
    run = replace(RUN, model=HOSTILE, labels=HOSTILE, suites=HOSTILE, part=HOSTILE, name=HOSTILE)
    parsed = Parsed(render_runs([run], HOSTILE))
    assert len(parsed.find_all("script")) == 1
    assert parsed.find_all("img") == []
    for element in parsed.elements:
        assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
