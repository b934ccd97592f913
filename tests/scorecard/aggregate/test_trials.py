"""Trials: pass@j, pass^j and flips, by hand and by their laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.intervals import Interval, find_cluster_interval
from pytest_fcbench.scorecard.aggregate.trials import TrialScores, count_trials, score_trials
from pytest_fcbench.scorecard.record import Record, group_by_category
from tests.factories import make_record

PASSED, FAILED = Passed(), Failed("wrong_count", "2 calls")
_VERDICTS: Mapping[str, Verdict] = {
    "+": PASSED,
    "-": FAILED,
    "?": NotScored("timeout", "600 s"),
    "x": NotScored(SET_ASIDE, "bad data"),
}
OFFICIAL = Profile.OFFICIAL


def _make_trials(*entries: str, category: str = "multiple") -> list[Record]:
    """Make one entry for each text, one trial for each sign in it."""
    return [
        make_record(_VERDICTS[sign], category=category, number=number, trial=trial)
        for number, signs in enumerate(entries)
        for trial, sign in enumerate(signs, 1)
    ]


def test_four_entries_of_four_trials() -> None:
    assert score_trials(_make_trials("++++", "+++-", "-+--", "----"), OFFICIAL, 4) == TrialScores(
        k=4,
        entries=4,
        left_out=(),
        mean=8 / 16,
        # Of 4, 6, 4, 1 choices of j trials those with a passed one: all, all, 1 3 3 1, none.
        pass_at=(8 / 16, 15 / 24, 11 / 16, 3 / 4),
        # Those with passed ones only: all, 3 3 1 0, 1 0 0 0, none.
        pass_hat=(8 / 16, 9 / 24, 5 / 16, 1 / 4),
        pass_at_intervals=_find_intervals((4, 3, 1, 0), (6, 6, 3, 0), (4, 4, 3, 0), (1, 1, 1, 0)),
        pass_hat_intervals=_find_intervals((4, 3, 1, 0), (6, 3, 0, 0), (4, 1, 0, 0), (1, 0, 0, 0)),
        flip=2 / 4,
    )


def _find_intervals(*by_number: Sequence[int]) -> tuple[Interval, ...]:
    """Find the intervals of the choices of 1, 2, 3 and 4 trials that count, given for four entries."""
    found = [
        # At most k / j choices of an entry have no trial in common.
        find_cluster_interval([(count, whole) for count in counts], 4 * 4 / j)
        for j, (counts, whole) in enumerate(zip(by_number, (4, 6, 4, 1), strict=True), 1)
    ]
    return tuple(interval for interval in found if interval)


def test_entries_of_one_cluster_have_wider_intervals() -> None:
    signs = ["+++", "+++", "++-", "---", "+--", "---", "+++", "---"]
    alone = _make_trials(*signs)
    # Pairs are alike: two that always passed, two that never did, and two pairs between.
    together = [
        replace(record, cluster=f"pair-{'00123213'[place // 3]}") for place, record in enumerate(alone)
    ]
    narrow, wide = (score_trials(records, OFFICIAL, 3) for records in (alone, together))
    assert narrow.pass_hat == wide.pass_hat == (12 / 24, 10 / 24, 3 / 8)
    (low, high), (lower, higher) = (
        (each.pass_hat_intervals[-1].low, each.pass_hat_intervals[-1].high) for each in (narrow, wide)
    )
    assert lower < low < 3 / 8 < high < higher


def test_an_entry_with_a_trial_that_was_not_scored_is_left_out() -> None:
    records = _make_trials("+++", "++?", "---", "xxx")
    found = score_trials(records, OFFICIAL, 3)
    assert (found.entries, found.mean, found.flip) == (2, 0.5, 0.0)
    assert found.left_out == ("core:multiple_1", "core:multiple_3")


def test_an_entry_whose_trials_were_not_all_run_is_left_out() -> None:
    records = _make_trials("+++", "---")
    found = score_trials(records[:-1], OFFICIAL, 3)
    assert (found.entries, found.mean, found.left_out) == (1, 1.0, ("core:multiple_1",))


@pytest.mark.parametrize("records", [[], _make_trials("?+", "-?")], ids=["no records", "none scored"])
def test_where_no_entry_counts_nothing_is_known(records: Sequence[Record]) -> None:
    found = score_trials(records, OFFICIAL, 2)
    assert (found.entries, found.mean, found.pass_at, found.pass_hat, found.flip) == (0, None, (), (), None)


def test_of_one_trial_all_is_the_mean() -> None:
    found = score_trials(_make_trials("+", "-", "-"), OFFICIAL, 1)
    assert (found.mean, found.pass_at, found.pass_hat, found.flip) == (1 / 3, (1 / 3,), (1 / 3,), 0.0)


def test_each_profile_has_its_own_verdicts() -> None:
    records = [make_record(PASSED, FAILED if trial == 2 else PASSED, trial=trial) for trial in (1, 2)]
    assert score_trials(records, Profile.OFFICIAL, 2).flip == 0
    assert score_trials(records, Profile.CORRECTED, 2).flip == 1


def test_entries_of_all_categories_weigh_the_same() -> None:
    records = _make_trials("++") + _make_trials("--", "--", "-+", category="parallel")
    assert score_trials(records, OFFICIAL, 2).mean == 3 / 8
    means = {name: score_trials(part, OFFICIAL, 2).mean for name, part in group_by_category(records).items()}
    assert means == {"multiple": 1.0, "parallel": 1 / 6}


def test_trials_are_counted_over_the_run() -> None:
    assert count_trials([]) == 1
    assert count_trials([make_record()]) == 1
    assert count_trials(_make_trials("+-+")) == 3
    assert count_trials(_make_trials("+-+")[2:]) == 3


def test_categories_are_in_the_order_of_the_tables() -> None:
    records = [
        make_record(category="live_simple"),
        replace(make_record(), category="mine"),
        make_record(number=1),
    ]
    assert list(group_by_category(records)) == ["simple_python", "live_simple", "mine"]


# Laws

_RUNS = st.integers(1, 6).flatmap(
    lambda k: st.tuples(
        st.just(k),
        st.lists(st.text("+-?", min_size=k, max_size=k), max_size=12).map(
            lambda entries: _make_trials(*entries)
        ),
    )
)


@given(_RUNS)
def test_one_trial_is_the_mean_and_more_lie_around_it(run: tuple[int, list[Record]]) -> None:
    k, records = run
    found = score_trials(records, OFFICIAL, k)
    if found.mean is None or found.flip is None:
        assert found.entries == 0
        return
    assert len(found.pass_at) == len(found.pass_hat) == k
    assert found.pass_hat[-1] <= found.mean == found.pass_at[0] == found.pass_hat[0] <= found.pass_at[-1]
    assert list(found.pass_at) == sorted(found.pass_at)
    assert list(found.pass_hat) == sorted(found.pass_hat, reverse=True)
    assert found.flip == pytest.approx(found.pass_at[-1] - found.pass_hat[-1])
    assert all(0 <= share <= 1 for share in (*found.pass_at, *found.pass_hat, found.flip))


@given(_RUNS)
def test_the_estimators_are_shares_of_all_choices_of_trials(run: tuple[int, list[Record]]) -> None:
    k, records = run
    found = score_trials(records, OFFICIAL, k)
    by_entry: dict[str, list[Verdict]] = {}
    for record in records:
        by_entry.setdefault(record.entry, []).append(record.verdict(OFFICIAL))
    scored = [verdicts for entry, verdicts in by_entry.items() if entry not in found.left_out]
    assert len(scored) == found.entries
    for j, (some, every) in enumerate(zip(found.pass_at, found.pass_hat, strict=True), 1):
        choices = [choice for verdicts in scored for choice in combinations(verdicts, j)]
        assert some == pytest.approx(sum(PASSED in choice for choice in choices) / len(choices))
        assert every == pytest.approx(sum(FAILED not in choice for choice in choices) / len(choices))


@given(_RUNS.flatmap(lambda run: st.tuples(st.just(run), st.permutations(run[1]))))
def test_the_order_of_records_does_not_matter(orders: tuple[tuple[int, list[Record]], list[Record]]) -> None:
    (k, records), others = orders
    assert score_trials(records, OFFICIAL, k) == score_trials(others, OFFICIAL, k)
    assert count_trials(records) == count_trials(others)
