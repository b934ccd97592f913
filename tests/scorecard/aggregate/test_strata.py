"""Scores by stratum count each entry that has one, whatever its category."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.strata import Stratum
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.present.score_tables import tabulate_strata
from pytest_fcbench.scorecard.aggregate.strata import score_strata
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record

_WRONG = Failed("value_error:string", "x")


def make_stratum_record(
    stratum: str | None, verdict: Verdict, number: int = 0, category: str = "multiple"
) -> Record:
    """Make a Record of an entry in this stratum."""
    return replace(make_record(verdict, category=category, number=number), stratum=stratum)


_RECORDS = [
    make_stratum_record("hard", Passed()),
    make_stratum_record("hard", _WRONG, 1),
    make_stratum_record("hard", _WRONG, 2, category="parallel"),
    make_stratum_record("hard", NotScored("timeout", "x"), 3),
    make_stratum_record("easy", Passed(), 4),
    make_stratum_record(None, Passed(), 5),
]


def test_a_stratum_has_the_entries_of_all_categories() -> None:
    found = score_strata(_RECORDS, Profile.OFFICIAL)
    counts = {name: (score.n, score.passed, score.failed) for name, score in found.items()}
    assert counts == {Stratum.EASY: (1, 1, 0), Stratum.HARD: (4, 1, 2)}


def test_the_table_goes_from_easy_to_hard() -> None:
    table = tabulate_strata(_RECORDS, Profile.OFFICIAL)
    assert table
    assert table.title == "strata of difficulty (official profile)"
    # Wilson's limits of 1 of 1 and of 1 of 3.
    assert table.rows == (
        ("easy", "1", "1", "1", "100.0%", "20.7-100.0%"),
        ("hard", "4", "3", "1", "33.3%", "6.1-79.2%"),
    )


def test_entries_of_a_cluster_have_a_wider_interval() -> None:
    alone = [make_stratum_record("hard", Passed() if n % 2 else _WRONG, n) for n in range(12)]
    together = [replace(each, cluster=f"c{n // 6}") for n, each in enumerate(sorted(alone, key=str))]
    widths = []
    for records in (alone, together):
        interval = score_strata(records, Profile.OFFICIAL)[Stratum.HARD].interval
        assert interval
        widths.append(interval.high - interval.low)
    assert widths[0] < widths[1]


@pytest.mark.parametrize("category", ["multiple", "format_sensitivity"])
def test_what_repeats_entries_in_other_formats_does_not_count(category: str) -> None:
    records = [make_stratum_record("hard", Passed(), category=category)]
    assert bool(tabulate_strata(records, Profile.OFFICIAL)) is (category == "multiple")


def test_there_is_no_table_without_strata() -> None:
    assert tabulate_strata([make_record()], Profile.OFFICIAL) is None
