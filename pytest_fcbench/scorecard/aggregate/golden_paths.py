"""Scores of conversations along golden paths: calls, answers, errors, steps (arXiv:2501.10132).

Call accuracy is pooled: right calls of all expected ones, over the Records that have a verdict and a path. An
entry that was not scored is absent, as officially. Officially success rates have fixed denominators; here
they are shares of what was scored, which is the same where all was.

Errors have the classes of the paper's Figure 4, or their own name where it has none. Its Figure 5 has error
rates by kind of parameter, for which ``parameter_roles.toml`` has roles of ours. Figure 6 is about steps:
here, how many more were taken than the golden path has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean
from typing import Annotated, TypeAlias

from pydantic import Field

from pytest_fcbench.domain.entry import Group
from pytest_fcbench.domain.json_values import DESCRIBED, Count
from pytest_fcbench.domain.tables import WordSet, read_table
from pytest_fcbench.domain.verdict import SET_ASIDE, CallVerdict, Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.aggregate.intervals import (
    CLUSTERED,
    CLUSTERED_FEW,
    Interval,
    Share,
    find_ratio_interval,
    within,
)
from pytest_fcbench.scorecard.record import Record, group_with_all

CLASSES = ("func_error", "param_missing", "hallucination", "value_error", "stop_early")
"""The classes of errors that the paper has."""
_CLASS = {"param_hallucination": "hallucination", "func_hallucination": "hallucination"}


@cache
def read_roles() -> Mapping[str, WordSet]:
    """Return the words in the names of parameters, by the role of the parameter."""
    return read_table(dict[str, WordSet], __file__, "parameter_roles.toml")


OTHER = "other"
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

BEYOND = ("fewer", "0", "1", "2", "3+")
"""Steps beyond the golden path; fewer are possible where lookups are left out or calls are made ahead."""

OFFICIAL: Mapping[str, int] = {
    "hotels": 150,
    "flights": 150,
    "car_rental": 150,
    "attraction": 150,
    "cross": 400,
}
"""Entries of each category of ComplexFuncBench, the official denominators."""
_SUITE = "complexfuncbench"


_Positive: TypeAlias = Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True)
class MeanRating:
    """The mean rating of final answers by a judge."""

    mean: Annotated[float, Field(ge=0, le=2)] | None
    """Null without rated answers."""
    judged: Count
    """Rated answers."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Wrong arguments among all arguments of a role."""

    __pydantic_config__ = DESCRIBED

    wrong: Count
    of: _Positive
    rate: Share = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", self.wrong / self.of)


@dataclass(frozen=True, slots=True)
class PathScores:
    """Scores of one or several categories under one profile; each trial of an entry counts."""

    scored: Count
    """Entries with a verdict."""
    passed: Count
    """Entries that passed."""
    success: Share | None
    """Share of the entries with a verdict that passed."""
    calls: Count
    """Calls of the golden paths of all scored entries."""
    right: Count
    """Right calls; officially a repeated lookup counts again, so that there may be more than ``calls``."""
    accuracy: Annotated[float, Field(ge=0)] | None
    """Right calls divided by ``calls``; null without calls."""
    interval: Annotated[Interval | None, within({"minimum": 0}, CLUSTERED, CLUSTERED_FEW, "linearised ratio")]
    """Interval of the accuracy, by clusters."""
    completeness: MeanRating
    correctness: MeanRating
    failures: Mapping[str, _Positive]
    """Failed entries by class of error, the paper's first."""
    errors: Mapping[str, _Positive]
    """Wrong calls by class of error."""
    parameters: Mapping[str, Wrong]
    """Wrong arguments by role of the parameter: among the expected arguments of calls that were paired with a
    call of the same function, those missing or with another value in a wrong call. Each try counts."""
    beyond: Annotated[
        Mapping[str, _Positive], Field(json_schema_extra={"propertyNames": {"enum": [*BEYOND]}})
    ]
    """Successful entries by steps beyond the golden path."""
    beyond_mean: float | None
    """Mean steps beyond the golden path over the successful entries."""


def select_golden_paths(records: Iterable[Record]) -> list[Record]:
    """Select the Records of entries with a golden path."""
    return [record for record in records if record.group == Group.COMPLEX]


def score_paths_by_category(records: Iterable[Record], profile: Profile) -> dict[str, PathScores]:
    """Score each category and ``all``; nothing where no entry has a golden path."""
    parts = group_with_all(select_golden_paths(records))
    return {name: score_paths(part, profile) for name, part in parts.items()}


