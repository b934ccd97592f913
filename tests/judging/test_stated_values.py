"""A final answer is right in any writing of its value, and refused where it offers another beside it."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.judging.stated_values import find_rival, find_values, has_right_value
from pytest_fcbench.kinds.answers.verdict import states_answer
from tests.cases import each_case

REFUSED: list[tuple[str, Sequence[str]]] = [
    ("either 31 or 32", ("31",)),
    ("31 or 32", ("31",)),
    ("31 or 32", ("32",)),
    ("31/32", ("31",)),
    ("31, 32", ("31",)),
    ("31 and 32", ("31",)),
    ("It is 31, maybe 32.", ("31",)),
    ("It could be 31, but it might also be 32.", ("31",)),
    ("The answer is 31. Wait, the answer is 32.", ("32",)),
    ("between 31 and 32", ("32",)),
    ("31-32", ("31",)),
    ("31 or possibly 32 people", ("31",)),
    ("31 or 32 years", ("31",)),
    ("$49.99 or $59.99", ("$49.99",)),
    ("9 AM or 10 AM", ("09:00",)),
    ("9am/10am", ("9am",)),
    ("4 July 2025 or 5 July 2025", ("2025-07-04",)),
    ("Oslo or Bergen", ("Oslo",)),
    ("either Bergen or Oslo", ("Oslo",)),
    ("**Oslo** or **Bergen**", ("Oslo",)),
    ("yes or no", ("yes",)),
    ("a pen or a glue stick", ("Glue Stick",)),
    ("2019 or 2020", ("2019",)),
    ("probably 31, otherwise 32", ("31",)),
    ("31 (or 32)", ("31",)),
    ("Anna Berg or Peter Holm", ("Anna Berg",)),
    ("The total is 31 or, counting the guest, 32.", ("31",)),
    ("It is either Gym or 1.", ("1",)),
    ("2024-2025", ("2024",)),
    ("maybe 31 minutes, perhaps 40 minutes", ("31 minutes",)),
]
"""Answers that offer a rival, and what is right."""

ACCEPTED: list[tuple[str, Sequence[str]]] = [
    ("31", ("31",)),
    ("The answer is 31 because 20 and 11 add up to 31.", ("31",)),
    ("31 (15 boys and 16 girls)", ("31",)),
    ("31, according to a report of 4 July 2024", ("31",)),
    ("In 2019 or 2020 it was 31.", ("31",)),
    ("31 (thirty-one)", ("31",)),
    ("31 (2025)", ("31",)),
    ("32, not 31", ("32",)),
    ("The answer is not 31 but 32.", ("32",)),
    ("5 km (3.1 miles)", ("5 km",)),
    ("5 km or 3.1 miles", ("5 km",)),
    ("9am", ("09:00",)),
    ("at 9:00 in the kitchen", ("9 AM",)),
    ("It is on 4 July 2025.", ("2025-07-04",)),
    ("July 4th, 2025", ("2025-07-04",)),
    ("1,000", ("one thousand",)),
    ("one thousand", ("1000",)),
    ("1000", ("1,000",)),
    ("eleven", ("11",)),
    ("$49.99 (was $59.99)", ("$49.99",)),
    ("31 days or 744 hours", ("31 days",)),
    ("Oslo, or Christiania as it was called", ("Oslo", "Christiania")),
    ("Oslo is the capital or seat of government", ("Oslo",)),
    ("more or less 31", ("31",)),
    ("Trick or Treat", ("Trick or Treat",)),
    ("World Health Organization or WHO", ("World Health Organization",)),
    ("32 rather than 31", ("32",)),
    ("31; 15 + 16 = 31", ("31",)),
    ("Room 12 on floor 3", ("12",)),
    ("7 pm (19:00)", ("19:00",)),
    ("100 °F (37.8 °C)", ("100 °F",)),
    ("31 people; 2 sources: A (2019) and B (2020)", ("31",)),
    ("1 dozen (12)", ("12",)),
    ("Step 1: 40 - 9. Step 2: 31.", ("31",)),
    ("10 AM - 12 PM", ("10 AM - 12 PM",)),
    ("From 2010 to 2020 it rose to 31.", ("31",)),
    ("Call Anna or text her", ("Anna",)),
    ("2 or more people, so 31", ("31",)),
    ("31, or so", ("31",)),
    ("The steps:\n\n1. Sum up.\n2. Divide.\nThe answer:\n\n1. The total is 3", ("3",)),
    ("Seven of us, then a workout of maybe 45 minutes", ("7",)),
    ("either Oslo or Christiania", ("Oslo", "Christiania")),
    ("3/4", ("3/4",)),
]
"""Answers that mention other values, or none, and what is right."""


def has_answer(text: str, right: Sequence[str]) -> bool:
    return any(states_answer(text, answer) for answer in right) or has_right_value(text, right)


def find_offer(text: str, right: Sequence[str]) -> str | None:
    return find_rival(text, right, lambda part: has_answer(part, right))


@each_case(("text", "right"), REFUSED)
def test_a_rival_beside_the_right_answer_is_found(text: str, right: Sequence[str]) -> None:
    assert has_answer(text, right)
    rival = find_offer(text, right)
    assert rival
    assert rival in text
    assert not has_answer(rival, right)


@each_case(("text", "right"), ACCEPTED)
def test_other_values_are_no_rivals(text: str, right: Sequence[str]) -> None:
    assert has_answer(text, right)
    assert find_offer(text, right) is None


@each_case(
    ("text", "right", "is_there"),
    [
        ("9am", "09:00", True),
        ("at half past nine in the evening", "21:30", True),
        ("9pm", "09:00", False),
        ("on 4 July 2025", "2025-07-04", True),
        ("on 5 July 2025", "2025-07-04", False),
        ("about 1,000 people", "one thousand", True),
        ("10000 people", "1,000", False),
        ("not 09:00", "9am", False),
        ("not at 9am", "09:00", False),
        ("It isn't in 1999.", "1999", False),
        ("There aren't 75.", "75", False),
        ("no longer at 9am", "09:00", False),
        ("It cannot be 9am.", "09:00", False),
        ("No one knows.", "1", False),
        ("4 July 2025, 9 am", "2025-07-04", True),
        ("4 July 2025, 9 am", "09:00", True),
        ("4 July 2025, 9 am", "10:00", False),
        ("five km", "5000 m", True),
        ("five miles", "5 km", False),
    ],
)
def test_a_value_is_found_in_any_writing(text: str, right: str, is_there: bool) -> None:
    assert has_right_value(text, [right]) is is_there


def test_values_are_found_where_they_stand() -> None:
    text = "On 4 July 2025, at 9 a.m., 31/32 of $1,000 (half) were paid by 12 guests."
    found = [text[value.start : value.end] for value in find_values(text)]
    assert found == ["4 July 2025, at 9 a.m", "31/32", "31", "32", "$1,000", "half", "12"]


@given(
    st.text(max_size=300) | st.from_regex(r"([\d ,.:/$%-]|or|am|May){1,100}", fullmatch=True),
    st.text(max_size=20),
)
def test_any_text_is_searched(text: str, right: str) -> None:
    rival = find_offer(text, [right])
    assert rival is None or rival in text


@each_case("text", ["1 " * 10_000, "a " * 10_000, "or " * 6_000, "either a or " * 1_600, "1/2" * 6_000])
def test_a_long_answer_is_searched_to_an_end(text: str) -> None:
    assert find_offer(text, ["Oslo"]) is None
