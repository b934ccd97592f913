"""Format sensitivity: how much of a score is the format in which entries are put to a model.

Official (``format_sensitivity_runner``): the accuracy of each format; then, over the formats, the largest
difference, the sample standard deviation and the sample variance, all in points and rounded to two digits.

The largest of 26 accuracies differs from the smallest by chance already. So beside it stands what it stays
below in 95 of 100 runs of a model that does not care: the verdicts on each entry, dealt out anew among the
formats. Intervals are those of a bootstrap over entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from statistics import stdev, variance
from typing import Annotated, TypeAlias

from pydantic import Field, PlainSerializer

from pytest_fcbench.domain.json_values import DESCRIBED, Count, one_of
from pytest_fcbench.domain.prompt_format import DIMENSIONS, FORMATS, PLAIN, PromptFormat, parse_format_id
from pytest_fcbench.domain.verdict import NotScored, Profile
from pytest_fcbench.scorecard.aggregate import intervals
from pytest_fcbench.scorecard.aggregate.intervals import CONFIDENCE, Interval, within
from pytest_fcbench.scorecard.aggregate.scores import Score, tally_records
from pytest_fcbench.scorecard.record import Record

_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Spread:
    """How far accuracies are apart: points, squared ones for the variance."""

    max_delta: float
    std: float
    variance: float


def measure_spread(accuracies: Sequence[float]) -> Spread:
    """Measure how far accuracies are apart, rounded as officially; 0 for a single one."""
    # statistics.stdev refuses a single value.
    if len(accuracies) < 2:
        return Spread(0.0, 0.0, 0.0)
    return Spread(
        max_delta=round((max(accuracies) - min(accuracies)) * 100, 2),
        std=round(stdev(accuracies) * 100, 2),
        variance=round(variance(accuracies) * 100**2, 2),
    )


_Points: TypeAlias = Annotated[float, Field(ge=0)]
Limits: TypeAlias = tuple[_Points, _Points]
"""Of an interval of 95 % confidence, in points."""


@dataclass(frozen=True, slots=True)
class SpreadLimits:
    """Low and high limits of 95 % confidence, by a bootstrap over entries."""

    __pydantic_config__ = DESCRIBED

    max_delta: Limits | None
    std: Limits | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What one value of a dimension costs against the usual one, all else equal."""

    __pydantic_config__ = DESCRIBED

    dimension: Annotated[str, one_of(*DIMENSIONS)]
    value: str
    usual: str
    pairs: Annotated[int, Field(ge=1)]
    """Of verdicts on the same entry."""
    gained: Count
    """Entries right with it only."""
    lost: Count
    """Entries right with the usual one only."""
    interval: Annotated[Interval | None, within({}, "linearised mean")]
    difference: float = field(default=0.0, init=False)
    """Of the accuracies, as a fraction; less than 0 where it costs."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", (self.gained - self.lost) / self.pairs)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Format sensitivity under one profile; maximum delta, deviation, variance in points, rounded."""

    __pydantic_config__ = DESCRIBED

    formats: Mapping[Annotated[PromptFormat, PlainSerializer(attrgetter("name"), return_type=str)], Score]
    """By official name, those in which anything was scored, in the official order."""
    max_delta: _Points
    std: _Points
    """Of the sample of formats."""
    variance: _Points
    intervals: SpreadLimits
    max_delta_by_chance: float | None
    """What it stays below in 95 of 100 runs of a model that does not care for the format."""
    costs: tuple[Cost, ...]
    """One value of a dimension against the usual one on the same entries; the dearest first."""


def group_by_format(records: Iterable[Record]) -> Mapping[PromptFormat, Sequence[Record]]:
    """Group the Records of variations by prompt format, in the official order."""
    found: dict[PromptFormat, list[Record]] = {}
    for record in records:
        if told := parse_format_id(record.entry):
            found.setdefault(told[0], []).append(record)
    return {chosen: found[chosen] for chosen in FORMATS if chosen in found}


