"""Simulate how often intervals cover the truth and gates raise false alarms, where entries are alike.

``python -m tests.performance.intervals`` prints the table of docs/project/simulations.md. Each entry passes
with probability 0.7 by a latent normal value that is partly its cluster's, so that two verdicts of a
cluster have the correlation phi. A run has two categories, whose entries share the clusters, and the score
is their mean. ``naive`` counts every verdict as independent.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import sqrt

import numpy
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from pytest_fcbench.scorecard.aggregate import intervals
from pytest_fcbench.scorecard.aggregate.intervals import Part
from pytest_fcbench.scorecard.compare import paired
from pytest_fcbench.scorecard.compare.paired import Chance, EntryPair

CATEGORIES = 2
CLUSTERS, SIZES, PHIS, TRIALS = (5, 12, 50, 200), (1, 4), (0.0, 0.2, 0.4), (1, 5)


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of run to simulate."""

    clusters: int
    size: int
    """Entries of a cluster in each category."""
    phi: float
    trials: int
    share: float = 0.7


@cache
def find_latent_correlation(phi: float, share: float) -> float:
    """Find the correlation of two normal values whose signs have the correlation phi."""
    if phi == 0:
        return 0.0
    cut = norm.ppf(share)

    def miss(r: float) -> float:
        both = multivariate_normal.cdf([cut, cut], mean=[0, 0], cov=[[1, r], [r, 1]])
        return float((both - share**2) / (share * (1 - share)) - phi)

    return float(brentq(miss, 0.0, 0.999))


def draw_verdicts(
    setting: Setting,
    chance: numpy.random.Generator,
    share: float,
    common: NDArray[numpy.float64] | None = None,
) -> NDArray[numpy.bool_]:
    """Draw verdicts by category, cluster, entry and trial; ``common`` are the values of the clusters."""
    latent = find_latent_correlation(setting.phi, setting.share)
    shape = (CATEGORIES, setting.clusters, setting.size, setting.trials)
    if common is None:
        common = chance.standard_normal(setting.clusters)
    own = chance.standard_normal(shape)
    value = sqrt(latent) * common[None, :, None, None] + sqrt(1 - latent) * own
    return numpy.asarray(value < norm.ppf(share))


def covers_score(found: NDArray[numpy.bool_], share: float) -> tuple[bool, bool]:
    """Tell whether the interval of the mean holds the truth, by clusters and naively."""
    by_cluster, naive, units = [], [], []
    for verdicts in found:
        n, passed = verdicts[0].size, verdicts.sum(axis=(1, 2)).tolist()
        mean = float(verdicts.mean())
        clustered = intervals.find_cluster_interval([(int(k), n) for k in passed])
        alone = intervals.find_share_interval(int(verdicts.sum()), verdicts.size)
        assert clustered is not None
        assert alone is not None
        by_cluster.append(Part(1 / CATEGORIES, mean, clustered))
        naive.append(Part(1 / CATEGORIES, mean, alone))
        units.append({str(k): unit.ravel().tolist() for k, unit in enumerate(verdicts)})
    ours = intervals.find_mean_interval(by_cluster, intervals.correlate_parts(units))
    without = intervals.find_mean_interval(naive)
    assert ours is not None
    assert without is not None
    return ours.low <= share <= ours.high, without.low <= share <= without.high


def test_loss(before: NDArray[numpy.bool_], after: NDArray[numpy.bool_]) -> tuple[Chance, Chance]:
    """Test the change by clusters, and naively by single pairs."""
    parts = []
    for category, (one, other) in enumerate(zip(before, after, strict=True)):
        pairs = [
            EntryPair(
                f"{category}-{k}-{n}",
                str(category),
                float(one[k, n].mean()),
                float(other[k, n].mean()),
                one.shape[2],
                str(k),
            )
            for k, n in product(range(one.shape[0]), range(one.shape[1]))
        ]
        parts.append((1 / CATEGORIES, pairs))
    naive = [(weight, [replace(pair, unit=pair.entry) for pair in pairs]) for weight, pairs in parts]
    change = float(after.mean() - before.mean())
    return paired._estimate_chance(parts, change), paired._estimate_chance(naive, change)


test_loss.__test__ = False  # type: ignore[attr-defined]


def simulate(setting: Setting, runs: int, losses: tuple[float, ...], seed: int) -> Iterator[str]:
    """Yield the cells of a row: coverage, false alarms of a 95 % gate, power for losses."""
    coverage, chance = map(numpy.random.default_rng, numpy.random.SeedSequence(seed).spawn(2))
    # An interval takes a hundredth of the time of a test.
    covered = numpy.array(
        [
            covers_score(draw_verdicts(setting, coverage, setting.share), setting.share)
            for _ in range(4 * runs)
        ]
    ).mean(axis=0)
    yield f"{covered[1]:.1%}"
    yield f"{covered[0]:.1%}"
    for loss in (0.0, *losses):
        alarms = numpy.zeros(2)
        for _ in range(runs):
            # Half of what makes a scenario hard is the same for both models.
            shared = chance.standard_normal(setting.clusters)
            first, second = (
                draw_verdicts(
                    setting,
                    chance,
                    share,
                    sqrt(0.5) * shared + sqrt(0.5) * chance.standard_normal(setting.clusters),
                )
                for share in (setting.share, setting.share - loss)
            )
            ours, naive = test_loss(first, second)
            alarms += ours.p_worse < 0.05, naive.p_worse < 0.05
        if not loss:
            yield f"{alarms[1] / runs:.1%}"
        yield f"{alarms[0] / runs:.1%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="of the tests; four times as many of scores")
    parser.add_argument("--draws", type=int, default=1000, help="signs drawn in each test")
    parser.add_argument("--power", action="store_true", help="also for losses of 2, 5 and 10 points")
    chosen = parser.parse_args()
    paired._DRAWS = chosen.draws
    losses = (0.02, 0.05, 0.1) if chosen.power else ()
    head = [
        "clusters",
        "entries",
        "phi",
        "trials",
        "covers, naive",
        "covers",
        "alarms, naive",
        "alarms",
    ]
    head += [f"sees {loss:.0%}" for loss in losses]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for place, (clusters, size, phi, trials) in enumerate(product(CLUSTERS, SIZES, PHIS, TRIALS)):
        setting = Setting(clusters, size, phi, trials)
        cells = simulate(setting, chosen.runs, losses, place)
        told = (clusters, CATEGORIES * clusters * size, phi, trials)
        print(f"| {' | '.join([*map(str, told), *cells])} |", flush=True)


if __name__ == "__main__":
    main()
