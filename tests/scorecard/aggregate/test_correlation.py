"""Correlations over models; checked against scipy."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from pytest_fcbench.scorecard.aggregate.correlation import Correlation, correlate_pairs, rank_values

_NUMBERS = st.integers(0, 20).map(lambda n: n / 20)


def test_numbers_and_ranks() -> None:
    found = correlate_pairs([(0.1, 0.2), (0.2, 0.3), (0.9, 0.4)])
    assert found.n == 3
    assert found.spearman == pytest.approx(1)
    assert found.pearson == pytest.approx(0.9177, abs=1e-3)
    assert correlate_pairs([(1, 3), (2, 2), (3, 1)]) == Correlation(3, -1.0, -1.0)


@pytest.mark.parametrize(
    "pairs", [[], [(0.1, 0.2)], [(0.1, 0.2), (0.2, 0.3)], [(0.5, 0.1), (0.5, 0.2), (0.5, 0.3)]]
)
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
