"""Two runs compared on the entries that both have scored, each entry with itself.

That removes how hard the entries are from the comparison: only those count whose verdict changed. The
probability that a change is chance comes from giving each change its sign by lot. For a category whose
entries were put once that is McNemar's exact test (McNemar 1947), here by its formula; where categories have
weights or entries have trials, by 20,000 draws from a fixed seed. Where entries share a cluster, also across
categories, they change together, and one chance would count as several; so a cluster gets its sign by lot as
a whole (Canay, Romano & Shaikh 2017, "Randomization tests under an approximate symmetry assumption").

The interval of the change is that of ``aggregate.intervals``. Several p values are corrected for how many
questions are asked at once, and the power of a comparison is known before the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, fsum, inf, isclose, sqrt
from random import Random
from statistics import NormalDist, fmean
from typing import TypeAlias

from pytest_fcbench.domain.arithmetic import add_in_order
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.scorecard.aggregate.intervals import (
    CONFIDENCE,
    Estimate,
    estimate_change,
    find_freedom,
    find_quantile,
    find_tail,
    sum_changes,
)
from pytest_fcbench.scorecard.aggregate.scores import (
    UNTRAINED,
    Assumed,
    SizeOf,
    assume_verdict,
    has_formula,
    leave_out_trained,
    name_main_score,
    select_marked,
    weigh_categories,
)
from pytest_fcbench.scorecard.record import Record

_DRAWS = 20_000
_ROUNDING = 1e-8
"""More than the rounding of shares below adds up to, less than any change of one entry."""
_UNKNOWN = Estimate(0.0, 0.0, inf)


@dataclass(frozen=True, slots=True)
class EntryPair:
    """An entry in both runs: the shares of its trials that passed (0 or 1 with a single trial)."""

    entry: str
    category: str
    before: float
    after: float
    trials: int
    """The trials of either run, those of the run that has fewer."""
    unit: str
    """The cluster of the entry, or the entry itself where it has none."""
    reason: str = ""
    """The reason of a failure in the later run, else empty."""

    @property
    def change(self) -> float:
        """Above 0 where it became better."""
        return self.after - self.before

    @property
    def flips(self) -> float:
        """The share of pairs of a trial before and one after with different verdicts."""
        return self.before * (1 - self.after) + self.after * (1 - self.before)


WeightedPairs: TypeAlias = Sequence[tuple[float, Sequence[EntryPair]]]
"""The pairs of each category, with its weight."""


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
    """How ``p`` was found."""
    clusters: int | None = None
    """The number of clusters, each with one sign; None where every entry is one of its own."""
    smallest_p: float = 0.0
    """The smallest ``p`` that so many entries or clusters can have: that of all changes in one direction."""
    estimate: Estimate = _UNKNOWN
    """The estimate that the interval is from."""
    most: float = 1.0
    """The largest change that there can be: the weight of the categories that were run."""

    @property
    def can_be_shown(self) -> bool:
        """True where the entries are enough to show some change."""
        return self.smallest_p <= 1 - CONFIDENCE


@dataclass(frozen=True, slots=True)
class MetricDifference:
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

    pairs: tuple[EntryPair, ...]
    """The entries that both have scored, in the order of the later run."""
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    """Entries that only one run has."""
    unscored: tuple[str, ...]
    """Entries of both runs that one of them has not scored."""
    later: tuple[Record, ...]
    """The Records of the later run about entries of both, which alone say what is compared."""

    @property
    def better(self) -> list[EntryPair]:
        """Pairs that became better."""
        return [pair for pair in self.pairs if pair.change > 0]

    @property
    def worse(self) -> list[EntryPair]:
        """Pairs that became worse."""
        return [pair for pair in self.pairs if pair.change < 0]

    @cached_property
    def _by_category(self) -> Mapping[str, Sequence[EntryPair]]:
        groups: dict[str, list[EntryPair]] = {name: [] for name in CATEGORIES}
        for pair in self.pairs:
            groups.setdefault(pair.category, []).append(pair)
        return {name: part for name, part in groups.items() if part}

    def weigh_pairs(self, metric: str, size_of: SizeOf = lambda name: 0) -> WeightedPairs:
        """List the pairs of ``overall``, a group, a category or a mark by category, each with its weight.

        A category that neither run has counts as 0 in both, as in the scores; ``size_of`` gives its size.
        """
        if metric == UNTRAINED:
            untrained_entries = {record.entry for record in leave_out_trained(self.later)}
            pairs = tuple(pair for pair in self.pairs if pair.entry in untrained_entries)
            return replace(self, pairs=pairs).weigh_pairs(name_main_score(self.later), size_of)
        if has_formula(metric, self.later):
            share = weigh_categories(
                metric, lambda name: len(self._by_category.get(name, ())) or size_of(name)
            )
            return [(weight, part) for name, part in self._by_category.items() if (weight := share.get(name))]
        entries = {record.entry for record in select_marked(self.later, metric)}
        parts = [[p for p in part if p.entry in entries] for part in self._by_category.values()]
        return [(len(part) / sum(map(len, parts)), part) for part in parts if part]

    def measure_difference(self, metric: str, size_of: SizeOf = lambda name: 0) -> MetricDifference | None:
        """Measure the change of a metric, as ``weigh_pairs`` takes it; None without entries."""
        parts = self.weigh_pairs(metric, size_of)
        if not parts:
            return None
        pairs = [pair for _, part in parts for pair in part]
        before = add_in_order(weight * fmean(pair.before for pair in part) for weight, part in parts)
        after = add_in_order(weight * fmean(pair.after for pair in part) for weight, part in parts)
        return MetricDifference(
            metric=metric,
            entries=len(pairs),
            before=before,
            after=after,
            better=sum(pair.change > 0 for pair in pairs),
            worse=sum(pair.change < 0 for pair in pairs),
            chance=_estimate_chance(parts, after - before),
        )


def _estimate_chance(parts: WeightedPairs, change: float) -> Chance:
    """Estimate the significance of a change, given the pairs of each category with its weight."""
    pairs = [pair for _, part in parts for pair in part]
    # Where categories of the formula were not run, a change can be no larger than the weight of the others.
    most = add_in_order(weight for weight, _ in parts)
    alike = all(isclose(weight * len(pairs), most * len(part)) for weight, part in parts)
    by_unit = [
        (weight, sum_changes((pair.unit, pair.change, pair.flips, pair.trials) for pair in part))
        for weight, part in ([(most, pairs)] if alike else parts)
    ]
    number = len({pair.unit for pair in pairs})
    estimate = estimate_change(by_unit)
    interval = estimate.find_interval(change, most)
    # The exact formula is for independent changes of the same size; all else is drawn.
    whole = all(pair.change in (-1, 0, 1) for pair in pairs)
    if alike and whole and number == len(pairs):
        p, p_worse = find_exact_chances(*(sum(pair.change == sign for pair in pairs) for sign in (1, -1)))
        method = "McNemar's exact test"
    else:
        totals: dict[str, float] = {}
        for weight, clusters in by_unit:
            n = sum(each.entries for each in clusters.values())
            for unit, each in clusters.items():
                totals[unit] = totals.get(unit, 0.0) + weight / n * each.total
        p, p_worse, draws = _flip_signs(list(totals.values()), estimate)
        method = f"sign-flip test ({draws})"
    return Chance(
        low=interval.low,
        high=interval.high,
        p=p,
        p_worse=p_worse,
        method=method,
        clusters=number if number < len(pairs) else None,
        smallest_p=2.0 ** (1 - number),
        estimate=estimate,
        most=most,
    )


def find_exact_chances(better: int, worse: int) -> tuple[float, float]:
    """Return the p value of so many changes of one size, and that of a loss, by McNemar's exact test."""
    flips = better + worse

    # Whole numbers divided once: powers of 0.5 underflow with a thousand flips.
    def at_most(count: int) -> float:
        return sum(comb(flips, k) for k in range(count + 1)) / (1 << flips)

    return min(1.0, 2 * at_most(min(better, worse))), at_most(better)


