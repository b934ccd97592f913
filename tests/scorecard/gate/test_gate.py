"""Outcomes of several rules, and the exit code that follows."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.scorecard.gate import gate
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED, WORDS, Outcome
from tests.factories import make_record

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


# Exit codes


@pytest.mark.parametrize(
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
    assert gate.choose_exit_code([Outcome("overall>=0", WORDS[code], "") for code in codes]) == exit_code


@pytest.mark.parametrize(("code", "word"), [(HELD, "held"), (BROKEN, "broken"), (UNDECIDED, "cannot tell")])
def test_an_outcome_in_a_word(code: int, word: str) -> None:
    assert Outcome("overall>=0", word, "").code == code
