"""Rules of one gate that ask for a loss are corrected for each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.scorecard.gate.gate import Evidence, check_rules, describe_powers
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.factories import FACTS, make_record


def _make_run(lost: int) -> list[Record]:
    """Make ten entries in each of two categories, of which the first ``lost`` of one fail."""
    return [
        replace(
            make_record(Failed("wrong", "") if name == "multiple" and n < lost else Passed(), number=n),
            entry=f"core:{name}_{n}",
            category=name,
        )
        for name in ("multiple", "parallel")
        for n in range(10)
    ]


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        (["not-worse(multiple, 95%)"], "broken"),
        (["not-worse(multiple, 95%)", "not-worse(parallel, 95%)"], "held"),
        (["not-worse(multiple, 95%, alone)", "not-worse(parallel, 95%)"], "broken"),
    ],
)
def test_rules_share_their_chance_of_a_false_alarm(rules: list[str], outcome: str) -> None:
    """Five lost and none gained have p = 1 / 32, and 2 / 32 beside another rule."""
    baseline = Scorecard(Path("before.json"), FACTS, tuple(_make_run(0)), {})
    evidence = Evidence(_make_run(5), Profile.OFFICIAL, lambda name: 10, FACTS.suites, baseline)
    assert check_rules([parse_rule(rule) for rule in rules], evidence)[0].outcome == outcome


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        (
            ["not-worse(multiple, 80%)"],
            "not-worse(multiple, 80%): shows a loss of 37.7 points with a probability of 80% "
            "(10 entries in common with the baseline; 10% assumed to change by chance; if 20% do, the "
            "probability is 75%)",
        ),
        (
            ["not-worse(multiple, 99.99%)"],
            "not-worse(multiple, 99.99%): 10 entries in common with the baseline are too few to show "
            "any loss",
        ),
        (["multiple>=0.5", "not_scored<=1%"], None),
    ],
)
def test_a_plan_describes_the_loss_that_a_rule_would_show(rules: list[str], line: str | None) -> None:
    baseline = Scorecard(Path("before.json"), FACTS, tuple(_make_run(0)), {})
    evidence = Evidence((), Profile.OFFICIAL, lambda name: 10, FACTS.suites, baseline)
    planned = {record.entry for record in _make_run(0)} | {"core:new_1"}
    found = list(describe_powers([parse_rule(rule) for rule in rules], evidence, planned))
    assert found == ([line] if line else [])


def test_before_a_run_nothing_is_known_of_marks() -> None:
    baseline = Scorecard(Path("before.json"), FACTS, tuple(_make_run(0)), {})
    evidence = Evidence((), Profile.OFFICIAL, lambda name: 10, FACTS.suites, baseline)
    rule, entries = parse_rule("not-worse(mark:slow, 95%)"), {record.entry for record in _make_run(0)}
    assert list(describe_powers([rule], evidence, entries)) == [
        "not-worse(mark:slow, 95%): the baseline does not know the marks, so what it shows is known after "
        "the run"
    ]


def test_a_baseline_with_trials_tells_how_much_changes_by_chance() -> None:
    """Half of the entries pass in one of two trials, and two of their trials always differ."""
    first, second = (
        [replace(record, trial=trial) for record in _make_run(lost)] for trial, lost in ((1, 0), (2, 5))
    )
    baseline = Scorecard(Path("before.json"), FACTS, (*first, *second), {})
    evidence = Evidence((), Profile.OFFICIAL, lambda name: 10, FACTS.suites, baseline)
    (line,) = describe_powers([parse_rule("not-worse(multiple, 80%)")], evidence, {r.entry for r in first})
    assert line.endswith("; 50.0% change by chance, as between two trials of the baseline)")
