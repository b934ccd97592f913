"""The wheel in an empty folder, with what it requires and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_fcbench.domain.registry import EXTRAS
from pytest_fcbench.suites import bfcl
from tests.packaging.installed import Environment, create_environment
from tests.plugin.conftest import SCORED, size
from tests.served import served

PYARGS = ("--pyargs", "pytest_fcbench.benchmarks", "--fcbench-model=lexical")


def _count_outcomes(output: str) -> dict[str, int]:
    """Return the counts of the last line."""
    return {word: int(count) for count, word in re.findall(r"(\d+) ([a-z]+)", output.splitlines()[-1])}


def _read_outcomes(folder: Path) -> dict[str, str]:
    tests = json.loads((folder / "scorecard.json").read_text())["tests"]
    return {test["metadata"]["fcbench"]["entry"]: test["outcome"] for test in tests}


@pytest.mark.nightly
def test_the_benchmarks_of_the_wheel_run_core(base: Environment, tmp_path: Path) -> None:
    done = base.run_pytest(*PYARGS, cwd=tmp_path)
    found = _count_outcomes(done.stdout)
    assert found["passed"] > 0, done.stdout + done.stderr
    assert found["passed"] + found["failed"] == size(*SCORED)
    assert {path.name for path in tmp_path.iterdir()} == {".fcbench", ".pytest_cache", "scorecard.json"}
    alone = _read_outcomes(tmp_path)

    done = base.run_pytest(*PYARGS, "--lf", cwd=tmp_path)
    assert _count_outcomes(done.stdout) == {"failed": found["failed"], "deselected": found["passed"]}

    done = base.run_pytest(*PYARGS, "-n", "2", cwd=tmp_path)
    assert _count_outcomes(done.stdout) == found
    assert _read_outcomes(tmp_path) == alone


@pytest.mark.nightly
def test_entries_of_the_wheel_are_selected(base: Environment, tmp_path: Path) -> None:
    base.run_pytest(*PYARGS, "-k", "parallel_multiple", cwd=tmp_path)
    assert len(_read_outcomes(tmp_path)) == size("parallel_multiple", "live_parallel_multiple")
    entry = "pytest_fcbench.benchmarks.test_ast::test_parallel[core:parallel_1]"
    done = base.run_pytest("--pyargs", entry, "--fcbench-model=oracle", cwd=tmp_path)
    assert _count_outcomes(done.stdout) == {"passed": 1}


@pytest.mark.nightly
def test_a_project_that_init_wrote_runs_core(base: Environment, tmp_path: Path) -> None:
    assert base.run_fcbench("init", cwd=tmp_path).returncode == 0
    done = base.run_pytest(cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(_count_outcomes(done.stdout).values()) == size(*SCORED)
    entry = "benchmarks/test_ast.py::test_parallel[core:parallel_1]"
    done = base.run_pytest(entry, "--fcbench-model=oracle", cwd=tmp_path)
    assert _count_outcomes(done.stdout) == {"passed": 1}


@pytest.mark.nightly
def test_a_gate_that_compares_needs_nothing_else(base: Environment, tmp_path: Path) -> None:
    options = (*PYARGS, "-m", "non_live", "--fcbench-baseline=before.json", "--fcbench-gate=not-worse(95%)")
    base.run_pytest(*PYARGS, "-m", "non_live", "--fcbench-scorecard=before.json", cwd=tmp_path)
    done = base.run_pytest(*options, cwd=tmp_path)
    assert "gate not-worse(95%): held" in done.stdout, done.stdout + done.stderr


@pytest.mark.nightly
def test_a_model_of_litellm_needs_nothing_else(base: Environment, tmp_path: Path) -> None:
    """With ``tools=``, which some releases of litellm cannot pass on without further packages."""
    with served("--model", "oracle") as api_base:
        asked = ("--fcbench-model=openai/served", f"--fcbench-api-base={api_base}", "--fcbench-mode=fc")
        options = (*asked, "--fcbench-param=api_key=unused", "--fcbench-category=live_simple")
        done = base.run_pytest("--pyargs", "pytest_fcbench.benchmarks", *options, cwd=tmp_path)
    assert _count_outcomes(done.stdout) == {"passed": size("live_simple")}, done.stdout + done.stderr


@pytest.mark.nightly
def test_every_category_of_the_leaderboard_needs_nothing_else(
    base: Environment, tmp_path: Path, pack_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each some entries, answered by one who knows; so the web is not asked."""
    monkeypatch.setenv("FCBENCH_CACHE", str(pack_cache))
    options = ("--fcbench-suite=bfcl", "--fcbench-model=oracle", "-k", "_7")
    done = base.run_pytest("--pyargs", "pytest_fcbench.benchmarks", *options, cwd=tmp_path)
    assert _count_outcomes(done.stdout).keys() == {"passed", "deselected"}, done.stdout + done.stderr
    tests = json.loads((tmp_path / "scorecard.json").read_text())["tests"]
    found = {test["metadata"]["fcbench"]["category"] for test in tests}
    assert found == {category.name for category in bfcl.open_suite(pack_cache).categories if category.scored}


