"""What is asked to go wrong is read from texts, and drawn the same way for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.server.faults import Draw, FaultKind, draw_faults, read_latency, read_shares

CHANCES = st.floats(0, 1, exclude_max=True)
HALF = {FaultKind.CUT: 0.25, FaultKind.HANG: 0.25}


def _draw_first(number: int, shared: dict[FaultKind, float], wait: str = "0", seed: int = 0) -> list[Draw]:
    return list(islice(draw_faults(shared, read_latency(wait), seed), number))


# Reading


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        ([], {}),
        (["429:0.1", "hang:.25"], {FaultKind.RATE_LIMIT: 0.1, FaultKind.HANG: 0.25}),
        (["json:1"], {FaultKind.JSON: 1.0}),
        (["cut:0"], {FaultKind.CUT: 0.0}),
        (
            ["cut:0.7", "500:0.2", "reset:0.1"],
            {FaultKind.CUT: 0.7, FaultKind.SERVER_ERROR: 0.2, FaultKind.RESET: 0.1},
        ),
    ],
)
def test_shares_are_read_by_kind(texts: Sequence[str], read: dict[FaultKind, float]) -> None:
    assert read_shares(texts) == read


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (
            ["rest:0.1"],
            "--fault=rest:0.1: unknown fault 'rest'. Did you mean 'reset'? Valid: 429, 500, hang,",
        ),
        (["0.1"], "Use KIND:SHARE, e.g. 429:0.1."),
        (["cut"], "--fault=cut: the share must be a number from 0 to 1, e.g. cut:0.1"),
        (["cut:1.01"], "must be a number from 0 to 1"),
        (["cut:-0.1"], "must be a number from 0 to 1"),
        (["cut:nan"], "must be a number from 0 to 1"),
        (["cut:10%"], "must be a number from 0 to 1"),
        (["cut:٠.١"], "must be a number from 0 to 1"),
        (["cut:0.1", "cut:0.2"], "--fault=cut:0.2: cut is given twice; give each kind once"),
        (
            ["cut:0.6", "500:0.5"],
            "--fault=cut:0.6 500:0.5: the shares add up to 1.1; their sum must not exceed 1",
        ),
    ],
)
def test_wrong_shares_are_refused(texts: Sequence[str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_shares(texts)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "chance", "seconds"),
    [
        ("1", 0.9, 1),
        ("0", 0.9, 0),
        (".5", 0.9, 0.5),
        ("0.5-2", 0, 0.5),
        ("0.5-2", 0.5, 1.25),
        ("2-2", 0.5, 2),
        ("exp:0.8", 0, 0),
        ("exp:0.8", 1 - 1 / 2.718281828459045, 0.8),
    ],
)
def test_a_latency_is_constant_a_range_or_exponential(text: str, chance: float, seconds: float) -> None:
    assert read_latency(text)(chance) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "-1", "2-1", "1e3", "inf", "nan", "1s", "exp:", "exp:1-2", "norm:1", "1-"]
)
def test_a_wrong_latency_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_latency(text)
    says = (
        f"--latency={text}: must be a number of seconds (1), a range (0.5-2) or an "
        f"exponential distribution with a mean (exp:0.8)"
    )
    assert str(caught.value) == says


@given(st.integers(0, 1000), st.integers(0, 1000), CHANCES)
def test_a_range_is_kept(low: int, more: int, chance: float) -> None:
    assert low <= read_latency(f"{low}-{low + more}")(chance) <= low + more


@given(CHANCES)
def test_an_exponential_wait_is_finite_and_not_negative(chance: float) -> None:
    assert 0 <= read_latency("exp:0.8")(chance) < 60


# Drawing


@given(st.integers(), st.sampled_from(["0", "1", "0-9", "exp:2"]))
def test_the_same_seed_gives_the_same_faults_whatever_the_latency(seed: int, wait: str) -> None:
    drawn = _draw_first(50, HALF, wait, seed)
    assert drawn == _draw_first(50, HALF, wait, seed)
    assert [draw.fault for draw in drawn] == [draw.fault for draw in _draw_first(50, HALF, seed=seed)]


def test_another_seed_gives_other_faults() -> None:
    assert _draw_first(50, HALF, seed=1) != _draw_first(50, HALF, seed=2)


def test_faults_come_in_the_shares_that_were_asked_for() -> None:
    shared = {FaultKind.RATE_LIMIT: 0.1, FaultKind.JSON: 0.25}
    found = Counter(draw.fault for draw in _draw_first(20_000, shared, seed=5))
    assert found.keys() == {FaultKind.RATE_LIMIT, FaultKind.JSON, None}
    assert found[FaultKind.RATE_LIMIT] / 20_000 == pytest.approx(0.1, abs=0.01)
    assert found[FaultKind.JSON] / 20_000 == pytest.approx(0.25, abs=0.01)


def test_latencies_have_the_mean_that_was_asked_for_with_faults_and_without() -> None:
    drawn = _draw_first(20_000, {FaultKind.CUT: 0.5}, "exp:0.8", seed=5)
    for fault in (FaultKind.CUT, None):
        waits = [draw.latency_s for draw in drawn if draw.fault is fault]
        assert sum(waits) / len(waits) == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("kind", FaultKind)
def test_a_share_of_1_is_every_request_and_one_of_0_is_none(kind: FaultKind) -> None:
    assert {draw.fault for draw in _draw_first(500, {kind: 1.0})} == {kind}
    assert {draw.fault for draw in _draw_first(500, {kind: 0.0})} == {None}
