"""An audit as text, JSON and a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pytest_fcbench.domain.explanation import Severity
from pytest_fcbench.tools.audit import report
from pytest_fcbench.tools.audit import strata as distributions
from pytest_fcbench.tools.audit.findings import Finding
from pytest_fcbench.tools.audit.report import Audit, render_page
from tests.cases import each_case
from tests.factories import make_entry
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.html.parsed import Parsed
from tests.present.html.test_page import hash_text, read_policy
from tests.present.test_hostile_texts import describe_page

FINDINGS = (
    *(Finding("shape", f"e{n}", Severity.HINT, f"hint {n}", "look") for n in range(4)),
    Finding("refused", "e1", Severity.CERTAIN, "<b>it</b> fails", "correct it"),
)


@pytest.fixture
def audit() -> Audit:
    spreads = distributions.count_by_category([make_entry(), make_entry("irrelevance")])
    return Audit("mine", "1", 2, ("shape", "refused", "idle"), FINDINGS, spreads, tasks=1)


def test_lines_are_bounded_and_the_most_certain_come_first(audit: Audit) -> None:
    assert list(report.render_lines(audit, 2)) == [
        "Audit of mine 1: 2 entries, 3 checks",
        "check    certain  likely  hint  entries  what it finds",
        "-----------------------------------------------------------------------------------------",
        "shape          -       -     4        4  the entry does not have the form of its category",
        "refused        1       -     -        1  the matcher rejects the truth itself",
        "all            1       0     4        4",
        "nothing found by idle",
        "",
        "certain: refused (1): the matcher rejects the truth itself",
        "  e1                        <b>it</b> fails",
        "  to do: correct it",
        "",
        "hint: shape (4): the entry does not have the form of its category",
        "  e0                        hint 0",
        "  e1                        hint 1",
        "  ... and 2 more: --show 4, or use -o FILE.json for all",
        "  to do: look",
    ]


def make_partly_counted_audit() -> Audit:
    """Make an audit of the four entries with hints, of which a score counts the last two."""
    findings = (*FINDINGS, Finding("refused", "e3", Severity.CERTAIN, "it fails", "correct it"))
    return Audit("mine", "1", 4, ("shape", "refused"), findings, {}, frozenset({"e0", "e1"}))


def test_what_can_change_a_score_comes_first_and_is_told_first() -> None:
    audit = make_partly_counted_audit()
    lines = list(report.render_lines(audit, 5))
    assert lines[0] == "Audit of mine 1: 4 entries, 2 checks; 1 of 2 certain findings can change a score"
    told = [line for line in lines if line.startswith(("Findings", "certain", "hint", "  e"))]
    assert [line.split("  ")[1] if line.startswith(" ") else line for line in told] == [
        "Findings in entries that a score counts: 1 certain, 0 likely, 2 hint",
        "certain: refused (1): the matcher rejects the truth itself",
        "e3",
        "hint: shape (2): the entry does not have the form of its category",
        "e2",
        "e3",
        "Findings in entries that no score counts: 1 certain, 0 likely, 2 hint",
        "certain: refused (1): the matcher rejects the truth itself",
        "e1",
        "hint: shape (2): the entry does not have the form of its category",
        "e0",
        "e1",
    ]
    document = json.loads(report.render_json(audit))
    assert document["counts_in_scores"] == {"certain": 1, "likely": 0, "hint": 2}
    assert [(row["entry"], row["counts_in_scores"]) for row in document["findings"]] == [
        ("e3", True),
        ("e2", True),
        ("e3", True),
        ("e1", False),
        ("e0", False),
        ("e1", False),
    ]


def test_the_score_leaves_out_categories_of_the_benchmarks_only() -> None:
    entries = [make_entry(), make_entry("sql"), make_entry("multi_turn_composite")]
    assert report.find_uncounted("bfcl", entries, ["rest", "parallel"]) == {
        "sql_0",
        "multi_turn_composite_0",
        "rest",
    }
    assert report.find_uncounted("mine", entries, ["rest"]) == frozenset()


def test_sizes_types_and_languages_have_tables(audit: Audit) -> None:
    sizes, types, languages, strata = report.tabulate_distributions(audit)
    assert strata.rows == (("easy", "2", "100.0%"),)
    assert sizes.notes[1].startswith("1 distinct task: ")
    assert sizes.rows == (
        ("simple_python", "1", "1", "2", "1", "1"),
        ("irrelevance", "1", "1", "2", "0", "1"),
    )
    assert types.rows == (("string", "2", "50.0%"), ("integer", "2", "50.0%"))
    assert languages.rows == (("English", "2", "100.0%"),)


def test_the_document_has_counts_findings_and_distributions(audit: Audit) -> None:
    document = json.loads(report.render_json(audit))
    assert document["schema"] == "fcbench-audit/1"
    assert document["counts"] == {"certain": 1, "likely": 0, "hint": 4}
    assert document["distinct_tasks"] == 1
    assert document["findings"][0] == {
        "check": "refused",
        "entry": "e1",
        "severity": "certain",
        "evidence": "<b>it</b> fails",
        "advice": "correct it",
        "counts_in_scores": True,
    }
    assert document["distributions"]["simple_python"]["functions"] == {"1": 1}


def test_nothing_at_all_can_be_told() -> None:
    empty = Audit("mine", "1", 0, ("shape",), (), {})
    assert list(report.render_lines(empty, 5)) == [
        "Audit of mine 1: 0 entries, 1 checks",
        "nothing found by shape",
    ]
    assert report.tabulate_distributions(empty) == []


def test_lines_keep_to_the_width_of_the_terminal(audit: Audit) -> None:
    finding = Finding("refused", "e1", Severity.CERTAIN, "it fails " * 20, "correct it")
    lines = list(report.render_lines(replace(audit, findings=(finding,)), 5, 70))
    assert 50 < max(map(len, lines)) <= 70


def make_audit(text: str = "word") -> Audit:
    """Make an audit that has a text wherever a suite can bring one."""
    findings = (
        Finding("refused", "e1", Severity.CERTAIN, text, text),
        Finding("shape", text, Severity.HINT, text, text),
        Finding("shape", text, Severity.HINT, "again", text),
    )
    typed = make_entry("irrelevance")
    spreads = distributions.count_by_category([make_entry(), typed])
    spreads = {
        name: replace(each, types=each.types + each.types.__class__([text])) for name, each in spreads.items()
    }
    return Audit(text, text, 2, ("shape", "refused", "default"), findings, spreads, tasks=1)


def read_rows(parsed: Parsed) -> list[str]:
    """Return the checks of the first table, in order."""
    (first, *_) = re.findall("<tbody>.*?</tbody>", parsed.page, re.DOTALL)
    return re.findall(r'<th scope="row" class="left"><a href="#check=(\w+)">', first)


def test_the_title_stands_once() -> None:
    parsed = Parsed(render_page(make_audit("mine")))
    assert len(parsed.find_all("h1")) == 1
    assert parsed.page.count("Audit of ") == 2, "in the head of the document and as a heading"


def test_what_can_change_a_score_comes_first() -> None:
    audit = make_partly_counted_audit()
    parsed = Parsed(render_page(audit))
    assert read_rows(parsed) == ["refused", "shape"]
    assert read_rows(Parsed(render_page(replace(audit, uncounted=frozenset({"e1", "e3", "e0"}))))) == [
        "shape",
        "refused",
    ]
    assert "4 of 6 findings" in parsed.page or "3 of 6 findings" in parsed.page
    heads = [
        " ".join(re.sub("<[^>]*>", " ", head).split()) for head in re.findall("<h3>.*?</h3>", parsed.page)
    ]
    assert heads[:4] == [
        "certain refused (1)",
        "hint shape (2)",
        "certain refused (1), in entries that no score counts",
        "hint shape (2), in entries that no score counts",
    ]


def test_checks_that_found_nothing_are_named_apart() -> None:
    parsed = Parsed(render_page(make_audit()))
    assert "default" not in read_rows(parsed)
    assert parsed.read_texts("summary") == ["1 check found nothing"]


def test_every_finding_has_an_address_of_its_own_that_its_link_leads_to() -> None:
    parsed = Parsed(render_page(make_audit("parallel 1/é")))
    ids = [e.attributes["id"] for e in parsed.find_all("li")]
    assert ids == ["refused:e1", "shape:parallel_1__", "shape:parallel_1__-2"]
    links = [e.attributes["href"] for e in parsed.find_all("a")]
    assert [f"#{place}" for place in ids] == [link for link in links if ":" in link]
    places = {e.attributes["id"] for e in parsed.elements if "id" in e.attributes}
    assert all(link[1:] in places or "=" in link for link in links)


def test_filters_have_the_values_that_findings_have() -> None:
    parsed = Parsed(render_page(make_partly_counted_audit()))
    for name in ("check", "severity", "score"):
        found = {e.attributes[f"data-{name}"] for e in parsed.find_all("li")}
        options = {e.attributes.get("value", e.text) for e in parsed.find_all("option")}
        assert found <= options
    assert len(parsed.find_all("select")) == 3
    assert len(Parsed(render_page(make_audit())).find_all("select")) == 2, "all count, so there is no choice"


def test_each_measure_has_a_bar_for_each_category() -> None:
    parsed = Parsed(render_page(make_audit()))
    assert len(parsed.find_all("figure")) == len(distributions.MEASURES)
    bars = [e for e in parsed.find_all("svg") if e.attributes.get("role") == "img"]
    assert len(bars) == 2 * len(distributions.MEASURES)
    assert bars[0].attributes["aria-label"] == "1: 100%"


def test_an_audit_of_nothing_is_a_page() -> None:
    parsed = Parsed(render_page(Audit("mine", "1", 0, ("shape",), (), {})))
    assert "No check found anything." in parsed.page
    assert parsed.find_all("figure") == parsed.find_all("form") == []


@each_case("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_hostile_texts_stay_text(text: str) -> None:
    assert describe_page(render_page(make_audit(text))) == describe_page(render_page(make_audit()))


def test_the_policy_fits_the_blocks() -> None:
    parsed = Parsed(render_page(make_audit()))
    (style,), (script,) = parsed.find_all("style"), parsed.find_all("script")
    assert (
        f"style-src 'sha256-{hash_text(style.text)}'; script-src 'sha256-{hash_text(script.text)}'"
        in read_policy(parsed)
    )
