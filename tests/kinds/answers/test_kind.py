"""Lines of official score files on final answers."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.entry import Entry, Message
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import AskModel, Call, Transcript
from pytest_fcbench.kinds.answers import kind as memory_recall
from pytest_fcbench.kinds.answers.verdict import Answers, Facts
from tests.cases import each_case
from tests.factories import make_entry, make_transcript
from tests.kinds.official_rows import QUESTION, write_and_read_row

ENTRY = replace(make_entry("memory_kv"), expectation=Answers(("Oslo",)))


def describe_error(answer: str | Transcript) -> tuple[object, ...] | None:
    row = write_and_read_row(ENTRY, answer, ["Oslo"])
    if row is None:
        return None
    error = row["error"]
    assert isinstance(error, dict)
    shown = [name for name in row if name.startswith(("model_r", "last_"))]
    return error["error_type"], list(error), shown, row["prompt"]


def test_what_is_shown_of_a_final_answer() -> None:
    assert describe_error("It is Oslo.") is None
    assert describe_error("It is Bergen.") == (
        "agentic:answer_not_found",
        ["error_message", "error_type", "details"],
        ["model_result_raw", "last_non_fc_message"],
        QUESTION["question"],
    )
    assert describe_error("") == (
        "agentic:no_last_message",
        ["error_message", "error_type"],
        ["model_result", "model_result_decoded"],
        QUESTION,
    )
    answered = make_transcript("It is Oslo.")
    assert describe_error(replace(answered, turns=answered.turns * 2)) == (
        "agentic:inference_error",
        ["error_message", "error_type"],
        ["model_result"],
        QUESTION,
    )


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


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
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


@each_case("mode", [Mode.FC, Mode.PROMPT])
@each_case(
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
