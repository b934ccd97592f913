"""Rules of a gate: how they are written, and when each holds, is broken, or cannot be told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import AuxiliaryCall, Completion, Party
from pytest_fcbench.domain.verdict import (
    OTHER_RULES,
    SET_ASIDE,
    Failed,
    NotScored,
    Passed,
    Profile,
    Verdict,
    Verdicts,
)
from pytest_fcbench.domain.verdict import UNDECIDED as UNDECIDED_CHECK
from pytest_fcbench.scorecard.aggregate.scores import mark_trained, weigh_categories
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.gate.gate import Bound, Evidence, RuleFinding
from pytest_fcbench.scorecard.gate.rules import BaselineRule, NotWorse, ScoreRule, parse_rule
from pytest_fcbench.scorecard.record import EarlierConversation, Record, Usage
from pytest_fcbench.scorecard.run_facts import BROKEN, HELD, UNDECIDED
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.cases import each_case
from tests.factories import FACTS, make_path_record, make_path_score, make_record

PASSED, FAILED = Passed(), Failed("wrong_count", "2 calls")
TIMEOUT, ASIDE = NotScored("timeout", "600 s"), NotScored(SET_ASIDE, "bad data")


def _make_records(category: str, *verdicts: Verdict) -> list[Record]:
    return [make_record(verdict, category=category, number=n) for n, verdict in enumerate(verdicts)]


def _make_whole_run(failing: str = "none", leaving_out: str = "none") -> list[Record]:
    """Make an entry of each category of overall, left out or failing where its name begins so."""
    return [
        record
        for name in weigh_categories("overall", lambda category: 1.0)
        if not name.startswith(leaving_out)
        for record in _make_records(name, FAILED if name.startswith(failing) else PASSED)
    ]


def _make_baseline(records: Sequence[Record], version: str = "1") -> Scorecard:
    facts = replace(FACTS, suites={"core": {"version": version, "pack_hash": None}})
    return Scorecard(Path("b.json"), facts, tuple(records), {})


def _check_rule(rule: str, *records: Record, baseline: Scorecard | None = None) -> RuleFinding:
    evidence = Evidence(records, Profile.OFFICIAL, lambda name: 0, FACTS.suites, baseline)
    return parse_rule(rule, ("core", "bfcl")).check(evidence)


def _mark_trained(records: Sequence[Record], *names: str) -> list[Record]:
    """Mark entries of these ids or categories as trained."""
    return mark_trained(records, {r.entry for r in records if {r.entry, r.category} & {*names}})


@pytest.mark.parametrize(
    ("trained", "code", "sentence"),
    [
        ("core:parallel_0", HELD, "untrained (parallel) is 50.00%"),
        ("parallel", UNDECIDED, "all entries that were run are in the training data"),
    ],
)
def test_untrained_is_decided_by_the_category_that_was_run(trained: str, code: int, sentence: str) -> None:
    run = _mark_trained(_make_records("parallel", FAILED, PASSED, FAILED), trained)
    assert _check_rule("untrained>=50%", *run) == RuleFinding(code, sentence)


def test_untrained_names_the_parts_of_which_all_entries_are_trained() -> None:
    run = _mark_trained(_make_whole_run(), "simple_java")
    assert _check_rule("untrained>=50%", *run) == RuleFinding(
        UNDECIDED, "all in the training data, but needed for untrained: simple_java"
    )


def test_untrained_is_compared_where_the_run_has_what_the_baseline_has() -> None:
    before = _make_records("parallel", *[PASSED] * 9)
    after = _mark_trained(_make_records("parallel", *[PASSED] * 2, *[FAILED] * 7), "core:parallel_0")
    found = _check_rule("not-worse(untrained, 95%)", *after, baseline=_make_baseline(before))
    assert (found.code, found.sentence[:30]) == (BROKEN, "untrained (parallel) changed b")
    whole = _make_baseline([*_make_whole_run(), *before])
    found = _check_rule("not-worse(untrained, 95%)", *after, baseline=whole)
    assert (found.code, found.sentence[:32]) == (UNDECIDED, "not run, but needed for overall:")


# Reading a rule


@each_case(
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
    assert parse_rule(text) == ScoreRule(text, metric, Bound(operator, threshold))


@each_case(
    ("text", "metric"),
    [
        ("latency.p95<=3s", "latency.p95"),
        ("cost <= 1usd", "cost"),
        (" complex.calls>=0.5", "complex.calls"),
        ("not_scored<=5% ", "not_scored"),
    ],
)
def test_a_rule_keeps_its_text_and_its_metric(text: str, metric: str) -> None:
    rule = parse_rule(text)
    assert rule.text == text
    assert getattr(rule, "metric", None) == metric


FORM = (
    ": expected METRIC OPERATOR VALUE (operators >=, <=, >, <) or not-worse(95%), e.g. "
    "'overall>=0.2', 'parallel>=baseline-2%', 'latency.p95<=3s'"
)


@each_case(
    ("text", "says"),
    [
        ("overall", FORM),
        ("overall==0.2", FORM),
        (">=0.2", FORM),
        ("", FORM),
        ("not-worse", FORM),
        ("not-worse(95)", FORM),
        ("not-worse()", FORM),
        ("overall>=", ": '' is not a fraction or a percentage; use e.g. 0.8 or 80%"),
        ("overall>=-0.2", ": '-0.2' is not a fraction or a percentage; use e.g. 0.8 or 80%"),
        ("overall>=high", ": 'high' is not a fraction or a percentage; use e.g. 0.8 or 80%"),
        ("overall>=0,2", ": '0,2' is not a fraction or a percentage; use e.g. 0.8 or 80%"),
        ("overall>=nan", ": 'nan' is not a fraction or a percentage; use e.g. 0.8 or 80%"),
        ("overall>=baseline*2", ": 'baseline*2' is not a fraction or a percentage; use e.g. 0.8 or 80%"),
        ("overall>=20", ": 20 is more than 1; use a fraction or a percentage, e.g. 0.8 or 80%"),
        ("overall>=120%", ": 120% is more than 1; use a fraction or a percentage, e.g. 0.8 or 80%"),
        ("overall>=baseline-2", ": 2 is more than 1; use a fraction or a percentage, e.g. 0.8 or 80%"),
        ("not_scored<=5", ": 5 is more than 1; use a fraction or a percentage, e.g. 0.8 or 80%"),
        ("latency.p95<=3", ": '3' is not a duration; use s or ms, e.g. 'latency.p95<=3s'"),
        ("cost<=1.50", ": '1.50' is not a price; use usd, e.g. 'cost<=1.50usd'"),
        (
            "not-worse(100%)",
            ": the confidence must be at least 50% and below 100%, not 100%; use e.g. not-worse(95%)",
        ),
        (
            "not-worse(5%)",
            ": the confidence must be at least 50% and below 100%, not 5%; use e.g. not-worse(95%)",
        ),
    ],
)
def test_what_is_no_rule_is_told(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert str(caught.value) == f"invalid gate rule {text!r}{says}"


@each_case(
    ("metric", "guess"),
    [
        ("overal", "Did you mean 'overall'?"),
        ("paralel", "Did you mean 'parallel' or 'live_parallel' or"),
        ("non-live", "Did you mean 'non_live'"),
        ("latency", "Did you mean 'latency.p95' or 'latency.p50' or 'latency.mean'?"),
        (
            "accuracy",
            "Valid: overall, all, untrained, simple, non_live, live, irrelevance_all, multi_turn, "
            "web_search, memory, agentic, complex, executable_simple, executable, v1, ",
        ),
    ],
)
def test_an_unknown_metric_is_told_with_the_nearest(metric: str, guess: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(f"{metric}>=0.5", ("core",))
    assert str(caught.value).startswith(
        f"invalid gate rule '{metric}>=0.5': unknown metric {metric!r}. {guess}"
    )


def test_an_unknown_metric_is_told_with_all_that_are_valid() -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule("not-worse(accuracy, 95%)")
    message = str(caught.value)
    assert message.startswith(
        "invalid gate rule 'not-worse(accuracy, 95%)': unknown metric 'accuracy'. Valid: "
    )
    valid = message.partition("Valid: ")[2].removesuffix(".").split(", ")
    assert {"mark:NAME", "complex.calls", "latency.p50", "cost.per_1000", "not_scored"} <= set(valid)


def test_a_mark_has_a_name() -> None:
    with pytest.raises(UsageError, match="unknown metric 'mark:'"):
        parse_rule("mark:>=0.5")


# Scores


@each_case(
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
    outcome = _check_rule(rule, *_make_records("multiple", PASSED, PASSED, FAILED, PASSED))
    assert (outcome.code, outcome.sentence) == (code, "multiple is 75.00%")


@pytest.mark.parametrize("rule", ["irrelevance_all>=0.1", "irrelevance_all<=0.1"])
def test_a_rule_about_a_group_names_what_was_not_run(rule: str) -> None:
    part, rest = _make_records("irrelevance", PASSED), _make_records("live_irrelevance", FAILED)
    assert _check_rule(rule, *part) == RuleFinding(
        UNDECIDED, "not run, but needed for irrelevance_all: live_irrelevance"
    )
    whole = _check_rule(rule, *part, *rest)
    assert whole == RuleFinding(HELD if ">" in rule else BROKEN, "irrelevance_all is 50.00%")


@pytest.mark.parametrize(("rule", "code"), [("overall>=70%", HELD), ("overall>70%", BROKEN)])
def test_a_rule_about_overall(rule: str, code: int) -> None:
    assert _check_rule(rule, *_make_whole_run(failing="multi_turn")) == RuleFinding(code, "overall is 70.00%")
    assert _check_rule(rule, *_make_whole_run(leaving_out="multi_turn")) == RuleFinding(
        UNDECIDED, "not run, but needed for overall: multi_turn"
    )


@pytest.mark.parametrize(("rule", "code"), [("all>=50%", HELD), ("all>50%", BROKEN)])
def test_a_rule_about_all_entries_needs_no_formula(rule: str, code: int) -> None:
    records = [*_make_records("multiple", PASSED, PASSED, FAILED), *_make_records("hotels", FAILED)]
    assert _check_rule(rule, *records) == RuleFinding(code, "all is 50.00%")


def test_the_profile_decides() -> None:
    records = [make_record(PASSED, FAILED)]
    rule = parse_rule("simple_python>=0.5")
    codes = [rule.check(Evidence(records, profile, lambda name: 0, {})).code for profile in Profile]
    assert codes == [HELD, BROKEN]


def test_missing_verdicts_that_could_turn_it_leave_it_undecided() -> None:
    outcome = _check_rule("multiple>=0.5", *_make_records("multiple", PASSED, FAILED, TIMEOUT, TIMEOUT))
    assert outcome.code == UNDECIDED
    assert outcome.sentence == (
        "multiple is 50.00%, but with 2 of 4 entries not scored it can be anywhere from 25.00% to 75.00%"
    )


@pytest.mark.parametrize(("rule", "code"), [("multiple>=0.25", HELD), ("multiple>=0.8", BROKEN)])
def test_missing_verdicts_that_could_not_turn_it_do_not_matter(rule: str, code: int) -> None:
    outcome = _check_rule(rule, *_make_records("multiple", PASSED, FAILED, TIMEOUT, TIMEOUT))
    assert (outcome.code, outcome.sentence) == (code, "multiple is 50.00%")


def test_entries_that_are_set_aside_leave_nothing_open() -> None:
    outcome = _check_rule("multiple>=0.5", *_make_records("multiple", PASSED, FAILED, ASIDE, ASIDE))
    assert (outcome.code, outcome.sentence) == (HELD, "multiple is 50.00%")


def test_set_aside_entries_are_not_among_those_that_leave_it_open() -> None:
    outcome = _check_rule("multiple>0.5", *_make_records("multiple", PASSED, FAILED, TIMEOUT, ASIDE))
    assert outcome.code == UNDECIDED
    assert "with 1 of 4 entries not scored" in outcome.sentence


@pytest.mark.parametrize("metric", ["irrelevance", "irrelevance_all", "all"])
def test_a_rule_about_what_was_not_scored_cannot_be_told(metric: str) -> None:
    records = [*_make_records("irrelevance", TIMEOUT), *_make_records("live_irrelevance", TIMEOUT)]
    outcome = _check_rule(f"{metric}>=0.1", *records)
    assert (outcome.code, outcome.sentence) == (UNDECIDED, f"nothing of {metric} was scored")


@pytest.mark.parametrize("metric", ["parallel", "live"])
def test_a_rule_about_what_was_not_run_cannot_be_told(metric: str) -> None:
    outcome = _check_rule(f"{metric}>=0.1", *_make_records("multiple", PASSED))
    assert (outcome.code, outcome.sentence) == (UNDECIDED, f"nothing of {metric} was run")


@pytest.mark.parametrize("rule", ["overall>=0.5", "overall<=0.5"])
def test_a_rule_about_overall_cannot_be_told_where_nothing_was_scored(rule: str) -> None:
    assert _check_rule(rule, *_make_records("multiple", TIMEOUT)).code == UNDECIDED


def test_a_group_of_exactly_the_threshold_reaches_it() -> None:
    seven_of_ten = [PASSED] * 7 + [FAILED] * 3
    names = ("simple_python", "simple_java", "simple_javascript")
    records = [record for name in names for record in _make_records(name, *seven_of_ten)]
    assert _check_rule("simple>=70%", *records).code == HELD


@pytest.mark.parametrize("metric", ["core", "python", "single_turn"])
def test_a_rule_about_a_suite_or_a_selection_counts_entries_alike(metric: str) -> None:
    records = [*_make_records("simple_python", PASSED), *_make_records("parallel", FAILED, FAILED, PASSED)]
    assert _check_rule(f"{metric}>=0.5", *records) == RuleFinding(HELD, f"{metric} is 50.00%")
    assert _check_rule(f"{metric}>0.5", *records).code == BROKEN


def test_a_rule_about_a_mark_of_the_users_own() -> None:
    records = _make_records("parallel", PASSED, FAILED, FAILED)
    records = [
        replace(records[0], marks=("smoke",)),
        replace(records[1], marks=("smoke", "slow")),
        records[2],
    ]
    assert _check_rule("mark:smoke>=50%", *records) == RuleFinding(HELD, "mark:smoke is 50.00%")
    assert _check_rule("mark:slow>=50%", *records).code == BROKEN
    assert _check_rule("mark:none>=50%", *records) == RuleFinding(UNDECIDED, "nothing of mark:none was run")


# Calls along golden paths


def _make_complex_records(*shares: tuple[int, int], category: str = "hotels") -> list[Record]:
    """Make entries with so many right calls of so many."""
    return [
        make_path_record(category=category, number=n, path=make_path_score(calls=calls, right=right))
        for n, (right, calls) in enumerate(shares)
    ]


@each_case(
    ("rule", "code", "says"),
    [
        ("complex.calls>=0.6", HELD, "complex.calls is 60.00% (6 of 10)"),
        ("complex.calls>60%", BROKEN, "complex.calls is 60.00% (6 of 10)"),
        ("hotels.calls>=0.75", HELD, "hotels.calls is 75.00% (3 of 4)"),
        ("cross.calls<0.5", BROKEN, "cross.calls is 50.00% (3 of 6)"),
        ("flights.calls>=0", UNDECIDED, "nothing of flights.calls was scored"),
    ],
)
def test_a_rule_about_calls(rule: str, code: int, says: str) -> None:
    records = [*_make_complex_records((3, 4)), *_make_complex_records((1, 2), (2, 4), category="cross")]
    assert _check_rule(rule, *records) == RuleFinding(code, says)


def test_calls_that_were_not_scored_may_leave_it_undecided() -> None:
    records = [*_make_complex_records((3, 4)), make_path_record(TIMEOUT, number=7)]
    assert _check_rule("complex.calls>=0.3", *records).code == HELD
    assert _check_rule("complex.calls>=0.6", *records) == RuleFinding(
        UNDECIDED,
        "complex.calls is 75.00% (3 of 4), "
        "but with entries not scored it can be anywhere from 37.50% to 87.50%",
    )


def test_without_a_scored_call_nothing_can_be_told() -> None:
    found = _check_rule("complex.calls>=0.5", make_path_record(TIMEOUT))
    assert found == RuleFinding(UNDECIDED, "nothing of complex.calls was scored")


def test_the_profile_of_the_run_decides_about_calls() -> None:
    right, wrong = make_path_score(calls=2, right=2), make_path_score(calls=2, right=0)
    records = [make_path_record(path=right, corrected_path=wrong)]
    rule = parse_rule("complex.calls>=0.5")
    found = [rule.check(Evidence(records, profile, lambda name: 0, {})).code for profile in Profile]
    assert found == [HELD, BROKEN]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("complex.calls>=baseline", "'baseline' is not a fraction or a percentage; use e.g. 0.8 or 80%"),
        ("complex.call>=0.5", "unknown metric 'complex.call'. Did you mean 'complex.calls'"),
        ("parallel.calls>=0.5", "unknown metric 'parallel.calls'"),
    ],
)
def test_wrong_rules_about_calls(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert str(caught.value).startswith(f"invalid gate rule {text!r}: {says}")


def test_what_another_profile_would_have_shown_is_no_failure_of_the_run() -> None:
    records = [make_path_record(NotScored(OTHER_RULES, "r"), number=n) for n in range(3)]
    assert _check_rule("not_scored<=0%", *records, make_path_record(number=4)).code == HELD
    assert _check_rule("not_scored<=10%", *records, make_path_record(TIMEOUT, number=4)).code == BROKEN


# Beside a baseline


@each_case(
    ("text", "margin"),
    [
        ("parallel>=baseline", 0.0),
        ("parallel >= baseline - 0.02", -0.02),
        ("parallel>=baseline-2%", -0.02),
        ("parallel>=baseline+1.5%", 0.015),
    ],
)
def test_a_baseline_may_have_a_margin(text: str, margin: float) -> None:
    assert parse_rule(text) == BaselineRule(text, "parallel", ">=", margin)
    assert parse_rule(text).needs_baseline


@each_case(
    ("rule", "code"),
    [
        ("parallel>=baseline", BROKEN),
        ("parallel>=baseline-25%", HELD),
        ("parallel>=baseline-24%", BROKEN),
        ("parallel<baseline", HELD),
    ],
)
def test_a_score_beside_the_baselines(rule: str, code: int) -> None:
    before = _make_baseline(_make_records("parallel", PASSED, PASSED, PASSED, FAILED))
    found = _check_rule(rule, *_make_records("parallel", PASSED, PASSED, FAILED, FAILED), baseline=before)
    assert (found.code, found.sentence) == (
        code,
        "parallel is 50.00%, the baseline's 75.00% on the same 4 tests",
    )


def test_only_entries_that_both_have_count() -> None:
    """The new one that passes is named, and one that the baseline had not scored is counted."""
    before = _make_baseline(_make_records("parallel", PASSED, FAILED, TIMEOUT))
    run = [*_make_records("parallel", PASSED, FAILED, PASSED), make_record(category="parallel", number=7)]
    found = _check_rule("parallel>=baseline", *run, baseline=before)
    assert found == RuleFinding(
        HELD,
        "parallel is 50.00%, the baseline's 50.00% on the same 2 tests; only in this run: 1 of 4 entries "
        "(core:parallel_7); not scored in the baseline: 1 of 3 entries",
    )


@each_case(
    ("after", "code", "says"),
    [
        ([PASSED, FAILED], BROKEN, "parallel is 50.00%, the baseline's 100.00% on the same 2 tests"),
        ([ASIDE, ASIDE], UNDECIDED, "nothing of parallel was scored in both runs"),
    ],
)
def test_what_the_run_sets_aside_counts_in_neither(after: list[Verdict], code: int, says: str) -> None:
    """Completion mode, say, asks only some entries that the baseline has scored."""
    before = _make_baseline(_make_records("parallel", PASSED, PASSED, FAILED, FAILED))
    run = _make_records("parallel", *after, ASIDE, ASIDE)
    assert _check_rule("parallel>=baseline", *run, baseline=before) == RuleFinding(code, says)


_SAME = "the baseline's 100.00% on the same 100 tests"


@each_case(
    ("passed", "failed", "code", "says"),
    [
        (97, 3, HELD, f"parallel is 97.00%, {_SAME}"),
        (96, 4, BROKEN, f"parallel is 96.00%, {_SAME}"),
        (
            *(98, 0, HELD),
            f"parallel is 100.00%, {_SAME}; not run: 2 of 100 entries (core:parallel_98, core:parallel_99)",
        ),
        (
            *(96, 0, UNDECIDED),
            "parallel is 100.00%, but with 4 of 100 entries not scored it can be anywhere from 96.00% to "
            f"100.00%, {_SAME}; not run: 4 of 100 entries (core:parallel_96, core:parallel_97, "
            "core:parallel_98, core:parallel_99)",
        ),
        (
            *(95, 4, BROKEN),
            f"parallel is 95.96%, {_SAME}; not run: 1 of 100 entries (core:parallel_99)",
        ),
    ],
)
def test_beside_a_baseline_entries_that_the_run_lacks_are_not_scored(
    passed: int, failed: int, code: int, says: str
) -> None:
    before = _make_baseline(_make_records("parallel", *[PASSED] * 100))
    run = _make_records("parallel", *[PASSED] * passed, *[FAILED] * failed)
    assert _check_rule("parallel>=baseline-3%", *run, baseline=before) == RuleFinding(code, says)


def test_entries_that_were_not_scored_may_turn_a_comparison() -> None:
    before = _make_baseline(_make_records("parallel", PASSED, FAILED, PASSED))
    found = _check_rule(
        "parallel>=baseline", *_make_records("parallel", PASSED, FAILED, TIMEOUT), baseline=before
    )
    assert found.code == UNDECIDED
    assert "with 1 of 3 entries not scored" in found.sentence


@pytest.mark.parametrize("rule", ["parallel>=baseline", "not-worse(parallel, 95%)"])
def test_another_suite_version_is_not_compared(rule: str) -> None:
    found = _check_rule(
        rule,
        *_make_records("parallel", PASSED),
        baseline=_make_baseline(_make_records("parallel", PASSED), "0"),
    )
    assert found == RuleFinding(
        UNDECIDED,
        "the suite core changed since the baseline, from version 0 to version 1; make a new baseline with "
        "'fcbench run baseline save'",
    )


def test_the_marks_of_the_run_hold_for_its_baseline_too() -> None:
    marked, other = _make_records("parallel", FAILED, PASSED)
    before = _make_baseline(_make_records("parallel", PASSED, FAILED))
    found = _check_rule("mark:slow>=baseline", replace(marked, marks=("slow",)), other, baseline=before)
    assert found == RuleFinding(BROKEN, "mark:slow is 0.00%, the baseline's 100.00% on the same 1 tests")


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (
            "parallel>=baseline",
            "nothing of parallel was scored, the baseline's 100.00% on the same 1 tests; not run: 1 of 1 ",
        ),
        ("not-worse(parallel, 95%)", "nothing of parallel was scored in both runs"),
    ],
)
def test_without_shared_entries_nothing_can_be_told(rule: str, says: str) -> None:
    run, other = _make_records("parallel", PASSED), replace(make_record(), category="parallel")
    found = _check_rule(rule, *run, baseline=_make_baseline([other]))
    assert (found.code, found.sentence[: len(says)]) == (UNDECIDED, says)
    found = _check_rule(rule, *run, baseline=_make_baseline(_make_records("multiple", PASSED)))
    assert found == RuleFinding(UNDECIDED, "in the baseline nothing of parallel was run")
    assert (
        _check_rule(rule, *_make_records("parallel", PASSED)).sentence
        == "there is no baseline to compare with"
    )


# Not worse


@each_case(
    ("text", "metric", "confidence", "named"),
    [
        ("not-worse(95%)", "overall", 0.95, False),
        ("not-worse(overall, 95%)", "overall", 0.95, True),
        (" not-worse( live , 99.5% ) ", "live", 0.995, True),
        ("not-worse(mark:smoke,80%)", "mark:smoke", 0.8, True),
        ("not-worse(50%)", "overall", 0.5, False),
    ],
)
def test_not_worse_names_a_confidence(text: str, metric: str, confidence: float, named: bool) -> None:
    assert parse_rule(text) == NotWorse(text, metric, confidence, named=named)


def _make_changed_run(better: int, worse: int, same: int) -> tuple[list[Record], Scorecard]:
    before = [FAILED] * better + [PASSED] * worse + [PASSED] * same
    after = [PASSED] * better + [FAILED] * worse + [PASSED] * same
    return _make_records("parallel", *after), _make_baseline(_make_records("parallel", *before))


@each_case(
    ("better", "worse", "code"),
    [
        (5, 0, HELD),
        (0, 4, HELD),  # 1 in 16 by chance
        (0, 5, BROKEN),  # 1 in 32
        (3, 8, HELD),
        (3, 11, BROKEN),
        (30, 40, HELD),
        (30, 60, BROKEN),
    ],
)
def test_not_worse_is_broken_where_chance_is_no_explanation(better: int, worse: int, code: int) -> None:
    run, before = _make_changed_run(better, worse, 40)
    found = _check_rule("not-worse(parallel, 95%)", *run, baseline=before)
    assert found.code == code
    assert f"on {better + worse + 40} entries, {better} better, {worse} worse" in found.sentence


def test_where_nothing_changed_that_is_what_is_said() -> None:
    run, before = _make_changed_run(0, 0, 40)
    found = _check_rule("not-worse(parallel, 95%)", *run, baseline=before)
    assert found == RuleFinding(HELD, "none of 40 entries of parallel changed")


def test_a_change_is_told_in_points_with_its_interval() -> None:
    run, before = _make_changed_run(1, 2, 7)
    found = _check_rule("not-worse(parallel, 95%)", *run, baseline=before)
    difference = pair_runs(before.records, run, Profile.OFFICIAL).measure_difference("parallel")
    assert difference
    assert found.sentence == (
        f"parallel changed by -10.00 points (95% CI {100 * difference.chance.low:+.2f} to "
        f"{100 * difference.chance.high:+.2f}) on 10 entries, 1 better, 2 worse; "
        "test for a loss: p = 0.500"
    )


def test_a_loss_in_a_group_is_weighed_by_the_sizes_of_its_categories() -> None:
    sizes = {"live_multiple": 10, "live_parallel": 1, "live_parallel_multiple": 1}
    same = [record for name, size in sizes.items() for record in _make_records(name, *[PASSED] * size)]
    before = _make_baseline([*_make_records("live_simple", *[PASSED] * 4), *same])
    run = [*_make_records("live_simple", *[FAILED] * 4), *same]
    found = _check_rule("not-worse(live, 95%)", *run, baseline=before)
    assert found.sentence.startswith("live changed by -25.00 points ")


@each_case(
    ("verdicts", "code", "says"),
    [
        ([TIMEOUT] * 4, UNDECIDED, "nothing of parallel was scored in both runs"),
        ([PASSED] * 4, UNDECIDED, "none of 4 entries of parallel changed; the baseline passed too few of "),
        ([FAILED] * 4, UNDECIDED, "parallel changed by -100.00 points "),
        ([PASSED] * 5, HELD, "none of 5 entries of parallel changed"),
        ([FAILED] * 5, BROKEN, "parallel changed by -100.00 points "),
        ([FAILED] * 4 + [PASSED], HELD, "parallel changed by -80.00 points "),
    ],
)
def test_a_rule_holds_only_where_a_loss_could_have_shown(
    verdicts: list[Verdict], code: int, says: str
) -> None:
    """Four of four lost have p = 1/16 and five 1/32, so that of four no loss can be told."""
    before = _make_baseline(_make_records("parallel", *[PASSED] * len(verdicts)))
    found = _check_rule("not-worse(95%)", *_make_records("parallel", *verdicts), baseline=before)
    assert found.code == code
    assert found.sentence.startswith(says)
    assert ("too few" in found.sentence) == (len(verdicts) == 4 and verdicts[0] != TIMEOUT)


@pytest.mark.parametrize(("gained", "code"), [(5, UNDECIDED), (6, HELD)])
def test_entries_that_the_baseline_failed_can_show_a_gain_only(gained: int, code: int) -> None:
    """Six gained have p = 2/64, below 5 %: what is shown to be better is not worse."""
    before = _make_baseline(_make_records("parallel", *[PASSED] * 4, *[FAILED] * 40))
    run = _make_records("parallel", *[PASSED] * (4 + gained), *[FAILED] * (40 - gained))
    assert _check_rule("not-worse(95%)", *run, baseline=before).code == code
    found = _check_rule("not-worse(95%)", *before.records, baseline=before)
    assert found == RuleFinding(
        UNDECIDED,
        "none of 44 entries of parallel changed; the baseline passed too few of these entries for any "
        "loss to show",
    )


@each_case(
    ("passed", "failed", "code", "says"),
    [
        (100, 0, HELD, "none of 100 entries of parallel changed"),
        (96, 0, HELD, "not run: 4 of 100 entries (core:parallel_96, core:parallel_97, core:parallel_98, "),
        (60, 0, UNDECIDED, "and 35 more); the entries that were not scored could change the outcome"),
        (50, 10, BROKEN, "10 worse; test for a loss: p < 0.001; not run: 40 of 100 entries ("),
        (80, 20, BROKEN, "20 worse; test for a loss: p < 0.001"),
        (1, 0, UNDECIDED, "the entries that were not scored could change the outcome"),
    ],
)
def test_entries_that_the_run_lacks_may_hide_a_loss(passed: int, failed: int, code: int, says: str) -> None:
    before = _make_baseline(_make_records("parallel", *[PASSED] * 100))
    run = _make_records("parallel", *[PASSED] * passed, *[FAILED] * failed)
    found = _check_rule("not-worse(95%)", *run, baseline=before)
    assert (found.code, says in found.sentence) == (code, True)


def test_entries_that_only_the_run_has_are_told_and_change_nothing() -> None:
    run, before = _make_changed_run(0, 0, 40)
    more = _make_records("parallel", *[FAILED] * 46)[40:]
    found = _check_rule("not-worse(95%)", *run, *more, baseline=before)
    assert found == RuleFinding(
        HELD,
        "none of 40 entries of parallel changed; only in this run: 6 of 46 entries (core:parallel_40, "
        "core:parallel_41, core:parallel_42, core:parallel_43, core:parallel_44 and 1 more)",
    )


@pytest.mark.parametrize("rule", ["not-worse(overall, 95%)", "overall>=baseline-3%", "overall>=baseline"])
def test_a_formula_is_compared_where_both_runs_have_all_of_it(rule: str) -> None:
    whole, part = _make_whole_run(), _make_whole_run(leaving_out="multi_turn")
    lacks = "not run, but needed for overall: multi_turn"
    assert _check_rule(rule, *whole, baseline=_make_baseline(whole)).code == HELD
    assert _check_rule(rule, *part, baseline=_make_baseline(whole)) == RuleFinding(UNDECIDED, lacks)
    found = _check_rule(rule, *whole, baseline=_make_baseline(part))
    assert found == RuleFinding(UNDECIDED, f"in the baseline {lacks}")


@each_case(
    ("before", "run", "code", "says"),
    [
        (_make_whole_run(), _make_whole_run(failing="multi_turn"), HELD, "overall changed by -30.00 points "),
        (
            *(_make_whole_run(), _make_whole_run(leaving_out="multi_turn"), UNDECIDED),
            "not run, but needed for overall: multi_turn; for a part, name its score, as in not-worse(",
        ),
        (
            *(_make_whole_run(leaving_out="multi_turn"), _make_whole_run(), HELD),
            "none of 17 entries changed; only in this run: 4 of 21 entries (",
        ),
        (
            *(_make_records("multiple", *[PASSED] * 5), _make_whole_run(), UNDECIDED),
            "none of 1 entries of multiple changed; not run: 4 of 5 entries (",
        ),
    ],
)
def test_without_a_metric_a_rule_is_about_the_score_that_stands_for_the_baseline(
    before: list[Record], run: list[Record], code: int, says: str
) -> None:
    found = _check_rule("not-worse(95%)", *run, baseline=_make_baseline(before))
    assert (found.code, found.sentence[: len(says)]) == (code, says)


def test_what_the_run_has_not_scored_is_not_compared() -> None:
    before = _make_baseline(_make_records("parallel", PASSED))
    found = _check_rule("not-worse(parallel, 95%)", *_make_records("parallel", TIMEOUT), baseline=before)
    assert found == RuleFinding(UNDECIDED, "nothing of parallel was scored in both runs")


def test_more_confidence_needs_more_evidence() -> None:
    run, before = _make_changed_run(0, 6, 40)
    codes = [
        _check_rule(f"not-worse(parallel, {percent}%)", *run, baseline=before).code for percent in (95, 99)
    ]
    assert codes == [BROKEN, HELD]


def test_as_probable_as_that_is_not_less() -> None:
    run, before = _make_changed_run(0, 4, 40)  # 1 in 16 by chance
    codes = [
        _check_rule(f"not-worse(parallel, {percent}%)", *run, baseline=before).code
        for percent in (93.75, 93.7)
    ]
    assert codes == [HELD, BROKEN]


def test_what_was_not_scored_may_hide_a_loss() -> None:
    run, before = _make_changed_run(0, 4, 40)
    open_run = [replace(r, verdicts=replace(r.verdicts, official=TIMEOUT)) for r in run[-3:]]
    found = _check_rule("not-worse(parallel, 95%)", *run[:-3], *open_run, baseline=before)
    assert found.code == UNDECIDED
    assert found.sentence.endswith("; the entries that were not scored could change the outcome")


# Time and money


def _make_records_of_usage(*usages: Usage) -> list[Record]:
    return [make_record(steps=[usage], number=n) for n, usage in enumerate(usages)]


@each_case(
    ("rule", "code", "sentence"),
    [
        ("latency.mean<=2s", HELD, "latency.mean is 2 s"),
        ("latency.mean<2000ms", BROKEN, "latency.mean is 2 s"),
        ("latency.p50<=2s", HELD, "latency.p50 is 2 s"),
        ("latency.p95<=2.5s", BROKEN, "latency.p95 is 2.9 s"),
        ("latency.p95<=2900ms", HELD, "latency.p95 is 2.9 s"),
    ],
)
def test_a_rule_about_latency(rule: str, code: int, sentence: str) -> None:
    assert _check_rule(
        rule, *_make_records_of_usage(*(Usage(seconds) for seconds in (1.0, 2.0, 3.0)))
    ) == RuleFinding(code, sentence)


def test_latency_that_nobody_took_cannot_be_told() -> None:
    assert _check_rule("latency.p95<=1s", make_record()) == RuleFinding(
        UNDECIDED, "no call of this run has a latency"
    )


@each_case(
    ("rule", "code", "sentence"),
    [
        ("cost<=1.50usd", HELD, "cost is $1.5000"),
        ("cost<1.5 USD", BROKEN, "cost is $1.5000"),
        ("cost.per_1000<=500usd", HELD, "cost.per_1000 is $500.0000"),
        ("cost.per_1000<=400usd", BROKEN, "cost.per_1000 is $500.0000"),
    ],
)
def test_a_rule_about_cost(rule: str, code: int, sentence: str) -> None:
    assert _check_rule(rule, *_make_records_of_usage(*[Usage(usd=0.5)] * 3)) == RuleFinding(code, sentence)


@each_case(
    ("rule", "code", "dollars"),
    [
        ("cost<=1usd", UNDECIDED, "cost is $0.5000"),
        ("cost<=0.4usd", BROKEN, "cost is $0.5000"),
        ("cost<0.4usd", BROKEN, "cost is $0.5000"),
        ("cost>=0.4usd", UNDECIDED, "cost is $0.5000"),
        ("cost.per_1000<=1usd", UNDECIDED, "cost.per_1000 is $500.0000"),
    ],
)
def test_cost_of_calls_whose_price_is_not_known(rule: str, code: int, dollars: str) -> None:
    found = _check_rule(rule, *_make_records_of_usage(Usage(usd=0.5), Usage(1.0)))
    assert found == RuleFinding(code, f"{dollars} for the 1 of 2 calls whose price is known")


JUDGED = AuxiliaryCall(Party.JUDGE, "0f", Completion(input_tokens=5, output_tokens=1), 0.25)
EARLIER = (EarlierConversation("core:memory_kv_0_before_0", (Usage(usd=0.5),), ()),)


@each_case(
    ("rule", "asides", "earlier", "code", "sentence"),
    [
        ("cost<=0.6usd", (), (), HELD, "cost is $0.5000"),
        ("cost<=0.6usd", (), EARLIER, BROKEN, "cost is $1.0000 with earlier conversations"),
        ("cost<=1usd", (), EARLIER, HELD, "cost is $1.0000 with earlier conversations"),
        ("cost<=0.6usd", (JUDGED,), (), BROKEN, "cost is $0.7500 with judge"),
        ("cost<=0.8usd", (JUDGED,), (), HELD, "cost is $0.7500 with judge"),
        ("cost<=1usd", (JUDGED,), EARLIER, BROKEN, "cost is $1.2500 with earlier conversations, judge"),
        ("cost.per_1000<=600usd", (JUDGED,), (), BROKEN, "cost.per_1000 is $750.0000 with judge"),
        ("cost.per_1000<=600usd", (), EARLIER, HELD, "cost.per_1000 is $500.0000 with earlier conversations"),
        (
            *("cost<=0.6usd", (replace(JUDGED, usd=None),), (), UNDECIDED),
            "cost is $0.5000 with judge for the 1 of 2 calls whose price is known",
        ),
    ],
)
def test_cost_counts_all_that_is_paid(
    rule: str,
    asides: tuple[AuxiliaryCall, ...],
    earlier: tuple[EarlierConversation, ...],
    code: int,
    sentence: str,
) -> None:
    record = replace(make_record(steps=[Usage(usd=0.5)]), asides=asides)
    evidence = Evidence([record], Profile.OFFICIAL, lambda name: 0, FACTS.suites, earlier=earlier)
    assert parse_rule(rule).check(evidence) == RuleFinding(code, sentence)


def test_cost_without_any_price_cannot_be_told() -> None:
    found = _check_rule("cost<=1usd", *_make_records_of_usage(Usage(1.0)))
    assert found == RuleFinding(UNDECIDED, "no price is known; give it under 'prices' in fcbench.yaml")


# Not scored


def test_the_profile_of_the_run_decides_what_was_not_scored() -> None:
    records, rule = [make_record(PASSED, TIMEOUT)], parse_rule("not_scored<=0%")
    codes = [rule.check(Evidence(records, profile, lambda name: 0, {})).code for profile in Profile]
    assert codes == [HELD, BROKEN]


@each_case(
    ("verdicts", "code", "sentence"),
    [
        ([PASSED] * 99 + [TIMEOUT], HELD, "1 of 100 entries were not scored (1.00%)"),
        ([PASSED] * 98 + [TIMEOUT] * 2, BROKEN, "2 of 100 entries were not scored (2.00%)"),
        ([PASSED, ASIDE, ASIDE], HELD, "0 of 1 entries were not scored (0.00%)"),
        ([ASIDE], UNDECIDED, "the run has no entry that counts"),
        ([TIMEOUT], BROKEN, "1 of 1 entries were not scored (100.00%)"),
    ],
)
def test_entries_without_a_verdict(verdicts: list[Verdict], code: int, sentence: str) -> None:
    assert _check_rule("not_scored<=1%", *_make_records("parallel", *verdicts)) == RuleFinding(code, sentence)


# Whatever is written


@given(st.text(max_size=30) | st.from_regex(r"[a-z_.()-]{0,12}(>=|<|\()[0-9.%a-z -]{0,12}", fullmatch=True))
def test_any_text_is_a_rule_or_a_clear_error(text: str) -> None:
    told = None
    try:
        rule = parse_rule(text)
    except UsageError as error:
        told = str(error)
    if told is None:
        assert rule.text == text
        rule.check(Evidence([], Profile.OFFICIAL, lambda name: 0, {}))
    else:
        assert told.startswith(f"invalid gate rule {text!r}: ")


def test_a_loss_at_a_look_needs_less_than_the_level_of_that_look() -> None:
    """What is a loss in a whole run is none in the middle of one that is looked at ten times."""
    before, after = ["+"] * 20, ["-"] * 6 + ["+"] * 14
    run = _try_entries(*after)
    card = _make_baseline(_try_entries(*before).records)
    findings = [
        parse_rule("not-worse(95%)").check(replace(run, baseline=card, share=share))
        for share in (None, 0.5, 1.0)
    ]
    assert [each.code for each in findings] == [BROKEN, HELD, BROKEN]
    assert "p = 0.016; after 50% of the entries a loss needs p < 0.005" in findings[1].sentence


_VERDICTS: dict[str, Verdict] = {
    "+": Passed(),
    "-": Failed("wrong_count", "2 calls"),
    "?": NotScored("timeout", "600 s"),
    "a": NotScored(SET_ASIDE, "bad data"),
}


@each_case(
    ("tried", "code", "told"),
    [
        (["+++", "+-+"], HELD, "2 of 2 entries passed in at least 2 of 3 trials"),
        (["+++", "--+"], BROKEN, "1 of 2 entries passed in fewer than 2 of 3 trials: core:simple_python_1"),
        (["++?"], HELD, "1 of 1 entries passed in at least 2 of 3 trials"),
        (["+++", "+-?"], UNDECIDED, "1 of 2 entries passed in at least 2 of 3 trials"),
        (["--?"], BROKEN, "1 of 1 entries passed in fewer than 2 of 3 trials: core:simple_python_0"),
        (["+++", "aaa"], HELD, "1 of 1 entries passed in at least 2 of 3 trials"),
        (["+"], UNDECIDED, "core:simple_python_0 has 1 of 3 trials; use --fcbench-trials=3"),
        ([], UNDECIDED, "nothing was scored"),
        (["---"] * 7, BROKEN, "_4 and 2 more"),
    ],
)
def test_each_entry_passes_in_two_of_three_trials(tried: Sequence[str], code: int, told: str) -> None:
    for text in ("each >= 2 of 3", "each>=2/3"):
        finding = parse_rule(text).check(_try_entries(*tried))
        assert finding.code == code
        assert re.sub(r" \(95% CI .*?\)", "", finding.sentence).endswith(told)


def _try_entries(*tried: str, category: str = "simple_python") -> Evidence:
    """Make a run whose entries have the verdicts of these signs, one for each trial."""
    records = [
        replace(make_record(_VERDICTS[sign], number=n, category=category), trial=trial)
        for n, signs in enumerate(tried)
        for trial, sign in enumerate(signs, 1)
    ]
    return Evidence(records, Profile.OFFICIAL, lambda name: 0, FACTS.suites)


@pytest.mark.parametrize("cause", [UNDECIDED_CHECK, OTHER_RULES])
def test_a_trial_that_shows_nothing_is_a_trial(cause: str) -> None:
    evidence = _try_entries("+++", "++-", "---")
    first, *others = evidence.records
    shows_nothing = Verdicts.same_in_both(NotScored(cause, "the model called nothing"))
    records = [replace(first, verdicts=shows_nothing), *others[:-3]]
    finding = parse_rule("each>=2of3").check(replace(evidence, records=records))
    assert (finding.code, finding.sentence[:17]) == (HELD, "2 of 2 entries pa")
    apart = [replace(record, verdicts=shows_nothing) for record in others[-3:]]
    assert parse_rule("each>=2of3").check(replace(evidence, records=[*records, *apart])) == finding
    finding = parse_rule("each>=3of3").check(replace(evidence, records=records[:3]))
    assert (finding.code, finding.sentence[:17]) == (UNDECIDED, "0 of 1 entries pa")


def test_a_rule_on_trials_states_its_interval() -> None:
    """Wilson's for independent entries (Newcombe 1998), a wider one where all are of one cluster."""
    evidence = _try_entries("+++", "+--")
    sentence = (
        "1 of 2 entries passed in fewer than 2 of 3 trials (95% CI 9.45% to 90.55%): core:simple_python_1"
    )
    assert parse_rule("each>=2of3").check(evidence).sentence == sentence
    alike = replace(evidence, records=[replace(record, cluster="one") for record in evidence.records])
    assert "(95% CI 0.15% to 99.85%)" in parse_rule("each>=2of3").check(alike).sentence


