"""Amounts, dates and times are read where they are certain; two are equal only where they are the same."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.judging.quantities import (
    Quantity,
    read_calendar_name,
    read_quantities,
    read_quantity,
    read_unit,
)
from tests.cases import each_case

WRITINGS: list[tuple[Quantity, list[object]]] = [
    (Quantity("number", Fraction(3)), [3, 3.0, "3", "3.0", "three", "Three", " 3 ", "３"]),
    (Quantity("number", Fraction(0)), [0, "0", -0.0, "zero", "0.0"]),
    (Quantity("number", Fraction(1000)), [1000, "1,000", "1000", "1,000.00", 1e3]),
    (Quantity("number", Fraction(-5)), [-5, "-5", "-5.0"]),
    (Quantity("number", Fraction(1, 2)), [0.5, ".5", "0.5"]),
    (
        Quantity("number", Fraction(1_500_000)),
        ["1.5 million", "1500k", "1.5e6", "1 500 000", "one million five hundred thousand"],
    ),
    (Quantity("number", Fraction(250)), ["two hundred and fifty", "two hundred fifty", "250.0"]),
    (Quantity("number", Fraction(5, 2)), ["two and a half", "2.5"]),
    (Quantity("number", Fraction(-12)), ["minus twelve", "-12"]),
    (Quantity("number", Fraction(12)), ["a dozen", "one dozen", "twelve"]),
    (Quantity("fraction", (3, 4)), ["3/4"]),
    (Quantity("length", Fraction("1.778")), ["5 ft 10 in", "70 inches", "5' 10\""]),
    (Quantity("duration", Fraction(5400)), ["1 h 30 min", "1 hour and 30 minutes", "1.5 hours", "90 min"]),
    (Quantity("duration", Fraction(1800)), ["half an hour", "30 minutes"]),
    (Quantity("area", Fraction(10)), ["10 m²", "10 sqm", "10 square meters"]),
    (Quantity("data", Fraction(8 * 10**9)), ["1 GB", "1 gigabyte", "1000 MB"]),
    (Quantity("data", Fraction(10**9)), ["1 Gb", "1 gigabit"]),
    (Quantity("money CHF", Fraction(20)), ["20 Swiss francs", "CHF 20"]),
    (Quantity("number", Fraction(42)), [42, "forty-two", "forty two"]),
    (Quantity("money dollars", Fraction(5)), ["$5", "5 dollars", "$5.00", "five dollars", "5$"]),
    (Quantity("money USD", Fraction(5)), ["USD 5", "5 USD", "5usd", "US$5", "five US dollars"]),
    (Quantity("money EUR", Fraction(1000)), ["€1,000", "1000 EUR", "1000 euros"]),
    (Quantity("length", Fraction(5000)), ["5 km", "5km", "5 kilometres", "5000 m", "five kilometers"]),
    (Quantity("length", Fraction("1609.344")), ["1 mile", "1.609344 km"]),
    (Quantity("duration", Fraction(14 * 24 * 60 * 60)), ["2 weeks", "14 days", "336 hours"]),
    (Quantity("months", Fraction(12)), ["1 year", "12 months"]),
    (Quantity("mass", Fraction(1000)), ["1 kg", "1000 grams"]),
    (Quantity("temperature", Fraction(20)), ["68 °F", "20 °C", "20 degrees Celsius"]),
    (Quantity("percent", Fraction(5)), ["5%", "5 percent", "5 per cent"]),
    (
        Quantity("date", date(2024, 11, 27)),
        [
            *(
                "2024-11-27",
                "2024/11/27",
                "2024-11-27 ",
                "27 Nov 2024",
                "27-Nov-2024",
                "27th of November, 2024",
            ),
            *(
                "November 27th, 2024",
                "Nov. 27, 2024",
                "nov 27 2024",
                "Wed, 27 Nov 2024",
                "Wednesday, Nov 27, 2024",
            ),
            *("27/11/2024", "11/27/2024", "27.11.2024", "11-27-2024"),
        ],
    ),
    (Quantity("month", (2024, 11)), ["2024-11", "Nov 2024", "November 2024", "11/2024"]),
    (Quantity("time", time(21, 30)), ["21h30", "9.30 pm", "half past nine in the evening"]),
    (Quantity("time", time(9, tzinfo=UTC)), ["09:00Z", "9:00 UTC", "09:00 GMT"]),
    (Quantity("date", date(2024, 3, 3)), ["2024-03-03", "03/03/2024"]),
    (Quantity("date", ("/", 3, 4, 2024)), ["03/04/2024", "3/4/2024"]),
    (Quantity("date", (11, 27)), ["Nov 27", "27 November", "the 27th of November"]),
    (Quantity("time", time(9)), ["09:00", "9:00", "9 AM", "9am", "9 a.m.", "9:00 AM", "09:00:00"]),
    (Quantity("time", time(21)), ["21:00", "9 PM", "9:00 p.m."]),
    (Quantity("time", time(12)), ["12:00", "12 PM", "noon"]),
    (Quantity("time", time(0)), ["00:00", "12 AM", "midnight"]),
    (
        Quantity("moment", "2024-11-27T09:00:00"),
        ["2024-11-27T09:00", "2024-11-27 09:00:00", "Nov 27, 2024 at 9 AM", "27 Nov 2024, 9am"],
    ),
    (
        Quantity("moment", datetime(2024, 11, 27, 9, tzinfo=UTC)),
        ["2024-11-27T09:00Z", "2024-11-27T10:00+01:00", "2024-11-27T04:00:00-0500"],
    ),
]
"""Quantities, each with ways to write it; metres, seconds, grams and degrees Celsius are the units kept."""


@each_case(("quantity", "writings"), WRITINGS, ids=[str(row[1][0]) for row in WRITINGS])
def test_every_writing_is_read_as_the_quantity(quantity: Quantity, writings: list[object]) -> None:
    assert [read_quantity(writing) for writing in writings] == [quantity] * len(writings)


@each_case(
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
        ("1 GB", "1 Gb"),
        ("10 MW", "10 mW"),
        ("3/4", "6/8"),
        ("one hundred", "one thousand"),
        ("half past nine", "21:30"),
        ("three at night", "15:00"),
        ("1 month", "30 days"),
        (True, 1),
    ],
)
def test_near_ones_are_different(one: object, other: object) -> None:
    assert read_quantity(one) != read_quantity(other)


@each_case(
    ("one", "other"),
    [
        ("20241127", "2024-11-27"),
        (20241127, "27 Nov 2024"),
        ("1430 hours", "14:30"),
        ("1430 hours", "1430 h"),
        ("0800 hrs", "8 AM"),
        ("10 pounds", "10 lbs"),
        ("10 pounds", "£10"),
        ("3/4", "0.75"),
        ("3/4", "three quarters"),
    ],
)
def test_a_value_with_two_readings_equals_either(one: object, other: object) -> None:
    assert read_quantities(one) & read_quantities(other)


@each_case(
    ("one", "other"),
    [
        ("20241127", "2024-11-28"),
        ("20240230", "2024-02-29"),
        ("£10", "10 lbs"),
        ("6/8", "0.75"),
        ("1430 hours", "14:31"),
        ("2530 hours", "25:30"),
        ("5", "six"),
    ],
)
def test_values_with_no_common_reading_differ(one: object, other: object) -> None:
    assert not read_quantities(one) & read_quantities(other)


def test_names_of_units_and_days() -> None:
    assert read_unit("kg") == read_unit("Kilograms") != read_unit("g")
    assert read_unit("celsius") == read_unit("°C") != read_unit("°F")
    assert read_unit("GB") != read_unit("Gb")
    assert [read_unit(text) for text in ("gb", "C", "spoons", "x" * 99)] == [None] * 4
    assert read_calendar_name("Mon") == read_calendar_name("monday") != read_calendar_name("Tue")
    assert read_calendar_name("Sept.") == read_calendar_name("September")
    assert read_calendar_name("someday") is None


@each_case(
    "value",
    [
        *(
            "007",
            "+47",
            "1,00",
            "1.2.3",
            "1e-5",
            "5²",
            "½",
            "",
            "-",
            ".",
            "one-two",
            "twenty-zero",
            "four score",
        ),
        *("2024-13-01", "2024-02-30", "31/31/2024", "0000-01-01", "Thu, 27 Nov 2024", "Foo 2024", "27/11/24"),
        *("25:00", "13 PM", "0 AM", "5 ounces", "5 in", "5 C", "5 nights", "5 km 3", "$5 USD", "Monday"),
        *(None, True, [], {}, float("nan"), float("inf"), "1" * 100, "\ud800", "９" * 61),
    ],
)
def test_what_is_not_read(value: object) -> None:
    assert read_quantity(value) is None


@given(st.integers() | st.floats() | st.text(max_size=70) | st.from_regex(r"[\d ,.:/apmtz$+-]{1,70}"))
def test_blanks_around_a_text_never_matter(value: object) -> None:
    """Also: reading ends without an error, whatever the value is."""
    found = read_quantity(value)
    if isinstance(value, str) and len(value) <= 50:
        assert read_quantity(f" {value}  ") == found


@given(st.dates())
def test_a_date_is_itself_in_words(day: object) -> None:
    assert read_quantity(f"{day:%d %B} {str(day)[:4]}") == read_quantity(str(day)) is not None


@given(st.integers(min_value=-(10**9), max_value=10**9))
def test_a_number_is_itself_with_commas(number: int) -> None:
    assert read_quantity(f"{number:,}") == read_quantity(str(number)) == read_quantity(number) is not None
