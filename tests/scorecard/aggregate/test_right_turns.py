"""Right turns are counted over conversations that were scored, each turn the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.present.score_tables import tabulate_right_turns
from pytest_fcbench.scorecard.aggregate.right_turns import (
    RightTurns,
    count_right_turns,
    count_right_turns_by_category,
    find_right_turns,
)
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record
from tests.scorecard.test_record import ANSWER


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
    assert table.notes == (
        "each turn starts from the state that the turns before it left; the share changes no verdict",
    )
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
    assert tabulate_right_turns([make_record()], Profile.OFFICIAL) is None
