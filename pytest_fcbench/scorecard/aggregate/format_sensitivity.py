"""Format sensitivity: the effect of the prompt format on a model's score.

Official (``format_sensitivity_runner``): the accuracy of each format; then, over the formats, the largest
difference, the sample standard deviation and the sample variance, all in points and rounded to two digits.

Of 26 accuracies the largest and the smallest differ by chance alone. So beside their difference stands its
95th percentile for a model that is indifferent to the format: the verdicts on each entry are permuted among
the formats. Intervals come from a bootstrap over clusters of entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from random import Random
from statistics import quantiles, stdev, variance
from typing import Annotated, TypeAlias

from pydantic import Field, PlainSerializer

from pytest_fcbench.domain.json_values import DESCRIBED, Count, one_of
from pytest_fcbench.domain.prompting import DIMENSIONS, FORMATS, PLAIN, PromptFormat, parse_format_id
from pytest_fcbench.domain.verdict import NotScored, Profile
from pytest_fcbench.scorecard.aggregate.intervals import (
    CHANGE_CLUSTERED,
    CHANGE_METHOD,
    Interval,
    estimate_change,
    sum_changes,
    within,
)
from pytest_fcbench.scorecard.aggregate.scores import Score, tally_records
from pytest_fcbench.scorecard.record import Record

_RESAMPLES = 2_000
"""Resamples of the bootstrap."""
_PERMUTATIONS = 1_000
"""Permutations of the verdicts among the formats."""
_FEWEST_CLUSTERS = 20
"""With fewer clusters the resamples differ too little, and the intervals are too narrow."""
_ROUNDING = 1e-9
"""Points by which equal differences may differ through rounding."""


def measure_spread(accuracies: Sequence[float]) -> Mapping[str, float]:
    """Measure the spread of accuracies in points, by the name of the measure; the variance in squared points.

    They are rounded as officially; 0 for a single one.
    """
    # statistics.stdev refuses a single value.
    if len(accuracies) < 2:
        return {"max_delta": 0.0, "std": 0.0, "variance": 0.0}
    return {
        "max_delta": round((max(accuracies) - min(accuracies)) * 100, 2),
        "std": round(stdev(accuracies) * 100, 2),
        "variance": round(variance(accuracies) * 100**2, 2),
    }


_Points: TypeAlias = Annotated[float, Field(ge=0)]
Limits: TypeAlias = tuple[_Points, _Points]
"""Limits of a 95 % confidence interval, in points."""


@dataclass(frozen=True, slots=True)
class SpreadLimits:
    """Limits of 95 % confidence intervals, by a bootstrap over clusters of entries."""

    __pydantic_config__ = DESCRIBED

    max_delta: Limits | None
    std: Limits | None
    reason: str | None = None
    """The reason why there are none; null where there are."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one value of a dimension against the usual value, all else equal."""

    __pydantic_config__ = DESCRIBED

    dimension: Annotated[str, one_of(*DIMENSIONS)]
    value: str
    usual: str
    pairs: Annotated[int, Field(ge=1)]
    """Pairs of verdicts on the same entry."""
    gained: Count
    """Pairs that pass with this value only."""
    lost: Count
    """Pairs that pass with the usual value only."""
    interval: Annotated[Interval, within({"minimum": -1, "maximum": 1}, CHANGE_METHOD, CHANGE_CLUSTERED)]
    difference: float = field(default=0.0, init=False)
    """Difference of the accuracies as a fraction; below 0 where the value costs accuracy."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", (self.gained - self.lost) / self.pairs)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Format sensitivity under one profile, rounded; in points, the variance in squared points."""

    formats: Mapping[Annotated[PromptFormat, PlainSerializer(attrgetter("name"), return_type=str)], Score]
    """Scores by official name of the format, in the official order; only formats with a scored entry."""
    max_delta: _Points
    std: _Points
    """Sample standard deviation over the formats."""
    variance: _Points
    intervals: SpreadLimits
    max_delta_by_chance: float | None
    """95th percentile of the maximum delta for a model that is indifferent to the format."""
    costs: tuple[Cost, ...]
    """Each value of a dimension against the usual one on the same entries; the most costly first."""


def group_by_format(records: Iterable[Record]) -> Mapping[PromptFormat, Sequence[Record]]:
    """Group the Records of variations by prompt format, in the official order."""
    groups: dict[PromptFormat, list[Record]] = {}
    for record in records:
        if id_parts := parse_format_id(record.entry):
            groups.setdefault(id_parts[0], []).append(record)
    return {prompt_format: groups[prompt_format] for prompt_format in FORMATS if prompt_format in groups}


def measure_sensitivity(records: Sequence[Record], profile: Profile) -> Sensitivity | None:
    """Measure format sensitivity; None where no entry of a prompt format was scored."""
    scores = {form: tally_records(part, profile) for form, part in group_by_format(records).items()}
    accuracies = {form: score.accuracy for form, score in scores.items() if score.accuracy is not None}
    if not accuracies:
        return None
    clusters: dict[str, dict[str, dict[PromptFormat, dict[int, bool]]]] = {}
    for record in records:
        verdict = record.verdict(profile)
        if (id_parts := parse_format_id(record.entry)) and not isinstance(verdict, NotScored):
            form, original = id_parts
            entry_verdicts = clusters.setdefault(record.unit, {}).setdefault(f"{record.suite}:{original}", {})
            entry_verdicts.setdefault(form, {})[record.trial or 1] = verdict.passed
    verdicts = [list(by_entry.values()) for by_entry in clusters.values()]
    limits, by_chance = _estimate_limits(verdicts, list(accuracies))
    return Sensitivity(
        formats={form: scores[form] for form in accuracies},
        **measure_spread(list(accuracies.values())),
        intervals=limits,
        max_delta_by_chance=by_chance,
        costs=tuple(sorted(_compare_values(verdicts), key=lambda cost: cost.difference)),
    )