def measure_sensitivity(records: Sequence[Record], profile: Profile) -> Sensitivity | None:
    """Measure format sensitivity; None where no entry was put in a format of its own, or none was scored."""
    scores = {chosen: tally_records(part, profile) for chosen, part in group_by_format(records).items()}
    accuracies = {chosen: score.accuracy for chosen, score in scores.items() if score.accuracy is not None}
    if not accuracies:
        return None
    verdicts = _collect_verdicts(records, profile)
    max_delta, std, by_chance = _estimate_by_draws(verdicts, list(accuracies))
    return Sensitivity(
        formats={chosen: scores[chosen] for chosen in accuracies},
        **asdict(measure_spread(list(accuracies.values()))),
        intervals=SpreadLimits(max_delta, std),
        max_delta_by_chance=by_chance,
        costs=tuple(sorted(_compare_values(verdicts), key=lambda cost: cost.difference)),
    )


_Verdicts: TypeAlias = Mapping[PromptFormat, Mapping[int, bool]]
"""Of one entry, by format and trial, those that were scored."""


def _collect_verdicts(records: Iterable[Record], profile: Profile) -> Sequence[_Verdicts]:
    """One for each entry that was varied."""
    found: dict[str, dict[PromptFormat, dict[int, bool]]] = {}
    for record in records:
        verdict = record.verdict(profile)
        if (told := parse_format_id(record.entry)) and not isinstance(verdict, NotScored):
            chosen, original = told
            trials = found.setdefault(f"{record.suite}:{original}", {}).setdefault(chosen, {})
            trials[record.trial or 1] = verdict.passed
    return list(found.values())


def _compare_values(verdicts: Sequence[_Verdicts]) -> Iterator[Cost]:
    """Of each value that is not the usual one, as far as there are pairs of verdicts."""
    for dimension in DIMENSIONS:
        usual = getattr(PLAIN, dimension)
        for value in dict.fromkeys(getattr(chosen, dimension) for chosen in FORMATS):
            chosen = [each for each in FORMATS if getattr(each, dimension) == value != usual]
            pairs = [(each, replace(each, **{dimension: usual})) for each in chosen]
            # 1 for a gain, -1 for a loss. The pairs of one entry are alike, so they are one cluster.
            clusters = [
                [
                    of_entry[each][trial] - of_entry[plain][trial]
                    for each, plain in pairs
                    if each in of_entry and plain in of_entry
                    for trial in of_entry[each].keys() & of_entry[plain].keys()
                ]
                for of_entry in verdicts
            ]
            told = [difference for cluster in clusters for difference in cluster]
            if told:
                interval = intervals.find_difference_interval([(sum(c), len(c)) for c in clusters if c])
                counts = len(told), told.count(1), told.count(-1)
                yield Cost(dimension, str(value), str(usual), *counts, interval)


def _estimate_by_draws(
    verdicts: Sequence[_Verdicts], scored: Sequence[PromptFormat]
) -> tuple[Limits | None, Limits | None, float | None]:
    """Limits of the largest difference and of the deviation, and the largest difference by chance, of the
    entries that were scored in every format; None of each where two of them or two formats are missing."""
    # An entry that lacks a format cannot be dealt out anew among all of them.
    complete = [
        [sum(of_entry[chosen].values()) / len(of_entry[chosen]) for chosen in scored]
        for of_entry in verdicts
        if of_entry.keys() >= set(scored)
    ]
    n = len(complete)
    if n < 2 or len(scored) < 2:
        return None, None, None
    # Here, because most runs have no such entries and numpy takes long to import.
    import numpy

    # Always the same seed, so that the same Records give the same limits.
    chance, shares = numpy.random.default_rng(0), 100 * numpy.array(complete)
    # How often each entry is drawn says all of a draw, and takes less memory than the entries drawn.
    resampled = chance.multinomial(n, [1 / n] * n, _DRAWS) @ shares / n
    dealt = numpy.array([chance.permuted(shares, axis=1).mean(axis=0) for _ in range(_DRAWS)])

    def limits(found: numpy.ndarray) -> Limits:
        low, high = numpy.quantile(found, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return round(float(low), 2), round(float(high), 2)

    by_chance = round(float(numpy.quantile(numpy.ptp(dealt, axis=1), CONFIDENCE)), 2)
    return limits(numpy.ptp(resampled, axis=1)), limits(numpy.std(resampled, axis=1, ddof=1)), by_chance
