"""Scores beside pass and fail: of several trials, of turns, by a judge's ratings, of calls as written.

Right turns: officially one wrong turn fails a conversation. The share of right turns tells a model that
fails in the last of five turns from one that fails in the first (asked for in BFCL's issue 920).

Ratings: means from 0 to 2 with their intervals. They change no verdict.

Calls as written (AST) beside what they return (execution), for the same answers: where calls are executed,
the answer is also compared with the ground truth, argument by argument. So each executable entry has two
verdicts in each profile. BFCL's paper (Patil et al. 2025, Figure 3) correlates both kinds over models, each
kind on categories of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from statistics import fmean
from typing import Annotated

from pydantic import Field, PlainSerializer

from pytest_fcbench.domain.entry import AS_WRITTEN, Group
from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.aggregate.intervals import (
    CLUSTERED,
    CLUSTERED_FEW,
    Interval,
    Share,
    find_cluster_interval,
    within,
)
from pytest_fcbench.scorecard.aggregate.scores import Assumed, ProfileScores, assume_verdict
from pytest_fcbench.scorecard.record import Record, group_by_category, group_with_all


@dataclass(frozen=True, slots=True)
class TrialScores:
    """Fractions over the entries whose ``k`` trials were all scored; null or empty without such entries."""

    k: Annotated[int, Field(ge=2)]
    entries: Count
    """Entries that count."""
    left_out: Annotated[tuple[str, ...], PlainSerializer(len, return_type=Count)]
    """Entries that do not count, because some trial was not scored (set aside included) or not run."""
    mean: Share | None
    """Passed trials of all trials."""
    pass_at: tuple[Share, ...]
    """pass@j for j = 1..k: some of j trials passes (Chen et al. 2021, arXiv:2107.03374)."""
    pass_hat: tuple[Share, ...]
    """pass^j for j = 1..k: all of j trials pass (tau-bench, arXiv:2406.12045)."""
    pass_at_intervals: tuple[Interval, ...]
    """The interval of each pass@j, over clusters of entries."""
    pass_hat_intervals: tuple[Interval, ...]
    """The interval of each pass^j, over clusters of entries."""
    flip: Share | None
    """Entries whose verdict differs between trials."""


def count_trials(records: Iterable[Record]) -> int:
    """Return the number of trials of each entry: the highest of any Record, 1 in a run without trials."""
    return max((record.trial or 1 for record in records), default=1)


def score_trials(
    records: Iterable[Record], profile: Profile, k: int, assumed_verdict: Assumed = None
) -> TrialScores:
    """Score a run that puts each entry to the model ``k`` times.

    With c of k trials passed, the unbiased estimators of an entry are pass@j = 1 - C(k-c, j) / C(k, j) and
    pass^j = C(c, j) / C(k, j); a score is their mean over the entries. ``assumed_verdict`` stands for
    verdicts that are missing.
    """
    by_entry: dict[str, list[Record]] = {}
    for record in records:
        by_entry.setdefault(record.entry, []).append(record)
    by_cluster: dict[str, list[int]] = defaultdict(list)
    left_out: list[str] = []
    # The estimators need k trials of each: an error in one of them says nothing about the model.
    for entry, trials in by_entry.items():
        verdicts = [assume_verdict(record.verdict(profile), assumed_verdict) for record in trials]
        if len(verdicts) == k and not any(isinstance(verdict, NotScored) for verdict in verdicts):
            by_cluster[trials[0].unit].append(sum(isinstance(verdict, Passed) for verdict in verdicts))
        else:
            left_out.append(entry)
    pass_counts = [count for counts in by_cluster.values() for count in counts]
    # Whole numbers are added up and divided once, so that pass@1, pass^1 and the mean are the same float.
    n = len(pass_counts)
    numbers = range(1, k + 1) if n else ()
    some = [_sum_choices(by_cluster, [comb(k, j) - comb(k - c, j) for c in range(k + 1)]) for j in numbers]
    every = [_sum_choices(by_cluster, [comb(c, j) for c in range(k + 1)]) for j in numbers]
    # Choices of j trials overlap: no more than k / j of an entry have no trial in common.
    independent = [n * k / j for j in numbers]
    return TrialScores(
        k=k,
        entries=n,
        left_out=tuple(sorted(left_out)),
        mean=sum(pass_counts) / (k * n) if n else None,
        pass_at=tuple(map(_divide_sums, some)),
        pass_hat=tuple(map(_divide_sums, every)),
        pass_at_intervals=tuple(filter(None, map(find_cluster_interval, some, independent))),
        pass_hat_intervals=tuple(filter(None, map(find_cluster_interval, every, independent))),
        flip=sum(0 < c < k for c in pass_counts) / n if n else None,
    )


def score_trials_by_category(records: Sequence[Record], profile: Profile) -> dict[str, TrialScores]:
    """Score the trials of each category and of ``all``; empty where each entry was put once."""
    k = count_trials(records)
    parts = group_with_all(records) if k > 1 else {}
    return {name: score_trials(part, profile, k) for name, part in parts.items()}


def _sum_choices(
    by_cluster: Mapping[str, Sequence[int]], choices: Sequence[int]
) -> Sequence[tuple[int, int]]:
    """Sum up by cluster the choices of trials that count, and all choices.

    ``choices`` has the number of those that count of an entry by its passed trials; where all passed, all do.
    """
    return [(sum(choices[c] for c in counts), choices[-1] * len(counts)) for counts in by_cluster.values()]


def _divide_sums(sums: Sequence[tuple[int, int]]) -> float:
    return sum(part for part, _ in sums) / sum(whole for _, whole in sums)


@dataclass(frozen=True, slots=True)
class RightTurns:
    """The turns of scored conversations, and how many of them were right."""

    __pydantic_config__ = DESCRIBED

    conversations: Count
    turns: Count
    right: Count
    share: Share | None = field(default=None, init=False)
    """Share of right turns, each turn counting the same; null without turns."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", self.right / self.turns if self.turns else None)


