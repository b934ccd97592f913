"""A few rounds of chaos; ``python -m tests.chaos`` plays them for an hour."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.chaos.rounds import Trouble, draw_round, run_round

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")

NUMBERS = {
    next(
        number
        for number in range(1, 1000)
        if (drawn := draw_round(number)).trouble is trouble and "--fcbench-model=m" in drawn.options
    ): trouble
    for trouble in (Trouble.DISK, Trouble.MEMORY, Trouble.STORE, Trouble.KILL)
}


@pytest.mark.nightly
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: str(NUMBERS[number]))
def test_nothing_goes_wrong_in_a_round(tmp_path: Path, number: int) -> None:
    assert run_round(draw_round(number), tmp_path).faults == ()


@pytest.mark.nightly
def test_a_round_follows_from_its_number() -> None:
    assert str(draw_round(7)) == str(draw_round(7))
    assert len({draw_round(number).trouble for number in range(100)}) == len(Trouble)
