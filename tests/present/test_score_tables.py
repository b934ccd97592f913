"""Calls along golden paths in words and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pytest_fcbench.domain.verdict import OTHER_RULES, Difference, Failed, NotScored, Passed, Profile
from pytest_fcbench.present import score_tables
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_call_verdict, make_path_record, make_path_score, make_record

OFFICIAL = Profile.OFFICIAL
ELSEWHERE = NotScored(OTHER_RULES, "the conversation went on after a wrong call")
TIMEOUT = NotScored("timeout", "600 s")


def _make_run(*shares: tuple[int, int]) -> list[Record]:
    """Make entries with so many right calls of so many."""
    return [
        make_path_record(
            Passed() if right >= of else Failed("value_error", "r"),
            number=n,
            path=make_path_score(calls=of, right=right),
        )
        for n, (right, of) in enumerate(shares)
    ]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("value_error", 'city (string) is "Oslo", expected "Bergen"'),
        ("param_missing", 'city (string) is missing, expected "Bergen"'),
        ("param_hallucination", 'city (string) is "Oslo", expected none'),
    ],
)
def test_differences_in_words(kind: str, says: str) -> None:
    assert (
        score_tables.describe_difference(Difference("city", kind, "string", "Bergen", "Oslo"), json.dumps)
        == says
    )


def test_a_row_for_each_category_and_all() -> None:
    records = [
        *_make_run((4, 4), (2, 4)),
        make_path_record(
            category="cross",
            path=make_path_score(calls=2, right=2, steps=2, taken=4, completeness=2, correctness=1),
        ),
        make_record(category="parallel"),
    ]
    table = score_tables.tabulate_calls(records, OFFICIAL)
    assert table is not None
    assert table.columns == (
        "",
        "entries",
        "success",
        "right calls",
        "call acc.",
        "calls 95%",
        "completeness",
        "correctness",
        "beyond",
    )
    assert [row[0] for row in table.rows] == ["hotels", "cross", "all"]
    assert table.rows[0][1:5] == ("2", "50.00%", "6 of 8", "75.00%")
    assert table.rows[1][6:] == ("2.00 (1)", "1.00 (1)", "+2.00")
    assert table.rows[2][1:5] == ("3", "66.67%", "8 of 10", "80.00%")
    assert table.rows[0][6:] == ("-", "-", "+0.00")


def test_errors_are_told_in_the_papers_order() -> None:
    records = _make_run((0, 1), (0, 1))
    call = make_call_verdict(code="param_hallucination", differences=())
    records.append(make_path_record(Failed("func_hallucination", ""), number=5, path=make_path_score(call)))
    records.append(make_path_record(Failed("decode_error", ""), number=6))
    (errors, arguments) = score_tables.tabulate_call_details(records, OFFICIAL)
    assert errors.rows == (
        ("hallucination", "1", "25.0%", "1", "100.0%"),
        ("value_error", "2", "50.0%", "0", "0.0%"),
        ("decode_error", "1", "25.0%", "0", "0.0%"),
    )
    assert arguments.rows == (("location", "0", "1", "0.00%"),)
    table = score_tables.tabulate_calls(records, OFFICIAL)
    assert table is not None
    assert table.notes[0] == (
        "failed entries: hallucination 1, value_error 2, decode_error 1; wrong calls: hallucination 1"
    )


def test_steps_beyond_the_golden_path_by_category() -> None:
    taken = (1, 2, 3, 4, 5, 9)
    records = [
        make_path_record(number=n, path=make_path_score(steps=2, taken=steps))
        for n, steps in enumerate(taken)
    ]
    (table,) = score_tables.tabulate_call_details(records, OFFICIAL)
    assert table.columns == ("", "fewer", "0", "1", "2", "3+")
    assert table.rows == (("hotels", "1", "1", "1", "1", "2"), ("all", "1", "1", "1", "1", "2"))


@pytest.mark.parametrize("records", [[], [make_record()], [make_path_record(TIMEOUT)]])
def test_without_scored_paths_there_is_no_table(records: Sequence[Record]) -> None:
    assert score_tables.tabulate_calls(records, OFFICIAL) is None
    assert list(score_tables.tabulate_call_details(records, OFFICIAL)) == []
    assert score_tables.describe_other_rules(records, OFFICIAL) is None


def test_what_a_profile_cannot_tell_is_no_failure() -> None:
    records = [make_path_record(Passed(), ELSEWHERE), make_path_record(number=1)]
    assert score_tables.describe_other_rules(records, OFFICIAL) is None
    table = score_tables.tabulate_calls(records, OFFICIAL)
    assert table is not None
    assert [row[:3] for row in table.rows] == [("hotels", "2", "100.00%"), ("all", "2", "100.00%")]
    assert score_tables.tabulate_calls(records, Profile.CORRECTED) is None
    assert score_tables.describe_other_rules(records, Profile.CORRECTED) == (
        "no complex score in the corrected profile: 1 of 2 conversations were continued by the other "
        "profile's rules; under its own the model would have seen other replies"
    )


@pytest.mark.parametrize(("suite", "told"), [("complexfuncbench", True), ("core", False)])
def test_a_part_of_the_official_entries_is_told(suite: str, told: bool) -> None:
    table = score_tables.tabulate_calls([make_path_record(suite=suite)], OFFICIAL)
    assert table is not None
    assert any("in part" in note for note in table.notes) is told
