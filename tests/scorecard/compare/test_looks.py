"""Decisions while a run goes on: their error over all looks, by simulation, and what each decision needs."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

import numpy
import pytest

from pytest_fcbench.domain.verdict import SET_ASIDE, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.compare.looks import (
    LOOKS,
    LookFinding,
    decide_comparison,
    find_nominal_level,
)
from pytest_fcbench.scorecard.compare.paired import EntryPair, Paired
from pytest_fcbench.scorecard.compare.two_models import look_at_sides
from pytest_fcbench.scorecard.two_models import LookDecision
from tests.cases import each_case
from tests.factories import make_record
from tests.scorecard.compare.simulate_looks import Setting, simulate

ALPHA = 0.05
SHARES = [look / LOOKS for look in range(1, LOOKS + 1)]


def _cross_levels(levels: Sequence[float]) -> float:
    """Return the share of runs without any difference that some look calls worse at its level."""
    steps = numpy.random.default_rng(61).standard_normal((200_000, LOOKS))
    values = steps.cumsum(axis=1) / numpy.sqrt(numpy.arange(1, LOOKS + 1))
    limits = [-NormalDist().inv_cdf(level) for level in levels]
    return float((values > limits).any(axis=1).mean())


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.2])
def test_all_looks_together_err_as_often_as_one_test(alpha: float) -> None:
    """The simulated error is that of the whole run, to three standard errors."""
    levels = [find_nominal_level(alpha, share) for share in SHARES]
    assert _cross_levels(levels) == pytest.approx(alpha, abs=3 * sqrt(alpha / 200_000))
    assert levels == sorted(levels)
    assert 0.6 * alpha < levels[-1] < alpha


def test_ten_looks_at_the_level_of_one_test_err_too_often() -> None:
    """Armitage, McPherson & Rowe (1969): about one in six runs."""
    assert 0.15 < _cross_levels([ALPHA] * LOOKS) < 0.18


def test_levels_are_those_of_the_spending_function() -> None:
    """The first look spends what Lan & DeMets (1983) give; a part of a tenth has the last level."""
    normal = NormalDist()
    spent = 2 * (1 - normal.cdf(normal.inv_cdf(1 - ALPHA / 2) / sqrt(0.2)))
    assert find_nominal_level(ALPHA, 0.2) == pytest.approx(spent, rel=1e-3)
    assert find_nominal_level(ALPHA, 0.29) == find_nominal_level(ALPHA, 0.2)
    assert find_nominal_level(ALPHA, 0.09) == 0
    # Rounding: three tenths as a fraction of entries.
    assert find_nominal_level(ALPHA, 0.1 + 0.2) == find_nominal_level(ALPHA, 3 / 10)


def _pair_entries(better: int, worse: int, asked: int) -> Paired:
    """Pair so many independent entries, of which some change."""
    changes = [1] * better + [-1] * worse + [0] * (asked - better - worse)
    return Paired(
        tuple(
            EntryPair(str(n), "parallel", float(change < 0), float(change > 0), 1, str(n))
            for n, change in enumerate(changes)
        ),
        (),
        (),
        (),
        (),
    )


def _decide(better: int, worse: int, asked: int, total: int, *, looks: bool = True) -> LookFinding:
    return decide_comparison(_pair_entries(better, worse, asked), asked, total, "parallel", looks=looks)


@each_case(
    ("better", "worse", "asked", "total", "decision"),
    [
        (0, 0, 0, 400, LookDecision.OPEN),
        (0, 9, 10, 400, LookDecision.OPEN),
        (2, 26, 200, 400, LookDecision.WORSE),
        (26, 2, 200, 400, LookDecision.BETTER),
        (8, 20, 200, 400, LookDecision.OPEN),
        (12, 10, 400, 400, LookDecision.NOT_WORSE),
        (10, 10, 2_000, 2_000, LookDecision.ALIKE),
        (40, 34, 1_200, 2_000, LookDecision.NOT_WORSE),
        (0, 0, 1_000, 2_000, LookDecision.OPEN),
        (0, 0, 1_200, 2_000, LookDecision.ALIKE),
        (18, 20, 320, 400, LookDecision.HOPELESS),
        (40, 52, 400, 400, LookDecision.OPEN),
    ],
)
def test_each_decision_has_its_reason(
    better: int, worse: int, asked: int, total: int, decision: LookDecision
) -> None:
    finding = _decide(better, worse, asked, total)
    assert finding.decision is decision
    assert finding.decision.stops is (decision is not LookDecision.OPEN)
    assert finding.low <= finding.high


def test_a_look_states_what_it_found() -> None:
    """The interval is wider than that of a run that was not looked at."""
    early, once = _decide(2, 26, 200, 400), _decide(2, 26, 200, 400, looks=False)
    assert early.level < 0.005 < once.level == pytest.approx(ALPHA)
    assert early.low < once.low < once.high < early.high < 0
    assert early.sentence.startswith(
        "worse; parallel changed by -12.00 points (-18.53 to -5.23, each limit with 95%) on 200 entries"
    )
    assert early.sentence.endswith("2 better, 26 worse; test for a loss: p < 0.001")
    assert _decide(26, 2, 200, 400).sentence.endswith("test for a gain: p < 0.001")
    assert decide_comparison(Paired((), (), (), (), ()), 40, 400, "parallel").sentence == (
        "open: no entry was scored with both models (40 of 400 entries asked)"
    )
    assert _decide(0, 1, 10, 400).sentence == "open: too little was asked yet (10 of 400 entries asked)"


def test_entries_that_one_model_lacks_are_counted() -> None:
    """One that is set aside is no lack."""
    verdicts: list[Verdict] = [Passed(), Passed(), NotScored("timeout", ""), NotScored(SET_ASIDE, "")]
    second = [make_record(verdict, category="parallel", number=n) for n, verdict in enumerate(verdicts)]
    first = [make_record(Passed(), category="parallel", number=n) for n in range(4)]
    _, finding = look_at_sides(
        second,
        first,
        Profile.OFFICIAL,
        lambda name: 0,
        metric="parallel",
        asked=4,
        total=4,
        confidence=0.95,
        looks=False,
    )
    assert "on 2 entries, " in finding.sentence
    assert finding.sentence.endswith("; not scored with both: 1")


def test_runs_without_a_difference_are_seldom_called_worse() -> None:
    """A small version of the table of docs/project/simulations.md, whose seeds are fixed."""
    equal = simulate(Setting("equal", 400, 0.0, 0.1), 100, 7)
    assert equal.decisions[LookDecision.WORSE] <= 9
    lost = simulate(Setting("lost", 400, 0.1, 0.1), 40, 7)
    assert lost.decisions[LookDecision.WORSE] == lost.whole == 40
    assert lost.asked < 0.7
