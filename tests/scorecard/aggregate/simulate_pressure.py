"""Seeded runs of models whose breaking point is known: does the interval hold it?

    python -m tests.scorecard.aggregate.simulate_pressure
    python -m tests.scorecard.aggregate.simulate_pressure --runs 100 --first 500

Entries differ in how hard they are, so that verdicts on one at several levels are alike; entries of a cluster
are equally hard. Prints for each model how often the interval holds the point, or lies below or above it, its
median width in powers of two, and the median estimate; exits with 1 where less than 93 % hold it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytest_fcbench.scorecard.aggregate.pressure import BreakingPoint, fit_breaking_point

LEAST_COVERAGE = 0.93


@dataclass(frozen=True)
class SimulatedModel:
    """A model that passes an entry at level 0 with ``start`` and at ``point`` half as often, in the mean."""

    name: str
    point: float
    width: float
    start: float = 0.9
    entries: int = 100
    spread: float = 1.0
    """Standard deviation of the hardness of entries, on the scale of log odds; it makes them alike."""
    size: int = 1
    """Entries of a cluster."""
    levels: tuple[int, ...] = (0, 8, 32, 128)

    @cached_property
    def shares(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The mean share that passes at each level."""
        u, b = np.log2(1 + np.array(self.levels, float)), np.log2(1 + self.point)
        scale = np.exp(-b / self.width)
        shares = self.start * (1 - scale) / (1 - 2 * scale + np.exp((u - b) / self.width))
        return np.asarray(shares)

    def run(self, seed: int) -> BreakingPoint:
        """Fit a run of the model."""
        random = np.random.default_rng(seed)
        clusters = self.entries // self.size
        # A uniform number of each verdict, alike within a cluster: normal numbers with a common part.
        common = self.spread**2 / (1 + self.spread**2)
        shape = clusters, len(self.levels), self.size
        numbers = np.sqrt(common) * random.standard_normal((clusters, 1, 1))
        numbers = numbers + np.sqrt(1 - common) * random.standard_normal(shape)
        limits = np.quantile(random.standard_normal(200_001), self.shares)
        passed = (numbers < limits[None, :, None]).sum(2)
        return fit_breaking_point(self.levels, [[(int(n), self.size) for n in row] for row in passed])


MODELS: Sequence[SimulatedModel] = (
    SimulatedModel("falls slowly", 20, 1.2),
    SimulatedModel("falls fast", 20, 0.3),
    SimulatedModel("falls between two levels", 20, 0.02),
    SimulatedModel("weak from the start", 20, 0.9, start=0.4),
    SimulatedModel("breaks early", 4, 0.9),
    SimulatedModel("30 entries", 20, 0.9, entries=30),
    SimulatedModel("entries very unequal", 20, 0.9, spread=3),
    SimulatedModel("clusters of 5", 20, 0.9, entries=150, size=5),
    SimulatedModel("six levels", 20, 0.9, levels=(0, 4, 8, 16, 32, 64)),
)


def main(arguments: Sequence[str]) -> int:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="seed of the first run")
    options = parser.parse_args(arguments)
    least = 1.0
    print("| model | breaks at | held | below | above | width | median |\n|---|---|---|---|---|---|---|")
    for model in MODELS:
        runs = [model.run(options.first + n) for n in range(options.runs)]
        top = model.levels[-1]
        limits = [(run.low or 0.0, top * 8 if run.high is None else run.high) for run in runs]
        held = sum(low <= model.point <= high for low, high in limits) / len(runs)
        below = sum(high < model.point for _, high in limits) / len(runs)
        width = float(np.median([np.log2((1 + high) / (1 + low)) for low, high in limits]))
        middle = float(np.median([top * 8 if run.level is None else run.level for run in runs]))
        above = 1 - held - below
        shares = f"{held:.1%} | {below:.1%} | {above:.1%}"
        print(f"| {model.name} | {model.point:g} | {shares} | {width:.2f} | {middle:.3g} |", flush=True)
        least = min(least, held)
    return int(least < LEAST_COVERAGE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
