"""``fcbench init``."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pytest_fcbench.cli.commands.init import WORKFLOWS
from pytest_fcbench.cli.main import main
from pytest_fcbench.config.loading import build_settings, find_config_file
from tests.conftest import ROOT


def _run_init(*words: str) -> int:
    try:
        return main(["init", *words])
    except SystemExit as ended:
        return int(str(ended.code))


def test_a_project_has_all_that_a_run_needs(pytester: pytest.Pytester) -> None:
    assert _run_init() == 0
    settings = build_settings({}, find_config_file(Path(), None))
    assert (settings.model, settings.suites) == ("lexical", ("core",))
    modules = {path.name: path.read_bytes() for path in Path("benchmarks").glob("*.py")}
    assert modules == {path.name: path.read_bytes() for path in (ROOT / "benchmarks").glob("*.py")}
    options = ("-p", "no:cacheprovider", "--fcbench-model=oracle", "--fcbench-category=live_relevance")
    pytester.runpytest_inprocess("benchmarks", *options).assert_outcomes(passed=6)


def test_nothing_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fcbench.yaml").write_text("model: mine\n")
    Path("benchmarks").mkdir()
    Path("benchmarks/test_ast.py").write_text("mine")
    assert _run_init("--ci", "gitlab") == 0
    told = capsys.readouterr().out
    assert "kept     fcbench.yaml\n" in told
    assert "kept     benchmarks/test_ast.py\n" in told
    assert "written  .gitlab/benchmarks.yml\n" in told
    assert Path("fcbench.yaml").read_text() == "model: mine\n"
    assert Path("benchmarks/test_ast.py").read_text() == "mine"
    before = sorted(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert _run_init("--ci", "gitlab") == 0
    assert "written" not in capsys.readouterr().out
    assert sorted(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()) == before


def test_another_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run_init("new/project", "--ci", "none") == 0
    assert capsys.readouterr().out.endswith("run it with: cd new/project && pytest benchmarks\n")
    assert sorted(path.name for path in Path("new/project").iterdir()) == [
        ".gitignore",
        "benchmarks",
        "fcbench.yaml",
    ]


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_workflows_are_yaml_that_runs_the_benchmarks(kind: str) -> None:
    workflow = WORKFLOWS[kind]
    assert workflow is not None
    job = yaml.safe_load(workflow[1])
    steps = job["jobs"]["benchmarks"]["steps"] if kind == "github" else None
    commands = [step["run"] for step in steps if "run" in step] if steps else job["benchmarks"]["script"]
    assert commands[:2] == [
        "pip install 'pytest-fcbench[report]'",
        "pytest benchmarks --junitxml=junit.xml",
    ]
    assert ".fcbench" in workflow[1], "answers are kept from one run to the next"


def test_what_a_run_writes_is_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run_init() == 0
    assert "/.fcbench/" in Path(".gitignore").read_text().splitlines()
    capsys.readouterr()
    Path(".gitignore").write_text("*.pyc\n")
    assert _run_init() == 0
    assert "add /.fcbench/ to .gitignore" in capsys.readouterr().out
    assert Path(".gitignore").read_text() == "*.pyc\n"


def test_the_workflow_of_github_runs_step_by_step(pytester: pytest.Pytester) -> None:
    """All but installing; green with a model that is right, red by the gate with one that is worse."""
    assert _run_init() == 0
    settings = Path("fcbench.yaml")
    settings.write_text(settings.read_text().replace("model: lexical", "model: oracle"))
    workflow = WORKFLOWS["github"]
    assert workflow is not None
    steps = yaml.safe_load(workflow[1])["jobs"]["benchmarks"]["steps"]
    pytest_run, report = [step["run"].split() for step in steps if "run" in step][1:]
    options = (
        "-p",
        "no:cacheprovider",
        "--fcbench-category=live_relevance",
        "--fcbench-gate=live_relevance>=0.9",
    )
    assert pytest_run[0] == "pytest"
    assert pytester.runpytest_subprocess(*pytest_run[1:], *options).ret == 0
    assert main(report[1:]) == 0
    assert all(Path(name).is_file() for name in ("scorecard.json", "junit.xml", "report.html"))
    worse = pytester.runpytest_subprocess(*pytest_run[1:], *options, "--fcbench-model=lexical")
    assert worse.ret == 1


def test_wrong_words_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("")
    assert _run_init("taken") == 2
    assert "taken is not a folder" in capsys.readouterr().err
    assert _run_init("--ci", "jenkins") == 2
