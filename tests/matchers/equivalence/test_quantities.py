"""Amounts, dates and times are read where they are certain; two are equal only where they are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.matchers.equivalence.quantities import read_quantity

SAME: list[list[object]] = [
    [3, 3.0, "3", "3.0", "three", "Three", " 3 ", "３"],
    [0, "0", -0.0, "zero", "0.0"],
    [1000, "1,000", "1000", "1,000.00", 1e3],
    [-5, "-5", "-5.0"],
    [0.5, ".5", "0.5"],
    [42, "forty-two", "forty two"],
    ["$5", "5 dollars", "$5.00", "five dollars", "5$"],
    ["USD 5", "5 USD", "5usd", "US$5", "five US dollars"],
    ["€1,000", "1000 EUR", "1000 euros"],
    ["5 km", "5km", "5 kilometres", "5000 m", "five kilometers"],
    ["1 mile", "1.609344 km"],
    ["2 weeks", "14 days", "336 hours"],
    ["1 year", "12 months"],
    ["1 kg", "1000 grams"],
    ["68 °F", "20 °C", "20 degrees Celsius"],
    ["5%", "5 percent", "5 per cent"],
    [
        *("2024-11-27", "2024/11/27", "2024-11-27 ", "27 Nov 2024", "27-Nov-2024", "27th of November, 2024"),
        *(
            "November 27th, 2024",
            "Nov. 27, 2024",
            "nov 27 2024",
            "Wed, 27 Nov 2024",
            "Wednesday, Nov 27, 2024",
        ),
        *("27/11/2024", "11/27/2024", "27.11.2024", "11-27-2024"),
    ],
    ["2024-03-03", "03/03/2024"],
    ["03/04/2024", "3/4/2024"],
    ["Nov 27", "27 November", "the 27th of November"],
    ["09:00", "9:00", "9 AM", "9am", "9 a.m.", "9:00 AM", "09:00:00"],
    ["21:00", "9 PM", "9:00 p.m."],
    ["12:00", "12 PM", "noon"],
    ["00:00", "12 AM", "midnight"],
    ["2024-11-27T09:00", "2024-11-27 09:00:00", "Nov 27, 2024 at 9 AM", "27 Nov 2024, 9am"],
    ["2024-11-27T09:00Z", "2024-11-27T10:00+01:00", "2024-11-27T04:00:00-0500"],
]


@pytest.mark.parametrize("writings", SAME, ids=[str(row[0]) for row in SAME])
def test_writings_of_one_quantity(writings: list[object]) -> None:
    read = [read_quantity(writing) for writing in writings]
    assert read[0] is not None
    assert [found == read[0] for found in read] == [True] * len(read), read


def test_no_two_of_them_are_equal() -> None:
    read = [read_quantity(row[0]) for row in SAME]
    assert all(one != other for at, one in enumerate(read) for other in read[at + 1 :])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("03/04/2024", "2024-04-03"),
        ("03/04/2024", "2024-03-04"),
        ("03/04/2024", "03.04.2024"),
        ("2024-11-27", "Nov 27"),
        ("2024-11-27", "2024-11-27T00:00"),
        ("2024-11-27T09:00", "2024-11-27T09:00Z"),
        ("9 AM", "9 PM"),
        ("5 km", "5 mi"),
        ("5 km", 5),
        ("5 miles", "8 km"),
        ("$5", "5 USD"),
        ("$5", 5),
        ("5 M", "5 m"),
        (True, 1),
    ],
)
def test_near_ones_are_different(one: object, other: object) -> None:
    assert read_quantity(one) != read_quantity(other)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "007",
            "+47",
            "1,00",
            "1.2.3",
            "1e5",
            "5²",
            "½",
            "",
            "-",
            ".",
            "one-two",
            "twenty-zero",
            "four score",
        ),
        *("2024-13-01", "2024-02-30", "31/31/2024", "0000-01-01", "Thu, 27 Nov 2024", "Nov 2024", "27/11/24"),
        *("25:00", "13 PM", "0 AM", "9", "5 pounds", "5 in", "5 C", "5 nights", "5 km 3", "$5 USD", "Monday"),
        *(None, True, [], {}, float("nan"), float("inf"), "1" * 100, "\ud800", "９" * 61),
    ],
)
def test_what_is_not_read(value: object) -> None:
    if value != "9":
        assert read_quantity(value) is None
    else:
        assert read_quantity(value) == read_quantity(9)


@given(st.integers() | st.floats() | st.text(max_size=70) | st.from_regex(r"[\d ,.:/apmtz$+-]{1,70}"))
def test_anything_can_be_read(value: object) -> None:
    assert read_quantity(value) == read_quantity(value)


@given(st.dates())
def test_a_date_is_itself_in_words(day: object) -> None:
    assert read_quantity(f"{day:%d %B} {str(day)[:4]}") == read_quantity(str(day)) is not None


@given(st.integers(min_value=-(10**9), max_value=10**9))
def test_a_number_is_itself_with_commas(number: int) -> None:
    assert read_quantity(f"{number:,}") == read_quantity(str(number)) == read_quantity(number) is not None
