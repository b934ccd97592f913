"""A rule holds, is broken, or cannot be told; the exit code says which."""

from __future__ import annotations

import pytest

from pytest_fcbench.errors import UsageError
from pytest_fcbench.scorecard import gate
from pytest_fcbench.scorecard.gate import BROKEN, HELD, UNDECIDED, Outcome, Rule, Span
from pytest_fcbench.scorecard.records import Record
from pytest_fcbench.verdicts import SET_ASIDE, Failed, NotScored, Passed, Profile, Verdict
from tests.factories import make_record

PASSED, FAILED = Passed(), Failed("wrong_count", "2 calls")
TIMEOUT, ASIDE = NotScored("timeout", "600 s"), NotScored(SET_ASIDE, "bad data")


def _records(category: str, *verdicts: Verdict) -> list[Record]:
    return [make_record(verdict, category=category, number=n) for n, verdict in enumerate(verdicts)]


def _check(rule: str, *records: Record, interrupted: bool = False) -> Outcome:
    span = Span.of(records, Profile.OFFICIAL, lambda name: 0)
    (outcome,) = gate.check([gate.parse(rule)], span, interrupted=interrupted)
    return outcome


# Reading a rule


@pytest.mark.parametrize(
    ("text", "metric", "operator", "threshold"),
    [
        ("overall>=0.2", "overall", ">=", 0.2),
        ("parallel > 50%", "parallel", ">", 0.5),
        (" non_live <= 1 ", "non_live", "<=", 1.0),
        ("live_irrelevance<.5", "live_irrelevance", "<", 0.5),
        ("simple>=87.5%", "simple", ">=", 0.875),
        ("irrelevance_all>=0", "irrelevance_all", ">=", 0.0),
        ("live>=100%", "live", ">=", 1.0),
        ("multi_turn>=30%", "multi_turn", ">=", 0.3),
        ("multi_turn_composite>=1%", "multi_turn_composite", ">=", 0.01),
    ],
)
def test_a_rule_is_metric_operator_and_share(text: str, metric: str, operator: str, threshold: float) -> None:
    assert gate.parse(text) == Rule(text, metric, operator, threshold)


FORM = (
    " is not 'metric >= number' (operators >=, <=, >, <; number as a fraction or in %), "
    "for example 'overall>=0.2' or 'parallel>=50%'"
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("overall", FORM),
        ("overall==0.2", FORM),
        ("overall>=", FORM),
        (">=0.2", FORM),
        ("overall>=-0.2", FORM),
        ("overall>=high", FORM),
        ("overall>=0,2", FORM),
        ("overall>=0.2 and live>=0.2", FORM),
        ("overall>=nan", FORM),
        ("", FORM),
        ("overall>=20", ": 20 is more than 1; write a fraction or a percentage"),
        ("overall>=120%", ": 1.2 is more than 1; write a fraction or a percentage"),
    ],
)
def test_what_is_no_rule_is_told(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        gate.parse(text)
    assert str(caught.value) == f"gate rule {text!r}{says}"


@pytest.mark.parametrize(
    ("metric", "guess"),
    [
        ("overal", "Did you mean 'overall'?"),
        ("paralel", "Did you mean 'parallel' or 'live_parallel'?"),
        ("non-live", "Did you mean 'non_live'"),
        ("accuracy", "Valid: overall, simple, non_live, live, irrelevance_all, multi_turn, simple_python, "),
    ],
)
def test_an_unknown_metric_is_told_with_the_nearest(metric: str, guess: str) -> None:
    with pytest.raises(UsageError) as caught:
        gate.parse(f"{metric}>=0.5")
    assert str(caught.value).startswith(f"gate rule '{metric}>=0.5': unknown metric {metric!r}. {guess}")


# Checking it


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("multiple>=75%", HELD),
        ("multiple>=0.76", BROKEN),
        ("multiple>0.75", BROKEN),
        ("multiple<=0.75", HELD),
        ("multiple<0.75", BROKEN),
        ("multiple<0.8", HELD),
    ],
)
def test_a_rule_about_a_category(rule: str, code: int) -> None:
    outcome = _check(rule, *_records("multiple", PASSED, PASSED, FAILED, PASSED))
    assert (outcome.code, outcome.sentence) == (code, "multiple is 75.00%")


def test_a_rule_about_a_group_names_what_was_not_run() -> None:
    outcome = _check("irrelevance_all>=0.6", *_records("irrelevance", PASSED))
    assert (outcome.code, outcome.sentence) == (
        BROKEN,
        "irrelevance_all is 50.00% (not run, counted as 0: live_irrelevance)",
    )


