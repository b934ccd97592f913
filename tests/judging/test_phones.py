"""A telephone number is one number however it is written, and no other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.judging.phones import is_same_phone
from tests.cases import each_case

SAME = [
    ("+1 415 555 2671", "(415) 555-2671"),
    ("415.555.2671", "4155552671"),
    ("1-212-555-0187", "+1 212 555 0187"),
    ("+44 20 7946 0958", "020 7946 0958"),
    ("0044 20 7946 0958", "+44 (0)20 7946 0958"),
    ("011 44 20 7946 0958", "+442079460958"),
    ("tel:+4722334455", "22 33 44 55"),
    ("415-555-2671 x5", "(415) 555-2671 ext. 5"),
]
DIFFERENT = [
    ("+1 415 555 2671", "+1 415 555 2672"),
    ("+1 415 555 2671", "555-2671"),
    ("+49 20 7946 0958", "020 7946 0958"),
    ("+52 212 555 0187", "(212) 555-0187"),
    ("+47 22 33 44 55", "+46 22 33 44 55"),
    ("415-555-2671 x5", "415-555-2671"),
    ("0800 123456", "0900 123456"),
    ("+999 123 4567", "123 4567"),
]


@each_case(("one", "other"), SAME)
def test_writings_of_one_number(one: str, other: str) -> None:
    assert is_same_phone(one, other) is True
    assert is_same_phone(other, one) is True


@each_case(("one", "other"), DIFFERENT)
def test_two_numbers(one: str, other: str) -> None:
    assert is_same_phone(one, other) is False
    assert is_same_phone(other, one) is False


@each_case("text", ["", "call me", "1-800-FLOWERS", "12", "+", "5" * 100, "٥٥٥٥٥٥٥"])
def test_what_is_no_number(text: str) -> None:
    assert is_same_phone(text, "+1 415 555 2671") is None


@given(st.text(max_size=70) | st.from_regex(r"[+\d ()x.-]{1,70}"))
def test_any_text_is_compared(text: str) -> None:
    assert is_same_phone(text, text) in (True, None)


def test_where_no_number_is_asked_for_only_the_same_are_told() -> None:
    assert is_same_phone("+1 415 555 2671", "(415) 555-2671", is_asked_for=False) is True
    for one, other in (("+1 415 555 2671", "+1 415 555 2672"), ("4155552671", "415-555-2671"), ("+5", "5")):
        assert is_same_phone(one, other, is_asked_for=False) is None
    assert is_same_phone(4155552671, "415-555-2671") is None
