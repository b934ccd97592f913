"""Ratings of replies: means with intervals, what was not rated apart."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import Judgement, JudgeRating, NotScored
from pytest_fcbench.present.score_tables import tabulate_ratings
from pytest_fcbench.scorecard.aggregate.intervals import find_cluster_interval
from pytest_fcbench.scorecard.aggregate.ratings import (
    MOST,
    summarise_ratings,
    summarise_ratings_by_category,
)
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record

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
    assert tabulate_ratings(make_chat_records(None), "wise") is None


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
    assert found.notes == ("ratings change no verdict; replies that were not rated are not in the mean",)
    assert found.rows == (("chatable", "2", "1", "1.00", "0.00-2.00", "1", "0", "1"),)


@given(st.lists(st.integers(0, MOST), min_size=1, max_size=40))
def test_the_mean_lies_within_its_limits(scores: Sequence[int]) -> None:
    found = summarise_ratings(make_chat_records(*scores))
    assert found.mean is not None
    assert found.interval
    assert 0 <= found.interval.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.interval.high <= MOST
