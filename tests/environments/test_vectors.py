"""Vectors that words and parts of words make."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.environments.world import embed_by_hash, measure_likeness


def compare_texts(one: str, other: str) -> float:
    first, second = embed_by_hash([one, other])
    return measure_likeness(first, second)


@given(st.text())
def test_vectors_have_length_1_or_none(text: str) -> None:
    (vector,) = embed_by_hash([text])
    assert math.hypot(*vector) == pytest.approx(1) or not any(vector)


@given(st.text(), st.text())
def test_likeness_is_mutual_and_between_0_and_1(one: str, other: str) -> None:
    assert 0 <= compare_texts(one, other) == compare_texts(other, one) <= 1


@given(st.lists(st.text(), max_size=4), st.text())
def test_no_text_changes_the_vector_of_another(others: list[str], text: str) -> None:
    assert embed_by_hash([*others, text])[-1] == embed_by_hash([text])[0]


def test_what_shares_words_is_nearer() -> None:
    query = "What colour is the wheelbarrow?"
    assert compare_texts(query, "The wheelbarrow is green.") > compare_texts(
        query, "The rehearsal is on Wednesday."
    )
    assert compare_texts("two bicycles", "a bicycle") > compare_texts("two bicycles", "a car")
    assert compare_texts("STRASSE café", "Straße cafe") == 1.0
    assert compare_texts("", "anything") == 0.0


def test_every_machine_makes_the_same() -> None:
    vector = embed_by_hash(["ab"])[0]
    found = {place: round(value, 4) for place, value in enumerate(vector) if value}
    assert len(found) == 3
    assert sorted(found.values()) == [0.3015, 0.3015, 0.9045]