_Verdicts: TypeAlias = Mapping[PromptFormat, Mapping[int, bool]]
"""The scored verdicts on one entry, by format and trial."""


def _compare_values(clusters: Sequence[Sequence[_Verdicts]]) -> Iterator[Cost]:
    """Compare each value of a dimension with the usual one, where there are pairs of verdicts."""
    for dimension in DIMENSIONS:
        usual = getattr(PLAIN, dimension)
        for value in dict.fromkeys(getattr(form, dimension) for form in FORMATS):
            pairs = [
                (form, replace(form, **{dimension: usual}))
                for form in FORMATS
                if getattr(form, dimension) == value != usual
            ]
            changes_by_cluster = [
                [change for verdicts in cluster for change in _list_changes(verdicts, pairs)]
                for cluster in clusters
            ]
            changes = [change for cluster_changes in changes_by_cluster for change in cluster_changes]
            if not changes:
                continue
            sums = sum_changes(
                (str(number), change, abs(change), 1)
                for number, cluster_changes in enumerate(changes_by_cluster)
                for change in cluster_changes
            )
            interval = estimate_change([(1.0, sums)]).find_interval(sum(changes) / len(changes))
            counts = len(changes), changes.count(1), changes.count(-1)
            yield Cost(dimension, str(value), str(usual), *counts, interval)


def _list_changes(verdicts: _Verdicts, pairs: Sequence[tuple[PromptFormat, PromptFormat]]) -> Iterator[int]:
    """Yield for each pair of verdicts on an entry 1 for a gain, -1 for a loss, else 0."""
    for form, usual_form in pairs:
        if form in verdicts and usual_form in verdicts:
            for trial in verdicts[form].keys() & verdicts[usual_form].keys():
                yield verdicts[form][trial] - verdicts[usual_form][trial]


def _estimate_limits(
    clusters: Sequence[Sequence[_Verdicts]], formats: Sequence[PromptFormat]
) -> tuple[SpreadLimits, float | None]:
    """Estimate the limits of the maximum delta and of the deviation, and the maximum delta by chance.

    Only entries that were scored in every format count; with fewer than two clusters of them, or two formats,
    there is no maximum delta by chance.
    """
    # An entry that lacks a format cannot be permuted among all of them.
    complete = [
        [
            [sum(verdicts[form].values()) / len(verdicts[form]) for form in formats]
            for verdicts in cluster
            if verdicts.keys() >= set(formats)
        ]
        for cluster in clusters
    ]
    complete = [cluster for cluster in complete if cluster]
    number = len(complete)
    if number < 2 or len(formats) < 2:
        reason = "they take two formats, and two independent entries that were scored in all formats"
        return SpreadLimits(None, None, reason), None
    # Always the same seed, so that the same Records give the same limits.
    chance = Random(0)  # noqa: S311 - no secret
    # The sums over each cluster's entries by format, which a resample adds up for the drawn clusters.
    totals = [[sum(column) for column in zip(*cluster, strict=True)] for cluster in complete]
    sizes, columns = [len(cluster) for cluster in complete], [*zip(*totals, strict=True)]
    max_deltas, deviations = [], []
    for _ in range(_RESAMPLES):
        drawn_clusters = chance.choices(range(number), k=number)
        entries = sum(map(sizes.__getitem__, drawn_clusters))
        means = [100 * sum(map(column.__getitem__, drawn_clusters)) / entries for column in columns]
        max_deltas.append(max(means) - min(means))
        deviations.append(stdev(means))
    entry_shares = [list(shares) for cluster in complete for shares in cluster]
    deltas_by_chance = []
    for _ in range(_PERMUTATIONS):
        for shares in entry_shares:
            chance.shuffle(shares)
        sums = [sum(column) for column in zip(*entry_shares, strict=True)]
        deltas_by_chance.append(100 * (max(sums) - min(sums)) / len(entry_shares))
    by_chance = round(quantiles(deltas_by_chance, n=20, method="inclusive")[-1], 2)
    if number < _FEWEST_CLUSTERS:
        reason = f"{number} independent entries in all formats, of which a bootstrap needs {_FEWEST_CLUSTERS}"
    elif max(max_deltas) - min(max_deltas) < _ROUNDING:
        reason = "the formats make the same difference in every entry"
    else:
        return SpreadLimits(_find_limits(max_deltas), _find_limits(deviations)), by_chance
    return SpreadLimits(None, None, reason), by_chance


def _find_limits(values: Sequence[float]) -> Limits:
    """Find the limits between which 95 % of drawn values lie, rounded as the values shown."""
    cuts = quantiles(values, n=40, method="inclusive")
    return round(cuts[0], 2), round(cuts[-1], 2)
