"""A run for each kind of fault over HTTP: it is named, and none of the server's is blamed on the model."""

from __future__ import annotations

import pytest

from tests.tools.diagnosis.simulation import FAULTS, count_right, simulate_run, tabulate_runs


@pytest.mark.nightly
@pytest.mark.parametrize("first", [0, 1])
def test_the_fault_of_a_server_is_named(first: int) -> None:
    runs = [simulate_run(seed, entry_count=1) for seed in range(first, len(FAULTS), 2)]
    total, right, slandered = count_right(runs)
    assert total >= 5
    # One more than one lost point in twenty may be a stroke of chance.
    assert right >= total - 1, "\n".join(tabulate_runs(runs))
    assert slandered == 0
