"""AST and execution over twelve published models: shares as published, and how far they go together."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_fcbench.domain.entry import AS_WRITTEN
from pytest_fcbench.domain.verdict import Passed, Profile
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.scorecard.aggregate import secondary_scores as execution
from pytest_fcbench.scorecard.aggregate.intervals import Correlation, correlate_pairs
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.suites.suite import Suite
from tests.parity import comparison
from tests.parity.ast_and_execution import judge_published_answers
from tests.parity.conftest import find_oracle_files

FILES = find_oracle_files("exec_published.jsonl.gz")
pytestmark = pytest.mark.skipif(
    not FILES, reason="FCBENCH_ORACLE names no folder with exec_published.jsonl.gz"
)


@pytest.fixture(scope="module")
def records_by_model(bfcl: Suite, pool: Pool) -> dict[str, list[Record]]:
    return judge_published_answers(FILES[0].parent, bfcl, pool)


def _count_passed(records: list[Record], category: str) -> int:
    return sum(r.category == category and r.verdict(Profile.OFFICIAL) == Passed() for r in records)


@pytest.mark.nightly
def test_as_written_they_are_what_the_official_checker_says(
    records_by_model: dict[str, list[Record]],
) -> None:
    different = Counter[str]()
    for category in AS_WRITTEN.values():
        told = list(comparison.read_records(FILES[0].parent / f"v4_{category}.jsonl.gz"))
        right = Counter(str(one["model"]) for one in told if one["valid"])
        for model, records in records_by_model.items():
            different[model] += abs(_count_passed(records, category) - right[model])
    assert +different == {"databricks-dbrx-instruct": 1}


@pytest.mark.nightly
def test_how_far_both_go_together(records_by_model: dict[str, list[Record]]) -> None:
    kinds, same = [], []
    for records in records_by_model.values():
        assert len(records) == 1134
        pair = execution.average_by_kind(aggregate_scores(records, Profile.OFFICIAL, lambda name: 0))
        shares = execution.count_sides(records, Profile.OFFICIAL).shares
        assert pair
        assert shares
        kinds.append(pair)
        same.append(shares)
    assert _round_correlation(correlate_pairs(kinds)) == (12, 0.969, 0.834)
    assert _round_correlation(correlate_pairs(same)) == (12, 0.977, 0.988)


def _round_correlation(of: Correlation) -> tuple[int, float, float]:
    assert of.pearson is not None
    assert of.spearman is not None
    return of.n, round(of.pearson, 3), round(of.spearman, 3)
