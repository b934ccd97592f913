"""The functions of ``core``, and that their docs can be derived."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.function_docs.python_code import document_function
from pytest_fcbench.execution import everyday
from pytest_fcbench.execution.everyday import EVERYDAY
from pytest_fcbench.execution.formulas import FORMULAS
from pytest_fcbench.execution.lookups import LOOKUPS
from tests.cases import each_case


@each_case(
    ("name", "arguments", "result"),
    [
        ("fuel_needed", (300, 6), 18.0),
        ("split_bill", (100, 3), 33.33),
        ("split_bill", (100, 4, 10), 27.5),
        ("reading_minutes", (401,), 3),
        ("convert_length", (1, "km", "m"), 1000.0),
        ("convert_length", (1, "ft", "in"), 12.0),
        ("days_between", ("2024-02-28", "2024-03-01"), 2),
        ("days_between", ("2024-03-01", "2024-02-28"), -2),
        ("date_after", ("2023-12-31", 1), "2024-01-01"),
        ("weekday", ("2024-02-29",), "Thursday"),
        ("letter_counts", ("Aab 1",), {"a": 2, "b": 1}),
        ("roman_numeral", (1994,), "MCMXCIV"),
        ("running_totals", ([1, 2, 3],), [1, 3, 6]),
        ("median", ([3, 1, 2],), 2),
        ("median", ([4, 1, 2, 3],), 2.5),
        ("savings_plan", (100, 2, 12), [101.0, 203.01]),
        ("simplify_fraction", (6, 8), (3, 4)),
        ("caesar_shift", ("Zebra!", 1), "Afcsb!"),
    ],
)
def test_a_function_has_this_result(name: str, arguments: tuple[object, ...], result: object) -> None:
    assert EVERYDAY[name](*arguments) == (pytest.approx(result) if isinstance(result, float) else result)


def test_roman_numerals_end_at_3999() -> None:
    with pytest.raises(ValueError, match="3999"):
        everyday.roman_numeral(4000)


@each_case("name", EVERYDAY)
def test_a_doc_says_what_each_parameter_is(name: str) -> None:
    doc = document_function(EVERYDAY[name])
    assert doc.name == name
    assert doc.description.endswith(".")
    assert all(str(schema["description"]).endswith(".") for schema in doc.properties.values())
    assert doc.required


def test_names_are_different_in_all_libraries() -> None:
    assert len({*EVERYDAY, *FORMULAS, *LOOKUPS}) == len(EVERYDAY) + len(FORMULAS) + len(LOOKUPS)


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(-10_000, 10_000))
def test_dates_go_there_and_back(start: date, days: int) -> None:
    end = everyday.date_after(start.isoformat(), days)
    assert everyday.days_between(start.isoformat(), end) == days
    assert date.fromisoformat(end) == start + timedelta(days=days)


@given(st.text(), st.integers(-100, 100))
def test_a_shifted_text_can_be_shifted_back(text: str, shift: int) -> None:
    assert everyday.caesar_shift(everyday.caesar_shift(text, shift), -shift) == text


def test_calls_can_name_these_functions_and_no_others() -> None:
    """The table is made of what its module defines, so a function that is added there can be called."""
    assert " ".join(sorted(EVERYDAY)) == (
        "caesar_shift convert_length date_after days_between fuel_needed letter_counts median "
        "reading_minutes roman_numeral running_totals savings_plan simplify_fraction split_bill weekday"
    )