def test_a_rule_about_overall() -> None:
    records = [*_records("irrelevance", PASSED), *_records("live_irrelevance", PASSED)]
    outcome = _check("overall>=5%", *records)
    assert outcome.code == HELD
    assert outcome.sentence == (
        "overall is 10.00% (not run, counted as 0: non_live, live, multi_turn, agentic)"
    )


def test_the_profile_decides() -> None:
    records = [make_record(PASSED, FAILED)]
    codes = [
        gate.parse("simple_python>=0.5").check(Span.of(records, profile, lambda name: 0)).code
        for profile in Profile
    ]
    assert codes == [HELD, BROKEN]


def test_missing_verdicts_that_could_turn_it_leave_it_undecided() -> None:
    outcome = _check("multiple>=0.5", *_records("multiple", PASSED, FAILED, TIMEOUT, TIMEOUT))
    assert outcome.code == UNDECIDED
    assert outcome.sentence == (
        "multiple is 50.00%, but with 2 of 4 entries not scored it lies anywhere from 25.00% to 75.00%"
    )


@pytest.mark.parametrize(("rule", "code"), [("multiple>=0.25", HELD), ("multiple>=0.8", BROKEN)])
def test_missing_verdicts_that_could_not_turn_it_do_not_matter(rule: str, code: int) -> None:
    outcome = _check(rule, *_records("multiple", PASSED, FAILED, TIMEOUT, TIMEOUT))
    assert (outcome.code, outcome.sentence) == (code, "multiple is 50.00%")


def test_entries_that_are_set_aside_leave_nothing_open() -> None:
    outcome = _check("multiple>=0.5", *_records("multiple", PASSED, FAILED, ASIDE, ASIDE))
    assert (outcome.code, outcome.sentence) == (HELD, "multiple is 50.00%")


def test_set_aside_entries_are_not_among_those_that_leave_it_open() -> None:
    outcome = _check("multiple>0.5", *_records("multiple", PASSED, FAILED, TIMEOUT, ASIDE))
    assert outcome.code == UNDECIDED
    assert "with 1 of 4 entries not scored" in outcome.sentence


@pytest.mark.parametrize("metric", ["multiple", "non_live"])
def test_a_rule_about_what_was_not_scored_cannot_be_told(metric: str) -> None:
    outcome = _check(f"{metric}>=0.1", *_records("multiple", TIMEOUT))
    assert (outcome.code, outcome.sentence) == (UNDECIDED, f"nothing of {metric} was scored")


@pytest.mark.parametrize("metric", ["parallel", "live"])
def test_a_rule_about_what_was_not_run_cannot_be_told(metric: str) -> None:
    outcome = _check(f"{metric}>=0.1", *_records("multiple", PASSED))
    assert (outcome.code, outcome.sentence) == (UNDECIDED, f"nothing of {metric} was scored")


@pytest.mark.parametrize("rule", ["overall>=0.5", "overall<=0.5"])
def test_a_rule_about_overall_cannot_be_told_where_nothing_was_scored(rule: str) -> None:
    assert _check(rule, *_records("multiple", TIMEOUT)).code == UNDECIDED


def test_a_group_of_exactly_the_threshold_reaches_it() -> None:
    seven_of_ten = [PASSED] * 7 + [FAILED] * 3
    names = ("simple_python", "simple_java", "simple_javascript")
    records = [record for name in names for record in _records(name, *seven_of_ten)]
    assert _check("simple>=70%", *records).code == HELD


@pytest.mark.parametrize("rule", ["multiple>=0.5", "multiple>=0.9"])
def test_an_interrupted_run_cannot_be_told(rule: str) -> None:
    outcome = _check(rule, *_records("multiple", PASSED, FAILED), interrupted=True)
    assert (outcome.code, outcome.sentence) == (UNDECIDED, "the run was interrupted; multiple is 50.00%")


def test_every_rule_has_its_outcome_in_order() -> None:
    rules = [gate.parse(text) for text in ("multiple>=0.9", "multiple>=0.1")]
    span = Span.of(_records("multiple", PASSED, FAILED), Profile.OFFICIAL, lambda name: 0)
    outcomes = gate.check(rules, span, interrupted=False)
    assert [(o.rule.text, o.code) for o in outcomes] == [("multiple>=0.9", BROKEN), ("multiple>=0.1", HELD)]


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
    rule = gate.parse("overall>=0")
    assert gate.exit_code([Outcome(rule, code, "") for code in codes]) == exit_code


@pytest.mark.parametrize(("code", "word"), [(HELD, "held"), (BROKEN, "broken"), (UNDECIDED, "cannot tell")])
def test_an_outcome_in_a_word(code: int, word: str) -> None:
    assert Outcome(gate.parse("overall>=0"), code, "").word == word
