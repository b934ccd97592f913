"""Calls as they are written against what they return."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdict, Verdicts
from pytest_fcbench.present.score_tables import SIDE_LEGEND, tabulate_sides
from pytest_fcbench.scorecard.aggregate.execution import (
    Sides,
    average_by_kind,
    count_sides,
    count_sides_by_category,
)
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_card, make_record

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
    assert tabulate_sides([make_record()], Profile.OFFICIAL) is None


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
    assert found.notes == (SIDE_LEGEND,)
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
