"""No minute holds more than the rate, and who failed comes back neither too early nor with all others."""

from __future__ import annotations

from itertools import accumulate, pairwise
from math import ceil
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcbench.dispatch.pace import Pace, backoff

ROUNDING = 1e-6

arrivals = st.lists(st.just(0.0) | st.floats(0, 0.5) | st.floats(0, 100), min_size=1, max_size=150).map(
    lambda gaps: list(accumulate(gaps))
)
"""Times at which somebody comes: bursts, a stream, long pauses."""


def starts_of(pace: Pace, times: list[float]) -> list[float]:
    return [time + pace.reserve(time) for time in times]


def in_order(starts: list[float]) -> bool:
    return all(earlier <= later + ROUNDING for earlier, later in pairwise(starts))


def most_in_a_minute(starts: list[float], amounts: list[float]) -> float:
    """Return the highest sum of the amounts that start within any 60 s, the last moment excluded."""
    return max(
        sum(a for s, a in zip(starts, amounts, strict=True) if first <= s < first + 60 - ROUNDING)
        for first in starts
    )


@given(times=arrivals, rate=st.integers(1, 200))
@example(times=[0.0] * 100, rate=7)
@example(times=[0.0] * 100 + [1e9] * 100, rate=60)
def test_no_minute_holds_more_starts_than_the_rate(times: list[float], rate: int) -> None:
    starts = starts_of(Pace(rate), times)
    assert in_order(starts)
    assert all(start >= time for start, time in zip(starts, times, strict=True))
    assert most_in_a_minute(starts, [1.0] * len(starts)) <= rate


@given(times=arrivals, rate=st.floats(0.05, 100))
def test_a_rate_that_is_no_whole_number(times: list[float], rate: float) -> None:
    starts = starts_of(Pace(rate), times)
    assert in_order(starts)
    assert most_in_a_minute(starts, [1.0] * len(starts)) <= ceil(rate)


@given(times=arrivals, rate=st.integers(1, 500), data=st.data())
def test_no_minute_holds_more_tokens_than_the_rate_and_one_call(
    times: list[float], rate: int, data: st.DataObject
) -> None:
    """A call that is larger than the rate has to start at some time."""
    sizes = st.lists(st.integers(0, 2000), min_size=len(times), max_size=len(times))
    amounts = [float(size) for size in data.draw(sizes)]
    pace = Pace(rate)
    starts = [time + pace.reserve(time, amount) for time, amount in zip(times, amounts, strict=True)]
    assert in_order(starts)
    assert most_in_a_minute(starts, amounts) <= rate + max(amounts) + ROUNDING


@pytest.mark.parametrize("time", [0.0, 5.0, 1e6])
def test_the_whole_rate_is_used_while_many_wait(time: float) -> None:
    """A limit that is far lower than it was set to be would be as wrong as one that is passed."""
    assert starts_of(Pace(60), [time] * 150) == pytest.approx([time + place for place in range(150)])


@given(times=arrivals, amount=st.floats(0, 1e9))
def test_no_rate_is_no_wait(times: list[float], amount: float) -> None:
    pace = Pace(None)
    for time in times:
        assert pace.reserve(time, amount) == 0
        pace.correct(amount)


def test_nothing_is_saved_up_in_a_pause() -> None:
    pace = Pace(60)
    pace.reserve(0.0)
    assert starts_of(pace, [500.0] * 3) == pytest.approx([500.0, 501.0, 502.0])


def test_what_was_not_needed_is_given_back() -> None:
    pace = Pace(60)
    assert pace.reserve(10.0, 30) == 0
    pace.correct(-20)
    assert pace.reserve(10.0) == pytest.approx(10)


def test_what_was_needed_beyond_is_taken() -> None:
    pace = Pace(60)
    pace.reserve(10.0, 30)
    pace.correct(20)
    assert pace.reserve(10.0) == pytest.approx(50)


def test_giving_back_more_than_was_taken_saves_nothing_up() -> None:
    pace = Pace(60)
    pace.reserve(10.0, 5)
    pace.correct(-1000)
    assert starts_of(pace, [10.0] * 3) == pytest.approx([10.0, 11.0, 12.0])


@given(rate=st.integers(1, 1000), amounts=st.lists(st.tuples(st.integers(0, 999), st.integers(-999, 999))))
def test_corrected_amounts_count_as_if_they_had_been_reserved(
    rate: int, amounts: list[tuple[int, int]]
) -> None:
    told, corrected = Pace(rate), Pace(rate)
    for amount, more in amounts:
        told.reserve(50.0, amount + max(-amount, more))
        corrected.reserve(50.0, amount)
        corrected.correct(max(-amount, more))
    assert corrected.reserve(50.0) == pytest.approx(told.reserve(50.0), abs=ROUNDING)


def test_a_turn_is_the_wait_for_the_next_place_and_takes_none() -> None:
    pace = Pace(60)
    assert pace.turn(10.0) == 0
    pace.reserve(10.0, 30)
    assert [pace.turn(10.0), pace.turn(25.0), pace.turn(40.0), pace.turn(500.0)] == pytest.approx(
        [30, 15, 0, 0]
    )
    assert pace.reserve(25.0) == pytest.approx(15)


# After a failure


@given(attempt=st.integers(1, 10_000), seed=st.integers())
def test_waits_double_up_to_thirty_seconds_with_a_half_left_to_chance(attempt: int, seed: int) -> None:
    full = min(0.5 * 2.0 ** min(attempt - 1, 100), 30.0)
    assert full / 2 <= backoff(attempt, None, Random(seed)) <= full


def test_waits_grow() -> None:
    """Each is longer than the shortest that came before it could have been, whatever chance says."""
    waits = [[backoff(attempt, None, Random(seed)) for seed in range(50)] for attempt in range(1, 12)]
    means = [sum(w) / len(w) for w in waits]
    assert means == sorted(means)
    assert all(max(earlier) <= min(waits[i + 2]) for i, earlier in enumerate(waits[:5]))


def test_not_all_come_back_at_once() -> None:
    random = Random(1)
    assert len({backoff(3, None, random) for _ in range(100)}) == 100
    assert len({backoff(3, 10.0, random) for _ in range(100)}) == 100


@given(attempt=st.integers(1, 100), asked=st.floats(0, 1e6), seed=st.integers())
@example(attempt=9, asked=0.0, seed=0)
def test_nobody_comes_earlier_than_was_asked_nor_much_later(attempt: int, asked: float, seed: int) -> None:
    """What the endpoint says counts, however often it was tried, also beyond thirty seconds."""
    assert asked <= backoff(attempt, asked, Random(seed)) <= asked * 1.1 + ROUNDING
