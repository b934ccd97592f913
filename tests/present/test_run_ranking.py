"""The rank of a run among others: who is shown to be better, which row is this run, what cannot be ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.present.run_ranking import write_ranking
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.factories import FACTS, make_record

WRONG = Failed("wrong_count", "why")


def make_records(passed: int, of: int = 40, category: str = "simple_python") -> Sequence[Record]:
    return [
        make_record(Passed() if number < passed else WRONG, number=number, category=category)
        for number in range(of)
    ]


def make_card(name: str, records: Sequence[Record]) -> Scorecard:
    return Scorecard(Path(f"{name}.json"), replace(FACTS, model=name), tuple(records), {})


def rank(records: Sequence[Record], *rivals: Scorecard) -> list[str]:
    evidence = Evidence(records, Profile.OFFICIAL, lambda name: 0, FACTS.suites)
    return [line.text for line in write_ranking(FACTS, evidence, rivals)]


def test_the_better_run_stands_above_and_this_one_is_marked() -> None:
    lines = rank(make_records(20), make_card("weak", make_records(1)), make_card("strong", make_records(40)))
    rows = [line for line in lines if line[:1].isdigit()]
    assert [row.split()[:2] for row in rows] == [["1", "strong"], ["2", "test"], ["3", "weak"]]
    assert [row.endswith("this run") for row in rows] == [False, True, False]


def test_runs_share_a_rank_where_none_is_shown_to_be_better() -> None:
    lines = rank(make_records(20), make_card("close", make_records(21)))
    assert [line.split("  ")[0] for line in lines if line[:1].isdigit()] == ["1 to 2", "1 to 2"]


def test_other_categories_are_not_ranked() -> None:
    assert rank(make_records(20), make_card("other", make_records(20, category="multiple"))) == [
        "",
        "no ranking: none of 1 scorecards has the same suites and categories",
    ]


def test_without_others_there_is_no_ranking() -> None:
    assert rank(make_records(20)) == []
