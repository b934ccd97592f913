"""Trials: pass@j, pass^j and flips, by hand and by their laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import (
    SET_ASIDE,
    Failed,
    Judgement,
    JudgeRating,
    NotScored,
    Passed,
    Profile,
    Verdict,
    Verdicts,
)
from pytest_fcbench.present.score_tables import (
    tabulate_ratings,
    tabulate_right_turns,
    tabulate_sides,
)
from pytest_fcbench.scorecard.aggregate.intervals import Interval, find_cluster_interval
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.aggregate.secondary_scores import (
    MOST,
    RightTurns,
    Sides,
    TrialScores,
    average_by_kind,
    count_right_turns,
    count_right_turns_by_category,
    count_sides,
    count_sides_by_category,
    count_trials,
    find_right_turns,
    score_trials,
    summarise_ratings,
    summarise_ratings_by_category,
)
from pytest_fcbench.scorecard.record import Record, group_by_category
from tests.factories import make_card, make_record
from tests.scorecard.test_record import ANSWER

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


def make_conversation_record(
    verdict: Verdict, *, turns: int = 3, category: str = "multi_turn_base", number: int = 0
) -> Record:
    """Make a Record of a conversation with this verdict in both profiles."""
    record = make_record(verdict, category=category, number=number)
    return replace(record, turns=((ANSWER,),) * turns)


def make_failure(right: int, turns: int) -> Failed:
    return Failed("multi_turn:empty_turn_model_response", "x", {"right_turns": right, "turns": turns})


def test_all_turns_of_a_conversation_that_passed_are_right() -> None:
    assert find_right_turns(make_conversation_record(Passed(), turns=4), Profile.OFFICIAL) == (4, 4)


def test_a_failure_says_how_many_turns_were_right() -> None:
    # Of four turns three were answered.
    assert find_right_turns(make_conversation_record(make_failure(1, 4)), Profile.OFFICIAL) == (1, 4)


def test_each_profile_has_its_own_count() -> None:
    record = replace(
        make_record(make_failure(2, 3), Passed(), category="multi_turn_base"), turns=((ANSWER,),) * 3
    )
    assert [find_right_turns(record, profile) for profile in Profile] == [(2, 3), (3, 3)]


def test_nothing_is_counted_where_nothing_is_known() -> None:
    for verdict in (NotScored("timeout", "x"), Failed("multi_turn:force_terminated", "x", {"turn": 2})):
        assert find_right_turns(make_conversation_record(verdict), Profile.OFFICIAL) is None
    assert find_right_turns(make_conversation_record(Passed(), category="parallel"), Profile.OFFICIAL) is None
    # A baseline keeps no answers.
    assert find_right_turns(make_conversation_record(Passed(), turns=0), Profile.OFFICIAL) is None


def test_each_turn_counts_the_same() -> None:
    records = [
        make_conversation_record(Passed(), turns=1),
        make_conversation_record(make_failure(2, 7), number=1),
        make_conversation_record(NotScored("timeout", "x"), number=2),
    ]
    found = count_right_turns(records, Profile.OFFICIAL)
    assert found == RightTurns(conversations=2, turns=8, right=3)
    assert found.share == 3 / 8
    assert count_right_turns([], Profile.OFFICIAL).share is None


def test_the_table_has_each_category_and_all() -> None:
    records = [
        make_conversation_record(Passed()),
        make_conversation_record(make_failure(0, 5), category="multi_turn_miss_func"),
        make_record(),
    ]
    assert [*count_right_turns_by_category(records, Profile.OFFICIAL)] == [
        "multi_turn_base",
        "multi_turn_miss_func",
        "all",
    ]
    table = tabulate_right_turns(records, Profile.OFFICIAL)
    assert table
    assert table.title == "turns of conversations (official profile)"
    assert table.columns == ("", "conversations", "turns", "right", "share")
    assert [*table.list_notes()] == [
        "right: the turn's own calls were right, whatever went wrong before; this affects no verdict"
    ]
    assert table.rows == (
        ("multi_turn_base", "1", "3", "3", "100.0%"),
        ("multi_turn_miss_func", "1", "5", "0", "0.0%"),
        ("all", "2", "8", "3", "37.5%"),
    )


@pytest.mark.parametrize(
    ("profile", "right"), [(Profile.OFFICIAL, RightTurns(1, 3, 2)), (Profile.CORRECTED, RightTurns(1, 3, 3))]
)
def test_each_profile_has_a_table_of_its_own(profile: Profile, right: RightTurns) -> None:
    record = make_record(make_failure(2, 3), Passed(), category="multi_turn_base")
    records = [replace(record, turns=((ANSWER,),) * 3)]
    assert count_right_turns(records, profile) == right
    assert count_right_turns_by_category(records, profile) == {"multi_turn_base": right, "all": right}
    table = tabulate_right_turns(records, profile)
    assert table
    assert [row[3] for row in table.rows] == [str(right.right)] * 2


@pytest.mark.parametrize(("profile", "counted"), [(Profile.OFFICIAL, True), (Profile.CORRECTED, False)])
def test_only_conversations_that_the_profile_scored_have_a_row(profile: Profile, counted: bool) -> None:
    record = make_record(Passed(), NotScored("timeout", "x"), category="multi_turn_base")
    found = count_right_turns_by_category([replace(record, turns=((ANSWER,),))], profile)
    assert found == (dict.fromkeys(("multi_turn_base", "all"), RightTurns(1, 1, 1)) if counted else {})


def test_there_is_no_table_without_conversations() -> None:
    assert not tabulate_right_turns([make_record()], Profile.OFFICIAL)


NONE = NotScored("judge_reply", "after 3 tries the reply is empty")


def make_chat_records(*scores: int | NotScored | None, trial: int | None = None) -> list[Record]:
    """Make Records of replies with these ratings; None where nobody was asked."""
    made = []
    for number, score in enumerate(scores):
        record = make_record(category="chatable", number=number, trial=trial)
        rating = JudgeRating(score, "x") if isinstance(score, int) else score
        made.append(
            record.replace_judgement(
                Judgement(record.verdicts.official, record.verdicts.corrected, rating=rating)
            )
        )
    return made


def test_a_mean_of_those_that_were_rated() -> None:
    found = summarise_ratings(make_chat_records(2, 2, 1, 0, NONE, None))
    assert (found.rated, found.not_rated, found.counts, found.mean) == (4, 1, (1, 1, 2), 1.25)
    assert found.interval
    assert found.interval.low < 1.25 < found.interval.high


def test_where_nobody_was_asked_there_is_nothing() -> None:
    assert summarise_ratings_by_category(make_chat_records(None, None)) == {}
    assert not tabulate_ratings(make_chat_records(None), "wise")


def test_where_no_reply_was_rated_there_is_no_mean() -> None:
    found = summarise_ratings(make_chat_records(NONE))
    assert (found.rated, found.not_rated, found.mean, found.interval) == (0, 1, None, None)
    table = tabulate_ratings(make_chat_records(NONE), None)
    assert table
    assert table.title == "replies rated by a judge (0 to 2)"
    assert table.rows == (("chatable", "0", "1", "-", "-", "0", "0", "0"),)


def test_trials_of_an_entry_are_a_cluster() -> None:
    once = make_chat_records(0, 2, 2, 1, 2)
    twice = [*make_chat_records(0, 2, 2, 1, 2, trial=1), *make_chat_records(0, 2, 2, 1, 2, trial=2)]
    assert summarise_ratings(twice).mean == summarise_ratings(once).mean
    one, two = summarise_ratings(once).interval, summarise_ratings(twice).interval
    assert one
    assert two
    assert abs(two.high - two.low - (one.high - one.low)) < 0.01


def test_every_reply_counts_in_whatever_order() -> None:
    found = summarise_ratings(make_chat_records(None, NONE, 2, None, NONE, NONE, 1))
    assert (found.rated, found.not_rated, found.counts) == (2, 3, (0, 1, 1))


def test_the_interval_is_that_of_entries_and_not_of_replies() -> None:
    records = [record for trial in (1, 2, 3) for record in make_chat_records(2, 0, 2, trial=trial)]
    found, expected = summarise_ratings(records).interval, find_cluster_interval([(6, 6), (0, 6), (6, 6)])
    assert found
    assert expected
    assert (found.low, found.high) == pytest.approx((2 * expected.low, 2 * expected.high))


def test_a_row_for_each_category() -> None:
    found = tabulate_ratings(make_chat_records(2, 0, NONE), "wise")
    assert found
    assert found.title == "replies rated by wise (0 to 2)"
    assert found.columns == ("", "rated", "not rated", "mean", "95%", "0", "1", "2")
    assert found.notes == ("ratings affect no verdict; the mean leaves out replies that were not rated",)
    assert found.rows == (("chatable", "2", "1", "1.00", "0.00-2.00", "1", "0", "1"),)


@given(st.lists(st.integers(0, MOST), min_size=1, max_size=40))
def test_the_mean_lies_within_its_limits(scores: Sequence[int]) -> None:
    found = summarise_ratings(make_chat_records(*scores))
    assert found.mean is not None
    assert found.interval
    assert 0 <= found.interval.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.interval.high <= MOST


WRONG = Failed("executable_checker:wrong_result", "")
LIVE = NotScored("live_only", "nobody recorded it")


def make_executed_records(*verdicts: tuple[Verdict, Verdict], category: str = "exec_simple") -> list[Record]:
    """Make Records with these verdicts as written and by execution."""
    made = []
    for number, (written, verdict) in enumerate(verdicts):
        record = make_record(verdict, category=category, number=number)
        made.append(replace(record, as_written=Verdicts.same_in_both(written)))
    return made


RECORDS = make_executed_records(
    (Passed(), Passed()), (Passed(), Passed()), (WRONG, Passed()), (Passed(), WRONG), (WRONG, WRONG)
)


def test_entries_by_both_verdicts() -> None:
    found = count_sides(RECORDS, Profile.OFFICIAL)
    assert found == Sides(both=2, ast_only=1, execution_only=1, neither=1)
    assert (found.n, found.shares, found.agreement) == (5, (0.6, 0.6), 0.6)


def test_what_lacks_a_verdict_is_left_out() -> None:
    lacking = [
        *make_executed_records((Passed(), LIVE), (LIVE, Passed())),
        make_record(category="exec_simple", number=9),
    ]
    assert count_sides(lacking, Profile.OFFICIAL) == Sides(0, 0, 0, 0)
    assert count_sides([], Profile.OFFICIAL).shares is None
    assert count_sides_by_category(lacking, Profile.OFFICIAL) == {}
    assert not tabulate_sides([make_record()], Profile.OFFICIAL)


@pytest.mark.parametrize(
    ("profile", "sides"), [(Profile.OFFICIAL, Sides(1, 0, 0, 0)), (Profile.CORRECTED, Sides(0, 1, 0, 0))]
)
def test_each_profile_has_its_own_verdict_on_what_calls_return(profile: Profile, sides: Sides) -> None:
    (record,) = make_executed_records((Passed(), Passed()))
    apart = [replace(record, verdicts=Verdicts(Passed(), WRONG))]
    assert count_sides(apart, profile) == sides
    assert count_sides_by_category(apart, profile) == {"exec_simple": sides, "all": sides}
    table = tabulate_sides(apart, profile)
    assert table
    assert table.title == f"calls as written (AST) and carried out ({profile.value} profile)"
    assert [row[2:4] for row in table.rows] == [(str(sides.both), str(sides.ast_only))] * 2


@pytest.mark.parametrize(
    ("profile", "sides"), [(Profile.OFFICIAL, Sides(1, 0, 0, 0)), (Profile.CORRECTED, Sides(0, 0, 1, 0))]
)
def test_each_profile_has_its_own_verdict_on_calls_as_written(profile: Profile, sides: Sides) -> None:
    (record,) = make_executed_records((Passed(), Passed()))
    assert count_sides([replace(record, as_written=Verdicts(Passed(), WRONG))], profile) == sides


def test_a_row_for_each_category_and_for_all() -> None:
    found = tabulate_sides(
        [*RECORDS, *make_executed_records((WRONG, Passed()), category="exec_parallel")], Profile.OFFICIAL
    )
    assert found
    assert found.columns[:4] == ("", "entries", "both", "AST only")
    assert len([*found.list_notes()]) == 1
    assert found.rows == (
        ("exec_simple", "5", "2", "1", "1", "1", "60.00%", "60.00%", "60.00%"),
        ("exec_parallel", "1", "0", "0", "1", "0", "0.00%", "100.00%", "0.00%"),
        ("all", "6", "2", "1", "2", "1", "50.00%", "66.67%", "50.00%"),
    )


def test_kinds_are_those_of_which_both_were_scored() -> None:
    card = make_card(
        {
            "simple_python": [True, False],
            "exec_simple": [True, True],
            "multiple": [True],
            "exec_multiple": [False],
            "parallel": [False],
        }
    )
    assert average_by_kind(aggregate_scores(card.records, Profile.OFFICIAL, lambda name: 0)) == (0.75, 0.5)
    assert average_by_kind(make_card({"parallel": [True]}).scores(Profile.OFFICIAL)) is None
