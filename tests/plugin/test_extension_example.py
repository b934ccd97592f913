"""The example distribution adds a suite, a model, a matcher and a call syntax by entry points."""

from __future__ import annotations

import os
import shutil
import tomllib

import pytest

from tests.conftest import ROOT
from tests.installing import install_distribution
from tests.plugin.conftest import Project

EXAMPLE = ROOT / "tests" / "extension_example"


@pytest.fixture
def project_with_example(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Install the example into the Python of a project."""
    site = project.path / "site"
    site.mkdir()
    shutil.copy(EXAMPLE / "fcbench_example.py", site)
    told = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    install_distribution(site, told["name"], told["entry-points"])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    return project


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
