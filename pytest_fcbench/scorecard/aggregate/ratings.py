"""A judge's ratings of replies in words: means from 0 to 2 with their intervals. They change no verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated

from pydantic import Field

from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.scorecard.aggregate.intervals import (
    CLUSTERED,
    CLUSTERED_FEW,
    Interval,
    find_cluster_interval,
    within,
)
from pytest_fcbench.scorecard.record import Record, group_by_category

MOST = 2
"""The best score."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """The replies of a category that a judge was asked to rate."""

    __pydantic_config__ = DESCRIBED

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
    scores: dict[str, list[int]] = {}
    not_rated = 0
    for record in records:
        if record.rating is None:
            continue
        if record.rating.score is None:
            not_rated += 1
        else:
            scores.setdefault(record.unit, []).append(record.rating.score)
    every = [score for unit in scores.values() for score in unit]
    # Wilson's formula is for shares, so each score counts as so many of two points.
    share = find_cluster_interval([(sum(unit), MOST * len(unit)) for unit in scores.values()])
    return Ratings(
        len(every),
        not_rated,
        tuple(every.count(score) for score in range(MOST + 1)),
        fmean(every) if every else None,
        share and replace(share, low=MOST * share.low, high=MOST * share.high),
    )


def summarise_ratings_by_category(records: Iterable[Record]) -> dict[str, Ratings]:
    """Summarise the ratings of each category in which a judge was asked about a reply."""
    rated_records = (record for record in records if record.rating)
    return {name: summarise_ratings(part) for name, part in group_by_category(rated_records).items()}
