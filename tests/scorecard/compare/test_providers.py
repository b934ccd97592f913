"""Of several providers beside one reference, the one that is worse is found, and the others are not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.comparison_tables import tabulate_providers
from pytest_fcbench.scorecard.compare.comparison import compare_scorecards, correct_together
from pytest_fcbench.scorecard.compare.paired import EntryPair, MetricDifference, Paired
from tests.factories import make_card

_ENTRIES, _FLIPS, _LOSS = 1_000, 0.02, 0.05
_RUNS = 200


def simulate_provider(random: Random, loss: float = 0.0) -> MetricDifference:
    """Simulate a provider that flips entries in either direction, and loses more of them."""
    pairs = []
    for number in range(_ENTRIES):
        chance, name = random.random(), f"core:parallel_{number}"
        before, after = 1.0, 1.0
        if chance < loss + _FLIPS / 2:
            after = 0.0
        elif chance < loss + _FLIPS:
            before = 0.0
        pairs.append(EntryPair(name, "parallel", before, after, 1, name))
    difference = Paired(tuple(pairs), (), (), (), ()).measure_difference("parallel")
    assert difference
    return difference


def find_worse(*losses: float, seed: int) -> list[int]:
    """Return the places of the simulated providers that are shown to be worse."""
    random = Random(seed)
    tests = correct_together([simulate_provider(random, loss) for loss in losses])
    return [place for place, one in enumerate(tests) if one.shown < 0]


def test_a_degraded_provider_is_found_among_others() -> None:
    assert find_worse(0, 0, _LOSS, 0, 0, seed=0) == [2]


def test_p_values_are_corrected_for_the_number_of_providers() -> None:
    random = Random(1)
    one = simulate_provider(random, 0.02)
    alone, beside = (correct_together([one] * number)[0].p for number in (1, 5))
    assert beside == pytest.approx(5 * alone)


def test_checks_and_scores_stand_in_no_table_together() -> None:
    answers, checks = make_card({"parallel": [True]}, "a"), make_card({"server_must": [True]}, "b")
    reference = replace(answers, records=(*answers.records, *checks.records))
    runs = [compare_scorecards(reference, card, Profile.OFFICIAL) for card in (answers, checks)]
    with pytest.raises(UsageError, match="b: only checks are also in a "):
        tabulate_providers(runs)
    assert tabulate_providers(runs[:1]).rows
    assert tabulate_providers(runs[1:]).rows


@pytest.mark.nightly
def test_a_degraded_provider_is_found_and_false_alarms_are_rare() -> None:
    outcomes = [find_worse(0, 0, _LOSS, 0, 0, seed=seed) for seed in range(_RUNS)]
    assert sum(2 in worse for worse in outcomes) >= 0.95 * _RUNS
    assert sum(worse not in ([], [2]) for worse in outcomes) <= 0.05 * _RUNS
    alarms = sum(bool(find_worse(0, 0, 0, 0, 0, seed=seed)) for seed in range(_RUNS, 2 * _RUNS))
    assert alarms <= 0.05 * _RUNS
