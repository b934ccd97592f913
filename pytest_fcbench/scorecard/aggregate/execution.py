"""Verdicts on calls as written (AST) beside verdicts on what they return (execution), for the same answers.

Where calls are executed, the answer is also compared with the ground truth, argument by argument. So each
executable entry has two verdicts in each profile. BFCL's paper (Patil et al. 2025, Figure 3) correlates both
kinds over models, each kind on categories of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

from pytest_fcbench.domain.categories import AS_WRITTEN, Group
from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.verdict import NotScored, Profile
from pytest_fcbench.scorecard.aggregate.intervals import Share
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores
from pytest_fcbench.scorecard.record import Record, group_by_category


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
    executable_records = [record for record in records if record.group == Group.EXECUTABLE]
    sides = {name: count_sides(part, profile) for name, part in group_by_category(executable_records).items()}
    known_sides = {name: of for name, of in sides.items() if of.n}
    return {**known_sides, "all": count_sides(executable_records, profile)} if known_sides else {}


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
