"""An audit as a page: what it puts first, where its links lead, and that texts of files stay text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_fcbench.domain.flaw import Severity
from pytest_fcbench.tools.audit import distributions
from pytest_fcbench.tools.audit.findings import Finding
from pytest_fcbench.tools.audit.page import render_page
from pytest_fcbench.tools.audit.report import Audit
from tests.factories import make_entry
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.html.parsed import Parsed
from tests.present.html.test_page import hash_text, read_policy
from tests.present.test_hostile_texts import describe_page
from tests.tools.audit.test_report import make_partly_counted_audit


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


@pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)
def test_hostile_texts_stay_text(text: str) -> None:
    assert describe_page(render_page(make_audit(text))) == describe_page(render_page(make_audit()))


def test_the_policy_fits_the_blocks() -> None:
    parsed = Parsed(render_page(make_audit()))
    (style,), (script,) = parsed.find_all("style"), parsed.find_all("script")
    assert (
        f"style-src 'sha256-{hash_text(style.text)}'; script-src 'sha256-{hash_text(script.text)}'"
        in read_policy(parsed)
    )
