"""Confidence intervals: published values, laws, and how often they hold."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.scorecard.aggregate.intervals import (
    Interval,
    Part,
    enclose_value,
    find_cluster_interval,
    find_mean_interval,
    find_ratio_interval,
    find_share_interval,
    within,
)

COUNTS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        pytest.param(81, 263, 0.2553, 0.3662, id="Newcombe 1998, 81 of 263"),
        pytest.param(15, 148, 0.0624, 0.1605, id="Newcombe 1998, 15 of 148"),
        pytest.param(0, 20, 0.0, 0.1611, id="Newcombe 1998, 0 of 20"),
        pytest.param(1, 29, 0.0061, 0.1718, id="Newcombe 1998, 1 of 29"),
        pytest.param(29, 29, 0.8830, 1.0, id="all of 29"),
    ],
)
def test_shares_have_the_published_limits(passed: int, n: int, low: float, high: float) -> None:
    found = find_share_interval(passed, n)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4), found.method) == (low, high, "wilson")


def test_nothing_has_no_interval() -> None:
    assert find_share_interval(0, 0) is None
    assert find_cluster_interval([]) is None
    assert find_cluster_interval([(0, 0)]) is None
    assert find_mean_interval([]) is None


@given(COUNTS)
def test_a_share_lies_in_its_interval(counts: tuple[int, int]) -> None:
    passed, n = counts
    found, mirrored = find_share_interval(passed, n), find_share_interval(n - passed, n)
    assert found is not None
    assert mirrored is not None
    assert 0 <= found.low <= passed / n <= found.high <= 1
    assert found.low < found.high
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)


@given(COUNTS)
def test_more_entries_make_it_narrower(counts: tuple[int, int]) -> None:
    passed, n = counts
    few, many = find_share_interval(passed, n), find_share_interval(4 * passed, 4 * n)
    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


@given(st.lists(st.tuples(st.integers(0, 3), st.just(3)), min_size=1, max_size=60))
def test_clusters_tell_no_more_than_as_many_independent_entries(clusters: list[tuple[int, int]]) -> None:
    passed, n = sum(c for c, _ in clusters), sum(size for _, size in clusters)
    found, independent = find_cluster_interval(clusters), find_share_interval(passed, n)
    assert found is not None
    assert independent is not None
    assert found.low <= independent.low + 1e-12
    assert found.high >= independent.high - 1e-12


def test_trials_that_always_agree_count_once() -> None:
    """Three trials of 40 entries, all alike, tell about as much as 40 (but for 40 / 39, and t)."""
    agreeing = find_cluster_interval([(3, 3)] * 30 + [(0, 3)] * 10)
    once = find_share_interval(30, 40)
    assert agreeing is not None
    assert once is not None
    assert agreeing.method == "wilson, cluster-robust"
    assert agreeing.low == pytest.approx(once.low, abs=0.01)
    assert agreeing.high == pytest.approx(once.high, abs=0.01)


def test_few_clusters_count_one_less() -> None:
    """Four clusters that agree within: the limits for 1.5 of 3, with t of 3 = 3.182."""
    found = find_cluster_interval([(3, 3), (3, 3), (0, 3), (0, 3)])
    assert found is not None
    assert (round(found.low, 3), round(found.high, 3)) == (0.061, 0.939)


def test_all_passed_in_all_trials_still_leaves_doubt() -> None:
    """Wilson's lower limit of n of n is n / (n + t^2), here with t of 19 = 2.0930."""
    found = find_cluster_interval([(3, 3)] * 20)
    assert _round_limits(found) == (round(20 / (20 + 2.0930**2), 4), 1.0, "wilson, cluster-robust")


@given(COUNTS)
def test_a_mean_of_one_part_is_that_part(counts: tuple[int, int]) -> None:
    passed, n = counts
    alone = find_share_interval(passed, n)
    assert alone is not None
    mean = find_mean_interval([Part(1.0, passed / n, alone)])
    assert mean is not None
    assert mean.low == pytest.approx(alone.low)
    assert mean.high == pytest.approx(alone.high)


@given(st.lists(COUNTS, min_size=2, max_size=8))
def test_a_mean_is_surer_than_its_parts_together(many: list[tuple[int, int]]) -> None:
    intervals = [find_share_interval(passed, n) for passed, n in many]
    weight = 1 / len(many)
    parts = [Part(weight, p / n, found) for (p, n), found in zip(many, intervals, strict=True) if found]
    mean = find_mean_interval(parts)
    assert mean is not None
    assert sum(weight * part.interval.low for part in parts) <= mean.low + 1e-12
    assert mean.high <= sum(weight * part.interval.high for part in parts) + 1e-12


def test_what_was_not_run_adds_nothing_to_the_doubt() -> None:
    """A part that counts as 0 because it was not run is left out: its share of the weight is lost."""
    half = find_share_interval(50, 100)
    assert half is not None
    mean = find_mean_interval([Part(0.3, 0.5, half)])
    assert mean is not None
    assert mean.low == pytest.approx(0.3 * half.low)
    assert mean.high == pytest.approx(0.3 * half.high)


