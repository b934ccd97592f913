"""Counts and accuracies of categories, groups and overall."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pytest_fcbench.scorecard.formulas import GROUPS, OVERALL, Formula, Weighing
from pytest_fcbench.scorecard.records import Record, by_category
from pytest_fcbench.verdicts import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict


@dataclass(frozen=True, slots=True)
class Score:
    """Counts and accuracy of a category, a group or all.

    ``not_scored`` entries are out of the denominator; ``set_aside`` says how many of them are known-bad
    data. ``accuracy`` is a fraction, None where nothing was scored. ``missing`` names the parts of the
    formula of which nothing was scored; they count as 0, as officially.
    """

    n: int
    passed: int
    failed: int
    not_scored: int
    set_aside: int
    accuracy: float | None
    missing: tuple[str, ...] = ()

    @property
    def scored(self) -> int:
        """The denominator."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class ProfileScores:
    """All scores under one profile. Categories that were not run are not there."""

    categories: Mapping[str, Score]
    groups: Mapping[str, Score]
    overall: Score

    def named(self, name: str) -> Score | None:
        """A category, a group or ``overall``; None where nothing of it was run."""
        if name == "overall":
            return self.overall
        return self.categories.get(name) or self.groups.get(name)


def aggregate(
    records: Iterable[Record],
    profile: Profile,
    size_of: Callable[[str], int],
    assumed: Passed | Failed | None = None,
) -> ProfileScores:
    """Scores of a run.

    Every Record counts, so that ``n`` is entries x trials. ``size_of`` gives the number of tests of a
    category (also entries x trials) in the selected suites: a category of which nothing was scored counts
    with it in a group that is weighted by count. ``assumed`` stands in for the verdict of every entry that
    was not scored (set-aside ones excepted), to see how far those could move a score.
    """

    def verdict(record: Record) -> Verdict:
        found = record.verdict(profile)
        unscored = isinstance(found, NotScored) and found.cause != SET_ASIDE
        return assumed if assumed and unscored else found

    categories = {name: _tally([verdict(r) for r in part]) for name, part in by_category(records).items()}
    groups: dict[str, Score] = {}
    for name, formula in GROUPS.items():
        parts = {part: categories.get(part) or groups.get(part) for part in formula.parts}
        if any(parts.values()):
            groups[name] = _combine(parts, _accuracy(parts, formula, size_of))
    weighted = {name: groups.get(name) for name in OVERALL}
    known = {name: score.accuracy for name, score in weighted.items() if score and score.accuracy is not None}
    accuracy = sum(OVERALL[name] * value for name, value in known.items())
    overall = _combine(weighted, accuracy if known else None)
    return ProfileScores(categories, groups, _counting_all(overall, categories))


def _tally(verdicts: list[Verdict]) -> Score:
    passed = sum(isinstance(verdict, Passed) for verdict in verdicts)
    unscored = [verdict for verdict in verdicts if isinstance(verdict, NotScored)]
    scored = len(verdicts) - len(unscored)
    return Score(
        n=len(verdicts),
        passed=passed,
        failed=scored - passed,
        not_scored=len(unscored),
        set_aside=sum(verdict.cause == SET_ASIDE for verdict in unscored),
        accuracy=passed / scored if scored else None,
    )


def _accuracy(
    parts: Mapping[str, Score | None], formula: Formula, size_of: Callable[[str], int]
) -> float | None:
    known = {name: score for name, score in parts.items() if score and score.accuracy is not None}
    if not known:
        return None
    if formula.weighing is Weighing.EQUAL:
        return sum(score.accuracy or 0 for score in known.values()) / len(parts)
    scored = sum(score.scored for score in known.values())
    absent = sum(size_of(name) for name in parts if name not in known)
    return sum(score.passed for score in known.values()) / (scored + absent)


def _combine(parts: Mapping[str, Score | None], accuracy: float | None) -> Score:
    present = [score for score in parts.values() if score]
    missing = [name for name, score in parts.items() if not score or score.accuracy is None]
    nested = [name for score in present for name in score.missing]
    return Score(
        n=sum(score.n for score in present),
        passed=sum(score.passed for score in present),
        failed=sum(score.failed for score in present),
        not_scored=sum(score.not_scored for score in present),
        set_aside=sum(score.set_aside for score in present),
        accuracy=accuracy,
        missing=tuple(dict.fromkeys(missing + nested)),
    )


def _counting_all(overall: Score, categories: Mapping[str, Score]) -> Score:
    """The overall score with the counts of all categories, also of those without a weight."""
    counts = _combine(dict(categories), None)
    return Score(
        counts.n,
        counts.passed,
        counts.failed,
        counts.not_scored,
        counts.set_aside,
        overall.accuracy,
        overall.missing,
    )
