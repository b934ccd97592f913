"""A new kind of entry is what docs/project/how-to-extend.md says it is: its files, two rows, nothing else."""

from __future__ import annotations

import re
import shutil

import pytest

from pytest_fcbench.kinds.kind import Kind
from tests.conftest import ROOT
from tests.docs.pages import matches
from tests.plugin.conftest import Project

_PAGE = (ROOT / "docs" / "project" / "how-to-extend.md").read_text(encoding="utf-8")
SECTION = _PAGE.partition("## A kind of entry\n")[2].partition("\n## ")[0]
FILES = re.findall(r"^`([^`\s]+)` .*?\n\n```\w+\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
SCREEN = SECTION.partition("```text\n")[2].partition("\n```")[0].splitlines()


@pytest.fixture
def poets(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Add what the page shows to a copy of the package, which the project uses in place of ours."""
    shutil.copytree(ROOT / "pytest_fcbench", project.path / "pytest_fcbench")
    for name, text in FILES:
        if (path := project.path / name).exists() and name.startswith("pytest_fcbench/"):
            opening, row = text.splitlines(keepends=True)
            before, found, behind = path.read_text(encoding="utf-8").partition(opening)
            assert found, opening
            text = before + opening + row + behind
        project.write(name, text)
    monkeypatch.setenv("PYTHONPATH", str(project.path), prepend=":")
    return project


def _run(poets: Project, model: str, path: str = "benchmarks") -> pytest.RunResult:
    selection = ("--fcbench-suite=poets", "--fcbench-category=rhymes")
    return poets.run_fresh(path, *selection, f"--fcbench-model={model}", "--fcbench-mode=prompt")


@pytest.mark.few(1)
@pytest.mark.parametrize("path", ["benchmarks", "poets.yaml"])
def test_a_right_and_a_wrong_answer_look_as_on_the_page(poets: Project, path: str) -> None:
    result = _run(poets, "scripted:said.yaml", path)
    result.assert_outcomes(passed=1, failed=1)
    assert matches(["...", *SCREEN, "..."], result.outlines)
    assert poets.records()["poets:rhymes_1"]["category"] == "rhymes"


def test_the_screen_says_what_was_asked_said_and_expected() -> None:
    rows = re.findall(r"^[> ] (question|answered|expected) +(.+)$", "\n".join(SCREEN), re.MULTILINE)
    said = ["Rhyme: The dog", "I know none.", "an answer that says fog"]
    assert rows == list(zip(["question", "answered", "expected"], said, strict=True))


@pytest.mark.nightly
def test_the_oracle_answers_it(poets: Project) -> None:
    _run(poets, "oracle").assert_outcomes(passed=2)


def test_the_page_names_every_member_of_a_kind() -> None:
    rows = " ".join(re.findall(r"^\| (`.*?) \|", SECTION, re.MULTILINE))
    members = {name for name in vars(Kind) if not name.startswith("_")}
    assert members == set(re.findall(r"\w+", rows))
