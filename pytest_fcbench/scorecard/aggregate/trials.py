"""Scores over several trials of each entry: pass@k, pass^k and changing verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Annotated

from pydantic import Field, PlainSerializer

from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.verdict import NotScored, Passed, Profile
from pytest_fcbench.scorecard.aggregate.intervals import Interval, Share, find_cluster_interval
from pytest_fcbench.scorecard.record import Record


@dataclass(frozen=True, slots=True)
class TrialScores:
    """Fractions over the entries whose ``k`` trials were all scored; null or empty without such entries."""

    __pydantic_config__ = DESCRIBED

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


def score_trials(records: Iterable[Record], profile: Profile, k: int) -> TrialScores:
    """Score a run that puts each entry to the model ``k`` times.

    With c of k trials passed, the unbiased estimators of an entry are pass@j = 1 - C(k-c, j) / C(k, j) and
    pass^j = C(c, j) / C(k, j); a score is their mean over the entries.
    """
    by_entry: dict[str, list[Record]] = {}
    for record in records:
        by_entry.setdefault(record.entry, []).append(record)
    by_cluster: dict[str, list[int]] = defaultdict(list)
    left_out: list[str] = []
    # The estimators need k trials of each: an error in one of them says nothing about the model.
    for entry, trials in by_entry.items():
        verdicts = [record.verdict(profile) for record in trials]
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


def _sum_choices(
    by_cluster: Mapping[str, Sequence[int]], choices: Sequence[int]
) -> Sequence[tuple[int, int]]:
    """Sum up by cluster the choices of trials that count, and all choices.

    ``choices`` has the number of those that count of an entry by its passed trials; where all passed, all do.
    """
    return [(sum(choices[c] for c in counts), choices[-1] * len(counts)) for counts in by_cluster.values()]


def _divide_sums(sums: Sequence[tuple[int, int]]) -> float:
    return sum(part for part, _ in sums) / sum(whole for _, whole in sums)
