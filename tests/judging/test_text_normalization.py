"""The comparison of texts that all matchers share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.judging.text_normalization import (
    mark_lookalikes,
    standardize,
    unify_forms,
    unify_texts,
)
from tests.cases import each_case


@each_case(
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


@each_case("character", '\t\n()[]{}:;"+&#@!?%=<>|\\~`$’–')
def test_every_other_character_stays(character: str) -> None:
    assert standardize(f"a{character}b") == f"a{character}b"


@given(text=st.text(st.characters()))
def test_standardized_twice_is_standardized_once(text: str) -> None:
    assert standardize(standardize(text)) == standardize(text)


@given(text=st.text(st.characters(max_codepoint=127)))
def test_case_and_spaces_do_not_matter(text: str) -> None:
    assert standardize(text.upper()) == standardize(text) == standardize(" ".join(text))


@each_case(
    ("text", "unified"),
    [
        pytest.param("Ko\u0308ln", "Köln", id="decomposed"),
        pytest.param("New\u00a0York\u202fCity", "New York City", id="no-break spaces"),
        pytest.param("‘a’ “b”", "'a' \"b\"", id="curly quotes"),
        pytest.param("".join(map(chr, [*range(0x2010, 0x2016), 0x2212])), "-------", id="hyphens"),
        pytest.param("Koln №5 ½ «a»", "Koln №5 ½ «a»", id="others stay"),
    ],
)
def test_forms_of_unicode_become_one(text: str, unified: str) -> None:
    assert unify_forms(text) == unified
    assert unify_texts({text: [text, (text, 1)]}) == {unified: [unified, (unified, 1)]}


def test_a_value_that_is_nested_too_deep_is_left_as_it_is() -> None:
    deep: object = "Ko\u0308ln"
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(unify_texts(deep), list)


@each_case(
    ("found", "expected", "shown"),
    [
        pytest.param("'Ko\u0308ln'", "['Köln']", (r"'Ko\u0308ln'", r"['K\u00f6ln']"), id="decomposed"),
        pytest.param("'it’s'", "'it\u0027s'", (r"'it\u2019s'", "'it\u0027s'"), id="curly quote"),
        pytest.param("to 10\u201320", "10-20", (r"to 10\u201320", "10-20"), id="within a sentence"),
        pytest.param("'Кöln'", "'Köln'", (r"'\u041aöln'", "'Köln'"), id="letter of another script"),
        pytest.param("'Köln'", "'Bonn'", ("'Köln'", "'Bonn'"), id="other text"),
        pytest.param("'Köln', 'a'", "['Köln', 'b']", ("'Köln', 'a'", "['Köln', 'b']"), id="same text"),
    ],
)
def test_texts_that_look_alike_show_in_what_they_differ(
    found: str, expected: str, shown: tuple[str, str]
) -> None:
    assert mark_lookalikes(found, expected) == shown
