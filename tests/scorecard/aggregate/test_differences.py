"""Intervals of differences: published limits, laws, and exact coverage by enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.scorecard.aggregate.differences import (
    CLUSTERED,
    METHOD,
    Changes,
    Estimate,
    Part,
    estimate_change,
)


def _make_part(weight: float, *clusters: tuple[int, int, int], prefix: str = "") -> Part:
    """Make a category of clusters given as better, worse and number of entries put once."""
    summed = {
        f"{prefix}{n}": Changes(size, better - worse, better + worse, size)
        for n, (better, worse, size) in enumerate(clusters)
    }
    return weight, summed


def _make_single(weight: float, better: int, worse: int, n: int, prefix: str = "") -> Part:
    """Make a category of independent entries."""
    rest = [(0, 0, 1)] * (n - better - worse)
    return _make_part(weight, *[(1, 0, 1)] * better, *[(0, 1, 1)] * worse, *rest, prefix=prefix)


def test_independent_entries_have_the_limits_of_the_paper() -> None:
    """Bonett & Price 2012: Wald's limits after one more flip in either direction."""
    found = estimate_change([_make_single(1.0, 7, 1, 21)]).find_interval(6 / 21)
    up, down = 8 / 23, 2 / 23
    reach = 1.959963984540054 * sqrt((up + down - (up - down) ** 2) / 23)
    assert (found.low, found.high) == pytest.approx((6 / 23 - reach, 6 / 23 + reach))
    assert found.method == METHOD


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


@pytest.mark.parametrize("n", [3, 5, 10, 25])
@pytest.mark.parametrize(("up", "down"), [(0.0, 0.0), (0.05, 0.05), (0.2, 0.1), (0.5, 0.1), (0.3, 0.3)])
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
    assert (found.low, found.high, found.method) == (-1.0, 1.0, CLUSTERED)


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
