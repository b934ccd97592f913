"""Whole runs against servers that write streams in the ways of real ones: the oracle passes everything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.server.faults import STREAM_FAULTS, FaultKind
from pytest_fcbench.suites import core
from tests.plugin.conftest import Project
from tests.served import served, stats

KINDS = [kind for kind in FaultKind if kind in STREAM_FAULTS]
OF_TEXTS = KINDS[KINDS.index(FaultKind.WHOLE_MESSAGE) :]
"""The faults that replies without calls can show too."""
FAILURES = (FaultKind.STREAM_ERROR, FaultKind.CUT_STREAM)
"""The faults after which a client has to ask again."""
STREAMED = "--fcbench-stream=on"
SIZES = {"simple_python": 3, "parallel": 9, "parallel_multiple": 9, "multi_turn_base": 3}
"""How many entries of each category are asked."""
ASKED = [
    entry.key
    for suite in [core.open_suite(Path())]
    for category in suite.categories
    for entry in suite.load(category)[: SIZES.get(category.name, 0)]
]


def run_oracle(
    project: Project, shares: Mapping[FaultKind, float], *options: str
) -> tuple[pytest.RunResult, Mapping[str, Any]]:
    """Put some entries to an oracle with faults; return the result and what its server counted."""
    faults = [f"{kind}:{share}" for kind, share in shares.items()]
    with served("--model", "oracle", "--fault", *faults) as api_base:
        result = project.run_apart(
            *("--fcbench-model=openai/served", f"--fcbench-api-base={api_base}"),
            *("--fcbench-param=api_key=unused", "--fcbench-tag", "--fcbench-store=none"),
            *("--fcbench-concurrency=64", *options, *ASKED),
        )
        return result, stats(api_base)


def count_answers(project: Project) -> int:
    """Count the replies that became answers."""
    turns: list[Any] = [record["turns"] for record in project.records().values()]
    return sum(len(steps) for listed in turns for steps in listed)


def assert_all_pass(project: Project, result: pytest.RunResult) -> None:
    """Assert that every entry is scored and passes in both profiles."""
    result.assert_outcomes(passed=len(ASKED))
    verdicts: list[Any] = [record["verdicts"] for record in project.records().values()]
    for profile in Profile:
        assert [verdict[profile]["status"] for verdict in verdicts] == ["passed"] * len(ASKED)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_passes_where_every_stream_is_written_so(project: Project, kind: FaultKind) -> None:
    result, counts = run_oracle(project, {kind: 0.3 if kind in FAILURES else 1}, STREAMED)
    assert_all_pass(project, result)
    shown = counts["faults"][kind]
    assert shown > 5
    # What failed was asked again, and nothing else.
    assert counts["requests"] - count_answers(project) == (shown if kind in FAILURES else 0)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["plain", "xdist"]
)
def test_the_oracle_passes_where_texts_are_streamed_in_all_ways(
    project: Project, workers: tuple[str, ...]
) -> None:
    shares = dict.fromkeys(OF_TEXTS, 0.09)
    result, counts = run_oracle(project, shares, STREAMED, "--fcbench-mode=prompt", *workers)
    assert_all_pass(project, result)
    assert len(counts["faults"]) > 5


def test_whole_replies_show_no_fault_of_streams(project: Project) -> None:
    result, counts = run_oracle(project, dict.fromkeys(KINDS, 1 / len(KINDS)))
    assert_all_pass(project, result)
    assert counts["faults"] == {}


def test_calls_that_are_missing_from_a_stream_fail(project: Project) -> None:
    """Otherwise the tests above could pass whatever comes."""
    result, _ = run_oracle(project, {FaultKind.ONE_CALL: 1}, STREAMED)
    result.assert_outcomes(passed=6, failed=18)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("fault", "different"),
    [((), 0), (("--fault", "cut_stream:1"), 6), (("--fault", "second_choice:1"), 0)],
)
def test_streams_are_compared_with_whole_replies(
    project: Project, fault: tuple[str, ...], different: int
) -> None:
    with served("--model", "oracle", *fault) as api_base:
        words = (
            "--fcbench-model=openai/oracle",
            f"--fcbench-api-base={api_base}",
            "--fcbench-param=api_key=unused",
        )
        chosen = ("--fcbench-category=simple_python", "--fcbench-sample=6", "--fcbench-stream=both")
        options = (*words, *chosen)
        result = project.run_apart(*options, "--fcbench-retries=0")
        result.assert_outcomes(passed=6)
        section: Any = project.scorecard()["fcbench"]
        counts = {"replies": 6, "different": different, "noise": 0}
        assert section["stream_differences"]["calls"] == counts
        result.stdout.fnmatch_lines(["streams beside whole replies", f"calls * 6 * {different} * 0"])
    # The answers of all parties are kept, so it is judged again without a server.
    project.run_apart("--fcbench-model=replay:scorecard.json", *chosen).assert_outcomes(passed=6)
    section = project.scorecard()["fcbench"]
    assert section["stream_differences"]["calls"] == counts