def score_paths(records: Iterable[Record], profile: Profile) -> PathScores:
    """Score these Records together."""
    # An entry that was not scored is absent here, as in ComplexFuncBench's own evaluation.
    pairs = [(r, verdict) for r in records if not isinstance(verdict := r.verdict(profile), NotScored)]
    # A verdict may come without a path: baselines keep verdicts only.
    paths = [(record, path) for record, _ in pairs if (path := record.path(profile))]
    beyond = [path.taken - path.steps for r, path in paths if isinstance(r.verdict(profile), Passed)]
    by_unit: dict[str, tuple[int, int]] = {}
    for record, path in paths:
        before = by_unit.get(record.unit, (0, 0))
        by_unit[record.unit] = before[0] + path.right, before[1] + path.calls
    verdicts = [verdict for _, path in paths for verdict in path.verdicts]
    passes = sum(verdict.passed for _, verdict in pairs)
    calls, right = sum(path.calls for _, path in paths), sum(path.right for _, path in paths)
    return PathScores(
        scored=len(pairs),
        passed=passes,
        success=passes / len(pairs) if pairs else None,
        calls=calls,
        right=right,
        accuracy=right / calls if calls else None,
        interval=find_ratio_interval(list(by_unit.values())),
        completeness=_average_ratings(path.completeness for _, path in paths),
        correctness=_average_ratings(path.correctness for _, path in paths),
        failures=_count_classes(verdict.code for _, verdict in pairs if isinstance(verdict, Failed)),
        errors=_count_classes(verdict.code or verdict.stage for verdict in verdicts if not verdict.right),
        parameters=_count_wrong_parameters(verdicts),
        beyond=dict(Counter("fewer" if n < 0 else "3+" if n > 2 else str(n) for n in beyond)),
        beyond_mean=fmean(beyond) if beyond else None,
    )


def _average_ratings(values: Iterable[int | None]) -> MeanRating:
    ratings = [value for value in values if value is not None]
    return MeanRating(fmean(ratings) if ratings else None, len(ratings))


def _count_classes(codes: Iterable[str]) -> Mapping[str, int]:
    """Count each class of errors, the paper's first, the others by name."""
    counts = Counter(_CLASS.get(code, code) for code in codes)
    return {name: counts[name] for name in (*CLASSES, *sorted(counts.keys() - CLASSES)) if counts[name]}


def _count_wrong_parameters(calls: Iterable[CallVerdict]) -> Mapping[str, Wrong]:
    wrong, of = Counter[str](), Counter[str]()
    for call in calls:
        expected_call = call.expected or {}
        arguments = expected_call.get("arguments")
        # Officially calls are paired by similarity without regard to the name; arguments of another function
        # say nothing of these.
        if expected_call.get("name") != call.made.get("name") or not isinstance(arguments, Mapping):
            continue
        differ = () if call.right else {difference.parameter for difference in call.differences}
        of.update(map(guess_role, arguments))
        wrong.update(guess_role(name) for name in arguments if name in differ)
    return {name: Wrong(wrong[name], of[name]) for name in (*read_roles(), OTHER) if of[name]}


def guess_role(parameter: str) -> str:
    """Guess from its name what a parameter is for."""
    words = {word.lower() for word in _WORD.findall(parameter)}
    return next((name for name, role_words in read_roles().items() if words & role_words), OTHER)


def find_possible_accuracy(records: Iterable[Record], profile: Profile) -> tuple[float, float] | None:
    """Find the lowest and the highest call accuracy that the entries not scored would allow.

    An entry whose number of calls neither profile knows is assumed to have as many as the longest path. None
    without calls.
    """
    paths = select_golden_paths(records)
    scores = score_paths(paths, profile)
    # What is set aside has no verdict whatever the model answers.
    missing = [r for r in paths if isinstance(v := r.verdict(profile), NotScored) and v.cause != SET_ASIDE]
    # The number of calls is the golden path's own, so either profile or another trial may tell it.
    known_counts = {r.entry: path.calls for r in paths for each in Profile if (path := r.path(each))}
    longest = max(known_counts.values(), default=0)
    open_calls = sum(known_counts.get(record.entry, longest) for record in missing)
    calls = scores.calls + open_calls
    return (scores.right / calls, (scores.right + open_calls) / calls) if scores.calls else None


def is_scored_in_part(records: Iterable[Record], profile: Profile) -> bool:
    """Tell whether only a part of ComplexFuncBench was scored, so that official denominators do not apply."""
    entries = {
        (r.category, r.entry)
        for r in records
        if r.suite == _SUITE and not isinstance(r.verdict(profile), NotScored)
    }
    return bool(entries) and Counter(category for category, _ in entries) != OFFICIAL
