"""Scores over several trials of each entry: pass@k, pass^k and changing verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Annotated

from pydantic import Field, PlainSerializer

from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.verdict import NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.intervals import Share
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
    by_entry: dict[str, list[Verdict]] = {}
    for record in records:
        by_entry.setdefault(record.entry, []).append(record.verdict(profile))
    passed: list[int] = []
    left_out: list[str] = []
    # The estimators need k trials of each: an error in one of them says nothing about the model.
    for entry, verdicts in by_entry.items():
        if len(verdicts) == k and not any(isinstance(verdict, NotScored) for verdict in verdicts):
            passed.append(sum(isinstance(verdict, Passed) for verdict in verdicts))
        else:
            left_out.append(entry)
    # Whole numbers are added up and divided once, so that pass@1, pass^1 and the mean are the same float.
    n = len(passed)
    numbers = range(1, k + 1) if n else ()
    return TrialScores(
        k=k,
        entries=n,
        left_out=tuple(sorted(left_out)),
        mean=sum(passed) / (k * n) if n else None,
        pass_at=tuple(sum(comb(k, j) - comb(k - c, j) for c in passed) / (comb(k, j) * n) for j in numbers),
        pass_hat=tuple(sum(comb(c, j) for c in passed) / (comb(k, j) * n) for j in numbers),
        flip=sum(0 < c < k for c in passed) / n if n else None,
    )
