"""A comparison as a page, as rows and as JSON."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.tools.contamination.comparison import LIMITS, compare_sets
from pytest_fcbench.tools.contamination.measures import TextMeasure
from pytest_fcbench.tools.contamination.report import Study, render_study, tabulate_study
from tests.tools.contamination.test_comparison import make_measures

HOSTILE = "<script>$x^{$\x1b[31m\ud800"


def make_study(model: str = "m", b: list[TextMeasure] | None = None) -> Study:
    sets = {"core:non_live": make_measures(2.0, 5), "core:live": b or make_measures(2.5, 4, 1)}
    late = {"core:x_9": NotScoredError("timeout", "no answer within 1 s")}
    return Study(model, "vllm", "the user's words", sets, late, compare_sets(*sets.values()))


def test_the_table_has_both_sets_and_their_difference() -> None:
    found = tabulate_study(make_study())
    assert found.title == "How surprising the user's words are to m"
    assert [row[:3] for row in found.rows] == [
        (measure, name, number)
        for measure in ("perplexity", "nats per character")
        for name, number in (("core:non_live", "5"), ("core:live", "4"), ("difference", ""))
    ]
    assert re.fullmatch(r"\d+\.\d{3} to \d+\.\d{3}", found.rows[0][4])
    assert found.notes[-len(LIMITS) :] == LIMITS


def test_a_set_of_one_has_no_interval() -> None:
    assert tabulate_study(make_study(b=make_measures(2.5, 1))).rows[1][4] == "-"


def test_a_row_for_each_text() -> None:
    rows = list(csv.DictReader(io.StringIO(render_study(make_study(), Path("x.csv")))))
    assert len(rows) == 9
    assert rows[0] == {
        "set": "core:non_live",
        "entry": "core:x_0",
        "category": "x",
        "characters": "80",
        "tokens": "20",
        # 45.65029 nats of 20 tokens: e to the power of 2.2825145, and 45.65029 / 80
        "perplexity": "9.8013",
        "nats per character": "0.570629",
    }


def test_json_has_sets_comparisons_texts_and_failures() -> None:
    found = json.loads(render_study(make_study(), Path("x.json")))
    assert found["schema"] == "fcbench-contamination/1"
    assert (found["model"], found["endpoint"], found["text"]) == ("m", "vllm", "the user's words")
    assert found["sets"] == ["core:non_live", "core:live"]
    assert [comparison["measure"] for comparison in found["comparisons"]] == [
        "perplexity",
        "nats per character",
    ]
    assert found["comparisons"][0]["a"]["n"] == 5
    assert len(found["texts"]["core:live"]) == 4
    assert found["texts"]["core:live"][0]["perplexity"] > 1
    assert found["unmeasured"] == {"core:x_9": {"cause": "timeout", "reason": "no answer within 1 s"}}


def test_a_page_of_its_own() -> None:
    page = html.unescape(render_study(make_study(), Path("x.html")))
    assert "default-src 'none'" in page
    assert page.count("<svg") == 1
    marks = [len(re.findall(f"<use [^>]*line-s{series}", page)) for series in (0, 1)]
    assert marks == [5 + 1, 4 + 1], "one for each text and one in the legend"
    assert "Perplexity against nats per character, core:non_live and core:live; " in page
    assert "nats per character" in page
    assert page.count("<script") == 1, "that of this package, which the policy allows by its hash"
    outside = set(re.findall(r"""(?:href|src)=["']([^"']+)""", page))
    assert all(link.startswith("#") or link == "data:," for link in outside)


@pytest.mark.parametrize("ending", [".html", ".csv", ".json"])
def test_the_same_study_gives_the_same_file(ending: str) -> None:
    assert render_study(make_study(), Path(f"x{ending}")) == render_study(make_study(), Path(f"x{ending}"))


def test_hostile_names_are_text() -> None:
    page = render_study(make_study(HOSTILE), Path("x.html"))
    assert page.count("<script") == 1
    assert "\x1b" not in page
    assert "&lt;script&gt;$x^{$" in page
