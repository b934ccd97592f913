"""Texts that are empty, damaged, or do not say what the truth wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Entry, Message, PastCall
from pytest_fcbench.environments.environment import document_domain
from pytest_fcbench.environments.execution import DOMAINS
from pytest_fcbench.tools.audit import texts
from pytest_fcbench.tools.audit import texts as unsaid_texts
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_multi_turn
from tests.tools.audit.made import list_findings, make_facts


def test_a_question_that_says_nothing() -> None:
    facts = make_facts(make_entry(query=" \n"), make_entry("multiple"))
    assert list_findings(texts.find_empty_texts, facts) == [
        ("simple_python_0", "certain", "no message of the user has a text")
    ]


def test_a_message_without_a_text() -> None:
    entry = replace(make_entry(), turns=((Message("system", ""), Message("user", "Hello")),))
    assert list_findings(texts.find_empty_texts, make_facts(entry)) == [
        ("simple_python_0", "likely", "messages without a text: ['system']")
    ]


def test_a_message_with_a_call_needs_no_text() -> None:
    said = Message("assistant", "", (PastCall("f", {}),)), Message("tool", "fine"), Message("user", "Again")
    entry = replace(make_entry("next_call"), turns=(said,))
    assert list_findings(texts.find_empty_texts, make_facts(entry)) == []


def test_a_turn_without_messages_is_meant_so() -> None:
    assert (
        list_findings(texts.find_empty_texts, make_facts(make_multi_turn(("Go on", []), ("", ["f()"])))) == []
    )


def test_a_function_that_nobody_described_is_told_once() -> None:
    bare = replace(make_doc("f"), description="  ")
    facts = make_facts(make_entry(functions=[bare]), make_entry("multiple", functions=[bare]))
    assert list_findings(texts.find_empty_texts, facts) == [
        ("simple_python_0", "likely", "f has no description")
    ]


@each_case(
    ("text", "severity", "evidence"),
    [
        ("to \x1b[31mBergen", "certain", r"turn 1: U+001B in 'to \x1b[31mBergen'"),
        ("na\ufffdve", "certain", "turn 1: U+FFFD in 'na\ufffdve'"),
        ("lone \ud800 half", "certain", r"turn 1: U+D800 in 'lone \ud800 half'"),
        ("in MÃ¼nchen", "likely", "turn 1: 'Ã¼' is 'ü' in a wrong encoding, in 'in MÃ¼nchen'"),
        ("the cityâ€™s", "likely", "turn 1: 'â€™' is '’' in a wrong encoding, in 'the cityâ€™s'"),
        ("zero\u200bwidth", "hint", r"turn 1: U+200B, which is invisible, in 'zero\u200bwidth'"),
    ],
)
def test_damaged_texts_are_found(text: str, severity: str, evidence: str) -> None:
    assert list_findings(texts.find_damaged_texts, make_facts(make_entry(query=text))) == [
        ("simple_python_0", severity, evidence)
    ]


@each_case(
    "text",
    [
        "a\tb\r\nc",
        "Ærlig Øre på Ås",
        "“quoted” – dashed…",
        "東京の天気は?",
        "Ā¿Qué? São",
        "👩‍🚀 with a joiner",
    ],
)
def test_text_that_is_as_it_should_be(text: str) -> None:
    assert list_findings(texts.find_damaged_texts, make_facts(make_entry(query=text))) == []


def test_damage_in_a_doc_is_told_once() -> None:
    doc = make_doc("f", {"x": {"type": "string", "description": "a\x00b"}})
    facts = make_facts(make_entry(functions=[doc]), make_entry("multiple", functions=[doc]))
    assert list_findings(texts.find_damaged_texts, facts) == [
        ("simple_python_0", "certain", r"f.x: U+0000 in 'a\x00b'")
    ]


@each_case(
    ("accepted", "evidence"),
    [
        (["Bergen"], []),
        (["Oslo", "bergen"], []),
        (["Oslo", "Moss"], ["weather.forecast.city: none of ['Oslo', 'Moss'] occurs in the question"]),
        ([3], []),
    ],
)
def test_values_that_the_question_does_not_name(accepted: list[object], evidence: list[str]) -> None:
    facts = make_facts(make_entry(expect=[{"weather.forecast": {"city": accepted}}]))
    assert [text for *_, text in list_findings(texts.find_unnamed_values, facts)] == evidence


def test_what_may_be_left_out_or_is_one_of_an_enum_need_not_be_named() -> None:
    doc = make_doc(
        "f", {"x": {"type": "string", "enum": ["celsius"]}, "y": {"type": "string"}}, required=["x"]
    )
    entry = make_entry(functions=[doc], expect=[{"f": {"x": ["celsius"], "y": ["so", ""]}}])
    assert list_findings(texts.find_unnamed_values, make_facts(entry)) == []


DOCS = tuple(document_domain(DOMAINS["file_system"]))
FILES = {
    "root": {
        "home": {
            "type": "directory",
            "contents": {"notes.txt": {"type": "file", "content": "Buy seven tins of blue paint\nCall Ada"}},
        }
    }
}


def make_writing_entry(*turns: tuple[str, Sequence[str]]) -> Entry:
    entry = make_multi_turn(*turns, functions=DOCS, domains=["file_system"])
    assert entry.scene
    return replace(entry, scene=replace(entry.scene, config={"file_system": FILES}))


def find_texts(*turns: tuple[str, Sequence[str]]) -> list[tuple[str, str, str]]:
    return list_findings(unsaid_texts.find_unsaid_texts, make_facts(make_writing_entry(*turns)))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        pytest.param("Write: The hall is free on Monday.", "The hall is free on Monday.", id="the question"),
        pytest.param("Copy my notes", "Buy seven tins of blue paint\\nCall Ada", id="the initial state"),
        pytest.param("Shorten it", "Two words only", id="few words"),
    ],
)
def test_a_text_that_somebody_gave_is_no_flaw(question: str, text: str) -> None:
    assert find_texts((question, [f"echo(content='{text}', file_name='notes.txt')"])) == []


def test_a_form_of_words_may_be_filled_in_with_a_value_that_was_given() -> None:
    written = "echo(content='The hall holds 80 people.', file_name='notes.txt')"
    form = ("Write The hall holds N people.", [written])
    assert find_texts(("There are 80 seats", ["ls()"]), form) == []
    assert find_texts(("There are 90 seats", ["ls()"]), form)


def test_a_text_that_a_result_gave_is_no_flaw() -> None:
    written = """echo(content='{"count": 2, "type": "lines"}', file_name='notes.txt')"""
    counted = ("Count the lines", ["wc(file_name='notes.txt', mode='l')"])
    assert find_texts(counted, ("Write what it said", [written])) == []
    assert find_texts(("Look around", ["ls()"]), ("Write what it said", [written]))
    # The file is written by a call that is no text of many words.
    emptied = ("Count again when it is empty", ["echo(content='', file_name='notes.txt')", *counted[1]])
    assert find_texts(counted, emptied, ("Write what it said first", [written])) == []


def test_a_text_that_differs_by_some_letters_is_likely_a_mistake() -> None:
    written = "echo(content='Buy seven tins of blue paint Call Ada', file_name='notes.txt')"
    ((entry, severity, evidence),) = find_texts(("Write my notes to notes.txt as they are", [written]))
    assert (entry, severity) == ("multi_turn_base_0", "likely")
    assert evidence == (
        "turn 1: content of echo is nearly what the initial state holds, but not letter by letter: "
        "'Buy seven tins of blue paint Call Ada'"
    )


def test_a_text_that_nobody_gave_is_a_hint() -> None:
    written = "echo(content='All our guests loved the evening', file_name='notes.txt')"
    ((_, severity, evidence),) = find_texts(("Write something nice to n.txt", [written]))
    assert severity == "hint"
    assert evidence == (
        "turn 1: content of echo is a text that no question and no result contains: "
        "'All our guests loved the evening'"
    )


def test_a_text_that_changes_nothing_is_no_flaw() -> None:
    searched = "grep(file_name='notes.txt', pattern='words that stand in no file')"
    assert find_texts(("Search", [searched])) == []


def test_what_cannot_be_read_is_left_to_other_checks() -> None:
    assert find_texts(("Write", ["echo(content='All our guests loved"])) == []
