"""Rows of entries and scores, against values that were worked out by hand."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pandas as pd
import pytest

import pytest_fcbench
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import AuxiliaryCall, Completion, Party
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.record import Rating, Usage
from pytest_fcbench.scorecard.rows import (
    OutcomeRow,
    RunResults,
    ScoreRow,
    describe_entries,
    describe_scores,
    list_columns,
)
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_scorecard, write_baseline
from tests.factories import FACTS, make_record, write_scorecard

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    records = [
        make_record(category="parallel"),
        make_record(WRONG, Passed(), category="parallel", number=1),
        make_record(NotScored("timeout", "no answer within 60 s"), category="parallel", number=2),
        make_record(category="multiple"),
    ]
    return write_scorecard(tmp_path / "scorecard.json", records)


@pytest.fixture
def results(path: Path) -> RunResults:
    return pytest_fcbench.load(path)


def test_a_run_is_described(results: RunResults) -> None:
    assert (results.model, results.profile, dict(results.suites)) == ("test", Profile.OFFICIAL, {"core": "1"})
    assert results.facts.mode == "fc"


def test_scores_have_counts_and_intervals(results: RunResults) -> None:
    parallel = results.categories["parallel"]
    assert (parallel.n, parallel.scored, parallel.not_scored, parallel.accuracy) == (3, 2, 1, 0.5)
    assert parallel.interval is not None
    assert parallel.interval.low < 0.5 < parallel.interval.high
    assert results.scores[Profile.CORRECTED].categories["parallel"].accuracy == 1.0
    assert results.groups["non_live"].accuracy is None
    assert results.groups["non_live"].missing[:2] == ("simple", "parallel_multiple")
    assert results.score.accuracy == pytest.approx(2 / 3)
    assert results.score.n == 4


def test_entries_are_rows(results: RunResults) -> None:
    assert [(row.entry, row.passed) for row in results.entries] == [
        ("core:multiple_0", 1),
        ("core:parallel_0", 1),
        ("core:parallel_1", 0),
        ("core:parallel_2", None),
    ]


def test_results_cannot_be_changed(results: RunResults) -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'entries'"):
        results.entries = ()  # type: ignore[misc]


def test_a_frame_has_a_row_for_each_entry(results: RunResults) -> None:
    frame = results.to_frame()
    assert frame.groupby("category").passed.mean().to_dict() == {"multiple": 1.0, "parallel": 0.5}
    assert frame.passed.isna().sum() == 1
    assert frame[frame.official == "failed"].official_code.tolist() == ["wrong_count"]


def test_a_frame_has_types_even_without_values(results: RunResults) -> None:
    frame = results.to_frame()
    assert {name: str(frame.dtypes[name]) for name in ("entry", "passed", "trial", "usd")} == {
        "entry": "string",
        "passed": "Int64",
        "trial": "Int64",
        "usd": "float64",
    }


def test_a_frame_of_scores_can_be_pivoted(results: RunResults) -> None:
    frame = results.to_frame("score")
    table = frame.pivot(index="score", columns="profile", values="accuracy")
    assert table.loc["parallel"].to_dict() == {"corrected": 1.0, "official": 0.5}


def test_a_baseline_has_verdicts_without_reasons(path: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    baseline.write_text(write_baseline(load_scorecard(path)), encoding="utf-8")
    loaded = pytest_fcbench.load(str(baseline))
    assert loaded.categories["parallel"].accuracy == 0.5
    assert [row.official_code for row in loaded.entries] == [None, None, "wrong_count", "timeout"]


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="not a scorecard: section 'fcbench' is missing"):
        pytest_fcbench.load(tmp_path / "other.json")


def test_a_frame_needs_the_extra(results: RunResults, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        UsageError, match=r"to_frame\(\) needs the package pandas: pip install 'pytest-fcbench\[data\]'"
    ):
        results.to_frame()


def test_frames_of_several_runs_can_be_joined(path: Path, tmp_path: Path) -> None:
    other = write_scorecard(tmp_path / "other.json", [make_record(category="parallel")])
    joined = pd.concat([pytest_fcbench.load(each).to_frame() for each in (path, other)])
    assert joined.groupby("run").size().to_dict() == {"other": 1, "scorecard": 4}
