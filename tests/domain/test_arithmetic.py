"""Sums have the digits that they had when the official figures were published, on every version of Python."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.arithmetic import add_in_order
from tests.cases import each_case


@each_case(
    ("numbers", "total"),
    [
        ([], "0"),
        ([1, 2], "3"),
        ([1, 2.0], "3.0"),
        # The built-in sum says 1.0 and 2.0 from Python 3.12 on.
        ([0.1] * 10, "0.9999999999999999"),
        ([1.0, 1e100, 1.0, -1e100], "0.0"),
        ([0.7, 0.1, -0.5], "0.29999999999999993"),
        ((n for n in (0.1, 0.2)), "0.30000000000000004"),
    ],
)
def test_numbers_are_added_from_the_left(numbers: Iterable[float], total: str) -> None:
    assert repr(add_in_order(numbers)) == total


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9), min_size=1))
def test_each_sum_is_rounded(numbers: list[float]) -> None:
    assert repr(add_in_order(numbers)) == repr([*accumulate([0, *numbers])][-1])


@each_case("wrong", [5, ["a"], [1, None], [[1]]])
def test_what_is_no_list_of_numbers_fails_as_in_a_sum(wrong: object) -> None:
    with pytest.raises(TypeError) as expected:
        sum(wrong)  # type: ignore[call-overload]
    with pytest.raises(TypeError) as found:
        add_in_order(wrong)  # type: ignore[arg-type]
    assert str(found.value) == str(expected.value)
