"""``pytest_fcbench.load``: the results of a run as values and as frames."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pandas as pd
import pytest

import pytest_fcbench
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.run_results import RunResults
from pytest_fcbench.scorecard.scorecard_files import load_scorecard, write_baseline
from tests.factories import make_record, write_scorecard

WRONG = Failed("wrong_count", "2 calls came, 1 expected")


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
