"""Scales with round ticks, and colours that can be seen by day and by night."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcbench.present.charts.drawing import (
    MOST_SERIES,
    Scale,
    find_round_step,
    fit_scale,
    fit_shares,
    read_colours,
)
from tests.cases import each_case


def test_a_linear_scale_places_in_proportion() -> None:
    scale = Scale(0, 10, 100, 200)
    assert [scale.place(value) for value in (0, 2.5, 10)] == [100, 125, 200]


def test_a_logarithmic_scale_places_powers_at_equal_distances() -> None:
    scale = Scale(1, 100, 0, 200, is_logarithmic=True)
    assert [scale.place(value) for value in (1, 10, 100)] == pytest.approx([0, 100, 200])
    assert scale.list_ticks() == [1, 2, 5, 10, 20, 50, 100]


@each_case(
    ("reach", "step"),
    [(1, 0.2), (0.5, 0.1), (10, 2), (0.04, 0.01), (9, 2), (4, 1), (3.999999999999999e-10, 1e-10)],
)
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


def test_paper_is_lit_by_day() -> None:
    assert re.findall(r"@media ([^{]*) \{", read_colours()) == ["screen and (prefers-color-scheme: dark)"]


def read_themes() -> list[dict[str, str]]:
    """Return the variables of the light and of the dark page."""
    return [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", read_colours(), re.DOTALL)
    ]


def compute_luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def compute_contrast(one: str, other: str) -> float:
    """Compute WCAG 2.2's contrast ratio."""
    dark, light = sorted((compute_luminance(one), compute_luminance(other)))
    return (light + 0.05) / (dark + 0.05)


TEXTS = ("ink", "quiet", "accent", "passed", "failed", "not-scored")


@each_case("name", [*TEXTS, *(f"s{n}" for n in range(MOST_SERIES))])
def test_texts_and_marks_have_enough_contrast_by_day_and_night(name: str) -> None:
    for theme in read_themes():
        assert compute_contrast(theme[name], theme["paper"]) >= 4.5
        assert name not in TEXTS or compute_contrast(theme[name], theme["wash"]) >= 4.5


def test_the_measure_of_contrast_can_fail() -> None:
    assert compute_contrast("#000000", "#ffffff") == pytest.approx(21)
    assert compute_contrast("#999999", "#ffffff") < 4.5
    assert len(read_themes()) == 2
