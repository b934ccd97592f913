"""A text that a model must write letter by letter is one that somebody gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.environments import DOMAINS
from pytest_fcbench.environments.function_docs import document_domain
from pytest_fcbench.tools.audit import unsaid_texts
from tests.factories import make_multi_turn
from tests.tools.audit.made import list_findings, make_facts

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
