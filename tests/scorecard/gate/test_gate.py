"""Outcomes of several rules, and the exit code that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED, WORDS, RuleOutcome
from tests.cases import each_case
from tests.factories import make_card, make_record

EVIDENCE = Evidence(
    [
        make_record(Passed(), category="multiple"),
        make_record(Failed("x", "y"), category="multiple", number=1),
    ],
    Profile.OFFICIAL,
    lambda name: 0,
    {},
)


@pytest.mark.parametrize("rule", ["multiple>=0.5", "multiple>=0.9"])
def test_an_interrupted_run_cannot_be_told(rule: str) -> None:
    (outcome,) = gate.check_rules([parse_rule(rule)], EVIDENCE, unfinished="the run was interrupted")
    assert (outcome.code, outcome.sentence) == (UNDECIDED, "the run was interrupted; multiple is 50.00%")


def test_every_rule_has_its_outcome_in_order() -> None:
    rules = [parse_rule(text) for text in ("multiple>=0.9", "multiple>=0.1")]
    outcomes = gate.check_rules(rules, EVIDENCE)
    assert [(o.rule, o.code) for o in outcomes] == [("multiple>=0.9", BROKEN), ("multiple>=0.1", HELD)]


# Evidence


def make_evidence(*verdicts: Verdict, profile: Profile = Profile.OFFICIAL, **more: object) -> Evidence:
    records = [
        make_record(verdict, Passed(), category="multiple", number=number)
        for number, verdict in enumerate(verdicts)
    ]
    return replace(Evidence(records, profile, lambda name: 0, {}), **more)  # type: ignore[arg-type]


def test_a_score_is_that_of_the_profile() -> None:
    wrong = Failed("x", "y")
    official, corrected = (make_evidence(wrong, profile=each).score("multiple") for each in Profile)
    assert official is not None
    assert corrected is not None
    assert (official.accuracy, corrected.accuracy) == (0.0, 1.0)


def test_missing_verdicts_are_as_assumed() -> None:
    evidence = make_evidence(Passed(), NotScored("timeout", "z"))
    worst, best = (evidence.score("multiple", assumed) for assumed in (gate.FAILING, gate.PASSING))
    assert worst is not None
    assert best is not None
    assert (worst.accuracy, best.accuracy) == (0.5, 1.0)


def test_what_a_metric_lacks_is_named_also_of_other_records() -> None:
    """An entry that was asked and not scored is there."""
    evidence = make_evidence(NotScored("timeout", "z"))
    assert evidence.describe_missing_parts("multiple") is None
    assert evidence.describe_missing_parts("multiple", []) == "nothing of multiple was run"
    lacks = "not run, but needed for non_live: simple, parallel, parallel_multiple"
    assert evidence.describe_missing_parts("non_live") == lacks


def test_entries_that_only_the_baseline_has_are_added_without_a_verdict() -> None:
    evidence = make_evidence(Passed(), baseline=make_card({"multiple": [True, False]}))
    first, added = evidence.add_missing_entries().records
    assert (first, added.entry) == (evidence.records[0], "core:multiple_1")
    assert {added.verdict(profile).status for profile in Profile} == {"not_scored"}


OLD = {"version": "1", "pack_hash": "0123456789abcdef"}


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (OLD, OLD, None),
        (
            OLD,
            {**OLD, "version": "2"},
            "the suite core changed since the baseline, from version 1 (0123456789ab) "
            "to version 2 (0123456789ab); make a new baseline with 'fcbench run baseline save'",
        ),
        (
            {**OLD, "pack_hash": None},
            OLD,
            "the suite core changed since the baseline, from version 1 to version 1 (0123456789ab); "
            "make a new baseline with 'fcbench run baseline save'",
        ),
        (
            {"version": "0c8ab9e7283f", "pack_hash": "0c8ab9e7283f012"},
            {"version": "b6e4917b29d0", "pack_hash": "b6e4917b29d0345"},
            "the suite core changed since the baseline, from version 0c8ab9e7283f to version b6e4917b29d0; "
            "make a new baseline with 'fcbench run baseline save'",
        ),
    ],
)
def test_a_baseline_of_other_entries_is_not_comparable(
    before: Mapping[str, str | None], now: Mapping[str, str | None], told: str | None
) -> None:
    baseline = make_card({"multiple": [True]}, suites={"core": before})
    assert make_evidence(Passed(), suites={"core": now}, baseline=baseline).not_comparable == told


def test_a_suite_that_only_one_of_both_has_is_no_obstacle() -> None:
    baseline = make_card({"multiple": [True]}, suites={"mine": OLD})
    assert make_evidence(Passed(), suites={"core": OLD}, baseline=baseline).not_comparable is None


def test_without_a_baseline_nothing_is_comparable() -> None:
    assert make_evidence(Passed()).not_comparable == "there is no baseline to compare with"


# Exit codes


@each_case(
    ("codes", "exit_code"),
    [
        ([], 0),
        ([HELD, HELD], 0),
        ([HELD, BROKEN], 1),
        ([UNDECIDED, BROKEN, HELD], 1),
        ([HELD, UNDECIDED], 2),
        ([UNDECIDED], 2),
    ],
)
def test_the_exit_code_of_several_rules(codes: list[int], exit_code: int) -> None:
    assert gate.choose_exit_code([RuleOutcome("overall>=0", WORDS[code], "") for code in codes]) == exit_code


@pytest.mark.parametrize(
    ("code", "word"),
    [(HELD, "held"), (BROKEN, "broken"), (UNDECIDED, "cannot tell"), (UNDECIDED, "of a newer version")],
)
def test_an_outcome_in_a_word(code: int, word: str) -> None:
    assert RuleOutcome("overall>=0", word, "").code == code


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (None, None, None),
        ("gpt-4o-2024-11-20-FC", "gpt-4.1-2025-04-14-FC", None),
        (
            None,
            "gpt-4o-2024-11-20-FC",
            "the baseline was asked as any server is, this run as gpt-4o-2024-11-20-FC; ask in the same form "
            "with --fcbench-as, or make a new baseline with 'fcbench run baseline save'",
        ),
    ],
)
def test_forms_of_asking_are_not_compared(before: str | None, now: str | None, told: str | None) -> None:
    card = make_card({"multiple": [True]})
    baseline = replace(card, facts=replace(card.facts, asked_as=before))
    assert make_evidence(Passed(), baseline=baseline, asked_as=now).not_comparable == told
