"""The comparison of texts that all matchers share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.explanation import StateDifference
from pytest_fcbench.judging.text_normalization import (
    find_differences,
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


CASES: Mapping[str, tuple[object, object, list[str]]] = {
    "equal": ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, []),
    "equal numbers": ([3, True], [3.0, 1], []),
    "equal in another order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
    "value": ({"a": 1}, {"a": 2}, ["a is 2, expected 1"]),
    "type": ({"a": 1}, {"a": "1"}, ["a is '1', expected 1"]),
    "none": ({"a": None}, {"a": 0}, ["a is 0, expected None"]),
    "added key": ({}, {"a": 1}, ["a is 1, which should not be there"]),
    "missing key": ({"a": 1}, {}, ["a is missing, expected 1"]),
    "missing none": ({"a": None}, {}, ["a is missing, expected None"]),
    "another key": ({"a": 1}, {"b": 1}, ["a is missing, expected 1", "b is 1, which should not be there"]),
    "nested": ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 1, "d": 3}}}, ["a.b.d is 3, expected 2"]),
    "element": ({"a": [1, 2, 3]}, {"a": [1, 5, 3]}, ["a[1] is 5, expected 2"]),
    "added element": (
        {"a": [1]},
        {"a": [1, 2, 3]},
        [f"a[{i}] is {i + 1}, which should not be there" for i in (1, 2)],
    ),
    "missing element": ({"a": [1, 2]}, {"a": [1]}, ["a[1] is missing, expected 2"]),
    "element of an element": ({"a": [[1], [2]]}, {"a": [[1], [3]]}, ["a[1][0] is 3, expected 2"]),
    "dict in a list": ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ["a[0].b is 2, expected 1"]),
    "number as key": ({1: {2: 3}}, {1: {2: 4}}, ["1.2 is 4, expected 3"]),
    "text and number as key": (
        {"1": 3},
        {1: 3},
        ["1 is missing, expected 3", "1 is 3, which should not be there"],
    ),
    "dict and list": ({"a": {}}, {"a": []}, ["a is [], expected {}"]),
    "tuple is no list": ({"a": (1,)}, {"a": (2,)}, ["a is (2,), expected (1,)"]),
    "tuple and list": ({"a": (1,)}, {"a": [1]}, ["a is [1], expected (1,)"]),
    "set": ({"a": {1}}, {"a": {2}}, ["a is {2}, expected {1}"]),
    "several": (
        {"a": 1, "b": [1, 2], "c": 3},
        {"a": 2, "b": [1, 3], "d": 4},
        [
            "a is 2, expected 1",
            "b[1] is 3, expected 2",
            "c is missing, expected 3",
            "d is 4, which should not be there",
        ],
    ),
    "any mapping": (MappingProxyType({"a": 1}), {"a": 2}, ["a is 2, expected 1"]),
    "control characters": ({"a": "\x1b"}, {"a": "\n"}, ["a is '\\n', expected '\\x1b'"]),
}


@each_case(("expected", "found", "sentences"), CASES.values(), ids=CASES)
def test_each_difference_is_said_in_a_sentence(expected: object, found: object, sentences: list[str]) -> None:
    assert list(map(str, find_differences(expected, found))) == sentences


def test_parts_of_a_difference() -> None:
    assert list(find_differences({"a": 1, "b": 2}, {"a": 3, "c": 4})) == [
        StateDifference("a", "1", "3"),
        StateDifference("b", "2", None),
        StateDifference("c", None, "4"),
    ]


def test_places_begin_where_one_says() -> None:
    assert [difference.at for difference in find_differences({"a": [1]}, {"a": [2]}, "root")] == ["root.a[0]"]
    assert list(find_differences(1, 2)) == [StateDifference("", "1", "2")]


def test_they_come_one_by_one() -> None:
    found = find_differences(list(range(10**6)), list(range(1, 10**6 + 1)))
    assert str(next(found)) == "[0] is 1, expected 0"


def find_only_difference(expected: object, found: object) -> tuple[str, str]:
    """Return both values of the only difference."""
    (difference,) = find_differences(expected, found)
    assert difference.expected is not None
    assert difference.found is not None
    return difference.expected, difference.found


ALPHA = "abcdefghij" * 100
LONG: Mapping[str, tuple[str, str, str, str]] = {
    "at the beginning": ("X" + ALPHA, "Y" + ALPHA, "X" + ALPHA[:9], "Y" + ALPHA[:9]),
    "in the middle": (f"{ALPHA}X{ALPHA}", f"{ALPHA}Y{ALPHA}", "hijXabc", "hijYabc"),
    "at the end": (ALPHA + "X", ALPHA + "Y", "hijX'", "hijY'"),
    "one is longer": (ALPHA, ALPHA + "XYZ", "hij'", "hijXYZ'"),
    "one is much longer": (ALPHA, ALPHA * 3, "hij'", "hijabc"),
    "one is short": ("abc", ALPHA, "'abc'", "'abcdef"),
    "one is empty": ("", ALPHA, "''", "'abcdef"),
}


@each_case(("expected", "found", "one", "other"), LONG.values(), ids=LONG)
def test_long_texts_are_cut_around_the_first_difference(
    expected: str, found: str, one: str, other: str
) -> None:
    left, right = find_only_difference(expected, found)
    assert one in left
    assert other in right
    assert max(len(left), len(right)) <= 62


def test_a_cut_is_marked() -> None:
    left, right = find_only_difference(f"{ALPHA}X{ALPHA}", f"{ALPHA}Y{ALPHA}")
    assert left == "…" + ALPHA[-20:] + "X" + ALPHA[:39] + "…"
    assert right == left.replace("X", "Y")
    assert find_only_difference("a" * 58, "b" * 58) == (repr("a" * 58), repr("b" * 58))


@pytest.mark.parametrize("value", ["x" * 1_000, ["x"] * 1_000, dict.fromkeys(range(1_000))])
def test_a_long_value_that_is_only_on_one_side_is_cut_at_its_end(value: object) -> None:
    (missing,) = find_differences({"a": value}, {})
    (added,) = find_differences({}, {"a": value})
    assert missing.expected == added.found == f"{repr(value)[:59]}…"


def make_cycle() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


def make_deep_list() -> list[object]:
    found: list[object] = []
    for _ in range(10**5):
        found = [found]
    return found


UNSHOWN: Mapping[str, tuple[object, str]] = {
    "a number that Python does not write": (10**5_000, "<int>"),
    "a list of it": ([10**5_000], "<list>"),
    "a list that lies in itself": (make_cycle(), "[[...]]"),
    "a list too deep": (make_deep_list(), "<list>"),
}


@each_case(("value", "text"), UNSHOWN.values(), ids=UNSHOWN)
def test_values_that_cannot_be_shown(value: object, text: str) -> None:
    assert find_only_difference({"a": 1}, {"a": value}) == ("1", text)
    assert list(find_differences({}, {"a": value})) == [StateDifference("a", None, text)]


# Laws

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, width=16)
    | st.text(max_size=90)
)
STATES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12,
)
_STEP = re.compile(r"\.?([a-d])|\[(\d+)\]")
NOTHING = object()


def look_up_place(state: Any, place: str) -> object:
    """Return what stands at a place, NOTHING where it does not exist."""
    steps = [int(index) if index else key for key, index in _STEP.findall(place)]
    for step in steps:
        try:
            state = state[step]
        except (KeyError, IndexError):
            return NOTHING
    return state


@given(STATES)
def test_a_state_does_not_differ_from_itself(state: object) -> None:
    assert list(find_differences(state, state)) == []


@given(STATES, STATES)
def test_there_are_differences_where_values_differ(expected: object, found: object) -> None:
    assert (not list(find_differences(expected, found))) == (expected == found)


@given(
    st.tuples(STATES, STATES)
    | STATES.flatmap(lambda state: st.tuples(st.just(state), change_somewhere(state)))
)
def test_each_difference_is_at_another_place_and_true(pair: tuple[object, object]) -> None:
    expected, found = pair
    differences = list(find_differences(expected, found))
    assert len({difference.at for difference in differences}) == len(differences)
    for difference in differences:
        one, other = look_up_place(expected, difference.at), look_up_place(found, difference.at)
        assert one != other
        assert (one is NOTHING) == (difference.expected is None)
        assert (other is NOTHING) == (difference.found is None)
        assert difference.expected != difference.found
        assert max(len(difference.expected or ""), len(difference.found or "")) <= 62


@given(
    st.tuples(STATES, STATES)
    | STATES.flatmap(lambda state: st.tuples(st.just(state), change_somewhere(state)))
)
def test_the_other_way_round_the_same_places_differ(pair: tuple[object, object]) -> None:
    one, other = pair
    there, back = list(find_differences(one, other)), list(find_differences(other, one))
    assert {d.at: (d.expected, d.found) for d in there} == {d.at: (d.found, d.expected) for d in back}


def change_somewhere(state: object) -> st.SearchStrategy[object]:
    """Draw the state with something else somewhere in it."""
    if isinstance(state, dict) and state:
        key = st.sampled_from(sorted(state))
        return key.flatmap(lambda k: change_somewhere(state[k]).map(lambda new: {**state, k: new}))
    if isinstance(state, list) and state:
        index = st.integers(0, len(state) - 1)
        return index.flatmap(
            lambda i: change_somewhere(state[i]).map(lambda new: [*state[:i], new, *state[i + 1 :]])
        )
    return STATES if not isinstance(state, str) else st.text(max_size=3).map(lambda more: state + more)


ONES = "1" * 100


@each_case(
    ("expected", "found", "shown"),
    [
        pytest.param(
            "2" + ONES[:59], "3" + ONES[:59], ("2" + ONES[:59], "3" + ONES[:59]), id="as long as may be"
        ),
        pytest.param(
            "2" + ONES[:59], "3" + ONES[:60], ("2" + ONES[:59], "3" + ONES[:59] + "…"), id="one is longer"
        ),
        pytest.param(
            ONES[:70], ONES[:75], ("…" + ONES[:20], "…" + ONES[:25]), id="one begins like the other"
        ),
        pytest.param(ONES[:95], ONES[:70], ("…" + ONES[:45], "…" + ONES[:20]), id="and the other way round"),
    ],
)
def test_long_numbers_are_cut_around_their_first_difference(
    expected: str, found: str, shown: tuple[str, str]
) -> None:
    """Numbers, as their texts have no quotes at the end, in which they would differ."""
    (difference,) = find_differences(int(expected), int(found))
    assert (difference.expected, difference.found) == shown
