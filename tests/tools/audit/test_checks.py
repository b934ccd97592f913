"""The registry of checks, and what it finds in our own suite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.cli.output import escape_long_line
from pytest_fcbench.domain.explanation import Severity
from pytest_fcbench.execution.rest_performer import Performer
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit import report
from pytest_fcbench.tools.audit.checks import CHECKS, DECLARED, run_checks
from pytest_fcbench.tools.audit.findings import Finding, SuiteFacts, format_value
from pytest_fcbench.tools.audit.report import Audit
from pytest_fcbench.tools.audit.strata import count_by_category
from tests.factories import make_doc, make_entry
from tests.server.asking import WEB
from tests.tools.audit.made import make_facts


def test_no_name_is_declared_twice_and_weak_checks_come_last() -> None:
    assert len(CHECKS) == len(DECLARED)
    weak = [check.weak for check in CHECKS.values()]
    assert weak == sorted(weak)
    assert any(weak)


def test_only_named_checks_run() -> None:
    facts = make_facts(make_entry(query=""), make_entry("multiple", query=""))
    assert {finding.check for finding in run_checks(facts, ["empty_text", "shape"])} == {
        "empty_text",
        "shape",
    }


def test_weak_checks_run_where_they_are_named() -> None:
    facts = make_facts(make_entry(query="Hm?"))
    assert "unnamed_value" not in {finding.check for finding in run_checks(facts)}
    assert {finding.check for finding in run_checks(facts, ["unnamed_value"])} == {"unnamed_value"}


def test_findings_carry_the_name_of_their_check() -> None:
    """Whatever a check is called, its findings say so: reviews and options go by the name."""
    facts = make_facts(make_entry(query="", expect=[{"no.such": {"x": 1}}]))
    for name in CHECKS:
        assert {finding.check for finding in run_checks(facts, [name])} <= {name}
    assert {"empty_text", "uncallable", "malformed", "refused"} <= {
        finding.check for finding in run_checks(facts)
    }


def test_every_check_says_what_it_finds_in_a_few_words() -> None:
    assert all(10 < len(check.says) <= 50 for check in CHECKS.values())


@pytest.mark.nightly
def test_core_is_sound(pool: Pool, performer: Performer) -> None:
    """Nothing in our own entries is certainly or likely wrong."""
    suite = core.open_suite(Path())
    entries = [e for c in suite.categories if not c.varies_others for e in suite.load(c)]
    findings = run_checks(SuiteFacts(suite, entries, pool, performer, WEB))
    assert [finding for finding in findings if finding.severity is not Severity.HINT] == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
SCHEMA = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "array", "dict", "any", "String"]) | JSON,
        "enum": JSON,
        "default": JSON,
        "items": st.fixed_dictionaries({"type": st.sampled_from(["string", "array", "dict"])}) | JSON,
        "properties": st.dictionaries(st.sampled_from("ab"), JSON, max_size=2) | JSON,
        "description": st.text(max_size=20) | JSON,
    },
)


@given(
    category=st.sampled_from(["simple_python", "simple_java", "multiple", "parallel", "irrelevance", "sql"]),
    properties=st.dictionaries(st.sampled_from("xyz"), SCHEMA, max_size=3),
    accepted=st.lists(st.dictionaries(st.sampled_from("xyz"), st.lists(JSON, max_size=3) | JSON), max_size=2),
    query=st.text(),
)
def test_no_entry_breaks_an_audit(
    category: str,
    properties: dict[str, Mapping[str, object]],
    accepted: Sequence[Mapping[str, object]],
    query: str,
) -> None:
    doc = make_doc("f.g", properties, required=["x"])
    entry = make_entry(category, functions=[doc], expect=[{"f.g": given} for given in accepted], query=query)
    facts = make_facts(entry, replace(entry, id="other"), against=[entry])
    audited = Audit(
        "mine", "1", 2, tuple(CHECKS), tuple(run_checks(facts, [*CHECKS])), count_by_category(facts.entries)
    )
    assert all(escape_long_line(line).isprintable() for line in report.render_lines(audited, 3))
    json.loads(report.render_json(audited))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\x1b[0m\nb", r"'a\x1b[0m\nb'"),
        ("x" * 1_000_000, f"'{'x' * 158}…"),
        ([1, "\ud800"], r"[1, '\ud800']"),
    ],
)
def test_values_are_shown_on_one_short_line(value: object, text: str) -> None:
    assert format_value(value) == text


def test_a_finding_is_a_value() -> None:
    one, other = (Finding("shape", "a", Severity.HINT, "b", "c") for _ in range(2))
    assert one == other
    assert len({one, other}) == 1
