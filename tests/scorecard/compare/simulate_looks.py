"""Simulate A/B runs that are looked at ten times, beside one test of the whole run at the same error.

``python -m tests.scorecard.compare.simulate_looks`` prints the table of docs/project/simulations.md. Two
models differ on a share of the entries by chance, in either direction alike, and on more by what one of them
lost. A hidden normal value decides, of which ``_ALIKE`` is that of a cluster of four entries.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy
from numpy.typing import NDArray
from scipy.stats import norm

from pytest_fcbench.scorecard.aggregate.intervals import Estimate, find_share_interval, find_tail
from pytest_fcbench.scorecard.compare import paired
from pytest_fcbench.scorecard.compare.looks import LOOKS, decide_comparison
from pytest_fcbench.scorecard.compare.paired import EntryPair, Paired
from pytest_fcbench.scorecard.two_models import LookDecision

LEVEL = 0.05
_DRAWS = 20_000
_SIZE = 4
"""Entries of a cluster."""
_ALIKE = 0.5
"""The part of a cluster in the hidden value: changes of one direction then correlate with 0.2 to 0.3."""
_SPREAD = 0.3125
"""Makes 10 % of the entries of one model change between two runs, where 70 % pass."""
METRICS: Mapping[str, tuple[str, ...]] = {
    "parallel": ("parallel",),
    "non_live": (
        "simple_python",
        "simple_java",
        "simple_javascript",
        "multiple",
        "parallel",
        "parallel_multiple",
    ),
}
"""The categories of a score, to which the entries belong in turn."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of A/B run; what follows ``late`` is of its second half."""

    name: str
    entries: int
    loss: float
    flips: float
    late_loss: float | None = None
    late_flips: float | None = None
    is_clustered: bool = False
    is_same: bool = False
    """True for one model that is asked twice, with a probability of its own to pass each entry."""
    metric: str = "parallel"


@dataclass(frozen=True, slots=True)
class Tally:
    """The outcomes of simulated runs."""

    runs: int
    decisions: Mapping[LookDecision, int]
    whole: int
    """Runs in which one test of all entries shows a loss."""
    asked: float
    """The mean share of entries that were asked."""


def list_settings() -> Iterator[Setting]:
    """Yield the rows of the table."""
    losses = (0.0, 0.02, 0.05, 0.1)
    for entries in (400, 2_000):
        for flips in (0.05, 0.1, 0.2):
            yield from (Setting("alone", entries, loss, flips) for loss in losses)
        yield from (Setting("clusters of 4", entries, loss, 0.1, is_clustered=True) for loss in losses)
        yield from (Setting("flips 5 %, then 20 %", entries, loss, 0.05, late_flips=0.2) for loss in losses)
        yield from (
            Setting("lost in the second half", entries, 0.0, 0.1, late_loss=2 * loss) for loss in losses[1:]
        )
    yield from (Setting("six categories", 400, loss, 0.1, metric="non_live") for loss in losses)
    yield from (Setting("one model twice", entries, 0.0, 0.1, is_same=True) for entries in (400, 2_000))


def flip_signs(totals: Sequence[float], estimate: Estimate) -> tuple[float, float, str]:
    """Return the p values of ``paired``'s sign-flip test, all of whose signs numpy draws at once."""
    observed = sum(totals)
    sizes = Counter(size for total in totals if (size := round(abs(total), 12)))
    chance, by_lot = numpy.random.default_rng(0), numpy.zeros(_DRAWS)
    for size, number in sorted(sizes.items()):
        by_lot += size * (2 * chance.binomial(number, 0.5, _DRAWS) - number)
    as_large = int((abs(by_lot) >= abs(observed) - 1e-8).sum())
    p = (1 + as_large) / (1 + _DRAWS)
    if not as_large:
        p = min(p, 2 * find_tail(abs(observed) / sqrt(estimate.variance), estimate.freedom))
    least = 2.0 ** -sizes.total()
    p_worse = (1 + int((by_lot <= observed + 1e-8).sum())) / (1 + _DRAWS)
    return max(p, 2 * least), max(p_worse, least), "numpy"


