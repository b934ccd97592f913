"""The example distribution adds a suite, a model, a matcher and a call syntax by entry points."""

from __future__ import annotations

import os
import shutil
import tomllib

import pytest

from tests.conftest import ROOT
from tests.installing import install
from tests.plugin.conftest import Project

EXAMPLE = ROOT / "tests" / "extension_example"


@pytest.fixture
def installed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project in whose Python the example is installed."""
    site = project.path / "site"
    site.mkdir()
    shutil.copy(EXAMPLE / "fcbench_example.py", site)
    told = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    install(site, told["name"], told["entry-points"])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    return project


@pytest.mark.parametrize(("word", "verdict"), [("please", "passed"), ("now", "failed")])
def test_a_run_with_everything_that_the_example_adds(installed: Project, word: str, verdict: str) -> None:
    result = installed.run_apart(
        "--fcbench-suite=example", f"--fcbench-model=example:{word}", "--fcbench-syntax=arrow"
    )
    verdicts = {
        entry: told["verdicts"]["official"]["status"]  # type: ignore[index]
        for entry, told in installed.records().items()
    }
    assert verdicts == {"example:simple_python_0": "passed", "example:irrelevance_0": verdict}, (
        result.outlines
    )


def test_an_unknown_name_is_answered_with_those_that_the_example_adds(installed: Project) -> None:
    result = installed.run_apart("--fcbench-suite=exampel")
    result.stderr.fnmatch_lines(["*unknown suite 'exampel'. Did you mean 'example'?*"])
