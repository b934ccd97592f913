"""The example distribution adds a suite, a model, a kind of entry, a syntax and a family by entry points."""

from __future__ import annotations

import os
import shutil
import tomllib

import pytest

from tests.conftest import ROOT
from tests.installing import install_distribution
from tests.loopback import Reply, serve_answers
from tests.plugin.conftest import Project

EXAMPLE = ROOT / "tests" / "extension_example"


@pytest.fixture
def project_with_example(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Install the example into the Python of a project."""
    site = project.path / "site"
    site.mkdir()
    shutil.copytree(EXAMPLE / "fcbench_example", site / "fcbench_example")
    told = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    install_distribution(site, told["name"], told["entry-points"])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    return project


@pytest.mark.few(1)
@pytest.mark.parametrize(("word", "verdict"), [("please", "passed"), ("now", "failed")])
def test_a_run_with_everything_that_the_example_adds(
    project_with_example: Project, word: str, verdict: str
) -> None:
    result = project_with_example.run_apart(
        "--fcbench-suite=example", f"--fcbench-model=example:{word}", "--fcbench-syntax=arrow"
    )
    verdicts = {
        entry: told["verdicts"]["official"]["status"]  # type: ignore[index]
        for entry, told in project_with_example.records().items()
    }
    assert verdicts == {"example:simple_python_0": "passed", "example:irrelevance_0": verdict}, (
        result.outlines
    )


def test_an_unknown_name_is_answered_with_those_that_the_example_adds(project_with_example: Project) -> None:
    result = project_with_example.run_apart("--fcbench-suite=exampel")
    result.stderr.fnmatch_lines(["*unknown suite 'exampel'. Did you mean 'example'?*"])


@pytest.mark.few(1)
@pytest.mark.parametrize(("bell", "passed"), [(1, 1), (2, 0)])
def test_a_model_is_asked_as_the_family_that_the_example_adds(
    project_with_example: Project, bell: int, passed: int
) -> None:
    reply = Reply({"choices": [{"text": f'ring -> {{"bell": {bell}}}', "finish_reason": "stop"}]})
    with serve_answers(lambda _: reply) as endpoint:
        at = f"--fcbench-api-base={endpoint.api_base}"
        options = ("--fcbench-suite=example", "--fcbench-model=mine", at, "--fcbench-context-length=9000")
        result = project_with_example.run_apart(*options, "--fcbench-as=bell", "-k", "simple")
    result.assert_outcomes(passed=passed, failed=1 - passed, deselected=1)
    (asked,) = endpoint.requests
    assert endpoint.paths == ["/v1/completions"]
    lines = str(asked["prompt"]).splitlines()
    assert lines[0].startswith('<function>ring {"type": "dict"')
    assert lines[1:] == ["<user>Ring bell 1.<end>", "<assistant>"]
    assert (asked["model"], asked["stop"]) == ("mine", ["<end>"])
    section = project_with_example.scorecard()["fcbench"]
    assert isinstance(section, dict)
    assert section["asked_as"] == "bell"


def test_models_of_the_example_are_listed(project_with_example: Project) -> None:
    listed = project_with_example.fcbench("models", "--official", "bell").stdout
    assert "bell: fc, dotted names, arrow; asked by completions at a server of your own" in listed
    refused = project_with_example.fcbench("run", "show", "core:parallel_3", "--wire", "--as=bel").stderr
    assert "unknown official model 'bel'. Did you mean 'bell'?" in refused
