"""Simulate how often intervals of differences cover the truth, and how often nothing is taken for a change.

``python -m tests.performance.differences`` prints the table of docs/project/simulations.md: groups with the
official numbers of entries and sizes of clusters (5,090 entries in ``overall``), and small runs. An entry
passes where a normal value lies below that of its category's share. The value is partly its cluster's, so
that two verdicts of a cluster have the correlation phi, and half of either part is the same for both
models. Each model is compared with one as good, and with one that is 5 points worse.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import sqrt

import numpy
from numpy.typing import NDArray
from scipy.stats import norm

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import weigh_categories
from pytest_fcbench.scorecard.compare import paired
from pytest_fcbench.scorecard.compare.paired import Chance, EntryPair, Paired, pair_runs
from tests.performance.intervals import find_latent_correlation

LOSS = 0.05
SHARES = (0.55, 0.75, 0.65, 0.85)
"""The shares of categories that pass, in turn."""
_MEMORY = {50: 1, 30: 1, 25: 3}
SIZES: Mapping[str, Mapping[int, int]] = {
    "live_simple": {1: 101, 2: 23, 3: 4, 4: 3, 5: 1, 6: 1, 8: 1, 16: 2, 18: 2},
    "live_multiple": dict(
        zip(
            (*range(1, 16), 17, 19, 21, 23, 26, 29),
            (151, 40, 17, 5, 8, 7, 4, 10, 6, 5, 1, 5, 5, 2, 3, 2, 1, 2, 2, 3, 1),
            strict=True,
        )
    ),
    "live_parallel": {1: 10, 2: 1, 4: 1},
    "live_parallel_multiple": {1: 18, 2: 3},
    "live_irrelevance": dict(
        zip(
            (*range(1, 13), 14, 23, 30, 60, 91),
            (237, 74, 16, 13, 3, 7, 3, 4, 2, 3, 1, 1, 1, 1, 1, 1, 1),
            strict=True,
        )
    ),
    "memory_kv": _MEMORY,
    "memory_vector": _MEMORY,
    "memory_rec_sum": _MEMORY,
    "simple_python": {1: 400},
    "simple_java": {1: 100},
    "simple_javascript": {1: 50},
    "multiple": {1: 200},
    "parallel": {1: 200},
    "parallel_multiple": {1: 200},
    "irrelevance": {1: 240},
    "multi_turn_base": {1: 200},
    "multi_turn_miss_func": {1: 200},
    "multi_turn_miss_param": {1: 200},
    "multi_turn_long_context": {1: 200},
    "web_search_base": {1: 100},
    "web_search_no_snippet": {1: 100},
}
"""For each official category the number of clusters by their size."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of comparison to simulate."""

    metric: str
    clusters: Mapping[str, Sequence[int]]
    """For each category the sizes of its clusters; groups of categories share them."""
    phi: float = 0.0
    trials: int = 1


def list_settings() -> Iterator[Setting]:
    """Yield the rows of the table."""
    official = {name: [size for size, n in sizes.items() for _ in range(n)] for name, sizes in SIZES.items()}
    for metric in ("overall", "agentic", "memory", "memory_kv", "multi_turn", "live", "irrelevance_all"):
        parts = weigh_categories(metric, lambda name: 1.0)
        chosen = {name: sizes for name, sizes in official.items() if name in parts}
        for phi in (0.0, 0.2, 0.4):
            yield Setting(metric, chosen, phi)
    yield Setting("non_live", {name: official[name] for name in weigh_categories("non_live", len)})
    for n in (5, 10, 20, 50):
        yield Setting("parallel", {"parallel": [1] * n})
    for n in (1, 2, 5, 10, 50):
        yield Setting("non_live", {name: [1] * n for name in weigh_categories("non_live", len)})
    yield Setting(
        "simple", {"simple_python": [1] * 50, "simple_java": [1] * 10, "simple_javascript": [1] * 3}
    )
    for n in (5, 10, 50):
        yield Setting("parallel", {"parallel": [1] * n}, trials=5)
    for number, size in ((5, 1), (5, 4), (12, 4), (50, 4)):
        for phi in (0.0, 0.4):
            kinds = ("web_search_base", "web_search_no_snippet")
            yield Setting("web_search", dict.fromkeys(kinds, (size,) * number), phi)


