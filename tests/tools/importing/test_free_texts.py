"""Parameters with free text, and those whose values are only various."""

from __future__ import annotations

from pytest_fcbench.domain.entry import Message, PastCall
from pytest_fcbench.tools.importing.free_texts import ValueStatistics
from pytest_fcbench.tools.importing.next_steps import NextStep
from tests.tools.importing.made import TOOLS


def _make_step(body: str, said: str = "Write to her.", to: str = "a@b.example") -> NextStep:
    return NextStep(
        (Message("user", said),), "", (PastCall("send_mail", {"to": to, "body": body}),), tuple(TOOLS)
    )


def test_long_texts_that_were_not_said_are_free() -> None:
    statistics = ValueStatistics()
    for number in range(4):
        found = statistics.add_step(_make_step(f"Dear Ann, this is my letter number {number}."))
        assert found == (("send_mail", "to"), ("send_mail", "body"))
    assert statistics.find_free_texts() == {("send_mail", "body"): 4}


def test_long_texts_that_the_question_has_are_not_free() -> None:
    statistics = ValueStatistics()
    for number in range(4):
        body = f"Dear Ann, this is my letter number {number}."
        statistics.add_step(_make_step(body, said=f"Write: {body}"))
    assert statistics.find_free_texts() == {}


def test_a_long_text_that_is_always_the_same_is_not_free() -> None:
    statistics = ValueStatistics()
    for _ in range(4):
        statistics.add_step(_make_step("with kind regards from all of us"))
    assert statistics.find_free_texts() == {}