@each_case(
    ("rule", "tried", "code", "told"),
    [
        ("pass^3>=50%", ["+++", "+-+"], HELD, "all.pass^3 is 50.00% (95% CI 0.15% to 99.85%) of 2 entries"),
        ("pass^3>50%", ["+++", "+-+"], BROKEN, "all.pass^3 is 50.00%"),
        ("pass^2>=60%", ["+++", "+-+"], HELD, "all.pass^2 is 66.67%"),
        ("untrained.pass^2>=60%", ["+++", "+-+"], HELD, "untrained.pass^2 is 66.67%"),
        ("pass@2>=1", ["+++", "+-+"], HELD, "all.pass@2 is 100.00%"),
        ("pass^3>50%", ["+++", "++?"], UNDECIDED, "1 entries of which a trial was not scored"),
        ("pass^3>=50%", ["+++", "+-?"], HELD, "all.pass^3 is 100.00%"),
        (
            "pass^3>=70%",
            ["+++", "+-?"],
            BROKEN,
            "of 1 entries, but 50.00% to 50.00% with 1 entries of which a trial was not scored",
        ),
        ("pass@3>=50%", ["---", "-??"], UNDECIDED, "anywhere from 0.00% to 50.00%"),
        ("pass@3>=50%", ["aaa", "+--"], HELD, "of 1 entries"),
        ("pass^3>=50%", ["++", "+-"], UNDECIDED, "each entry has 2 of 3 trials; use --fcbench-trials=3"),
        ("pass^3>=50%", ["+++", "+-"], UNDECIDED, "core:simple_python_1 has fewer than 3 trials"),
        ("live.pass^3>=50%", ["+++"], UNDECIDED, "nothing of live was run"),
        ("simple_python.pass^1>=50%", ["a"], UNDECIDED, "no entry of simple_python, or of a part"),
        ("pass^3>=50%", ["???"], UNDECIDED, "no entry of all, or of a part of it, has all trials scored"),
    ],
)
def test_pass_hat_and_pass_at_are_rules(rule: str, tried: Sequence[str], code: int, told: str) -> None:
    finding = parse_rule(rule).check(_try_entries(*tried))
    assert finding.code == code
    assert told in finding.sentence


