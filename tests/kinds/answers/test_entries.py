"""Scenarios of memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Message
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import read_row
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.answers import entries as memory
from pytest_fcbench.kinds.answers.verdict import Answers, Facts
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite
from tests.cases import each_case
from tests.factories import make_doc

TEXT = """\
category: memory
entries:
  - id: memory_places
    persona: You are attentive.
    conversations:
      - - I live in Bergen.
        - I was born in Oslo.
      - - I've moved to Voss.
    questions:
      - {query: Where do I live?, answers: [Voss], said: [I live in, moved to Voss]}
      - {query: Where was I born?, answers: [Oslo, Christiania], said: ["I was born in Oslo!"]}
"""


def _read_scenario(folder: Path, text: str = TEXT) -> memory.Scenario:
    path = folder / "places.yaml"
    path.write_text(text, encoding="utf-8")
    file = Field(read_yaml(path), path)
    (row,) = read_row(file, memory.ScenarioFile).entries
    return memory.make_scenario(row, file.at("entries", 0))


def test_each_question_goes_on_from_all_conversations(tmp_path: Path) -> None:
    doc = make_doc()
    first, second = _read_scenario(tmp_path).build_entries("core", CATEGORIES["memory_vector"], (doc,))
    assert (first.key, second.key) == ("core:memory_vector_places_0", "core:memory_vector_places_1")
    assert first.turns == ((Message("user", "Where do I live?"),),)
    assert second.expectation == Answers(("Oslo", "Christiania"))
    assert first.after is second.after
    one, two = first.earlier
    assert (one.id, two.id) == ("memory_vector_places_before_0", "memory_vector_places_before_1")
    assert one.after is None
    assert [turn[0].content for turn in one.turns] == ["I live in Bergen.", "I was born in Oslo."]
    assert one.functions == first.functions == (doc,)
    assert one.scene is not None
    assert (one.scene.domains, one.scene.persona) == (("memory_vector",), "You are attentive.")


def test_what_is_asked_for_is_a_fact_of_the_turn_that_says_it_last(tmp_path: Path) -> None:
    (entry, _) = _read_scenario(tmp_path).build_entries("core", CATEGORIES["memory_kv"], ())
    assert [before.expectation for before in entry.earlier] == [
        Facts(((), ("Where was I born? Oslo",))),
        Facts((("Where do I live? Voss",),)),
    ]


@each_case(
    ("old", "new", "says"),
    [
        (
            "answers: [Voss]",
            "answers: []",
            ":10: entries.0.questions.0.answers: must have at least one element",
        ),
        (
            "moved to Voss]",
            "moved to Rome]",
            ":10: entries.0.questions.0.said.1: no conversation says 'moved to Rome'",
        ),
        (
            "[I live in, moved to Voss]",
            "[]",
            ":10: entries.0.questions.0.said: must have at least one element",
        ),
        ("said: [I", "sayd: [I", "unknown key 'sayd'. Did you mean 'said'?"),
        (
            "      - - I've moved to Voss.\n",
            "      - []\n",
            "entries.0.conversations.1: must have at least one element",
        ),
        ("    persona: You are attentive.\n", "", "has no 'persona'"),
        ("answers: [Voss]", "answers: [7]", "must be text, not int 7"),
        ("id: memory_places", "id: places", ":3: entries.0.id: 'places' must begin with 'memory_'"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in TEXT
    with pytest.raises(SuiteError) as caught:
        _read_scenario(tmp_path, TEXT.replace(old, new))
    assert says in str(caught.value)


@pytest.fixture(scope="module")
def ours() -> Suite:
    return core.open_suite(Path())


def test_core_has_scenarios_of_some_size(ours: Suite) -> None:
    entries = ours.load(CATEGORIES["memory_kv"])
    questions: dict[str, int] = {}
    for entry in entries:
        questions[entry.id.split("_")[2]] = questions.get(entry.id.split("_")[2], 0) + 1
        assert len(entry.earlier) >= 3
        assert all(len(before.turns) >= 3 for before in entry.earlier)
    assert len(questions) == 5
    assert min(questions.values()) >= 8


def test_core_asks_all_memories_the_same(ours: Suite) -> None:
    asked = [
        [(entry.turns, entry.expectation, len(entry.earlier)) for entry in ours.load(CATEGORIES[name])]
        for name in SELECTIONS["memory"]
    ]
    assert asked[0] == asked[1] == asked[2]


def test_core_has_words_for_every_memory(ours: Suite) -> None:
    assert set(ours.wording.memory) == set(SELECTIONS["memory"])
    for text in ours.wording.memory.values():
        assert {"{persona}", "{memory}"} <= set(text.split())
    assert {"memory_kv", "memory_rec_sum"} == set(ours.wording.empty_memory)


def test_a_right_answer_is_not_in_the_question(ours: Suite) -> None:
    from pytest_fcbench.kinds.answers.verdict import states_answer

    for entry in ours.load(CATEGORIES["memory_kv"]):
        assert isinstance(entry.expectation, Answers)
        assert not any(
            states_answer(entry.turns[0][0].content, answer) for answer in entry.expectation.texts
        ), entry.id


def test_every_official_memory_category_has_its_questions(official: Mapping[str, Suite]) -> None:
    suite = official["bfcl"]
    for name in SELECTIONS["memory"]:
        entries = suite.load(CATEGORIES[name])
        assert len(entries) == 155
        assert len({before.key for entry in entries for before in entry.earlier}) == 37
        assert entries[0].id == f"{name}_0-customer-0"
        assert entries[0].earlier[0].id == f"{name}_prereq_0-customer-0"
        facts = [
            fact
            for before in {b.key: b for entry in entries for b in entry.earlier}.values()
            if isinstance(before.expectation, Facts)
            for turn in before.expectation.turns
            for fact in turn
        ]
        assert len(facts) == 155
    assert "{persona}" in suite.wording.memory["memory_kv"]
    assert suite.wording.empty_memory["memory_kv"] != suite.wording.empty_memory["memory_rec_sum"]


@pytest.fixture(scope="module")
def official(pack_cache: Path) -> Mapping[str, Suite]:
    from pytest_fcbench.suites.registry import open_suite

    return {"bfcl": open_suite("bfcl", pack_cache)}


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
