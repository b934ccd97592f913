"""Student's t beside scipy's."""

from __future__ import annotations

from math import inf

import pytest
from scipy.stats import t as student_t

from pytest_fcbench.scorecard.aggregate.student import find_quantile, find_tail


@pytest.mark.parametrize("freedom", [1, 2.3, 4, 11, 60, 400, inf])
def test_tail_and_quantile_are_those_of_scipy(freedom: float) -> None:
    assert find_quantile(0.975, freedom) == pytest.approx(float(student_t.ppf(0.975, freedom)), rel=1e-9)
    for value in (0.0, 0.5, 3.0, 12.0):
        assert find_tail(value, freedom) == pytest.approx(float(student_t.sf(value, freedom)), rel=1e-9)
