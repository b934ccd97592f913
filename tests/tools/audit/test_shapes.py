"""Entries that have not the form of their category."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.tools.audit import shapes
from tests.factories import make_doc, make_entry, make_golden_path, make_multi_turn
from tests.tools.audit.made import list_findings, make_facts

CALL = {"weather.forecast": {"city": ["Bergen"]}}
TWO = [make_doc(), make_doc("chess.opening")]


@pytest.mark.parametrize(
    ("entry", "severity", "evidence"),
    [
        (make_entry(expect=[CALL, CALL]), "certain", "2 calls are expected, but simple allows exactly one"),
        (make_entry(functions=TWO), "certain", "2 functions are offered, but simple uses only the first"),
        (
            make_entry("multiple"),
            "likely",
            "only one function is offered, so there is nothing to choose from",
        ),
        (make_entry("parallel"), "likely", "1 call is expected in a category with several calls"),
        (
            make_entry("live_relevance", functions=[]),
            "certain",
            "no function is offered, but a call is expected",
        ),
        (
            make_entry("irrelevance", functions=[]),
            "hint",
            "no function is offered, so none can be called by mistake",
        ),
        (
            replace(make_multi_turn(("a", ["f()"])), turns=()),
            "certain",
            "0 turns, but expected calls for 1",
        ),
        (make_multi_turn(("a", [])), "likely", "no turn expects a call"),
        (
            replace(make_golden_path([("f", {}, {})]), expectation=GoldenPath(())),
            "certain",
            "the golden path has no step",
        ),
    ],
)
def test_wrong_forms_are_found(entry: Entry, severity: str, evidence: str) -> None:
    assert list_findings(shapes.find_misshapen_entries, make_facts(entry)) == [(entry.id, severity, evidence)]


def test_right_forms_have_no_finding() -> None:
    entries = [
        make_entry(),
        make_entry("multiple", functions=TWO),
        make_entry("parallel", expect=[CALL, CALL]),
        make_entry("next_call"),
        make_entry("irrelevance"),
        make_entry("live_relevance"),
        make_multi_turn(("a", ["f()"])),
        make_golden_path([("f", {}, {})]),
    ]
    assert list_findings(shapes.find_misshapen_entries, make_facts(*entries)) == []


def test_an_id_that_stands_twice() -> None:
    assert list_findings(
        shapes.find_misshapen_entries, make_facts(make_entry(), make_entry(query="Else?"))
    ) == [("simple_python_0", "certain", "the id is used twice")]


def test_what_cannot_be_read() -> None:
    facts = make_facts(unread={"multiple": "multiple.yaml:3: must be text"})
    assert list_findings(shapes.find_unreadable_categories, facts) == [
        ("multiple", "certain", "multiple.yaml:3: must be text")
    ]
    assert list_findings(shapes.find_unreadable_categories, make_facts()) == []


def test_each_error_of_a_file_is_a_finding_of_the_first_category_that_has_it() -> None:
    facts = replace(make_facts(), unread={"multiple": "a.yaml:1: x\na.yaml:2: y", "parallel": "a.yaml:1: x"})
    assert list_findings(shapes.find_unreadable_categories, facts) == [
        ("multiple", "certain", "a.yaml:1: x"),
        ("multiple", "certain", "a.yaml:2: y"),
    ]
