"""Runs are kept: a part destroys nothing, and commands find each run by its names."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pytest_fcbench.run.history import list_runs
from tests.plugin.conftest import Project, size


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["plain", "xdist"])
def test_a_run_of_one_entry_destroys_nothing(project: Project, options: tuple[str, ...]) -> None:
    project.run("-m", "parallel", "--fcbench-label=step=whole", "--fcbench-label", "x=1", *options)
    project.run("core:parallel_3", "--fcbench-model=lexical", *options)
    one, whole = list_runs(project.path / ".fcbench" / "runs")
    assert (one.model, one.failed, one.narrowed_by, one.labels) == ("lexical", 1, "an entry id", {})
    assert (whole.model, whole.passed) == ("oracle", size("parallel"))
    assert (whole.narrowed_by, whole.labels) == ("-m", {"step": "whole", "x": "1"})
    assert list(project.records()) == ["core:parallel_3"]


def test_the_scorecard_of_before_is_kept_too(project: Project) -> None:
    project.run("-m", "sql", "--fcbench-runs=none")
    assert not (project.path / ".fcbench").exists()
    project.run("core:parallel_3")
    assert len(list_runs(project.path / ".fcbench" / "runs")) == 2


def test_a_label_without_a_value_is_refused(project: Project) -> None:
    result = project.run("core:parallel_3", "--fcbench-label=main")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--fcbench-label=main: must be KEY=VALUE, for example branch=main*"])


def test_commands_find_the_run(project: Project) -> None:
    project.run("-m", "parallel", "--fcbench-label=step=1")
    project.run("core:parallel_3", "--fcbench-model=lexical")
    shown = project.fcbench("run", "show", "parallel_3").stdout
    assert "lexical" in shown.splitlines()[0]
    assert "call 3               home_set_blind" in shown
    assert "oracle" in project.fcbench("run", "show", "core:parallel_4").stdout.splitlines()[0]
    both = project.fcbench(
        "run", "show", "benchmarks/test_ast.py::test_parallel[core:parallel_3]", "core:parallel_4"
    )
    assert both.stdout.count("turn 1") == 2
    listed = project.fcbench("run", "list").stdout
    assert "part (an entry id)" in listed
    assert "step=1" in listed
    held = project.fcbench("gate", "step=1", "--gate=parallel>=90%")
    assert (held.returncode, "held: parallel is 100.00%" in held.stdout) == (0, True)
    broken = project.fcbench("gate", "--gate=parallel>=90%")
    assert (broken.returncode, "broken: parallel is 0.00%" in broken.stdout) == (1, True)
    assert project.fcbench("run", "compare", "step=1").returncode == 0
    written = project.fcbench("gate", "step=1", "-o", "summary.md")
    assert (written.returncode, "written to summary.md" in written.stdout) == (0, True)
    assert (project.path / "summary.md").read_text().startswith("100.0% of parallel passed: ")
    refused = project.fcbench("gate", "step=1", "-o", "summary.html")
    assert (refused.returncode, "name a file that ends in .md" in refused.stderr) == (4, True)


_WRONG = """
category: simple_python
entries:
- id: simple_python_0
  query: Please do it.
  functions:
  - name: f
    description: Does it.
    parameters: {type: dict, properties: {x: {type: string, description: A word.}}, required: [x]}
  expect: ["f(x='a word that is not there')"]
