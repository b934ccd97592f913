"""Scores by stratum of difficulty, of the entries whose suite says what makes them hard."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.domain.entry import Group
from pytest_fcbench.domain.strata import Stratum
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import Score, tally_records
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.scorecard.render.wording import format_limits, format_number


def score_strata(records: Sequence[Record], profile: Profile) -> dict[Stratum, Score]:
    """Score the entries of each stratum, each counting the same; strata without entries are absent."""
    # Entries in other prompt formats repeat those of other categories.
    known = [record for record in records if record.stratum and record.group != Group.FORMAT]
    parts = {stratum: [record for record in known if record.stratum == stratum] for stratum in Stratum}
    return {stratum: tally_records(part, profile) for stratum, part in parts.items() if part}


def tabulate_strata(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate each stratum; None where no entry has one."""
    found = score_strata(records, profile)
    if not found:
        return None
    return Table(
        f"strata of difficulty ({profile} profile)",
        ("", "entries", "scored", "passed", "share", "95% interval"),
        tuple(
            (
                name.value,
                f"{of.n:,}",
                f"{of.scored:,}",
                f"{of.passed:,}",
                format_number(of.accuracy, ".1%"),
                format_limits(of.interval),
            )
            for name, of in found.items()
        ),
        ("by the number of features that make an entry hard: 0 or 1, 2, 3 or more",),
    )
