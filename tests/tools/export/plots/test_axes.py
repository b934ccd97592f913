"""Scales: places of values, and round ticks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcbench.tools.export.plots.axes import Scale, find_round_step, fit_scale, fit_shares


def test_a_linear_scale_places_in_proportion() -> None:
    scale = Scale(0, 10, 100, 200)
    assert [scale.place(value) for value in (0, 2.5, 10)] == [100, 125, 200]


def test_a_logarithmic_scale_places_powers_at_equal_distances() -> None:
    scale = Scale(1, 100, 0, 200, is_logarithmic=True)
    assert [scale.place(value) for value in (1, 10, 100)] == pytest.approx([0, 100, 200])
    assert scale.list_ticks() == [1, 2, 5, 10, 20, 50, 100]


@pytest.mark.parametrize(("reach", "step"), [(1, 0.2), (0.5, 0.1), (10, 2), (0.04, 0.01), (9, 2), (4, 1)])
def test_steps_are_round(reach: float, step: float) -> None:
    assert find_round_step(reach) == pytest.approx(step)


@given(st.floats(1e-6, 1e9))
def test_a_step_divides_a_reach_into_four_to_ten(reach: float) -> None:
    assert 3.99 <= reach / find_round_step(reach) <= 10.01


def test_values_far_apart_are_scaled_by_powers() -> None:
    assert fit_scale([1, 21], 0, 1).is_logarithmic
    assert not fit_scale([1, 19], 0, 1).is_logarithmic
    assert not fit_scale([0, 19], 0, 1).is_logarithmic


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
@example([1.0])
def test_shares_lie_within_their_scale(shares: list[float]) -> None:
    scale = fit_shares(shares, 0, 1)
    assert 0 <= scale.low < scale.high <= 1
    assert all(-1e-9 <= scale.place(share) <= 1 + 1e-9 for share in shares)
