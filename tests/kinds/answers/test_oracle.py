"""How the oracle uses a memory."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import AskModel, Call
from pytest_fcbench.kinds.answers import oracle as memory_recall
from pytest_fcbench.kinds.answers.truth import Answers, Facts
from tests.factories import make_entry

BEFORE = replace(
    make_entry("memory_kv", functions=[]),
    turns=((Message("user", "I live in Voss."),), (Message("user", "Bye."),)),
    expectation=Facts((("Where do I live? Voss",), ())),
)


def make_question(category: str) -> Entry:
    entry = make_entry(category, functions=[], query="Where do I live?")
    return replace(entry, expectation=Answers(("Voss",)), after=BEFORE)


@pytest.mark.parametrize(
    ("category", "call"),
    [
        ("memory_kv", Call("archival_memory_add", {"key": "fact_0_0_0", "value": "Where do I live? Voss"})),
        ("memory_vector", Call("archival_memory_add", {"text": "Where do I live? Voss"})),
        ("memory_rec_sum", Call("memory_append", {"text": "Where do I live? Voss\n"})),
    ],
)
def test_facts_are_kept_in_their_turn(category: str, call: Call) -> None:
    entry = replace(BEFORE, category=make_question(category).category)
    assert isinstance(entry.expectation, Facts)
    assert memory_recall.store_facts(entry, entry.expectation, 0) == [call]
    assert memory_recall.store_facts(entry, entry.expectation, 1) == []


def _make_request(mode: Mode, *results: str, step: int = 1) -> AskModel:
    """Make the request after calls that returned this."""
    calls = [f"f{number}()" for number in range(len(results))]
    made = presenting.build_result_messages((), calls, results, 0, 0)
    if mode is Mode.FC:
        made = [{"role": "tool", "tool_call_id": "x", "content": text} for text in results]
    asked = {"role": "user", "content": "Where do I live?"}
    return AskModel(({"role": "system", "content": "Voss?"}, asked, *made), (), 0, step)


@pytest.mark.parametrize("mode", Mode)
def test_names_are_found_first_and_texts_by_these(mode: Mode) -> None:
    entry = make_question("memory_kv")
    assert memory_recall.search_memory(entry, AskModel(())) == [Call("archival_memory_list_keys", {})]
    found = _make_request(mode, '{"keys": ["fact_0_0_0", "other", "fact_1_2_0"]}')
    assert memory_recall.search_memory(entry, found) == [
        Call("archival_memory_retrieve", {"key": key}) for key in ("fact_0_0_0", "fact_1_2_0")
    ]
    assert memory_recall.search_memory(entry, _make_request(mode, '{"keys": []}')) == []
    assert memory_recall.search_memory(entry, _make_request(mode, "{}", step=2)) == []


def test_the_other_memories_are_looked_at_once() -> None:
    (searched,) = memory_recall.search_memory(make_question("memory_vector"), AskModel(()))
    assert searched.arguments == {"query": "Where do I live?", "top_k": 50}
    assert memory_recall.search_memory(make_question("memory_rec_sum"), AskModel(())) == [
        Call("memory_retrieve", {})
    ]
    assert memory_recall.search_memory(make_question("memory_rec_sum"), AskModel((), step=1)) == []


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ('{"value": "Where do I live? Voss"}', "Voss"),
        ('{"result": [{"id": 0, "text": "I live in Voss"}]}', "Voss"),
        ("Voss it is", "Voss"),
        ('{"value": "Bergen"}', memory_recall.UNKNOWN),
    ],
)
def test_only_what_was_found_is_answered(mode: Mode, result: str, answer: str) -> None:
    """What stands in the question, or is told by the system, is not found."""
    said = memory_recall.write_answer(
        make_question("memory_kv"), Answers(("Voss",)), _make_request(mode, result)
    )
    assert ast.literal_eval(said)["answer"] == answer


def test_what_was_returned_keeps_its_letters() -> None:
    for mode in Mode:
        assert memory_recall.collect_results(
            _make_request(mode, '{"value": "\\u00c5l, it\'s \\"x\\""}').messages
        ) == ['Ål, it\'s "x"']
