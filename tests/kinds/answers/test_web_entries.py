"""Questions about a small web, read from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.formats.fields import Field, read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.answers.verdict import Answers
from tests.cases import each_case

QUESTION = """category: web_search
entries:
  - id: web_search_7
    query: How tall is it?
    answers: ["31", 31 metres]
    trail:
      - search: tall
      - read: http://a.example/
        finds: "31"
"""


def write_field(tmp_path: Path, text: str) -> Field:
    path = tmp_path / "web_search.yaml"
    path.write_text(text)
    return Field(read_yaml(path), path)


@pytest.mark.parametrize(("name", "shown"), [("web_search_base", True), ("web_search_no_snippet", False)])
def test_a_question_in_either_category(tmp_path: Path, name: str, shown: bool) -> None:
    (entry,) = entry_files.make_entries(write_field(tmp_path, QUESTION), "own", CATEGORIES[name])
    assert (entry.key, entry.turns[0][0].content) == (f"own:{name}_7", "How tall is it?")
    trail = (
        ("search_engine_query(keywords='tall')",),
        ("fetch_url_content(url='http://a.example/', mode='truncate')",),
    )
    assert entry.expectation == Answers(("31", "31 metres"), trail)
    assert entry.scene is not None
    assert entry.scene.config == {"web_search": {"show_snippet": shown}}
    assert [doc.name for doc in entry.functions] == ["search_engine_query", "fetch_url_content"]


@each_case(
    ("old", "new", "told"),
    [
        ('"31", 31 metres', "", r"web_search.yaml:5: entries.0.answers: must have at least one element"),
        ('"31", 31 metres', "31", r"entries.0.answers.0: must be text"),
        ('finds: "31"', "finds: tall", r"web_search.yaml:6: .*must end with a page on which an answer"),
        ("      - read", "      - fetch", r"unknown key 'fetch'"),
        ("web_search_7", "seven", r"yaml:3: entries.0.id: 'seven' must begin with 'web_search_'"),
        ("query:", "question:", r"web_search.yaml:4: .*unknown key 'question'"),
    ],
)
def test_what_is_broken_is_named(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(SuiteError, match=told):
        entry_files.make_entries(
            write_field(tmp_path, QUESTION.replace(old, new)), "own", CATEGORIES["web_search_base"]
        )
