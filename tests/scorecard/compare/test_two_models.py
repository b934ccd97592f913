"""What differs where one model is asked the same twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.compare.two_models import (
    describe_differing_answers,
    find_smallest_loss,
    measure_noise,
    tabulate_verdicts,
)
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.two_models import ChanceFlips, VerdictTable
from tests.factories import make_record

VERDICTS: dict[str, Verdict] = {
    "+": Passed(),
    "-": Failed("wrong_count", "2 calls"),
    "?": NotScored("timeout", "600 s"),
}


def _make_trials(*tried: str, category: str = "parallel") -> list[Record]:
    return [
        replace(make_record(VERDICTS[sign], category=category, number=n), trial=trial)
        for n, signs in enumerate(tried)
        for trial, sign in enumerate(signs, 1)
    ]


def _answer(record: Record, text: str) -> Record:
    return replace(record, turns=(({"text": text, "tool_calls": None, "reasoning": None, "fault": None},),))


def test_flips_are_pairs_of_trials_with_different_verdicts() -> None:
    records = _make_trials("++", "+-", "---", "+?") + _make_trials("+-", "-+", category="multiple")
    flips = measure_noise(records, Profile.OFFICIAL)
    assert {name: (each.entries, each.share) for name, each in flips.items()} == {
        "parallel": (3, 1 / 5),
        "multiple": (2, 1.0),
        "all": (5, 3 / 7),
    }
    interval = flips["parallel"].interval
    assert interval
    assert 0 < interval.low < 1 / 5 < interval.high < 1
    assert measure_noise(_make_trials("+", "-"), Profile.OFFICIAL) == {}
    checks = _make_trials("+-", "+-", category="server_must")
    assert measure_noise([*records, *checks], Profile.OFFICIAL) == flips
    assert measure_noise(checks, Profile.OFFICIAL)["all"].share == 1


def test_only_answers_to_the_same_request_are_compared() -> None:
    """The first answers; a trial without one, and an entry with one trial, compare nothing."""
    first, second, third, alone = _make_trials("+++", "+")
    for texts, differing in ((("a", "a"), 0), (("a", "b"), 1)):
        answers = [_answer(record, text) for record, text in zip((first, second), texts, strict=True)]
        found = measure_noise([*answers, third, _answer(alone, "c")], Profile.OFFICIAL)["all"]
        assert (found.compared, found.differing) == (1, differing)


@pytest.mark.parametrize(
    ("differing", "temperature", "is_told"),
    [(3, 0.0, True), (3, 0.001, True), (3, 0.7, False), (3, None, False), (0, 0.0, False)],
)
def test_differing_answers_are_told_at_temperature_0(
    differing: int, temperature: float | None, is_told: bool
) -> None:
    told = describe_differing_answers(ChanceFlips(40, 0.1, None, 40, differing), temperature)
    assert (told is not None) is is_told
    if told:
        assert told.startswith("3 of 40 entries got another answer to the same request at temperature 0")


def test_verdicts_of_two_runs_make_mcnemars_table() -> None:
    before, after = _make_trials("+", "+", "-", "-", "+"), _make_trials("+", "-", "+", "-", "?")
    assert tabulate_verdicts(pair_runs(before, after, Profile.OFFICIAL)) == VerdictTable(1, 1, 1, 1)
    halves = pair_runs(_make_trials("+-"), _make_trials("++"), Profile.OFFICIAL)
    assert tabulate_verdicts(halves) == VerdictTable(0.5, 0, 0.5, 0)


def test_more_noise_hides_a_larger_loss() -> None:
    run = _make_trials(*"+" * 400)
    paired = pair_runs(run, run, Profile.OFFICIAL)
    quiet, noisy = (find_smallest_loss(paired, "parallel", flips) for flips in (0.05, 0.2))
    assert quiet is not None
    assert noisy is not None
    # 80 % of the simulated runs of 400 entries that lose about so much are called worse.
    assert 0.03 < quiet < 0.05 < noisy < 0.08
    few = _make_trials("+", "+", "-")
    assert find_smallest_loss(pair_runs(few, few, Profile.OFFICIAL), "parallel", 0.1) is None
    assert find_smallest_loss(pair_runs([], [], Profile.OFFICIAL), "parallel", 0.1) is None