@pytest.mark.nightly
def test_what_lacks_an_extra_says_so_first(base: Environment, tmp_path: Path) -> None:
    base.run_pytest(*PYARGS, "-k", "test_parallel and parallel_1", cwd=tmp_path)
    done = base.run_fcbench("run", "export", "plot", "scorecard.json", "-o", "scores.png", cwd=tmp_path)
    assert "needs the package matplotlib: pip install 'pytest-fcbench[report]'\n" in done.stderr
    assert done.returncode in (2, 4)
    assert "Traceback" not in done.stderr
    assert not [*tmp_path.glob("*.png")]

    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_text("")
    for options, package in (
        (("--fcbench-search=duckduckgo", "-m", "web_search"), "ddgs: pip install 'pytest-fcbench[search]'"),
        (("--fcbench-embedding=model", "-m", "memory_vector"), "safetensors: pip install"),
    ):
        done = base.run_pytest(*PYARGS, *options, cwd=tmp_path)
        assert done.returncode == 4, done.stdout + done.stderr
        assert re.search(rf"needs the packages? .*{re.escape(package)}", done.stderr)


@pytest.mark.nightly
def test_a_page_of_an_audit_needs_nothing_else(base: Environment, tmp_path: Path) -> None:
    done = base.run_fcbench("suite", "audit", "core", "--check", "shape", "-o", "audit.html", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert "<svg" in (tmp_path / "audit.html").read_text()


@pytest.mark.nightly
def test_a_report_needs_nothing_else(base: Environment, tmp_path: Path) -> None:
    base.run_pytest(*PYARGS, "-k", "test_parallel and parallel_1", cwd=tmp_path)
    done = base.run_fcbench("run", "report", "scorecard.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "report.html").read_text()
    done = base.run_fcbench("run", "leaderboard", "scorecard.json", "-o", "board.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.nightly
def test_with_the_extra_charts_are_images(wheel: Path, tmp_path: Path) -> None:
    with_charts = create_environment(tmp_path / "environment", wheel, ["report"])
    with_charts.run_pytest(*PYARGS, "-k", "test_parallel and parallel_1", cwd=tmp_path)
    words = ("run", "export", "plot", "scorecard.json", "-o", "scores.png")
    done = with_charts.run_fcbench(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")


def test_the_pages_of_the_docs_are_readable_in_an_empty_folder(base: Environment, tmp_path: Path) -> None:
    listed = base.run_fcbench(cwd=tmp_path).stdout
    assert "  repository       How do I put this in a repository that has tests?\n" in listed
    done = base.run_fcbench("help", "repository", cwd=tmp_path)
    assert done.stdout.startswith("# How do I put this in a repository that has tests?\n")


def test_the_base_has_what_is_required_and_nothing_else(base: Environment, tmp_path: Path) -> None:
    """So what the tests above say, they say of the base alone. Some come with litellm, pip with Python."""
    (tmp_path / "found.py").write_text(
        "import sys; from importlib.util import find_spec; print(*map(bool, map(find_spec, sys.argv[1:])))"
    )
    optional = {package for packages in EXTRAS.values() for package in packages} - {
        "tokenizers",
        "httpx2",
        "pip",
    }
    done = base.run_module("found", *optional, "hypothesis", "rapidfuzz", "scipy", cwd=tmp_path)
    assert {*done.stdout.split()} == {"False"}
    assert base.run_module("found", "litellm", cwd=tmp_path).stdout.split() == ["True"]