@pytest.mark.parametrize("metric", ["overall", "non_live", "all", "mine", "simple_python"])
def test_pass_hat_counts_entries_of_own_suites_alike(metric: str) -> None:
    evidence = _try_entries("++", "+-", "++", "++")
    records = [replace(r, suite="mine", entry=r.entry.replace("core:", "mine:")) for r in evidence.records]
    finding = parse_rule(f"{metric}.pass^2>=75%", ["mine"]).check(replace(evidence, records=records))
    assert finding.code == HELD
    assert finding.sentence.startswith(f"{metric}.pass^2 is 75.00% (95% CI ")


def test_pass_hat_of_a_group_weighs_its_categories() -> None:
    """A category of two entries, of which one passes all trials, counts as much as one of four."""
    run = _try_entries("+++", "++-", category="irrelevance")
    others = _try_entries(*["+++"] * 4, category="live_irrelevance").records
    rule = parse_rule("irrelevance_all.pass^3>=75%")
    assert rule.check(run).sentence == "not run, but needed for irrelevance_all: live_irrelevance"
    finding = rule.check(replace(run, records=[*run.records, *others]))
    assert finding.code == HELD
    assert finding.sentence.startswith("irrelevance_all.pass^3 is 75.00% (95% CI ")
    assert finding.sentence.endswith(" of 6 entries")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("each>=3of2", "3 is more than 2; use e.g. each>=2of3"),
        ("each>=0of2", "0 of 2 asks for nothing; use e.g. each>=2of3"),
        ("each>=80%", "unknown metric 'each'"),
        ("life.pass^3>=80%", "unknown metric 'life'"),
        ("pass^3>=80", "80 is more than 1"),
    ],
)
def test_other_numbers_are_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_rule(text)
