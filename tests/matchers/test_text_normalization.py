"""The comparison of texts that all matchers share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.matchers.text_normalization import standardize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("April 1, 2024", "april12024", id="space and comma"),
        pytest.param("a./-_*^b", "ab", id="all that is dropped"),
        pytest.param("St. John's", 'stjohn"s', id="single quote"),
        pytest.param("ÅNGSTRÖM", "ångström", id="case beyond ASCII"),
        pytest.param(" . ", "", id="nothing left"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_text_is_standardized(text: str, expected: str) -> None:
    assert standardize(text) == expected


@pytest.mark.parametrize("character", '\t\n()[]{}:;"+&#@!?%=<>|\\~`$’–')
def test_every_other_character_stays(character: str) -> None:
    assert standardize(f"a{character}b") == f"a{character}b"


@given(text=st.text(st.characters()))
def test_standardized_twice_is_standardized_once(text: str) -> None:
    assert standardize(standardize(text)) == standardize(text)


@given(text=st.text(st.characters(max_codepoint=127)))
def test_case_and_spaces_do_not_matter(text: str) -> None:
    assert standardize(text.upper()) == standardize(text) == standardize(" ".join(text))
