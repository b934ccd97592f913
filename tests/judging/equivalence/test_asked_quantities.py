"""What arguments of calls write is read with the help of the parameter's name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.judging.equivalence.asked_quantities import read_asked_quantities
from tests.cases import each_case


def have_common_reading(parameter: str, one: object, other: object) -> bool:
    read = [read_asked_quantities(parameter.split("_"), value) for value in (one, other)]
    return not read[0].isdisjoint(read[1])


SAME = [
    ("arrival_date", "2024-12-05T00:00:00", "2024-12-05"),
    ("arrival_date", "2024-12-05T00:00Z", "5 December 2024"),
    ("price_max", "$1,200", "1200 USD"),
    ("price_max", "$1,200 USD", "1200 dollars"),
    ("score", "8+", "8 or more"),
    ("score", "at least 8", ">= 8"),
    ("score", "minimum 8", "8 plus"),
    ("score", "up to 8", "8 or less"),
    ("score", "more than 8", "> 8"),
    ("score", "less than 8", "under 8"),
    ("distance", "5+ km", "at least 5000 m"),
    ("star_rating", "five-star", 5),
    ("star_rating", "4 stars", "4★"),
    ("hotel_class", "4+ stars", "4 stars and up"),
    ("min_star", "4★", 4),
    ("rating", "4 stars", 4),
    ("child_age", "8 years", 8),
    ("adults", "2 adults", 2),
    ("duration_minutes", "90 minutes", 90),
    ("duration_minutes", "90 minutes", "1.5 hours"),
    ("time", "14:00 hrs", "2 pm"),
    ("longitude", "73.9857° W", -73.9857),
    ("longitude", "E 151.2", "151.2"),
    ("latitude", "33.8568 S", "-33.8568"),
    ("latitude", "51.5 degrees north", "+51.5"),
    ("coordinates", "40.4168° N, 3.7038° W", "(40.4168,-3.7038)"),
]

DIFFERENT = [
    ("arrival_date", "2024-12-05T00:00:00", "2024-12-04"),
    ("arrival_date", "2024-12-05T00:00+02:00", "2024-12-05"),
    ("arrival_date", "2024-12-05T02:00+02:00", "2024-12-05"),
    ("arrival_date", "2024-12-05T12:00", "2024-12-05"),
    ("price_max", "$5", "A$5"),
    ("price_max", "$5 AUD", "$5"),
    ("price_max", "$5", 5),
    ("score", "8+", 8),
    ("score", "8+", "8 or less"),
    ("score", "more than 8", "8+"),
    ("score", "1+1", "11"),
    ("size", "at least 5 MB", "at least 5 Mb"),
    ("size", "5 M", "5 m"),
    ("temperature", "-20 min", "20 min"),
    ("star_rating", "4-star", "5-star"),
    ("adults", "2 rooms", 2),
    ("longitude", "73.9857 W", "73.9857"),
    ("longitude", "73.9857 W", "73.9857 E"),
    ("longitude", "5 N", "5"),
    ("latitude", "-33.8568 S", "33.8568"),
    ("power", "5 W", -5),
    ("coordinates", "40.4, -3.7", "-3.7, 40.4"),
]


@each_case(("parameter", "one", "other"), SAME)
def test_two_writings_have_a_common_reading(parameter: str, one: object, other: object) -> None:
    assert have_common_reading(parameter, one, other)


@each_case(("parameter", "one", "other"), DIFFERENT)
def test_near_ones_have_none(parameter: str, one: object, other: object) -> None:
    assert not have_common_reading(parameter, one, other)


@given(
    st.sampled_from(["latitude", "longitude", "coordinates", "time", "star_rating", "children_age"]),
    st.text(max_size=70) | st.from_regex(r"[\d ,.:/$+°nswe>=-]{1,70}"),
)
def test_blanks_around_a_text_never_matter(parameter: str, text: str) -> None:
    """Also: reading ends without an error, whatever the value is."""
    found = read_asked_quantities(parameter.split("_"), text)
    if len(text) <= 50:
        assert read_asked_quantities(parameter.split("_"), f" {text}  ") == found
