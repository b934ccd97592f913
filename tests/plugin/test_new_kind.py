"""A new kind of entry is a row of ``domain/entry.py``, a format, a matcher and a test function; nothing else.

The kind of this test lives in a folder of its own, whose modules join ``formats`` and ``matchers``.
"""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project

ROW = """
from pathlib import Path

from pytest_fcbench import matchers
from pytest_fcbench.domain import entry
from pytest_fcbench import formats

HERE = Path(__file__).parent
matchers.__path__.append(str(HERE / "matchers"))
formats.__path__.append(str(HERE / "formats"))

RULE = entry.Rule(
    "rhyme", "rhyme", "poems:PoemFile", expects_calls=False, offers_functions=False, in_score_files=False
)
entry.CATEGORIES["rhymes"] = entry.Category("rhymes", entry.Group.V1, RULE, scored=False)
"""

FORMAT = """
from pytest_fcbench.domain.entry import Answers, Entry, Message
from pytest_fcbench.formats.rows import EntryRow, Row


class PoemRow(EntryRow):
    line: str
    rhymes: list[str]


class PoemFile(Row):
    category: str
    entries: list[PoemRow]


def entries(rows, file, suite, category):
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        question = Message("user", f"Rhyme: {row.line}")
        yield place, Entry(suite, row.id, category, ((question,),), (), Answers(tuple(row.rhymes)))
"""

MATCHER = """
from pytest_fcbench.domain.verdict import Failed, Judgement, Passed


def judge(entry, transcript, perform):
    assert perform is not None  # a resource, named as a parameter
    said = transcript.last.text or ""
    right = said.endswith(entry.expectation.texts)
    return Judgement.same_in_both(Passed() if right else Failed("rhyme:no_rhyme", f"{said!r} does not rhyme"))
"""

FUNCTION = '''
import pytest


@pytest.mark.fcbench("rhymes")
def test_rhymes(entry, ask, judge, score):
    """The answer ends in a word that rhymes."""
    verdict = score(judge(entry, ask(entry)))
    assert verdict.passed, str(verdict)
'''

POEMS = """\
category: rhymes
entries:
  - {id: rhymes_0, line: The cat, rhymes: [hat, mat]}
  - {id: rhymes_1, line: The dog, rhymes: [fog]}
"""


@pytest.fixture
def poets(project: Project) -> Project:
    project.write("rhyme_kind.py", ROW)
    project.write("formats/poems.py", FORMAT)
    project.write("matchers/rhyme.py", MATCHER)
    project.write("test_rhymes.py", FUNCTION)
    project.write("poets.yaml", POEMS)
    project.write("fcbench.yaml", "suites: {poets: poets.yaml}\n")
    project.write("said.yaml", "answers: {'poets:rhymes_0': It wears a hat}\ndefault: I know none\n")
    return project


@pytest.mark.parametrize("path", ["poets.yaml", "test_rhymes.py"])
def test_four_files_make_a_kind(poets: Project, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.syspath_prepend(poets.path)
    monkeypatch.setenv("PYTHONPATH", str(poets.path), prepend=":")
    # A plugin adds its kind before the modules are imported that make tables of all kinds.
    result = poets.run_fresh(
        *("-p", "rhyme_kind", path, "--fcbench-suite=poets", "--fcbench-category=rhymes"),
        *("--fcbench-model=scripted:said.yaml", "--fcbench-mode=prompt", "--fcbench-gate=rhymes>=0.9"),
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*'I know none' does not rhyme*", "gate rhymes>=0.9: broken: *"])
    records = poets.records()
    assert records["poets:rhymes_1"]["category"] == "rhymes"
