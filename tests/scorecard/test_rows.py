"""Rows of entries and scores, against values that were worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.transcript import AuxiliaryCall, Completion, Party
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.record import Rating, Usage
from pytest_fcbench.scorecard.rows import (
    OutcomeRow,
    ScoreRow,
    describe_entries,
    describe_scores,
    list_columns,
)
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.factories import FACTS, make_record

WRONG = Failed("wrong_count", "2 calls came, 1 expected")


def make_card(*records: object, profile: Profile = Profile.OFFICIAL) -> Scorecard:
    facts = replace(FACTS, profile=profile, suites={"core": {"version": "9", "pack_hash": None}})
    return Scorecard(Path("runs/night.json"), facts, records, {})  # type: ignore[arg-type]


def test_an_entry_has_its_outcome_in_both_profiles() -> None:
    (row,) = describe_entries(make_card(make_record(WRONG, Passed(), trial=2)))
    assert (row.run, row.entry, row.category, row.trial) == (
        *("night", "core:simple_python_0", "simple_python"),
        2,
    )
    assert (row.official, row.official_code, row.official_reason) == ("failed", WRONG.code, WRONG.reason)
    assert (row.corrected, row.corrected_code, row.corrected_reason) == ("passed", None, None)


def test_passed_follows_the_profile_of_the_run() -> None:
    record = make_record(WRONG, Passed())
    found = [next(describe_entries(make_card(record, profile=profile))).passed for profile in Profile]
    assert found == [0, 1]


def test_what_was_not_scored_is_neither_passed_nor_failed() -> None:
    (row,) = describe_entries(make_card(make_record(NotScored("timeout", "no answer within 60 s"))))
    assert (row.passed, row.official, row.official_code) == (None, "not_scored", "timeout")
    assert row.official_reason == "no answer within 60 s"


def test_usage_is_summed_over_the_steps() -> None:
    steps = (Usage(1.5, 100, 10, 0.25), Usage(None, 20, None, 0.5))
    (row,) = describe_entries(make_card(make_record(steps=steps)))
    assert (row.steps, row.latency_s, row.input_tokens, row.output_tokens, row.usd) == (2, 1.5, 120, 10, 0.75)


def test_a_count_that_no_column_holds_is_not_known() -> None:
    card = make_card(make_record(steps=(Usage(1.0, 10**30, 2**63 - 1, None),)))
    (row,) = describe_entries(card)
    assert (row.input_tokens, row.output_tokens) == (None, 2**63 - 1)
    assert {score.input_tokens for score in describe_scores(card)} == {None}


def test_ratings_and_marks_are_columns() -> None:
    record = replace(make_record(), rating=Rating(2, None, ""), marks=("slow", "own"), cluster="trip")
    (row,) = describe_entries(make_card(record))
    assert (row.rating, row.marks, row.cluster) == (2, "slow,own", "trip")


def test_scores_are_listed_by_profile_and_kind() -> None:
    rows = list(describe_scores(make_card(make_record(WRONG, Passed()), make_record(number=1))))
    named = [(row.profile, row.kind, row.score, row.accuracy) for row in rows]
    assert named[0] == ("official", "category", "simple_python", 0.5)
    assert ("official", "group", "simple", None) in named, "java and javascript were not run"
    assert ("corrected", "category", "simple_python", 1.0) in named
    assert [(row.kind, row.profile, row.accuracy) for row in rows if row.kind == row.score] == [
        ("overall", "official", None),
        ("all", "official", 0.5),
        ("overall", "corrected", None),
        ("all", "corrected", 1.0),
    ]


def test_scores_have_counts_suites_and_what_is_missing() -> None:
    rows = list(describe_scores(make_card(make_record(), make_record(NotScored("timeout", ""), number=1))))
    first, simple = rows[0], next(row for row in rows if row.score == "simple")
    assert (first.n, first.passed, first.failed, first.not_scored, first.suites) == (2, 1, 0, 1, "core 9")
    assert simple.missing == "simple_java,simple_javascript"


def test_usage_stands_with_categories_and_overall() -> None:
    card = make_card(make_record(steps=(Usage(2.0, 100, 10, 0.25),)))
    usd = {row.score: row.usd for row in describe_scores(card) if row.profile == "official"}
    assert usd == {"simple_python": 0.25, "simple": None, "non_live": None, "overall": 0.25, "all": 0.25}


def test_columns_have_the_types_of_their_values() -> None:
    assert {name: list_columns(OutcomeRow)[name] for name in ("entry", "trial", "usd")} == {
        "entry": str,
        "trial": int,
        "usd": float,
    }
    assert list_columns(ScoreRow)["accuracy"] is float


def test_overall_has_the_bill_of_the_run_and_a_category_that_of_its_steps() -> None:
    judged = AuxiliaryCall(Party.JUDGE, "0f", Completion(input_tokens=5, output_tokens=1), 0.5)
    step = Usage(2.0, 100, 10, 0.25, cached_tokens=40)
    rows = list(describe_scores(make_card(replace(make_record(steps=(step,)), asides=(judged,)))))
    dollars = {row.score: (row.usd, row.input_tokens, row.cached_tokens) for row in rows}
    assert dollars["overall"] == (0.75, 105, 40)
    assert dollars["simple_python"] == (0.25, 100, 40)
