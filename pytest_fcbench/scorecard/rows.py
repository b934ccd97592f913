"""Scorecards as rows of numbers: one for each entry, or one for each score; ``pytest_fcbench.load``.

The fields of a row are the columns of the files that ``fcbench run export`` writes, in their order. What is
not known is None. An entry that was not scored has a verdict but no ``passed``, so that a mean over
``passed`` is the accuracy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pytest_fcbench.domain import registry
from pytest_fcbench.domain.verdict import NotScored, Profile, Verdicts
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_bill, measure_usage
from pytest_fcbench.scorecard.aggregate.scores import ALL, ProfileScores, Score
from pytest_fcbench.scorecard.record import group_by_category
from pytest_fcbench.scorecard.run_facts import RunFacts
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_outlines


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """The outcome of an entry, or of one trial of it."""

    run: str
    """The name of the scorecard's file, without its ending."""
    model: str
    mode: str
    suite: str
    entry: str
    """suite:id"""
    category: str
    group: str
    trial: int | None
    """From 1; None in a run without trials."""
    passed: int | None
    """1 or 0 in the profile of the run; None where the entry was not scored."""
    official: str
    """``passed``, ``failed`` or ``not_scored``."""
    official_code: str | None
    """The failure code, or why the entry was not scored; None where it passed."""
    official_reason: str | None
    corrected: str
    corrected_code: str | None
    corrected_reason: str | None
    steps: int
    """Completions of the model."""
    latency_s: float | None
    """Seconds, summed over the steps, like tokens and dollars."""
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    """Input tokens that the server found in its cache."""
    cache_write_tokens: int | None
    """Input tokens that the server wrote to its cache for a price of its own."""
    reasoning_tokens: int | None
    """Output tokens that are reasoning."""
    usd: float | None
    rating: int | None
    """A judge's rating of a reply in words, from 0 to 2."""
    cluster: str | None
    """A name that the entry shares with those that pass and fail with it."""
    marks: str
    """The user's own marks, with commas between them."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score of a run under one profile, with its 95 % interval, and the usage behind it."""

    run: str
    """The name of the scorecard's file, without its ending."""
    model: str
    mode: str
    suites: str
    """Name and version of each suite."""
    profile: str
    kind: str
    """``category``, ``group``, ``overall`` or ``all``."""
    score: str
    n: int
    """Number of tests, which is entries times trials: passed, failed and not scored."""
    passed: int
    failed: int
    not_scored: int
    set_aside: int
    """Entries left out for no failure of the run: bad data, or what cannot be asked or decided."""
    accuracy: float | None
    low: float | None
    high: float | None
    interval_method: str | None
    missing: str
    """Parts of the official formula that were not run, with commas between them; then it has no accuracy."""
    usd: float | None
    """Dollars of all steps; usage is given for categories and overall. That of overall is the whole bill,
    with earlier conversations, the judge and the embedding model, and so are its tokens."""
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    latency_mean_s: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None


Row: TypeAlias = OutcomeRow | ScoreRow

_LARGEST = 2**63
"""The first count that no column of numbers holds; a server can state any."""
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
_ENTRY_FIGURES = (*_TOKENS, "latency_s", "usd")
_SCORE_FIGURES = (*_TOKENS, "usd", "latency_mean_s", "latency_p50_s", "latency_p95_s")
"""The columns of a row that are members of usage."""
_RECORD_COLUMNS = ("model", "mode", "suite", "entry", "category", "group", "trial", "cluster")
_SCORE_COLUMNS = ("n", "passed", "failed", "not_scored", "set_aside", "accuracy")
"""The columns of a row that are members of a Record, or of a score."""


def list_columns(
    kind: type[OutcomeRow] | type[ScoreRow],
) -> Mapping[str, type[str] | type[int] | type[float]]:
    """List the columns of rows of a kind, with the type of their values."""
    # The annotations are texts, of which the first word is the type of a value that is known.
    types = {"str": str, "int": int, "float": float}
    return {column.name: types[str(column.type).partition(" ")[0]] for column in fields(kind)}


def describe_entries(card: Scorecard) -> Iterator[OutcomeRow]:
    """Describe the Records of a scorecard as rows, one at a time."""
    for record in card.records:
        verdict = record.verdict(card.facts.profile)
        yield OutcomeRow(
            run=card.path.stem,
            **_read_members(record, _RECORD_COLUMNS),
            passed=None if isinstance(verdict, NotScored) else int(verdict.passed),
            **_describe_verdicts(record.verdicts),
            steps=len(record.steps),
            **_read_members(record.usage, _ENTRY_FIGURES),
            rating=record.rating.score if record.rating else None,
            marks=",".join(record.marks),
        )


def _describe_verdicts(verdicts: Verdicts) -> dict[str, Any]:
    """Return the columns of both verdicts: status, code and reason."""
    cells: dict[str, Any] = {}
    for profile in Profile:
        verdict = verdicts.select_profile(profile)
        code = verdict.cause if isinstance(verdict, NotScored) else verdict.code
        cells |= {profile: verdict.status, f"{profile}_code": code, f"{profile}_reason": verdict.reason}
    return cells


def _read_members(source: object, names: Sequence[str]) -> dict[str, Any]:
    """Return the columns that are members of an object; each is None without one."""
    figures = {name: None if source is None else getattr(source, name) for name in names}
    return {
        name: None if isinstance(figure, int) and abs(figure) >= _LARGEST else figure
        for name, figure in figures.items()
    }


def describe_scores(card: Scorecard) -> Iterator[ScoreRow]:
    """Describe the scores of a scorecard as rows: both profiles, each with categories, groups and overall."""
    suites = ", ".join(f"{suite} {about.get('version')}" for suite, about in card.facts.suites.items())
    by_category = group_by_category(card.records).items()
    usage = {("category", name): measure_usage(records) for name, records in by_category}
    usage["overall", "overall"] = usage[ALL, ALL] = measure_bill(card.records, card.facts.earlier)
    for profile in Profile:
        for kind, name, score in list_scores(card.scores(profile)):
            yield ScoreRow(
                run=card.path.stem,
                model=card.facts.model,
                mode=card.facts.mode,
                suites=suites,
                profile=profile,
                kind=kind,
                score=name,
                **_read_members(score, _SCORE_COLUMNS),
                **_read_members(score.interval, ("low", "high")),
                interval_method=score.interval.method if score.interval else None,
                missing=",".join(score.missing),
                **_read_members(usage.get((kind, name)), _SCORE_FIGURES),
            )


def list_scores(scores: ProfileScores) -> Iterator[tuple[str, str, Score]]:
    """List kind, name and score of each category, of each group, of overall and of all entries."""
    for name, score in scores.categories.items():
        yield "category", name, score
    for name, score in scores.groups.items():
        yield "group", name, score
    yield "overall", "overall", scores.overall
    yield ALL, ALL, scores.all


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
        registry.require_extra("data", "to_frame()")
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
