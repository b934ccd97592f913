"""Scores without the entries that are in the training data of the model, beside those of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import (
    ProfileScores,
    aggregate_scores,
    leave_out_trained,
)
from pytest_fcbench.scorecard.record import Record


def score_untrained(
    records: Sequence[Record], profile: Profile, size_of: Callable[[str], int]
) -> ProfileScores | None:
    """Return the scores of the other entries; None where no entry is known to be in the training data."""
    # Without a trained entry a second score would repeat the first.
    rest = leave_out_trained(records)
    return aggregate_scores(rest, profile, size_of) if len(rest) < len(records) else None
