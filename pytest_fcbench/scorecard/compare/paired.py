"""Two runs compared on the entries that both have scored, each entry with itself.

That removes how hard the entries are from the comparison: only those count whose verdict changed. The
probability that a change is chance comes from giving each change its sign by lot. For a category whose
entries were put once that is McNemar's exact test (McNemar 1947), here by its formula; where categories have
weights or entries have trials, by 20,000 draws from a fixed seed. Intervals of 95 %: for a category whose
entries were put once that of Bonett & Price (2012), which does not vanish where nothing changed; elsewhere
the percentiles of a bootstrap over entries, category by category.

Where entries share a cluster, also across categories, they change together, and one chance would count as
several. So a cluster gets its sign by lot as a whole (Canay, Romano & Shaikh 2017, "Randomization tests under
an approximate symmetry assumption"), and the interval is by Student's t from the clusters' residuals with the
correction for few of them (CR2: Bell & McCaffrey 2002).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, fsum, isclose, sqrt
from statistics import NormalDist, fmean

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.aggregate.formulas import weigh_categories
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE, FEWEST, find_freedom
from pytest_fcbench.scorecard.aggregate.scores import (
    UNTRAINED,
    assume_verdict,
    has_formula,
    leave_out_trained,
    select_marked,
)
from pytest_fcbench.scorecard.aggregate.student import find_quantile, find_tail
from pytest_fcbench.scorecard.record import Record

_DRAWS = 20_000
_ROUNDING = 1e-8
"""More than the rounding of shares below adds up to, less than any change of one entry."""
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class Pair:
    """An entry in both runs: the shares of its trials that passed (0 or 1 with a single trial)."""

    entry: str
    category: str
    before: float
    after: float
    once: bool
    """True where both runs have a single trial."""
    unit: str
    """The cluster of the entry, or the entry itself where it has none."""
    reason: str = ""
    """The reason of a failure in the later run, else empty."""

    @property
    def change(self) -> float:
        """Above 0 where it became better."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Chance:
    """The significance of a change: its interval, its p values and their method."""

    low: float
    high: float
    """Limits of 95 % confidence of the change."""
    p: float
    """Probability of so large a change in either direction by chance alone."""
    p_worse: float
    """Probability of a loss at least as large by chance alone."""
    method: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The change of a metric on the entries that both runs have scored."""

    metric: str
    entries: int
    before: float
    after: float
    better: int
    """Entries that passed more often in the later run."""
    worse: int
    chance: Chance

    @property
    def change(self) -> float:
        """Above 0 where it became better."""
        return self.after - self.before


@dataclass(frozen=True)
class Paired:
    """Two runs paired by entry."""

    pairs: tuple[Pair, ...]
    """The entries that both have scored, in the order of the later run."""
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    """Entries that only one run has."""
    unscored: tuple[str, ...]
    """Entries of both runs that one of them has not scored."""
    later: tuple[Record, ...]

    @property
    def better(self) -> list[Pair]:
        """Pairs that became better."""
        return [pair for pair in self.pairs if pair.change > 0]

    @property
    def worse(self) -> list[Pair]:
        """Pairs that became worse."""
        return [pair for pair in self.pairs if pair.change < 0]

    @cached_property
    def _by_category(self) -> Mapping[str, Sequence[Pair]]:
        found: dict[str, list[Pair]] = {name: [] for name in CATEGORIES}
        for pair in self.pairs:
            found.setdefault(pair.category, []).append(pair)
        return {name: part for name, part in found.items() if part}

    def weigh_pairs(
        self, metric: str, size_of: Callable[[str], int] = lambda name: 0
    ) -> Sequence[tuple[float, Sequence[Pair]]]:
        """List the pairs of ``overall``, a group, a category or a mark by category, each with its weight.

        A category that neither run has counts as 0 in both, as in the scores; ``size_of`` gives its size.
        """
        if metric == UNTRAINED:
            kept = {record.entry for record in leave_out_trained(self.later)}
            return replace(self, pairs=tuple(pair for pair in self.pairs if pair.entry in kept)).weigh_pairs(
                "overall", size_of
            )
        if has_formula(metric, self.later):
            share = weigh_categories(
                metric, lambda name: len(self._by_category.get(name, ())) or size_of(name)
            )
            return [(weight, part) for name, part in self._by_category.items() if (weight := share.get(name))]
        entries = {record.entry for record in select_marked(self.later, metric)}
        parts = [[p for p in part if p.entry in entries] for part in self._by_category.values()]
        return [(len(part) / sum(map(len, parts)), part) for part in parts if part]

    def measure_difference(
        self, metric: str, size_of: Callable[[str], int] = lambda name: 0
    ) -> Difference | None:
        """Measure the change of a metric, as ``weigh_pairs`` takes it; None without entries."""
        parts = self.weigh_pairs(metric, size_of)
        if not parts:
            return None
        pairs = [pair for _, part in parts for pair in part]
        better, worse = sum(pair.change > 0 for pair in pairs), sum(pair.change < 0 for pair in pairs)
        # The exact formula is for entries that weigh the same and are independent; all else is drawn.
        alike = all(isclose(weight * len(pairs), len(part)) for weight, part in parts)
        alone = len({pair.unit for pair in pairs}) == len(pairs)
        chance = (
            _estimate_from_counts(better, worse, len(pairs))
            if alike and alone and all(pair.once for pair in pairs)
            else _estimate_from_draws([(weight, [p.change for p in part]) for weight, part in parts])
            if alone
            else _estimate_from_clusters(parts)
        )
        return Difference(
            metric=metric,
            entries=len(pairs),
            before=add_in_order(weight * fmean(p.before for p in part) for weight, part in parts),
            after=add_in_order(weight * fmean(p.after for p in part) for weight, part in parts),
            better=better,
            worse=worse,
            chance=chance,
        )


def _estimate_from_counts(better: int, worse: int, n: int) -> Chance:
    """Estimate the significance from the flips of ``n`` entries that count alike and have one trial."""
    flips = better + worse

    # Whole numbers divided once: powers of 0.5 underflow with a thousand flips.
    def at_most(count: int) -> float:
        return sum(comb(flips, k) for k in range(count + 1)) / (1 << flips)

    # Bonett & Price add one to each count, so the interval has a width where nothing changed.
    up, down = (better + 1) / (n + 2), (worse + 1) / (n + 2)
    reach = _Z * sqrt((up + down - (up - down) ** 2) / (n + 2))
    return Chance(
        low=max(-1.0, up - down - reach),
        high=min(1.0, up - down + reach),
        p=min(1.0, 2 * at_most(min(better, worse))),
        p_worse=at_most(better),
        method="McNemar, exact",
    )


def _estimate_from_draws(parts: Sequence[tuple[float, Sequence[float]]]) -> Chance:
    """Estimate the significance by random draws from the changes in each category, given with its weight."""
    # Here, because the exact formula does without numpy, which takes long to import.
    import numpy

    # Always the same seed, so that the same two runs give the same p values.
    chance = numpy.random.default_rng(0)
    resampled, by_lot, found = numpy.zeros(_DRAWS), numpy.zeros(_DRAWS), 0.0
    for weight, changes in parts:
        # The same change is the same number, however its shares were rounded.
        counts = Counter(round(change, 9) for change in changes)
        found += weight * fmean(changes)
        # Category by category, so that each draw has as many of each as the runs have.
        n = len(changes)
        numbers = chance.multinomial(n, [count / n for count in counts.values()], _DRAWS)
        resampled += weight / n * (numbers @ numpy.array(list(counts)))
        # Signs of equal changes only matter by their number, which is one binomial draw for all of them.
        for size in {abs(change) for change in counts} - {0.0}:
            flips = counts[size] + counts[-size]
            by_lot += weight / n * size * (2 * chance.binomial(flips, 0.5, _DRAWS) - flips)
    low, high = numpy.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Chance(
        low=float(low),
        high=float(high),
        # One is added to both counts, so that p from draws is never 0.
        p=float(1 + (abs(by_lot) >= abs(found) - _ROUNDING).sum()) / (1 + _DRAWS),
        p_worse=float(1 + (by_lot <= found + _ROUNDING).sum()) / (1 + _DRAWS),
        method=f"randomization of signs, bootstrap ({_DRAWS:,} draws)",
    )


def _estimate_from_clusters(parts: Sequence[tuple[float, Sequence[Pair]]]) -> Chance:
    """Estimate the significance where pairs share clusters, also across the categories, each with its weight.

    Signs go to whole clusters. The interval is by t: the variance is that of the clusters' parts in the
    change, each residual corrected for its cluster's part in the mean of a category (CR2).
    """
    import numpy

    totals: dict[str, float] = {}
    residuals: dict[str, float] = {}
    shares: dict[str, float] = {}
    for weight, pairs in parts:
        n, mean = len(pairs), fmean(pair.change for pair in pairs)
        units: dict[str, list[float]] = {}
        for pair in pairs:
            units.setdefault(pair.unit, []).append(pair.change)
        for unit, changes in units.items():
            size, total = len(changes), fsum(changes)
            totals[unit] = totals.get(unit, 0.0) + weight / n * total
            # A cluster that is a whole category leaves no residual to correct.
            leverage = size / n if size < n else 0.0
            residual = weight / n * (total - mean * size) / sqrt(1 - leverage)
            residuals[unit] = residuals.get(unit, 0.0) + residual
            shares[unit] = shares.get(unit, 0.0) + weight**2 * size / n**2
    found, number = fsum(totals.values()), len(totals)
    reach, freedom = 0.0, find_freedom(list(shares.values()))
    quantile = find_quantile((1 + CONFIDENCE) / 2, freedom)
    if number > 1:
        reach = quantile * sqrt(fsum(residual**2 for residual in residuals.values()))
    changed = numpy.array([total for total in totals.values() if abs(total) > _ROUNDING])
    # Always the same seed, so that the same two runs give the same p values.
    signs = numpy.random.default_rng(0).integers(0, 2, (_DRAWS, len(changed)), dtype=numpy.int8)
    by_lot = (2.0 * signs - 1.0) @ changed if len(changed) else numpy.zeros(_DRAWS)
    tail = 0.0
    if reach and not (abs(by_lot) >= abs(found) - _ROUNDING).any():
        # Beyond what draws can tell; a correction for many tests needs less than one in so many draws.
        tail = max(2 * find_tail(abs(found) / reach * quantile, freedom), 2.0 ** (1 - len(changed)))
    few = f", fewer than {FEWEST}: the interval means little" if number < FEWEST else ""
    # Where categories of the formula were not run, a change can be no larger than the weight of the others.
    most = fsum(weight for weight, _ in parts)
    return Chance(
        low=max(-most, found - reach),
        high=min(most, found + reach),
        p=min(tail or 1.0, float(1 + (abs(by_lot) >= abs(found) - _ROUNDING).sum()) / (1 + _DRAWS)),
        p_worse=float(1 + (by_lot <= found + _ROUNDING).sum()) / (1 + _DRAWS),
        method=f"randomization of signs ({_DRAWS:,} draws), t, of {number:,} clusters{few}",
    )


@dataclass(frozen=True, slots=True)
class _Trials:
    """The trials of an entry in one run."""

    category: str
    unit: str
    passed: list[bool]
    """The verdict of each scored trial."""
    reasons: list[str]
    """The reason of each failed trial."""


def pair_runs(
    before: Iterable[Record],
    after: Iterable[Record],
    profile: Profile,
    assumed: Passed | Failed | None = None,
) -> Paired:
    """Pair two runs under one profile; ``assumed`` stands for verdicts that the later run lacks.

    An entry counts where both have scored a trial of it.
    """
    later = tuple(after)
    first, second = _collect_trials(before, profile, None), _collect_trials(later, profile, assumed)
    both = [entry for entry in second if entry in first]
    return Paired(
        pairs=tuple(
            Pair(
                entry=entry,
                category=second[entry].category,
                before=fmean(first[entry].passed),
                after=fmean(second[entry].passed),
                once=len(first[entry].passed) == len(second[entry].passed) == 1,
                # A baseline has no clusters, so the run that knows one tells it.
                unit=first[entry].unit if second[entry].unit == entry else second[entry].unit,
                reason=next(iter(second[entry].reasons), ""),
            )
            for entry in both
            if first[entry].passed and second[entry].passed
        ),
        only_before=tuple(entry for entry in first if entry not in second),
        only_after=tuple(entry for entry in second if entry not in first),
        unscored=tuple(entry for entry in both if not (first[entry].passed and second[entry].passed)),
        later=later,
    )


def _collect_trials(
    records: Iterable[Record], profile: Profile, assumed: Passed | Failed | None
) -> Mapping[str, _Trials]:
    found: dict[str, _Trials] = {}
    for record in records:
        trials = found.setdefault(record.entry, _Trials(record.category, record.unit, [], []))
        verdict = assume_verdict(record.verdict(profile), assumed)
        if isinstance(verdict, NotScored):
            continue
        trials.passed.append(verdict.passed)
        if isinstance(verdict, Failed):
            trials.reasons.append(verdict.reason or verdict.code)
    return found