def share_clusters(category: str) -> str:
    """Return the name of the clusters of a category, which others of its group may share."""
    shared = ("multi_turn", "memory", "web_search")
    return next((group for group in shared if category.startswith(group)), category)


def simulate(setting: Setting, runs: int, seed: int) -> tuple[float, float, float, float]:
    """Return the shares of intervals that cover, their mean width, wrong changes and wrong alarms."""
    chance = numpy.random.default_rng(seed)
    names: dict[str, int] = {}
    placed = [
        (category, share, names.setdefault(f"{share_clusters(category)}_{n}", len(names)))
        for (category, sizes), share in zip(setting.clusters.items(), cycle(SHARES), strict=False)
        for n, size in enumerate(sizes)
        for _ in range(size)
    ]
    units = numpy.array([unit for _, _, unit in placed])
    shares = numpy.array([share for _, share, _ in placed])
    latent = find_latent_correlation(setting.phi, 0.7)

    def draw_run(loss: float, common: NDArray[numpy.float64], entries: NDArray[numpy.float64]) -> list[float]:
        cluster = sqrt(0.5) * common + sqrt(0.5) * chance.standard_normal(len(names))
        passed = numpy.zeros(len(placed))
        for _ in range(setting.trials):
            own = sqrt(0.5) * entries + sqrt(0.5) * chance.standard_normal(len(placed))
            passed += sqrt(latent) * cluster[units] + sqrt(1 - latent) * own < norm.ppf(shares - loss)
        found: list[float] = (passed / setting.trials).tolist()
        return found

    covered, widths, shown, alarms = 0, 0.0, 0, 0
    for loss in (0.0, LOSS):
        for _ in range(runs):
            common, entries = chance.standard_normal(len(names)), chance.standard_normal(len(placed))
            before, after = draw_run(0.0, common, entries), draw_run(loss, common, entries)
            found = measure_chance(setting, placed, before, after)
            covered += found.low - 1e-9 <= -loss <= found.high + 1e-9
            widths += found.high - found.low
            if not loss:
                shown += found.p <= 0.05 and not found.low <= 0 <= found.high
                alarms += found.p_worse < 0.05
    return covered / runs / 2, widths / runs / 2, shown / runs, alarms / runs


def measure_chance(
    setting: Setting,
    placed: Sequence[tuple[str, float, int]],
    before: Sequence[float],
    after: Sequence[float],
) -> Chance:
    """Measure the difference of two runs, given the category, the share and the cluster of each entry."""
    pairs = tuple(
        EntryPair(str(n), category, one, other, setting.trials, str(unit))
        for n, ((category, _, unit), one, other) in enumerate(zip(placed, before, after, strict=True))
    )
    runs = Paired(pairs, (), (), (), pair_runs((), (), Profile.OFFICIAL).later)
    found = runs.measure_difference(setting.metric)
    assert found is not None
    return found.chance


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="of each of both losses")
    parser.add_argument("--draws", type=int, default=1000, help="signs drawn in each test")
    chosen = parser.parse_args()
    paired._DRAWS = chosen.draws
    head = ["score", "entries", "clusters", "phi", "trials", "covers", "width", "shown", "alarms"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for seed, setting in enumerate(list_settings()):
        covered, width, shown, alarms = simulate(setting, chosen.runs, seed)
        entries = sum(map(sum, setting.clusters.values()))
        clusters = len(
            {(share_clusters(name), n) for name, of in setting.clusters.items() for n in range(len(of))}
        )
        told = (setting.metric, f"{entries:,}", f"{clusters:,}", setting.phi, setting.trials)
        measured = (f"{covered:.1%}", f"{100 * width:.1f}", f"{shown:.1%}", f"{alarms:.1%}")
        print(f"| {' | '.join([*map(str, told), *measured])} |", flush=True)


if __name__ == "__main__":
    main()
