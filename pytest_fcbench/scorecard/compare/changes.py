"""Changes of verdicts and scores when the same answers are judged again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.scores import ProfileScores, Score
from pytest_fcbench.scorecard.record import Record

NO_ENTRY = "no_entry"
"""Cause of Records whose entry is no longer in the suite."""


class ChangeKind(StrEnum):
    """A kind of change of a verdict, in the order of a report."""

    WORSE = "passed → failed"
    BETTER = "failed → passed"
    CODE = "failed in another way"
    SET_ASIDE = "newly set aside"
    COUNTED = "no longer set aside"
    LOST = "no longer scored"
    SCORED = "not scored → scored"
    CAUSE = "not scored for another reason"
    GONE = "entry no longer in the suite"


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A changed verdict; another reason or other details alone are no change."""

    item_id: str
    profile: Profile
    kind: ChangeKind
    old: Verdict
    new: Verdict


def list_changes(old: Iterable[Record], new: Mapping[str, Record]) -> Iterator[VerdictChange]:
    """List the verdicts that changed; ``new`` has each Record by item id."""
    for record in old:
        again = new[record.item_id]
        for profile in Profile:
            before, after = record.verdict(profile), again.verdict(profile)
            if kind := classify_change(before, after):
                yield VerdictChange(record.item_id, profile, kind, before, after)


def classify_change(old: Verdict, new: Verdict) -> ChangeKind | None:
    """Classify the change from one verdict to another; None where status and code are the same."""
    if _name_outcome(old) == _name_outcome(new):
        return None
    if isinstance(new, NotScored):
        # These two causes have kinds of their own, whatever the verdict was before.
        special = {NO_ENTRY: ChangeKind.GONE, SET_ASIDE: ChangeKind.SET_ASIDE}.get(new.cause)
        return special or (ChangeKind.CAUSE if isinstance(old, NotScored) else ChangeKind.LOST)
    if isinstance(old, NotScored):
        return ChangeKind.COUNTED if old.cause == SET_ASIDE else ChangeKind.SCORED
    if old.passed:
        return ChangeKind.WORSE
    return ChangeKind.BETTER if new.passed else ChangeKind.CODE


def _name_outcome(verdict: Verdict) -> tuple[str, str | None]:
    match verdict:
        case Failed(code=code) | NotScored(cause=code):
            return verdict.status, str(code)
    return verdict.status, None


def list_changed_scores(old: ProfileScores, new: ProfileScores) -> Iterator[tuple[str, Score, Score]]:
    """List the categories, groups and overall whose score changed, with both scores."""
    names = (*old.categories, *old.groups, "overall")
    for name in names:
        before, after = old.find_score(name), new.find_score(name)
        # An interval follows from the counts, so it is no change of its own.
        if before and after and _list_counts(before) != _list_counts(after):
            yield name, before, after


def _list_counts(score: Score) -> tuple[int, int, float | None]:
    return score.passed, score.scored, score.accuracy
