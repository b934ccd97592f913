"""Intervals and tests against those of statsmodels, where it has the same method."""

from __future__ import annotations

from math import sqrt

import numpy
import pytest
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from pytest_fcbench.scorecard.aggregate.intervals import (
    Changes,
    estimate_change,
    find_cluster_interval,
    find_share_interval,
)
from pytest_fcbench.scorecard.compare.paired import correct_by_holm, find_exact_chances
from tests.cases import each_case


@each_case(("passed", "n"), [(0, 5), (1, 5), (7, 10), (200, 400), (399, 400), (400, 400)])
def test_the_interval_of_independent_entries_is_wilsons(passed: int, n: int) -> None:
    found = find_share_interval(passed, n)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(proportion_confint(passed, n, method="wilson"))
    assert (found.low, found.high) != pytest.approx(proportion_confint(passed, n, method="normal"))


@each_case(("better", "worse"), [(0, 0), (0, 5), (3, 9), (40, 21)])
def test_the_p_value_of_flips_is_that_of_mcnemars_exact_test(better: int, worse: int) -> None:
    expected = mcnemar([[10, worse], [better, 7]], exact=True).pvalue
    assert find_exact_chances(better, worse)[0] == pytest.approx(expected)


@pytest.mark.parametrize("values", [[0.01], [0.04, 0.01, 0.03], [0.5, 0.001, 0.02, 0.9, 0.02]])
def test_many_p_values_are_corrected_by_holm(values: list[float]) -> None:
    assert correct_by_holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))
    if len(values) > 1:
        assert correct_by_holm(values) != pytest.approx(list(multipletests(values, method="bonferroni")[1]))


def _draw_changes(clusters: int, size: int) -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.int64]]:
    """Draw changes of entries, alike within a cluster."""
    chance = numpy.random.default_rng(clusters)
    common = chance.integers(-1, 2, clusters)
    return numpy.where(chance.random((clusters, size)) < 0.5, common[:, None], 0)


@pytest.mark.parametrize(("clusters", "size"), [(12, 200), (50, 400)])
def test_the_error_of_a_change_over_clusters_is_that_of_a_regression(clusters: int, size: int) -> None:
    """Regress on a constant with errors by cluster.

    For clusters of one size its correction, k / (k - 1), is CR2. The two changes that are added count among
    fewer effective entries than clusters, so the error is somewhat larger.
    """
    changes = _draw_changes(clusters, size)
    fitted = OLS(changes.ravel(), numpy.ones(changes.size)).fit(
        cov_type="cluster", cov_kwds={"groups": numpy.repeat(numpy.arange(clusters), size)}
    )
    summed = {
        str(n): Changes(size, int(row.sum()), int(abs(row).sum()), size) for n, row in enumerate(changes)
    }
    found = estimate_change([(1.0, summed)])
    assert float(fitted.bse[0]) <= sqrt(found.variance) < 1.4 * float(fitted.bse[0])
    assert found.freedom == pytest.approx(clusters - 1)
    independent = OLS(changes.ravel(), numpy.ones(changes.size)).fit()
    assert sqrt(found.variance) > 2 * float(independent.bse[0])


@pytest.mark.parametrize(("clusters", "size"), [(12, 4), (50, 2)])
def test_the_effective_number_of_entries_follows_from_the_regressions_error(clusters: int, size: int) -> None:
    passed = (_draw_changes(clusters, size) >= 0).astype(int)
    fitted = OLS(passed.ravel(), numpy.ones(passed.size)).fit(
        cov_type="cluster", cov_kwds={"groups": numpy.repeat(numpy.arange(clusters), size)}, use_t=True
    )
    share, error = float(fitted.params[0]), float(fitted.bse[0])
    effective = min(passed.size, share * (1 - share) / error**2)
    # Wilson's limits are where the share is so many standard errors away, each by its own error.
    z = float(fitted.conf_int()[0][1] - share) / error
    found = find_cluster_interval([(int(row.sum()), size) for row in passed])
    assert found is not None
    for limit in (found.low, found.high):
        assert abs(share - limit) == pytest.approx(z * sqrt(limit * (1 - limit) / effective))
