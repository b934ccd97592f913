"""Confidence intervals: published values, laws, and how often they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, inf, sqrt
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import t as student_t

from pytest_fcbench.scorecard.aggregate.intervals import (
    CHANGE_CLUSTERED,
    CHANGE_METHOD,
    CategoryChanges,
    Changes,
    Correlation,
    Estimate,
    Interval,
    Part,
    correlate_pairs,
    enclose_value,
    estimate_change,
    find_cluster_interval,
    find_mean_interval,
    find_quantile,
    find_ratio_interval,
    find_share_interval,
    find_tail,
    rank_values,
    within,
)
from tests.cases import each_case

COUNTS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@each_case(
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


@each_case(
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


@each_case("freedom", [1, 2.3, 4, 11, 60, 400, inf])
def test_tail_and_quantile_are_those_of_scipy(freedom: float) -> None:
    assert find_quantile(0.975, freedom) == pytest.approx(float(student_t.ppf(0.975, freedom)), rel=1e-9)
    for value in (0.0, 0.5, 3.0, 12.0):
        assert find_tail(value, freedom) == pytest.approx(float(student_t.sf(value, freedom)), rel=1e-9)


def _make_part(weight: float, *clusters: tuple[int, int, int], prefix: str = "") -> CategoryChanges:
    """Make a category of clusters given as better, worse and number of entries put once."""
    summed = {
        f"{prefix}{n}": Changes(size, better - worse, better + worse, size)
        for n, (better, worse, size) in enumerate(clusters)
    }
    return weight, summed


def _make_single(weight: float, better: int, worse: int, n: int, prefix: str = "") -> CategoryChanges:
    """Make a category of independent entries."""
    rest = [(0, 0, 1)] * (n - better - worse)
    return _make_part(weight, *[(1, 0, 1)] * better, *[(0, 1, 1)] * worse, *rest, prefix=prefix)


def test_independent_entries_have_the_limits_of_the_paper() -> None:
    """Bonett & Price 2012: Wald's limits after one more flip in either direction."""
    found = estimate_change([_make_single(1.0, 7, 1, 21)]).find_interval(6 / 21)
    up, down = 8 / 23, 2 / 23
    reach = 1.959963984540054 * sqrt((up + down - (up - down) ** 2) / 23)
    assert (found.low, found.high) == pytest.approx((6 / 23 - reach, 6 / 23 + reach))
    assert found.method == CHANGE_METHOD


def test_two_categories_share_the_two_added_changes() -> None:
    """Price & Bonett 2004: of two parts each gets half a change in either direction."""
    found = estimate_change([_make_single(0.5, 1, 0, 19, "a"), _make_single(0.5, 0, 0, 9, "b")])
    first, second = (1.5 + 0.5) / 20 - (1 / 20) ** 2, 1 / 10
    assert found.centre == pytest.approx(0.5 * 1 / 20)
    assert found.variance == pytest.approx(0.25 * first / 20 + 0.25 * second / 10)
    assert found.freedom == inf


def _list_counts(n: int, up: float, down: float) -> Iterator[tuple[float, int, int]]:
    """Yield every number of flips in both directions, with its probability."""
    for better in range(n + 1):
        for worse in range(n + 1 - better):
            ways = comb(n, better) * comb(n - better, worse)
            yield ways * up**better * down**worse * (1 - up - down) ** (n - better - worse), better, worse


@each_case("n", [3, 5, 10, 25])
@each_case(("up", "down"), [(0.0, 0.0), (0.05, 0.05), (0.2, 0.1), (0.5, 0.1), (0.3, 0.3)])
def test_the_interval_holds_the_true_change_as_often_as_it_says(n: int, up: float, down: float) -> None:
    covered = 0.0
    for probability, better, worse in _list_counts(n, up, down):
        found = estimate_change([_make_single(1.0, better, worse, n)]).find_interval((better - worse) / n)
        covered += probability * (found.low <= up - down <= found.high)
    assert covered >= 0.93


_CLUSTERS = st.lists(
    st.integers(1, 5).flatmap(
        lambda size: st.integers(0, size).flatmap(
            lambda better: st.tuples(st.just(better), st.integers(0, size - better), st.just(size))
        )
    ),
    min_size=1,
    max_size=12,
)


@given(st.lists(_CLUSTERS, min_size=1, max_size=3), st.booleans())
def test_an_interval_has_a_width_and_holds_the_change(
    categories: Sequence[list[tuple[int, int, int]]], shared: bool
) -> None:
    weight = 1 / len(categories)
    parts = [
        _make_part(weight, *clusters, prefix="" if shared else f"{n}-")
        for n, clusters in enumerate(categories)
    ]
    change = sum(
        weight * sum(up - down for up, down, _ in clusters) / sum(size for _, _, size in clusters)
        for clusters in categories
    )
    found = estimate_change(parts).find_interval(change)
    assert -1 - 1e-9 <= found.low <= change <= found.high <= 1 + 1e-9
    assert found.high - found.low > 0.01


def test_one_cluster_says_nothing() -> None:
    found = estimate_change([_make_part(1.0, (40, 0, 100))]).find_interval(0.4)
    assert (found.low, found.high, found.method) == (-1.0, 1.0, CHANGE_CLUSTERED)


