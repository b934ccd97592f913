"""The mark of a test whose entries pass if so many of their trials pass."""

from __future__ import annotations

import pytest

from pytest_fcbench.plugin.trial_marks import MARK, TrialMarks
from tests.plugin.conftest import Project

BODY = """\
import pytest

@pytest.mark.fcbench("multiple")
@pytest.mark.fcbench_trials({numbers})
def test_multiple(entry, answer):
    {assertion}
"""
OPTIONS = ("benchmarks/test_ast.py", "--fcbench-limit=2", "--fcbench-trials=3")


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("assertion", "passed", "failed", "expected"),
    [
        ("assert entry.trial != 2", 4, 0, 2),
        ("assert entry.trial == 2", 2, 2, 2),
        ("assert entry.trial != 2 or entry.id.endswith('_0')", 5, 0, 1),
    ],
    ids=["two of three pass", "one of three passes", "each entry for itself"],
)
def test_an_entry_passes_in_two_of_three_trials(
    project: Project, assertion: str, passed: int, failed: int, expected: int, workers: str
) -> None:
    project.write("benchmarks/test_ast.py", BODY.format(assertion=assertion, numbers="passes=2, of=3"))
    result = project.run(*OPTIONS, "-n", workers)
    result.assert_outcomes(passed=passed, failed=failed, xfailed=expected)
    assert result.ret == (1 if failed else 0)
    # The scorecard keeps each verdict: what an entry needs is no matter of what a trial was.
    result.stdout.fnmatch_lines([f"what failed: {failed + expected} of *"])


@pytest.mark.few(1)
def test_a_trial_that_runs_alone_fails_as_its_entry_cannot_pass(project: Project) -> None:
    body = BODY.format(assertion="assert entry.trial == 2", numbers="passes=2, of=3")
    project.write("benchmarks/test_ast.py", body)
    # As with --lf after a run in which this trial decided.
    project.run(*OPTIONS, "-k", "t3").assert_outcomes(failed=2)


@pytest.mark.few(1)
def test_each_test_of_an_entry_counts_its_own_trials(project: Project) -> None:
    first = BODY.format(assertion="assert entry.trial != 1", numbers="passes=2, of=3")
    second = first.replace("test_multiple", "test_again").replace("!= 1", "!= 2")
    project.write("benchmarks/test_ast.py", f"{first}\n\n{second}")
    project.run(*OPTIONS).assert_outcomes(passed=8, xfailed=4)


@pytest.mark.few(1)
def test_an_entry_that_is_not_scored_is_no_failed_trial(project: Project) -> None:
    project.write("benchmarks/test_ast.py", BODY.format(assertion="1 / 0", numbers="passes=2, of=3"))
    project.run(*OPTIONS).assert_outcomes(errors=6)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ("passes=2, of=5", "*needs 5 trials of each entry, and the run has 3; use --fcbench-trials=5*"),
        ("passes=4, of=3", "*write e.g. @pytest.mark.fcbench_trials(passes=2, of=3)*"),
        ("2", "*it needs the numbers passes and of*"),
    ],
)
def test_other_numbers_are_refused(project: Project, numbers: str, told: str) -> None:
    project.write("benchmarks/test_ast.py", BODY.format(assertion="assert True", numbers=numbers))
    result = project.run(*OPTIONS)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


def test_trials_that_fail_in_different_workers_are_counted_together() -> None:
    """Each worker sees a failure too few to fail the entry."""
    controller, outcomes = TrialMarks(3, is_worker=False), []
    for trial in (1, 2):
        nodeid = f"test_own.py::test_multiple[core:multiple_0-t{trial}]"
        report = pytest.TestReport(nodeid, ("test_own.py", 1, "test_multiple"), {}, "failed", None, "call")
        report.__dict__[MARK] = ["test_own.py::test_multiple core:multiple_0", 2, 3, 3]
        for marks in (TrialMarks(3, is_worker=True), controller):
            marks.pytest_runtest_logreport(report)
        outcomes.append(report.outcome)
    assert outcomes == ["skipped", "failed"]
