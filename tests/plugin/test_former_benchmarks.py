"""Test modules that an older ``fcbench init`` wrote go on working, with a warning."""

from __future__ import annotations

import importlib
import subprocess
import sys
from contextlib import closing

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.plugin.former_benchmarks import FormerBenchmarks
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from tests.plugin.conftest import Project

FORMER = """
from __future__ import annotations

import pytest

from pytest_fcbench.complexeval import verdict as path
from pytest_fcbench.entries import Entry
from pytest_fcbench.executables.outcomes import Execute, Perform
from pytest_fcbench.matchers import ast, execution, rest, state
from pytest_fcbench.matchers.state import Fresh
from pytest_fcbench.run import Ask, Score


@pytest.mark.fcbench("parallel")
def test_parallel(entry: Entry, ask: Ask, score: Score) -> None:
    verdict = score(ast.judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("attraction")
def test_attraction(entry: Entry, ask: Ask, score: Score) -> None:
    verdict = score(path.judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("multi_turn_base")
def test_multi_turn_base(entry: Entry, ask: Ask, score: Score, fresh: Fresh) -> None:
    verdict = score(state.judge(entry, ask(entry), fresh))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("exec_simple")
def test_exec_simple(entry: Entry, ask: Ask, score: Score, execute: Execute) -> None:
    verdict = score(execution.judge(entry, ask(entry), execute))
    assert verdict.passed, str(verdict)


@pytest.mark.fcbench("rest")
def test_rest(entry: Entry, ask: Ask, score: Score, perform: Perform) -> None:
    verdict = score(rest.judge(entry, ask(entry), perform))
    assert verdict.passed, str(verdict)
"""
CATEGORIES = ("parallel", "attraction", "multi_turn_base", "exec_simple", "rest")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_former_modules_and_fixtures_are_there(project: Project, workers: str) -> None:
    project.write("test_former.py", FORMER)
    chosen = [f"--fcbench-category={name}" for name in CATEGORIES]
    result = project.run_apart("-n", workers, "--fcbench-smoke", *chosen, "test_former.py")
    assert result.ret == 0
    assert {str(record["category"]) for record in project.records().values()} == set(CATEGORIES)
    result.stdout.fnmatch_lines_random(
        [
            "*/test_former.py:*: DeprecationWarning: pytest_fcbench.entries is now "
            "pytest_fcbench.domain.entry; import it from there",
            "*DeprecationWarning: pytest_fcbench.complexeval is now pytest_fcbench.matchers.golden_path; *",
            "*DeprecationWarning: pytest_fcbench.executables.outcomes is now *execution.outcomes; *",
        ]
    )


def test_former_names_are_found_in_a_benchmark_run_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import pytest_fcbench.entries"], capture_output=True, text=True, check=False
    )
    assert "No module named 'pytest_fcbench.entries'" in done.stderr


def test_former_names_are_forgotten_when_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [finder for finder in sys.meta_path if not isinstance(finder, FormerBenchmarks)]
    monkeypatch.setattr(sys, "meta_path", others)
    with closing(Session(RunContext(build_settings({"model": "oracle"}, None)))) as session:
        former = FormerBenchmarks(session)
        with pytest.warns(DeprecationWarning, match="entries is now pytest_fcbench.domain.entry"):
            importlib.import_module("pytest_fcbench.entries")
        former.pytest_unconfigure()
    assert "pytest_fcbench.entries" not in sys.modules
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'pytest_fcbench.entries'"):
        importlib.import_module("pytest_fcbench.entries")