def test_clusters_that_move_as_one_count_as_one_entry_each() -> None:
    """Ten clusters of five: their effective number is about nine, so that two more are many."""
    together = estimate_change([_make_part(1.0, *[(5, 0, 5)] * 4, *[(0, 0, 5)] * 6)])
    alone = estimate_change([_make_single(1.0, 20, 0, 50)])
    once = estimate_change([_make_single(1.0, 4, 0, 10)])
    assert together.variance == pytest.approx(once.variance, rel=0.15)
    assert together.variance > 3 * alone.variance
    assert together.freedom == pytest.approx(9)


def test_clusters_less_alike_than_chance_makes_them_keep_their_variance() -> None:
    """Each cluster has one change in either direction, so that their sums do not differ."""
    even = estimate_change([_make_part(1.0, *[(1, 1, 10)] * 9, (2, 1, 10))])
    assert 0 < even.variance < estimate_change([_make_single(1.0, 11, 10, 100)]).variance


def test_few_clusters_with_most_of_the_variance_leave_their_own_degrees_of_freedom() -> None:
    """Five clusters beside a hundred entries: no more than a few degrees, where those of all are 50."""
    few = _make_part(0.5, (20, 0, 30), (0, 15, 30), (5, 0, 30), (0, 9, 30), (12, 0, 30), prefix="memory")
    many = _make_single(0.5, 10, 5, 100)
    mixed = estimate_change([few, many])
    assert 4 <= mixed.freedom < 5
    quiet = _make_part(0.5, *[(3, 3, 30)] * 4, (4, 3, 30), prefix="memory")
    assert estimate_change([quiet, many]).freedom > 10


def test_the_variances_of_categories_without_common_clusters_add_up() -> None:
    one, other = _make_part(0.5, (3, 0, 4), (0, 1, 4), (1, 0, 4), prefix="a"), _make_single(0.5, 3, 1, 9, "b")
    both = estimate_change([one, other])
    again = estimate_change([other, one])
    assert (both.centre, both.variance, both.freedom) == pytest.approx(
        (again.centre, again.variance, again.freedom)
    )
    shared = estimate_change([one, _make_part(0.5, (3, 0, 4), (0, 1, 4), (1, 0, 4), prefix="a")])
    apart = estimate_change([one, _make_part(0.5, (3, 0, 4), (0, 1, 4), (1, 0, 4), prefix="b")])
    assert shared.variance > 1.5 * apart.variance


def test_categories_linked_by_another_are_one_stratum() -> None:
    """The first two have no cluster in common, but both have one with the third."""
    first, second = (
        _make_part(0.3, *[(1, 0, 2)] * 4, prefix="a"),
        _make_part(0.3, *[(0, 1, 2)] * 4, prefix="b"),
    )
    bridge = 0.4, {"a0": Changes(1, 1, 1, 1), "b0": Changes(1, 0, 0, 1)}
    orders = ([first, second, bridge], [first, bridge, second], [bridge, second, first])
    found = [estimate_change(order) for order in orders]
    assert [each.freedom for each in found] == pytest.approx([found[0].freedom] * 3)
    assert [each.variance for each in found] == pytest.approx([found[0].variance] * 3)


def test_trials_make_the_interval_narrower() -> None:
    """Ten entries that pass in about half of five trials, against the same put once."""
    often = {str(n): Changes(1, 0.2 * (-1) ** n, 0.5, 5) for n in range(10)}
    once = {str(n): Changes(1, (-1) ** n * (n % 4 < 2), n % 4 < 2, 1) for n in range(10)}
    assert estimate_change([(1.0, often)]).variance < 0.5 * estimate_change([(1.0, once)]).variance


def test_no_change_is_larger_than_the_weight_of_its_categories() -> None:
    found = Estimate(0.05, 1.0, 3.0).find_interval(0.05, 0.1)
    assert (found.low, found.high) == (-0.1, 0.1)


_NUMBERS = st.integers(0, 20).map(lambda n: n / 20)


def test_numbers_and_ranks() -> None:
    found = correlate_pairs([(0.1, 0.2), (0.2, 0.3), (0.9, 0.4)])
    assert found.n == 3
    assert found.spearman == pytest.approx(1)
    assert found.pearson == pytest.approx(0.9177, abs=1e-3)
    assert correlate_pairs([(1, 3), (2, 2), (3, 1)]) == Correlation(3, -1.0, -1.0)


@each_case("pairs", [[], [(0.1, 0.2)], [(0.1, 0.2), (0.2, 0.3)], [(0.5, 0.1), (0.5, 0.2), (0.5, 0.3)]])
def test_few_models_and_equal_numbers_tell_nothing(pairs: Sequence[tuple[float, float]]) -> None:
    assert correlate_pairs(pairs) == Correlation(len(pairs), None, None)


def test_ties_share_the_mean_of_their_ranks() -> None:
    assert rank_values([0.3, 0.1, 0.3, 0.2]) == [3.5, 1, 3.5, 2]


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS), min_size=3, max_size=12))
def test_they_are_those_of_scipy(pairs: Sequence[tuple[float, float]]) -> None:
    one, other = zip(*pairs, strict=True)
    assume(len(set(one)) > 1 and len(set(other)) > 1)
    found = correlate_pairs(pairs)
    assert found.pearson == pytest.approx(stats.pearsonr(one, other).statistic, abs=1e-9)
    assert found.spearman == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-9)


def test_the_digits_are_the_same_on_every_python() -> None:
    """``statistics.correlation`` gives ...298368 for these from Python 3.13 on."""
    pairs = [(0.07, 0.22), (0.09, 0.63), (0.42, 0.95), (0.83, 0.58), (0.12, 0.4)]
    assert repr(correlate_pairs(pairs).pearson) == "0.42085646062983684"
