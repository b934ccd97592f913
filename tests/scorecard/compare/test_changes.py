"""How verdicts and scores changed when answers were judged again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.compare.changes import (
    NO_ENTRY,
    ChangeKind,
    classify_change,
    list_changed_scores,
    list_changes,
)
from tests.factories import make_record

PASSED, WRONG, OTHER = Passed(), Failed("wrong_count", "2 calls"), Failed("missing", "no call")
ASIDE, LATE, DOWN = NotScored(SET_ASIDE, "bad"), NotScored("timeout", "600 s"), NotScored("endpoint", "500")
NONE = NotScored(NO_ENTRY, "core 3 has no such entry")


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (PASSED, WRONG, ChangeKind.WORSE),
        (WRONG, PASSED, ChangeKind.BETTER),
        (WRONG, OTHER, ChangeKind.CODE),
        (PASSED, ASIDE, ChangeKind.SET_ASIDE),
        (LATE, ASIDE, ChangeKind.SET_ASIDE),
        (ASIDE, WRONG, ChangeKind.COUNTED),
        (ASIDE, LATE, ChangeKind.CAUSE),
        (PASSED, LATE, ChangeKind.LOST),
        (WRONG, LATE, ChangeKind.LOST),
        (LATE, PASSED, ChangeKind.SCORED),
        (LATE, WRONG, ChangeKind.SCORED),
        (LATE, DOWN, ChangeKind.CAUSE),
        (PASSED, NONE, ChangeKind.GONE),
        (ASIDE, NONE, ChangeKind.GONE),
        (PASSED, Passed(), None),
        (WRONG, Failed("wrong_count", "told in other words", {"found": 2}), None),
        (LATE, NotScored("timeout", "another sentence"), None),
    ],
)
def test_a_change_has_its_kind(old: Verdict, new: Verdict, kind: ChangeKind | None) -> None:
    assert classify_change(old, new) is kind


def test_profiles_change_on_their_own() -> None:
    old, new = make_record(PASSED, WRONG), make_record(PASSED, PASSED)
    (change,) = list_changes([old], {new.item_id: new})
    assert (change.item_id, change.profile, change.kind) == (
        old.item_id,
        Profile.CORRECTED,
        ChangeKind.BETTER,
    )
    assert (change.old, change.new) == (WRONG, PASSED)


def test_trials_are_kept_apart() -> None:
    old = [make_record(PASSED, trial=1), make_record(WRONG, trial=2)]
    new = {record.item_id: record for record in [old[0], make_record(PASSED, trial=2)]}
    assert {change.item_id for change in list_changes(old, new)} == {old[1].item_id}


VERDICTS = st.sampled_from([PASSED, WRONG, OTHER, ASIDE, LATE, NONE])


@given(VERDICTS, VERDICTS)
def test_only_what_is_equal_is_no_change(old: Verdict, new: Verdict) -> None:
    assert (classify_change(old, new) is None) == (old == new)


@given(st.lists(st.tuples(VERDICTS, VERDICTS), min_size=1, max_size=8))
def test_scores_move_only_with_verdicts(pairs: list[tuple[Verdict, Verdict]]) -> None:
    old = [make_record(verdict, number=number) for number, (verdict, _) in enumerate(pairs)]
    new = [make_record(verdict, number=number) for number, (_, verdict) in enumerate(pairs)]
    before, after = (aggregate_scores(records, Profile.OFFICIAL, lambda _: 0) for records in (old, new))
    rows = {name: (was, now) for name, was, now in list_changed_scores(before, after)}
    same = (
        [s.passed for s in (before.overall, after.overall)],
        [s.scored for s in (before.overall, after.overall)],
    )
    if all(len(set(counts)) == 1 for counts in same):
        assert rows == {}
    else:
        assert rows.keys() == {"simple_python", "simple", "non_live", "overall"}
        assert rows["simple_python"] == (
            before.categories["simple_python"],
            after.categories["simple_python"],
        )