def find_right_turns(record: Record, profile: Profile) -> tuple[int, int] | None:
    """Find how many turns of a conversation were right, of how many; None where nobody counted them."""
    verdict = record.verdict(profile)
    if record.group != Group.MULTI_TURN or isinstance(verdict, NotScored):
        return None
    if not isinstance(verdict, Failed):
        # A baseline keeps no answers.
        return (len(record.turns), len(record.turns)) if record.turns else None
    # Scorecards of earlier versions lack them.
    match verdict.details:
        case {"right_turns": int(right), "turns": int(turns)}:
            return right, turns
    return None


def count_right_turns(records: Iterable[Record], profile: Profile) -> RightTurns:
    """Count the turns of these Records."""
    counts = [turn_counts for record in records if (turn_counts := find_right_turns(record, profile))]
    return RightTurns(len(counts), sum(turns for _, turns in counts), sum(right for right, _ in counts))


def count_right_turns_by_category(records: Iterable[Record], profile: Profile) -> dict[str, RightTurns]:
    """Count the turns of each category of conversations, and of ``all``."""
    parts = group_with_all(record for record in records if find_right_turns(record, profile))
    return {name: count_right_turns(part, profile) for name, part in parts.items()}


MOST = 2
"""The best score."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """The replies of a category that a judge was asked to rate."""

    rated: Count
    """Replies with a score."""
    not_rated: Count
    """Replies that the judge gave no score; they are not in the mean."""
    counts: Annotated[tuple[Count, ...], Field(min_length=MOST + 1, max_length=MOST + 1)]
    """Replies with the score 0, 1, 2."""
    mean: Annotated[float, Field(ge=0, le=MOST)] | None
    interval: Annotated[Interval | None, within({"minimum": 0, "maximum": MOST}, CLUSTERED, CLUSTERED_FEW)]
    """Interval of the mean. Each score counts as that many of two points; an entry's trials are a cluster."""