def draw_changes(setting: Setting, chance: numpy.random.Generator) -> NDArray[numpy.int64]:
    """Draw how each entry changes, in the order in which they are asked: -1, 0 or 1."""
    n = setting.entries
    if setting.is_same:
        chances = chance.beta(0.7 * _SPREAD, 0.3 * _SPREAD, n)
        before, after = (chance.random(n) < chances for _ in range(2))
        repeated: NDArray[numpy.int64] = after.astype(int) - before.astype(int)
        return repeated
    hidden = chance.standard_normal(n)
    if setting.is_clustered:
        of_cluster = numpy.repeat(chance.standard_normal(-(-n // _SIZE)), _SIZE)[:n]
        hidden = sqrt(_ALIKE) * of_cluster + sqrt(1 - _ALIKE) * hidden
    late = numpy.arange(n) >= n // 2
    loss = numpy.where(late & (setting.late_loss is not None), setting.late_loss or 0.0, setting.loss)
    flips = numpy.where(late & (setting.late_flips is not None), setting.late_flips or 0.0, setting.flips)
    worse = hidden < norm.ppf(flips / 2 + loss)
    better = hidden > norm.ppf(1 - flips / 2)
    changes: NDArray[numpy.int64] = better.astype(int) - worse.astype(int)
    return changes


def simulate(setting: Setting, runs: int, seed: int) -> Tally:
    """Simulate runs, each until it is decided, and the test of the whole run."""
    chance, categories = numpy.random.default_rng(seed), METRICS[setting.metric]
    decisions: Counter[LookDecision] = Counter()
    shown, asked_shares = 0, 0.0
    for _ in range(runs):
        changes = draw_changes(setting, chance).tolist()
        size = _SIZE if setting.is_clustered else 1
        pairs = tuple(
            EntryPair(
                str(n),
                categories[n % len(categories)],
                float(change < 0),
                float(change > 0),
                1,
                str(n // size),
            )
            for n, change in enumerate(changes)
        )
        for look in range(1, LOOKS + 1):
            asked = -(-look * setting.entries // LOOKS)
            part = Paired(pairs[:asked], (), (), (), ())
            finding = decide_comparison(part, asked, setting.entries, setting.metric)
            if finding.decision.stops:
                break
        decisions[finding.decision] += 1
        asked_shares += finding.share
        difference = Paired(pairs, (), (), (), ()).measure_difference(setting.metric)
        assert difference is not None
        shown += difference.chance.p_worse < LEVEL
    return Tally(runs, decisions, shown, asked_shares / runs)


def format_row(setting: Setting, tally: Tally) -> str:
    """Write a row of the table."""
    found = tally.decisions
    worse = found[LookDecision.WORSE]
    interval = find_share_interval(worse, tally.runs)
    assert interval is not None
    at_most = sum(found[each] for each in (LookDecision.ALIKE, LookDecision.NOT_WORSE, LookDecision.BETTER))
    loss = setting.loss if setting.late_loss is None else (setting.loss + setting.late_loss) / 2
    cells = (
        f"{setting.entries:,}",
        setting.name,
        f"{setting.flips:.0%}",
        f"{-100 * loss:.0f}" if loss else "0",
        f"{tally.whole / tally.runs:.1%}",
        f"{worse / tally.runs:.1%} ({interval.low:.1%} to {interval.high:.1%})",
        f"{at_most / tally.runs:.1%}",
        f"{found[LookDecision.HOPELESS] / tally.runs:.1%}",
        f"{found[LookDecision.OPEN] / tally.runs:.1%}",
        f"{1 - tally.asked:.0%}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--entries", type=int, help="only the rows of so many entries")
    arguments = parser.parse_args()
    head = (
        "entries",
        "how they differ",
        "flips",
        "points",
        "whole",
        "worse",
        "not worse",
        "hopeless",
        "open",
        "saved",
    )
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    # The same test, in a tenth of the time.
    paired._flip_signs = flip_signs
    for seed, setting in enumerate(list_settings()):
        if arguments.entries in (None, setting.entries):
            print(format_row(setting, simulate(setting, arguments.runs, seed)), flush=True)


if __name__ == "__main__":
    main()
