"""Lines of official score files: their fields, and the values in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.tools.official_export.scores import Header, write_line
from tests.factories import make_entry
from tests.kinds.official_rows import write_and_read_row


def test_the_first_line_has_the_counts() -> None:
    assert write_line(Header(3, 4).row) == '{"accuracy": 0.75, "correct_count": 3, "total_count": 4}'


def test_the_first_line_of_prompt_formats_has_their_spread() -> None:
    header = Header(3, 8, {"a": Header(1, 4), "b": Header(2, 4)})
    of_a, of_b = ({"accuracy": n / 4, "correct_count": n, "total_count": 4} for n in (1, 2))
    assert list(header.row.items()) == [
        *(("accuracy", 0.375), ("correct_count", 3), ("total_count", 8)),
        *(("accuracy_max_delta", 25.0), ("accuracy_variance", 312.5), ("accuracy_std", 17.68)),
        *(("a", of_a), ("b", of_b)),
    ]


def test_a_right_answer_has_no_line() -> None:
    assert write_and_read_row(make_entry(), "[weather.forecast(city='Bergen')]") is None
    assert write_and_read_row(make_entry("irrelevance"), "I cannot.") is None
    assert write_and_read_row(make_entry("live_relevance"), "[f()]") is None


# Values of any kind


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ((1, "a"), [1, "a"]),
        ((1, b"a"), "(1, b'a')"),
        ([1j, {"a": b"x"}], ["1j", {"a": "b'x'"}]),
        ({(1, 2): 3, None: 4, True: 5, 6: 7}, {"(1, 2)": 3, "null": 4, "true": 5, "6": 7}),
        ("\ud83d\x00\x1b[31m", "\ud83d\x00\x1b[31m"),
    ],
)
def test_any_value_is_written(value: object, written: object) -> None:
    text = write_line({"value": value})
    assert text.isascii()
    assert "\n" not in text
    assert json.loads(text) == {"value": written}


def test_a_value_that_is_nested_too_deeply() -> None:
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    assert write_line({"id": "a", "deep": deep}) == '{"id": "a", "deep": "(nested too deeply)"}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_what_json_has_a_form_for_is_written_as_it_is(value: object) -> None:
    assert json.loads(write_line({"value": value})) == {"value": value}
