"""Reasoning is separated from the answer behind it, and nothing of the text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.reasoning import (
    drop_official_reasoning,
    drop_reasoning,
    find_reasoning,
    separate_reasoning,
)
from pytest_fcbench.domain.transcript import Completion

PIECES = st.sampled_from(
    ["<think>", "</think>", "<|thought_start|>", "<|thought_end|>", "\n", "[f(a=1)]", "é "]
)


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>\nThe user wants f.\n</think>\n\n[f()]", "The user wants f.", "[f()]"),
        # Templates of some servers begin the reasoning themselves.
        ("The user wants f.\n</think>[f()]", "The user wants f.", "[f()]"),
        ("Sure. <think>a</think>b</think>[f()]", "a", "[f()]"),
        ("<|thought_start|>\na\n<|thought_end|>\n[f()]", "a", "[f()]"),
        ("<think></think>", "", ""),
        ("<think>\n\n</think>\n", "", ""),
    ],
)
def test_reasoning_ends_at_the_first_mark_and_the_answer_begins_behind_the_last(
    text: str, reasoning: str, answer: str
) -> None:
    separated, _ = separate_reasoning(Completion(text=text))
    assert (separated.reasoning, separated.text) == (reasoning, answer)
    assert drop_reasoning(text) == answer


@pytest.mark.parametrize("text", ["[f()]", "<think>The user wants", "<|thought_start|>a", ""])
def test_a_text_without_the_mark_of_an_end_has_no_reasoning(text: str) -> None:
    assert find_reasoning(text) is None
    assert separate_reasoning(Completion(text=text)) == (Completion(text=text), None)


def test_reasoning_in_its_own_field_is_left_alone() -> None:
    completion = Completion(text="a</think>b", reasoning="c")
    assert separate_reasoning(completion) == (completion, None)


def test_only_one_mark_ends_reasoning_officially() -> None:
    assert drop_official_reasoning("a</think>\n\nb") == "b"
    assert drop_official_reasoning("\n<|thought_end|>b") == "\n<|thought_end|>b"


@given(st.lists(PIECES).map("".join))
def test_the_parts_of_a_text_are_the_text(text: str) -> None:
    if marked := find_reasoning(text):
        assert marked.opening + marked.reasoning + marked.closing + marked.answer == text
