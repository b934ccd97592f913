"""Two sets compared: against scipy, with differences that are there and that are not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_fcbench.tools.contamination.comparison import (
    MeasureComparison,
    Summary,
    compare_sets,
    describe_finding,
    rank_test,
)
from pytest_fcbench.tools.contamination.measures import TextMeasure

VALUES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=30)


@given(VALUES, VALUES)
def test_ranks_are_tested_as_by_scipy(a: list[float], b: list[float]) -> None:
    share, p = rank_test(a, b)
    if len({*a, *b}) == 1:
        assert (share, p) == (0.5, 1.0)
        return
    known = stats.mannwhitneyu(b, a, method="asymptotic")
    assert share == pytest.approx(float(known.statistic) / (len(a) * len(b)))
    assert p == pytest.approx(float(known.pvalue))


@given(VALUES, VALUES)
def test_ranks_of_the_sets_in_the_other_order(a: list[float], b: list[float]) -> None:
    share, p = rank_test(a, b)
    assert rank_test(b, a) == pytest.approx((1 - share, p))


def make_measures(mean: float, number: int = 80, seed: int = 0, characters: int = 4) -> list[TextMeasure]:
    """Make measures of texts of 20 tokens with so many nats each, more or less."""
    chance = Random(seed)
    return [
        TextMeasure(f"core:x_{n}", "x", 20 * characters, 20, 20 * max(0.1, chance.gauss(mean, 0.3)))
        for n in range(number)
    ]


def compare_measures(
    a: Sequence[TextMeasure], b: Sequence[TextMeasure]
) -> tuple[MeasureComparison, MeasureComparison]:
    perplexity, characters = compare_sets(a, b)
    assert (perplexity.measure, characters.measure) == ("perplexity", "nats per character")
    return perplexity, characters


def test_sets_compared_by_hand() -> None:
    """Perplexities 2, 4 and 8 against 16; of each text half as many characters as tokens."""
    a = [TextMeasure(f"c:{n}", "x", 5, 10, 10 * n * math.log(2)) for n in (1, 2, 3)]
    b = [TextMeasure("c:4", "x", 5, 10, 10 * 4 * math.log(2))]
    perplexity, characters = compare_measures(a, b)
    assert (perplexity.a.n, perplexity.b.n) == (3, 1)
    assert [perplexity.a.mean, perplexity.a.median, perplexity.b.mean] == pytest.approx([14 / 3, 4, 16])
    low, high = read_limits(perplexity.a)
    assert 1.999 < low < 14 / 3 < high < 8.001
    assert (perplexity.b.low, perplexity.b.high, perplexity.low, perplexity.high) == (None,) * 4
    assert perplexity.difference == pytest.approx(14 / 3 - 16)
    assert perplexity.share == 1.0
    assert characters.a.mean == pytest.approx(2 * 2 * math.log(2))


def read_limits(found: Summary | MeasureComparison) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def test_a_planted_difference_is_found() -> None:
    for which, (a, b) in (
        ("a", (make_measures(2.0), make_measures(2.5, seed=1))),
        ("b", (make_measures(2.5), make_measures(2.0, seed=1))),
    ):
        for comparison in compare_measures(a, b):
            assert comparison.lower == which
            low, high = read_limits(comparison)
            assert (high < 0) if which == "a" else (low > 0)
            assert low < comparison.difference < high


def test_where_there_is_none_none_is_found() -> None:
    for comparison in compare_measures(make_measures(2.0), make_measures(2.0, seed=1)):
        assert comparison.lower is None
        low, high = read_limits(comparison)
        assert low < 0 < high


def test_the_same_texts_do_not_differ_at_all() -> None:
    for comparison in compare_measures(make_measures(2.0), make_measures(2.0)):
        assert (comparison.difference, comparison.share) == (0, 0.5)
        assert comparison.p == pytest.approx(1)


def test_chance_finds_something_about_as_often_as_it_should() -> None:
    found = sum(
        rank_test(
            [m.nats for m in make_measures(2, 30, 2 * n)], [m.nats for m in make_measures(2, 30, 2 * n + 1)]
        )[1]
        < 0.05
        for n in range(400)
    )
    assert 8 <= found <= 34, "5 % of 400 is 20, with a standard deviation of 4.4"


def test_the_interval_is_about_that_of_the_normal_distribution() -> None:
    a = make_measures(2.0, 400)
    _, characters = compare_measures(a, make_measures(2.0, seed=1))
    values = [measure.nats_per_character for measure in a]
    known = stats.t.interval(0.95, len(a) - 1, characters.a.mean, stats.sem(values))
    assert read_limits(characters.a) == pytest.approx(known, rel=2e-3)


def test_the_order_of_texts_does_not_matter() -> None:
    a, b = make_measures(2.0, 20), make_measures(2.2, 20, 1)
    assert compare_sets(a[::-1], [*b[7:], *b[:7]]) == compare_sets(a, b)


def test_what_is_found_in_words() -> None:
    low, high = make_measures(2.0), make_measures(2.5, seed=1)
    assert describe_finding(compare_sets(low, high), "A", "B") == (
        "A surprises the model less than B does, by both measures and by more than chance "
        "(by ranks, perplexity p < 0.0001, nats per character p < 0.0001). Training on A "
        "would explain this, but other causes are possible."
    )
    assert describe_finding(compare_sets(high, low), "A", "B").startswith(
        "B surprises the model less than A does"
    )
    assert "no sign that the model knows one better" in describe_finding(compare_sets(low, low), "A", "B")
    # More nats a token, but so long tokens that it is less a character.
    mixed = describe_finding(compare_sets(make_measures(2.5, characters=9), low), "A", "B")
    assert mixed.startswith("The two measures disagree (by ranks, perplexity p < 0.0001, ")
