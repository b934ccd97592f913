"""The smallest loss that a comparison shows, against simulated runs that lose as much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import pytest

from pytest_fcbench.scorecard.compare import paired
from pytest_fcbench.scorecard.compare.paired import Pair
from pytest_fcbench.scorecard.compare.power import CHANGING, POWER, find_smallest_loss


def _make_pairs(changes: Sequence[float], clusters: int = 0) -> list[Pair]:
    """Make a pair of each change, spread over so many clusters, or each by itself."""
    return [
        Pair(f"core:parallel_{n}", "parallel", 1.0, 1.0 + change, True, str(n % clusters if clusters else n))
        for n, change in enumerate(changes)
    ]


def test_a_loss_of_that_size_is_shown_about_as_often_as_stated() -> None:
    entries, runs = 300, 400
    loss = find_smallest_loss([(1.0, _make_pairs([0.0] * entries))], 0.95)
    assert loss is not None
    # Half of the chance changes go either way; the loss goes one way.
    chance = numpy.random.default_rng(7)
    rates = [CHANGING / 2 + loss, CHANGING / 2, 1 - CHANGING - loss]
    drawn = chance.multinomial(entries, rates, runs).tolist()
    shown = sum(paired._estimate_from_counts(up, down, entries).p_worse < 0.05 for down, up, _ in drawn)
    assert POWER - 0.1 < shown / runs < POWER + 0.1


def test_half_of_that_loss_is_often_missed() -> None:
    entries, runs = 300, 400
    loss = find_smallest_loss([(1.0, _make_pairs([0.0] * entries))], 0.95)
    assert loss is not None
    chance = numpy.random.default_rng(7)
    drawn = chance.multinomial(
        entries, [CHANGING / 2 + loss / 2, CHANGING / 2, 1 - CHANGING - loss / 2], runs
    )
    shown = sum(
        paired._estimate_from_counts(up, down, entries).p_worse < 0.05 for down, up, _ in drawn.tolist()
    )
    assert shown / runs < 0.5


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