"""


@pytest.mark.parametrize("folder", ["own", "."])
def test_a_printed_command_works_where_the_run_was_started(folder: str, pytester: pytest.Pytester) -> None:
    """Commands look for their project upwards, and here it may lie below."""
    project = Project(pytester)
    project.write(f"{folder}/fcbench.yaml", "model: oracle\nsuites: {mine: one.yaml}\n")
    project.write(f"{folder}/one.yaml", _WRONG)
    result = project.run(f"{folder}/one.yaml", "--fcbench-model=lexical")
    (line,) = (line for line in result.outlines if "fcbench run show" in line)
    assert ("cd own && " in line) == (folder == "own")


def test_a_folder_that_cannot_be_written_costs_the_copy_and_not_the_scorecard(project: Project) -> None:
    project.write("taken", "a file")
    result = project.run("core:parallel_3", "--fcbench-runs=taken/runs")
    result.stdout.fnmatch_lines(["the run was not kept: *; name another folder with --fcbench-runs, or none"])
    assert list(project.records()) == ["core:parallel_3"]


@pytest.mark.nightly
def test_the_whole_that_is_merged_is_no_part(project: Project) -> None:
    for part in ("1/2", "2/2"):
        name = f"--fcbench-scorecard={part[0]}.json"
        project.run("--fcbench-category=parallel", f"--fcbench-shard={part}", name)
    assert {run.narrowed_by for run in list_runs(project.path / ".fcbench" / "runs")} == {
        "--fcbench-category"
    }
    project.write("fcbench.yaml", "model: oracle\ncategory: parallel\ngate: ['parallel>=90%']\n")
    for part in ("1/2", "2/2"):
        project.run(f"--fcbench-shard={part}", f"--fcbench-scorecard={part[0]}.json")
    assert list_runs(project.path / ".fcbench" / "runs")[0].narrowed_by == "shard 2/2"
    assert project.fcbench("gate", "2.json").returncode == 0
    assert project.fcbench("run", "merge", "1.json", "2.json").returncode == 0
    assert project.fcbench("gate", "scorecard.json").returncode == 0


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "xdist"])
def test_a_run_is_ranked_among_others(project: Project, workers: Sequence[str]) -> None:
    parallel = "--fcbench-category=parallel"
    project.run(parallel)
    (project.path / "others").mkdir()
    (project.path / "scorecard.json").rename(project.path / "others" / "oracle.json")
    # A path in the file is relative to the file.
    project.write("fcbench.yaml", "model: lexical\ncategory: parallel\nrank_with: [others]\n")
    result = project.run(*workers)
    result.stdout.fnmatch_lines(["rank 2 of 2 by parallel: oracle 100.00%, lexical 17.39%"])
    part = project.run(*workers, "--fcbench-limit=5")
    part.stdout.no_fnmatch_line("rank * of *")


def test_a_scorecard_to_rank_with_that_is_missing_stops_the_run(project: Project) -> None:
    result = project.run("--fcbench-rank-with=none.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: none.json: cannot be read*"])


@pytest.mark.nightly
@pytest.mark.parametrize("options", [(), ("-q",), ("-n2",)], ids=["plain", "quiet", "xdist"])
def test_a_run_can_be_followed_while_it_goes_on(project: Project, options: Sequence[str]) -> None:
    # The model answers the second entry only when it sees its own run.
    project.write(
        "slow.py",
        "import json, pathlib, time\n"
        "asked, runs = [], pathlib.Path.cwd() / 'runs'\n"
        "def answer(messages, tools):\n"
        "    asked.append(1)\n"
        "    for _ in range(200 if len(asked) > 1 else 0):\n"
        "        found = [json.loads(path.read_text()) for path in runs.glob('running/*.json')]\n"
        "        if found and found[0]['failed']:\n"
        "            pathlib.Path('seen.json').write_text(json.dumps(found[0]))\n"
        "            break\n"
        "        time.sleep(0.1)\n"
        "    return 'none'\n",
    )
    model = ("--fcbench-model=python:slow:answer", "--fcbench-mode=prompt", "--fcbench-concurrency=1")
    project.run_apart("-m", "parallel", *model, "--fcbench-runs=runs", "--fcbench-store=none", *options)
    seen = json.loads((project.path / "seen.json").read_text())
    assert (seen["model"], seen["suites"], seen["total"]) == (
        "python:slow:answer",
        ["core"],
        size("parallel"),
    )
    assert not (project.path / "runs" / "running").exists()
    assert len(list_runs(project.path / "runs")) == 1
