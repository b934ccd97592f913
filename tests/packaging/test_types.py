"""The types of the installed package are seen by a project that checks its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.installed import Environment

OWN = """
from typing import assert_type

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.run import Ask, Score
from pytest_fcbench.domain.verdict import Failed, Passed


def own(entry: Entry, ask: Ask, score: Score) -> None:
    assert_type(entry.id, {type})
    raise FcbenchError(str(ask(entry).turns))


def word(verdict: Passed | Failed) -> str:
    return "" if isinstance(verdict, Passed) else verdict.reason
"""


def _run_mypy(base: Environment, folder: Path) -> str:
    """Return what ``mypy --strict`` says of a project."""
    where = ("--python-executable", str(base.python), "--cache-dir", str(folder.parent / "mypy"))
    command = [sys.executable, "-m", "mypy", "--strict", *where, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.mark.nightly
def test_a_strict_project_is_checked_against_the_wheel(base: Environment, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    assert base.run_fcbench("init", cwd=folder).returncode == 0
    (folder / "own.py").write_text(OWN.format(type="str"))
    assert _run_mypy(base, folder).startswith("Success: no issues found in 13 source files")
    (folder / "own.py").write_text(OWN.format(type="int"))
    assert 'is of type "str"' in _run_mypy(base, folder)
