"""The results of a run for programs: what ``pytest_fcbench.load`` returns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_fcbench.domain import extras
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores, Score
from pytest_fcbench.scorecard.rows import (
    OutcomeRow,
    ScoreRow,
    describe_entries,
    describe_scores,
    list_columns,
)
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import load_outlines

if TYPE_CHECKING:
    import pandas as pd

_DTYPES = {str: "string", int: "Int64", float: "float64"}
"""Types of columns in pandas; one of its own for integers, because a plain one holds no missing value."""


@dataclass(frozen=True, slots=True)
class RunResults:
    """A finished run: what was run, its scores, and the outcome of each entry."""

    facts: RunFacts
    """Model, mode, suites, settings, notes and labels of the run."""
    scores: Mapping[Profile, ProfileScores]
    """Scores under each profile."""
    score_rows: tuple[ScoreRow, ...]
    """The scores of both profiles as rows."""
    entries: tuple[OutcomeRow, ...]
    """The outcome of each entry, in the order of category and id."""

    @property
    def model(self) -> str:
        """Name of the model."""
        return self.facts.model

    @property
    def profile(self) -> Profile:
        """The profile that decided pass or fail."""
        return self.facts.profile

    @property
    def suites(self) -> Mapping[str, str | None]:
        """Version of each suite by name."""
        return {name: about.get("version") for name, about in self.facts.suites.items()}

    @property
    def score(self) -> Score:
        """The score that stands for the run: overall where all of its parts were scored."""
        scores = self.scores[self.profile]
        return scores.find_score(scores.main) or scores.overall

    @property
    def categories(self) -> Mapping[str, Score]:
        """Score of each category that was run."""
        return self.scores[self.profile].categories

    @property
    def groups(self) -> Mapping[str, Score]:
        """Score of each group of categories of which something was run."""
        return self.scores[self.profile].groups

    def to_frame(self, per: Literal["entry", "score"] = "entry") -> pd.DataFrame:
        """Return a pandas frame with a row for each entry, or for each score of both profiles.

        Raises ``UsageError`` without the extra ``data``.
        """
        extras.require_extra("data", "to_frame()")
        # Here, because pandas is an extra and takes half a second.
        import pandas as pd

        kind, rows = (OutcomeRow, self.entries) if per == "entry" else (ScoreRow, self.score_rows)
        columns = list_columns(kind)
        frame = pd.DataFrame.from_records([asdict(row) for row in rows], columns=list(columns))
        return frame.astype({name: _DTYPES[of] for name, of in columns.items()})


def load_results(path: str | os.PathLike[str]) -> RunResults:
    """Load the results of a scorecard or a baseline. Raises ``UsageError`` with the file and the fault."""
    card = load_outlines(Path(path))
    return RunResults(
        card.facts,
        {profile: card.scores(profile) for profile in Profile},
        tuple(describe_scores(card)),
        tuple(describe_entries(card)),
    )
