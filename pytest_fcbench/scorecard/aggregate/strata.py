"""Scores by stratum of difficulty, of the entries whose suite says what makes them hard."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.domain.categories import Group
from pytest_fcbench.domain.strata import Stratum
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import Score, tally_records
from pytest_fcbench.scorecard.record import Record


def score_strata(records: Sequence[Record], profile: Profile) -> dict[Stratum, Score]:
    """Score the entries of each stratum, each counting the same; strata without entries are absent."""
    # Entries in other prompt formats repeat those of other categories.
    stratum_records = [record for record in records if record.stratum and record.group != Group.FORMAT]
    parts = {
        stratum: [record for record in stratum_records if record.stratum == stratum] for stratum in Stratum
    }
    return {stratum: tally_records(part, profile) for stratum, part in parts.items() if part}
