"""The folder of a project: found from the arguments or the working directory, or none is needed."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.plugin.conftest import Project

ENTRIES = """
category: simple_python
entries:
  - id: simple_python_0
    query: Find the price of salt.
    functions:
      - name: price
        description: Look up a price.
        parameters: {type: dict, properties: {item: {type: string, description: the item}}, required: [item]}
    expect: [{price: {item: [salt]}}]
"""
WORKERS = pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "xdist"])


@pytest.mark.nightly
@WORKERS
@pytest.mark.parametrize("place", ["pets", "pets/pets.yaml"])
def test_entries_need_no_file_beside_them(project: Project, place: str, workers: Sequence[str]) -> None:
    (project.path / "fcbench.yaml").unlink()
    project.write("pets/pets.yaml", ENTRIES)
    result = project.run_apart(place, *workers)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["fcbench: lexical (no fcbench.yaml)", "pets:simple_python_0 *: passed"])


def test_other_yaml_files_make_no_benchmark(project: Project) -> None:
    (project.path / "fcbench.yaml").unlink()
    project.write("other/data.yaml", "category: fruit\n")
    project.write("other/test_own.py", "def test_it():\n    pass\n")
    result = project.run_apart("other")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*fcbench: *")


def test_a_file_that_cannot_be_read_is_no_matter_of_an_unrelated_run(project: Project) -> None:
    (project.path / "fcbench.yaml").unlink()
    (project.path / "benchmarks").rename(project.path.parent / "benchmarks")
    project.write("other/test_own.py", "def test_it():\n    pass\n")
    project.write("other/odd.yaml", "category: fruit\nentries: [\n")
    os.mkfifo(project.path / "other/pipe.yaml")
    result = project.run_apart("other/test_own.py", "other")
    result.assert_outcomes(passed=1)


@pytest.mark.nightly
def test_a_project_below_the_root_directory_uses_its_own_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    (project.path / "fcbench.yaml").unlink()
    file = project.write("services/bot/fcbench.yaml", "model: oracle\nruns: none\n")
    (project.path / "benchmarks").rename(project.path / "services/bot/benchmarks")
    test = "benchmarks/test_ast.py::test_parallel[core:parallel_3]"

    result = project.run_apart(f"services/bot/{test}")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"fcbench: oracle ({file})", f"rootdir: {project.path}"])

    monkeypatch.chdir(project.path / "services/bot")
    below = project.pytester.runpytest_subprocess("-p", "no:cacheprovider", "core:parallel_3")
    below.assert_outcomes(passed=1)
    below.stdout.fnmatch_lines([f"fcbench: oracle ({file})"])


def test_the_file_of_the_argument_comes_before_that_of_the_folder(project: Project) -> None:
    file = project.write("inner/fcbench.yaml", "model: lexical\n")
    project.write("inner/pets/pets.yaml", ENTRIES)
    result = project.run_apart("inner/pets")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"fcbench: lexical ({file})"])


@pytest.mark.few(1)
@WORKERS
def test_the_environment_gives_options(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: Sequence[str]
) -> None:
    monkeypatch.setenv("FCBENCH_CATEGORY", "parallel,rest")
    monkeypatch.setenv("FCBENCH_LIMIT", "4")
    monkeypatch.setenv("FCBENCH_OFFLINE", "0")
    result = project.run_apart(*workers)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["fcbench: oracle (*fcbench.yaml, FCBENCH_CATEGORY, FCBENCH_LIMIT*"])
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    assert section["narrowed_by"] == "--fcbench-category"


def test_a_folder_without_benchmarks_says_how_to_make_them(project: Project) -> None:
    (project.path / "benchmarks").rename(project.path / "elsewhere")
    (project.path / "elsewhere").rename(project.path.parent / "elsewhere")
    result = project.run_apart("--fcbench-suite=wire")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(
        ["no benchmark is here; *: fcbench init && pytest benchmarks * --fcbench-suite=wire"]
    )
    # A warning of another plugin is no outcome.
    (project.path / "conftest.py").write_text("import warnings\nwarnings.warn('old')\n")
    result = project.run_apart()
    result.stdout.fnmatch_lines(["no benchmark is here; *", "*1 warning*"])
    project.run_apart("benchmarks").stderr.fnmatch_lines(["ERROR: 'fcbench init' writes this folder, *"])


def test_the_file_above_the_folder_of_the_tests_is_found(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path / "benchmarks")
    asked = ("test_ast.py", "-m", "parallel", "--fcbench-limit=2")
    project.run(*asked).assert_outcomes(passed=2)
    (project.path / "fcbench.yaml").unlink()
    assert project.run("test_ast.py").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.few(1)
@pytest.mark.parametrize("is_configured", [True, False], ids=["in a project", "without fcbench.yaml"])
def test_an_entry_of_a_suite_in_a_folder_above_runs_by_its_id(
    project: Project, monkeypatch: pytest.MonkeyPatch, is_configured: bool
) -> None:
    project.write("pets.yaml", ENTRIES)
    if not is_configured:
        (project.path / "fcbench.yaml").unlink()
    (project.path / "deep/deeper").mkdir(parents=True)
    monkeypatch.chdir(project.path / "deep/deeper")
    # Without a root directory of pytest one folder above is the last.
    assert project.run("pets:simple_python_0").ret == pytest.ExitCode.USAGE_ERROR
    project.write("pytest.ini", "[pytest]\n")
    result = project.run("pets:simple_python_0", "--fcbench-model=oracle")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["pets:simple_python_0 *: passed"])