@pytest.mark.parametrize("truth", [0.5, 0.9, 0.98])
def test_it_holds_as_often_as_it_says(truth: float) -> None:
    """Of 2,000 runs of two categories and three alike trials, about 95 % have the truth in their interval."""
    random = Random(20_241_121)
    shares = clusters = means = 0
    for _ in range(2000):
        first, second = (sum(random.random() < truth for _ in range(n)) for n in (80, 200))
        one, two = find_share_interval(first, 80), find_share_interval(second, 200)
        assert one is not None
        assert two is not None
        mean = find_mean_interval([Part(0.5, first / 80, one), Part(0.5, second / 200, two)])
        alike = find_cluster_interval([(3 * (random.random() < truth), 3) for _ in range(100)])
        assert mean is not None
        assert alike is not None
        shares += one.low <= truth <= one.high
        means += mean.low <= truth <= mean.high
        clusters += alike.low <= truth <= alike.high
    for held in (shares, means, clusters):
        assert 0.92 < held / 2000 < 0.99


def _round_limits(interval: Interval | None) -> tuple[float, float, str] | None:
    return (round(interval.low, 4), round(interval.high, 4), interval.method) if interval else None


def test_two_clusters_that_differ_tell_as_much_as_three_entries() -> None:
    """Share 0.75, variance 0.5 / 16 * 2, so 0.1875 / 0.0625 effective entries, and t of 1 = 12.706."""
    assert _round_limits(find_cluster_interval([(2, 2), (1, 2)])) == (
        0.0103,
        0.9988,
        "wilson, cluster-robust, fewer than 6 clusters",
    )


@pytest.mark.parametrize(
    ("clusters", "limits"),
    [
        # Residuals 1, -1, 0: 4.3027 (t of 2) * sqrt(3 / 2 * 2) / 6
        ([(3, 2), (1, 2), (2, 2)], (0.0, 2.2421, "linearised ratio")),
        ([(3, 2), (1, 2)], (0.0, 7.3531, "linearised ratio")),
        # 1.5 and 12.7062 (t of 1) * 1.5
        ([(3, 1), (0, 1)], (0.0, 20.5593, "linearised ratio")),
        ([(3, 2)], None),
        ([(1, 0), (2, 0)], None),
        ([(3, 2), (3, 2)], None),
    ],
)
def test_a_ratio_beyond_one_has_linearised_limits(
    clusters: list[tuple[int, int]], limits: tuple[float, float, str] | None
) -> None:
    assert _round_limits(find_ratio_interval(clusters)) == limits


def test_a_ratio_that_is_a_share_has_the_limits_of_a_share() -> None:
    clusters = [(2, 2), (1, 2)]
    assert find_ratio_interval(clusters) == find_cluster_interval(clusters)


@given(st.floats(-1, 1), st.floats(-2, 2), st.floats(-2, 2), st.sampled_from([(0.0, 1.0), (-1.0, 1.0)]))
def test_an_interval_holds_its_value_and_only_what_is_possible(
    value: float, low: float, high: float, limits: tuple[float, float]
) -> None:
    value = max(value, limits[0])
    found = enclose_value(value, low, high, "wilson", *limits)
    assert limits[0] <= found.low <= value <= found.high <= limits[1]


def test_a_mean_that_was_added_up_in_another_order_lies_in_its_interval() -> None:
    """Ten times a tenth is 0.9999999999999999 from left to right."""
    tenth = Part(0.1, 1.0, Interval(0.5, 1.0, "wilson"))
    without, found = find_mean_interval([tenth] * 10), find_mean_interval([tenth] * 10, mean=1.0)
    assert found is not None
    assert without is not None
    assert without.high < 1.0 == found.high


def test_few_clusters_are_told() -> None:
    few, enough = find_cluster_interval([(2, 2)] * 5), find_cluster_interval([(2, 2)] * 6)
    assert few is not None
    assert enough is not None
    assert (few.clusters, enough.clusters) == (5, None)


def test_verdicts_that_overlap_count_as_fewer() -> None:
    """One of a hundred choices of trials failed, of ten entries."""
    clusters = [(10, 10)] * 9 + [(9, 10)]
    whole, half = find_cluster_interval(clusters), find_cluster_interval(clusters, most=50)
    assert whole is not None
    assert half is not None
    assert half.low < whole.low


def test_a_mean_has_the_limits_of_its_parts_by_their_weights() -> None:
    """0.9 less half of the root of two squares of 0.4."""
    part = Part(0.5, 0.9, Interval(0.5, 1.0, "wilson"))
    assert _round_limits(find_mean_interval([part, part])) == (0.6172, 0.9707, "mover of its parts")


def test_the_schema_of_an_interval_is_narrowed_to_its_place() -> None:
    limits = {"minimum": 0, "maximum": 1}
    assert within(limits, "wilson").json_schema_extra == {
        "properties": {"low": limits, "high": limits, "method": {"enum": ["wilson"]}}
    }
