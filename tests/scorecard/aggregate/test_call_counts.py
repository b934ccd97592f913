"""Counts of calls are summed up, bounded by a gate and shown; runs are compared in whether they call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.transcript import CallCounts, Completion, Fault
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.document import write_section
from pytest_fcbench.present.score_tables import tabulate_call_schemas
from pytest_fcbench.scorecard.aggregate.call_counts import (
    Triggering,
    compare_triggering,
    describe_serving,
    sum_calls_by_category,
)
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED
from tests.factories import FACTS, make_answered_record, make_evidence, make_record, tool_calls


def make_counted(valid: int, calls: int, category: str = "parallel", number: int = 0) -> Record:
    counts = CallCounts(calls, calls, calls, calls, calls, valid)
    return replace(make_answered_record(tool_calls(), category=category, number=number), calls=counts)


RECORDS = [
    make_counted(1, 2),
    make_counted(3, 3, "multiple"),
    make_counted(0, 0, "irrelevance"),
    make_record(),
]


def test_calls_are_summed_up_by_category_and_in_all() -> None:
    counts = sum_calls_by_category(RECORDS)
    assert {name: (each.valid, each.calls) for name, each in counts.items()} == {
        "multiple": (3, 3),
        "parallel": (1, 2),
        "all": (4, 5),
    }


def test_the_table_names_all_and_categories_with_invalid_calls() -> None:
    table = tabulate_call_schemas(RECORDS)
    assert table
    assert table.rows == (
        ("parallel", "2", "100.0%", "100.0%", "100.0%", "50.0%"),
        ("all", "5", "100.0%", "100.0%", "100.0%", "80.0%"),
    )


def test_a_run_without_calls_has_neither_table_nor_member() -> None:
    records = RECORDS[2:]
    assert not tabulate_call_schemas(records)
    sections = [write_section(FACTS, make_evidence(each), []) for each in (records, RECORDS)]
    assert ["calls" in section for section in sections] == [False, True]


@pytest.mark.parametrize(
    ("records", "rule", "code", "sentence"),
    [
        (RECORDS, "schema>=80%", HELD, "4 of 5 calls are valid by their schemas (80.00%)"),
        (RECORDS, "schema>=0.81", BROKEN, "4 of 5 calls are valid by their schemas (80.00%)"),
        (RECORDS[2:], "schema>=0%", UNDECIDED, "the scorecard counts no call of the model"),
    ],
)
def test_a_gate_bounds_the_share_of_valid_calls(
    records: list[Record], rule: str, code: int, sentence: str
) -> None:
    finding = parse_rule(rule).check(Evidence(records, Profile.OFFICIAL, lambda name: 0, {}))
    assert (finding.code, finding.sentence) == (code, sentence)


def test_a_run_calls_where_its_reference_does_or_not() -> None:
    # Three entries call in both, one only in the reference, two only in the run, one in neither.
    reference = [make_counted(0, calls, number=n) for n, calls in enumerate((1, 2, 1, 1, 0, 0, 0))]
    run = [make_counted(0, calls, number=n) for n, calls in enumerate((1, 1, 3, 0, 1, 1, 0))]
    found = compare_triggering(reference, run)
    assert found == Triggering(3, 1, 2, 1)
    assert (found.precision, found.recall, found.f1) == (3 / 5, 3 / 4, 2 / 3)


def test_answers_that_say_nothing_of_calling_are_not_compared() -> None:
    known, older = make_counted(0, 0), make_record(category="parallel")
    fault = make_answered_record(Completion(fault=Fault.OVERFLOW), category="parallel")
    for other in (older, replace(fault, calls=known.calls)):
        assert compare_triggering([known], [other]) is None
        assert compare_triggering([other], [known]) is None
    nowhere = compare_triggering([known], [known])
    assert nowhere == Triggering(0, 0, 0, 1)
    assert (nowhere.precision, nowhere.recall, nowhere.f1) == (None, None, None)


def test_a_run_that_several_served_says_so() -> None:
    served = [("provider=B", "model=m"), ("provider=A", "model=m", "system_fingerprint=1"), ()]
    records = [replace(make_record(number=n), served=each) for n, each in enumerate(served)]
    assert describe_serving(records) == ["answers came from 2 providers: A, B"]
    assert describe_serving(records[1:]) == []
    many = [replace(make_record(number=n), served=(f"system_fingerprint=f{n}",)) for n in range(7)]
    assert describe_serving(many) == ["answers came from 7 fingerprints: f0, f1, f2, f3, f4 and 2 more"]