def format_p(p: float) -> str:
    """Write a p-value with its sign: ``= 0.012``, or ``< 0.001``."""
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"


def _flip_signs(totals: Sequence[float], estimate: Estimate) -> tuple[float, float, str]:
    """Return both p values of the sum of ``totals`` by signs given to each, and how many signs were drawn."""
    observed_sum = fsum(totals)
    # The same part of the change is the same number, however its shares were rounded. The signs of equal ones
    # only matter by their number, which is one draw of so many bits for all of them.
    sizes = Counter(size for total in totals if (size := round(abs(total), 12)))
    # All signs alike are one of so many outcomes, so that where they are nothing has to be drawn.
    least = 2.0 ** -sizes.total()
    if isclose(abs(observed_sum), fsum(map(abs, totals)), abs_tol=_ROUNDING):
        return min(1.0, 2 * least), least if observed_sum < 0 else 1.0, "exact"
    # Always the same seed, so that the same two runs give the same p values.
    chance, by_lot = Random(0), [0.0] * _DRAWS  # noqa: S311 - no secret
    for size, flips in sorted(sizes.items()):
        by_lot = [total + size * (2 * chance.getrandbits(flips).bit_count() - flips) for total in by_lot]
    as_large = sum(abs(total) >= abs(observed_sum) - _ROUNDING for total in by_lot)
    # One is added to both counts, so that p from draws is never 0.
    p = (1 + as_large) / (1 + _DRAWS)
    if not as_large:
        # Beyond what draws can tell; a correction for many tests needs less than one in so many draws.
        p = min(p, 2 * find_tail(abs(observed_sum) / sqrt(estimate.variance), estimate.freedom))
    p_worse = (1 + sum(total <= observed_sum + _ROUNDING for total in by_lot)) / (1 + _DRAWS)
    return min(1.0, max(p, 2 * least)), min(1.0, max(p_worse, least)), f"{_DRAWS:,} draws"


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
    before: Iterable[Record], after: Iterable[Record], profile: Profile, assumed_verdict: Assumed = None
) -> Paired:
    """Pair two runs under one profile; ``assumed_verdict`` stands for verdicts that the later run lacks.

    An entry counts where both have scored a trial of it.
    """
    later = tuple(after)
    first, second = _collect_trials(before, profile, None), _collect_trials(later, profile, assumed_verdict)
    both = [entry for entry in second if entry in first]
    return Paired(
        pairs=tuple(
            EntryPair(
                entry=entry,
                category=second[entry].category,
                before=fmean(first[entry].passed),
                after=fmean(second[entry].passed),
                trials=min(len(first[entry].passed), len(second[entry].passed)),
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
        later=tuple(record for record in later if record.entry in first),
    )


def _collect_trials(
    records: Iterable[Record], profile: Profile, assumed_verdict: Assumed
) -> Mapping[str, _Trials]:
    trials_by_entry: dict[str, _Trials] = {}
    for record in records:
        trials = trials_by_entry.setdefault(record.entry, _Trials(record.category, record.unit, [], []))
        verdict = assume_verdict(record.verdict(profile), assumed_verdict)
        if isinstance(verdict, NotScored):
            continue
        trials.passed.append(verdict.passed)
        if isinstance(verdict, Failed):
            trials.reasons.append(verdict.reason or verdict.code)
    return trials_by_entry


def correct_by_holm(probabilities: Sequence[float]) -> list[float]:
    """Adjust p values for their number by Holm's method."""
    # The least p value counts times their number, the next times one less, and so on; the adjusted values
    # never decrease and never exceed 1.
    n, least = len(probabilities), 0.0
    adjusted_p_values = [0.0] * n
    for rank, index in enumerate(sorted(range(n), key=probabilities.__getitem__)):
        least = max(least, min(1.0, (n - rank) * probabilities[index]))
        adjusted_p_values[index] = least
    return adjusted_p_values


POWER = 0.8
"""The probability with which the loss is shown (Cohen 1988, "Statistical Power Analysis", 2.4)."""
CHANGING, MANY = 0.1, 0.2
"""The share of entries that is assumed to change by chance, in either direction, and twice as many."""
_ALIKE = 0.23
"""The correlation of two changes in a cluster: that of published runs of 17 models (docs/statistics.md)."""


@dataclass(frozen=True, slots=True)
class ComparisonDesign:
    """What decides on the power of a comparison, before any run."""

    total: float
    """The weight of the categories: those that were not run have weight too."""
    variance: float
    """The variance of the change per share of entries that change."""
    quantile: float
    """The number of standard errors beyond which a loss is shown."""
    trials: int
    """The trials of an entry, over which chance evens out."""

    def find_smallest_loss(self, changing: float) -> float | None:
        """Find the smallest true loss, from 0 to 1, shown with probability ``POWER``; None if none is.

        ``changing`` is the share of entries that would change by chance if each were put once.
        """
        # loss = reach * sqrt(variance), where the variance grows with the entries that change.
        scale = (self.quantile + NormalDist().inv_cdf(POWER)) ** 2 * self.variance
        loss = (scale + sqrt(scale**2 + 4 * scale * changing / self.trials)) / 2
        return loss * self.total if loss < 1 else None

    def find_power(self, loss: float, changing: float) -> float:
        """Find the probability with which a true loss is shown."""
        loss /= self.total
        error = sqrt(self.variance * (changing / self.trials + loss))
        return NormalDist().cdf(loss / error - self.quantile)


def plan_comparison(parts: WeightedPairs, confidence: float, tests: int = 1) -> ComparisonDesign | None:
    """Plan the comparison of pairs, given with the weight of their category; None if it can show no loss.

    ``tests`` is the number of losses asked about together, of which the first needs the least p value (Holm).
    """
    total = add_in_order(weight for weight, _ in parts)
    clusters: dict[str, list[float]] = {}
    for weight, pairs in parts:
        for pair in pairs:
            clusters.setdefault(pair.unit, []).append(weight / total / len(pairs))
    limit = (1 - confidence) / tests
    # All clusters with a loss have this chance, and no outcome has a smaller one.
    if 2.0 ** -len(clusters) >= limit:
        return None
    sizes = [
        (1 - _ALIKE) * add_in_order(w**2 for w in weights) + _ALIKE * add_in_order(weights) ** 2
        for weights in clusters.values()
    ]
    quantile = find_quantile(1 - limit, find_freedom(sizes))
    trials = min(pair.trials for _, pairs in parts for pair in pairs)
    return ComparisonDesign(total, add_in_order(sizes), quantile, trials)


def measure_flips(parts: WeightedPairs) -> float | None:
    """Measure the weighted share of entries whose verdict differs between two trials of the earlier run.

    None where some entry has a single trial.
    """
    if any(pair.trials < 2 for _, pairs in parts for pair in pairs):
        return None
    total = add_in_order(weight for weight, _ in parts)
    # Of two different trials of k; p (1 - p) would count each trial against itself, too.
    return add_in_order(
        weight / total * 2 * pair.before * (1 - pair.before) * pair.trials / (pair.trials - 1) / len(pairs)
        for weight, pairs in parts
        for pair in pairs
    )
