"""Texts that were seen before, and texts that only look like them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.tools.importing.near_duplicates import SeenTexts

LONG = " ".join(f"word{number}" for number in range(100))


def test_a_text_is_like_itself_in_other_case_and_punctuation() -> None:
    seen = SeenTexts()
    assert not seen.add_text("What is the weather in Bergen?")
    assert seen.add_text("what is the weather, in Bergen")


def test_a_long_text_with_one_other_word_was_seen() -> None:
    seen = SeenTexts()
    seen.add_text(LONG)
    assert seen.add_text(LONG.replace("word50", "else"))


def test_short_texts_with_another_value_are_new() -> None:
    seen = SeenTexts()
    assert not any(
        seen.add_text(f"What is the weather in {city}?") for city in ("Bergen", "Oslo", "Rome", "Bonn")
    )


@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=30))
def test_every_text_is_found_again(others: list[str], text: str) -> None:
    seen = SeenTexts()
    seen.add_text(text)
    for other in others:
        seen.add_text(other)
    assert seen.add_text(text)
