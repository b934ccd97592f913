"""Both scores: of all entries, and without those that are in training data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.present.score_tables import tabulate_untrained
from pytest_fcbench.scorecard.aggregate.scores import mark_trained, score_metric
from pytest_fcbench.scorecard.aggregate.trained import score_untrained
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record

WRONG = Failed("value_error:string", "x")


def size_nothing(name: str) -> int:
    return 0


def make_run(suite: str = "mine", passed: str = "0123", trained: str = "012") -> list[Record]:
    """Make a run of eight entries in two categories of which some passed and some are trained."""
    records = [
        make_record(
            Passed() if str(number) in passed else WRONG,
            category="multiple" if number < 4 else "irrelevance",
            number=number,
            suite=suite,
        )
        for number in range(8)
    ]
    return mark_trained(records, [records[int(number)].entry for number in trained])


def test_the_score_without_trained_entries_stands_beside_the_other() -> None:
    found = score_untrained(make_run(), Profile.OFFICIAL, size_nothing)
    assert found
    assert (found.overall.n, found.overall.accuracy) == (5, 1 / 5)
    table = tabulate_untrained(make_run(), Profile.OFFICIAL, size_nothing)
    assert table
    assert table.title == "without entries of the training data (official profile)"
    assert table.rows == (
        ("multiple", "4", "3", "100.00%", "100.00%", "20.7-100.0%"),
        ("overall", "8", "3", "50.00%", "20.00%", "3.6-62.4%"),
    )


def test_a_category_of_which_nothing_is_left_has_no_other_score() -> None:
    table = tabulate_untrained(make_run(trained="0123"), Profile.OFFICIAL, size_nothing)
    assert table
    assert table.rows[0] == ("multiple", "4", "4", "100.00%", "-", "-")


def test_nothing_is_shown_where_no_entry_is_trained() -> None:
    assert score_untrained(make_run(trained=""), Profile.OFFICIAL, size_nothing) is None
    assert tabulate_untrained(make_run(trained=""), Profile.OFFICIAL, size_nothing) is None


def test_the_mark_stands_beside_those_of_the_user() -> None:
    (marked,) = mark_trained([replace(make_record(), marks=("slow", "wip"))], [make_record().entry])
    assert marked.marks == ("slow", "trained", "wip")
    assert mark_trained([make_record()], ["core:else"]) == [make_record()]


@pytest.mark.parametrize(
    ("run", "metric"),
    [(make_run(), "overall"), (make_run("core"), "all"), (make_run("core")[:4], "multiple")],
)
def test_the_metric_is_the_score_that_stands_for_the_run(run: list[Record], metric: str) -> None:
    rest = [record for record in run if not record.marks]
    score = score_metric("untrained", run, Profile.OFFICIAL, size_nothing)
    assert score == score_metric(metric, rest, Profile.OFFICIAL, size_nothing)
    assert score
    assert score.accuracy == 1 / (len(run) - 3)


def test_a_loss_is_measured_on_the_other_entries_only() -> None:
    before, after = make_run(passed="01234567"), make_run(passed="34567")
    paired = pair_runs(before, after, Profile.OFFICIAL)
    whole, rest = (paired.measure_difference(metric, size_nothing) for metric in ("overall", "untrained"))
    assert whole
    assert rest
    assert (whole.entries, whole.worse) == (8, 3)
    assert (rest.entries, rest.worse) == (5, 0)
