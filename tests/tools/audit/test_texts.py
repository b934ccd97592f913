"""Texts that are empty, damaged, or do not say what the truth wants."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.entry import Message, PastCall
from pytest_fcbench.tools.audit import texts
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