def summarise_ratings(records: Iterable[Record]) -> Ratings:
    """Summarise the ratings of these Records."""
    ratings = [(record.unit, record.rating.score) for record in records if record.rating]
    scores: dict[str, list[int]] = {}
    for name, score in ratings:
        if score is not None:
            scores.setdefault(name, []).append(score)
    every = [score for unit in scores.values() for score in unit]
    # Wilson's formula is for shares, so each score counts as so many of two points.
    share = find_cluster_interval([(sum(unit), MOST * len(unit)) for unit in scores.values()])
    return Ratings(
        len(every),
        len(ratings) - len(every),
        tuple(every.count(score) for score in range(MOST + 1)),
        fmean(every) if every else None,
        share and replace(share, low=MOST * share.low, high=MOST * share.high),
    )


def summarise_ratings_by_category(records: Iterable[Record]) -> dict[str, Ratings]:
    """Summarise the ratings of each category in which a judge was asked about a reply."""
    rated_records = (record for record in records if record.rating)
    return {name: summarise_ratings(part) for name, part in group_by_category(rated_records).items()}


@dataclass(frozen=True, slots=True)
class Sides:
    """Entries by which of the two verdicts passed; only those that have both."""

    __pydantic_config__ = DESCRIBED

    both: Count
    ast_only: Count
    """Entries whose call matches the ground truth but does not return the expected result."""
    execution_only: Count
    """Entries whose call differs from the ground truth but returns the same."""
    neither: Count
    ast: Share | None = field(default=None, init=False)
    """Share of the entries whose calls pass as written; null without entries."""
    execution: Share | None = field(default=None, init=False)
    """Share of the entries whose calls pass by what they return; null without entries."""
    agreement: Share | None = field(default=None, init=False)
    """Share of the entries with the same verdict on both; null without entries."""

    def __post_init__(self) -> None:
        ast, execution = self.shares or (None, None)
        agreement = (self.both + self.neither) / self.n if self.n else None
        for name, value in (("ast", ast), ("execution", execution), ("agreement", agreement)):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """The number of entries."""
        return self.both + self.ast_only + self.execution_only + self.neither

    @property
    def shares(self) -> tuple[float, float] | None:
        """``ast`` and ``execution``; None without entries."""
        if not self.n:
            return None
        return (self.both + self.ast_only) / self.n, (self.both + self.execution_only) / self.n


def count_sides(records: Iterable[Record], profile: Profile) -> Sides:
    """Count the entries of these Records by both verdicts."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for record in records:
        if as_written := record.as_written:
            written_verdict, executed_verdict = as_written.select_profile(profile), record.verdict(profile)
            if not isinstance(written_verdict, NotScored) and not isinstance(executed_verdict, NotScored):
                counts[written_verdict.passed, executed_verdict.passed] += 1
    return Sides(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def count_sides_by_category(records: Iterable[Record], profile: Profile) -> dict[str, Sides]:
    """Count by category and for ``all``; empty where no entry has both verdicts."""
    parts = group_with_all(record for record in records if record.group == Group.EXECUTABLE)
    sides = {name: count_sides(part, profile) for name, part in parts.items()}
    return {name: of for name, of in sides.items() if of.n}


def average_by_kind(scores: ProfileScores) -> tuple[float, float] | None:
    """Average the accuracies of categories judged as written, and of their executed counterparts.

    Only kinds that were scored in both ways count; None without any.
    """
    # With other kinds the difference would be that of the categories, not of the ways to judge.
    pairs = [
        (read.accuracy, run.accuracy)
        for executable, counterpart in AS_WRITTEN.items()
        if (read := scores.categories.get(counterpart))
        and (run := scores.categories.get(executable))
        and read.accuracy is not None
        and run.accuracy is not None
    ]
    return (fmean(a for a, _ in pairs), fmean(b for _, b in pairs)) if pairs else None
