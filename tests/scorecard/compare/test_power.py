"""The smallest loss that a comparison shows, against simulated runs that lose as much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import pytest

from pytest_fcbench.scorecard.compare.paired import EntryPair, find_exact_chances
from pytest_fcbench.scorecard.compare.power import CHANGING, MANY, POWER, measure_flips, plan_comparison


def _make_pairs(changes: Sequence[float], clusters: int = 0) -> list[EntryPair]:
    """Make a pair of each change, spread over so many clusters, or each by itself."""
    return [
        EntryPair(
            f"core:parallel_{n}", "parallel", 1.0, 1.0 + change, 1, str(n % clusters if clusters else n)
        )
        for n, change in enumerate(changes)
    ]


def find_smallest_loss(
    parts: Sequence[tuple[float, Sequence[EntryPair]]], confidence: float, tests: int = 1
) -> float | None:
    """Find the loss that is shown where the usual share of entries changes by chance."""
    plan = plan_comparison(parts, confidence, tests)
    return plan.find_smallest_loss(CHANGING) if plan else None


def _count_shown(loss: float, changing: float, entries: int = 300, runs: int = 400) -> float:
    """Count the share of simulated runs that show a loss; half of the chance changes go either way."""
    chance = numpy.random.default_rng(7)
    rates = [changing / 2 + loss, changing / 2, 1 - changing - loss]
    drawn = chance.multinomial(entries, rates, runs).tolist()
    return sum(find_exact_chances(up, down)[1] < 0.05 for down, up, _ in drawn) / runs


def test_a_loss_of_that_size_is_shown_about_as_often_as_stated() -> None:
    loss = find_smallest_loss([(1.0, _make_pairs([0.0] * 300))], 0.95)
    assert loss is not None
    assert POWER - 0.1 < _count_shown(loss, CHANGING) < POWER + 0.1
    assert _count_shown(loss / 2, CHANGING) < 0.5


def test_the_power_where_more_entries_change_by_chance() -> None:
    plan = plan_comparison([(1.0, _make_pairs([0.0] * 300))], 0.95)
    assert plan is not None
    loss = plan.find_smallest_loss(CHANGING)
    assert loss is not None
    assert plan.find_power(loss, CHANGING) == pytest.approx(POWER)
    assert plan.find_power(loss, MANY) == pytest.approx(_count_shown(loss, MANY), abs=0.1)
    assert plan.find_power(loss, MANY) < POWER - 0.1


def test_the_share_that_changes_by_chance_is_that_between_two_trials() -> None:
    """One of three passed: two of three pairs of trials differ; the other entry never changes."""
    pairs = [
        EntryPair(f"core:parallel_{n}", "parallel", share, share, 3, str(n))
        for n, share in enumerate((1 / 3, 1.0))
    ]
    assert measure_flips([(0.5, pairs)]) == pytest.approx(1 / 3)
    assert measure_flips([(0.5, pairs), (0.5, _make_pairs([0.0]))]) is None


def test_chance_evens_out_over_trials() -> None:
    once, often = (
        plan_comparison(
            [(1.0, [EntryPair(str(n), "parallel", 1.0, 1.0, k, str(n)) for n in range(100)])], 0.95
        )
        for k in (1, 5)
    )
    assert once is not None
    assert often is not None
    few, many = often.find_smallest_loss(CHANGING), once.find_smallest_loss(CHANGING)
    assert few is not None
    assert many is not None
    assert few < many


def test_four_entries_show_no_loss() -> None:
    """All of four lost have a p value of 1 / 16."""
    assert find_smallest_loss([(1.0, _make_pairs([0.0] * 4))], 0.95) is None
    assert find_smallest_loss([(1.0, _make_pairs([0.0] * 40))], 0.95) is not None


@pytest.mark.parametrize("clusters", [10, 50])
def test_entries_in_clusters_show_only_a_larger_loss(clusters: int) -> None:
    alone = find_smallest_loss([(1.0, _make_pairs([0.0] * 200))], 0.95)
    together = find_smallest_loss([(1.0, _make_pairs([0.0] * 200, clusters))], 0.95)
    assert alone is not None
    assert together is not None
    assert alone < together


def test_several_tests_at_once_show_only_a_larger_loss() -> None:
    parts = [(1.0, _make_pairs([0.0] * 200))]
    one, four = find_smallest_loss(parts, 0.95), find_smallest_loss(parts, 0.95, tests=4)
    assert one is not None
    assert four is not None
    assert one < four


def test_a_small_category_with_a_large_weight_counts_more() -> None:
    even = [(0.5, _make_pairs([0.0] * 100)), (0.5, _make_pairs([0.0] * 100, 0))]
    skewed = [(0.5, _make_pairs([0.0] * 190)), (0.5, _make_pairs([0.0] * 10))]
    first, second = find_smallest_loss(even, 0.95), find_smallest_loss(skewed, 0.95)
    assert first is not None
    assert second is not None
    assert first < second


def test_a_part_of_the_formula_is_measured_in_points_of_the_whole() -> None:
    whole, part = (find_smallest_loss([(weight, _make_pairs([0.0] * 50))], 0.95) for weight in (1.0, 0.1))
    assert whole is not None
    assert part == pytest.approx(whole / 10)
