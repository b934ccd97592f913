"""Calls as they are written (AST) against what they return (execution), for the same answers.

Where calls are carried out, the answer is also compared with the calls of the truth, argument by argument. So
each executable entry has two verdicts in each profile. BFCL's paper (Patil et al. 2025, Figure 3) has the
correlation of both kinds over models, of categories with entries of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pytest_fcbench.domain.entry import AS_WRITTEN, Group
from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.verdict import NotScored, Profile
from pytest_fcbench.scorecard.aggregate.intervals import Share
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores
from pytest_fcbench.scorecard.record import Record, group_by_category
from pytest_fcbench.scorecard.render.tables import Table
from pytest_fcbench.scorecard.render.wording import format_number


@dataclass(frozen=True, slots=True)
class Sides:
    """Entries by which of the two verdicts passed; only those that have both."""

    __pydantic_config__ = DESCRIBED

    both: Count
    ast_only: Count
    """The call is that of the truth, but does not return what it should."""
    execution_only: Count
    """The call is another one, but returns the same."""
    neither: Count
    ast: Share | None = field(default=None, init=False)
    """Share of the entries that pass as they are written; null of none."""
    execution: Share | None = field(default=None, init=False)
    """Share of the entries that pass by what they return."""
    agreement: Share | None = field(default=None, init=False)
    """Share of the entries with the same verdict."""

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
        """``ast`` and ``execution``; None of no entries."""
        if not self.n:
            return None
        return (self.both + self.ast_only) / self.n, (self.both + self.execution_only) / self.n


def count_sides(records: Iterable[Record], profile: Profile) -> Sides:
    """Count the entries of these Records by both verdicts."""
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for record in records:
        if as_written := record.as_written:
            written, executed = as_written.select_profile(profile), record.verdict(profile)
            if not isinstance(written, NotScored) and not isinstance(executed, NotScored):
                counts[written.passed, executed.passed] += 1
    return Sides(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def count_sides_by_category(records: Iterable[Record], profile: Profile) -> dict[str, Sides]:
    """Count by category, and of all; nothing where no entry has both verdicts."""
    asked = [record for record in records if record.group == Group.EXECUTABLE]
    found = {name: count_sides(part, profile) for name, part in group_by_category(asked).items()}
    known = {name: of for name, of in found.items() if of.n}
    return {**known, "all": count_sides(asked, profile)} if known else {}


COLUMNS = ("entries", "both", "AST only", "exec only", "neither", "AST", "execution", "agree")
"""Those of a table about sides."""
LEGEND = "AST: the calls are those of the truth, argument by argument; no verdict depends on it"
"""What the columns mean."""


def format_sides(of: Sides) -> tuple[str, ...]:
    """Write the cells of ``COLUMNS``."""
    counts = (of.n, of.both, of.ast_only, of.execution_only, of.neither)
    shares = (of.ast, of.execution, of.agreement)
    return (*(f"{count:,}" for count in counts), *(format_number(share, ".2%") for share in shares))


def tabulate_sides(records: Sequence[Record], profile: Profile) -> Table | None:
    """Tabulate each category and all; None where no entry has both verdicts."""
    found = count_sides_by_category(records, profile)
    if not found:
        return None
    return Table(
        f"calls as written (AST) and carried out ({profile} profile)",
        ("", *COLUMNS),
        tuple((name, *format_sides(of)) for name, of in found.items()),
        (LEGEND,),
    )


def average_by_kind(scores: ProfileScores) -> tuple[float, float] | None:
    """Mean accuracies of the categories whose calls are read, and of those of the same kind whose calls are
    carried out, over the kinds of which both were scored; None of none."""
    # Only kinds scored in both ways: else the difference would be that of the categories.
    pairs = [
        (read.accuracy, run.accuracy)
        for executable, written in AS_WRITTEN.items()
        if (read := scores.categories.get(written))
        and (run := scores.categories.get(executable))
        and read.accuracy is not None
        and run.accuracy is not None
    ]
    return (fmean(a for a, _ in pairs), fmean(b for _, b in pairs)) if pairs else None
