"""Checks of a server are counted by severity, and count in no score of a model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import NOTED, UNDECIDED, Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores, score_metric
from pytest_fcbench.scorecard.aggregate.server_checks import CheckCounts, count_checks
from pytest_fcbench.scorecard.compare.paired import pair_runs
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.gate.rules import parse_rule
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import BROKEN as BROKEN_RULE
from pytest_fcbench.scorecard.run_facts import HELD
from pytest_fcbench.scorecard.run_facts import UNDECIDED as UNDECIDED_RULE
from tests.factories import make_record

KEPT, BROKEN = Passed(), Failed("server:must", "2 calls")
UNSHOWN, UNANSWERED = NotScored(UNDECIDED, "the model called nothing"), NotScored("connection", "refused")


def make_checks(*verdicts: Verdict, category: str = "server_must") -> list[Record]:
    return [
        make_record(verdict, category=category, number=n, suite="wire") for n, verdict in enumerate(verdicts)
    ]


def test_checks_are_counted_by_severity() -> None:
    noted = make_checks(NotScored(NOTED, "renamed"), KEPT, category="server_info")
    counts = count_checks([*make_checks(KEPT, BROKEN, UNSHOWN, UNANSWERED), *noted, make_record(BROKEN)])
    assert counts == {"server_must": CheckCounts(4, 1, 1, 2), "server_info": CheckCounts(2, 1, 1, 0)}


def test_a_broken_check_changes_no_score_of_the_model() -> None:
    answers = [make_record(KEPT), make_record(BROKEN, number=1)]
    alone, beside = (
        aggregate_scores([*answers, *checks], Profile.CORRECTED, lambda name: 0)
        for checks in ([], make_checks(BROKEN, BROKEN))
    )
    assert alone.all == beside.all
    assert alone.overall == beside.overall
    assert alone.main == beside.main == "simple_python"
    assert beside.names == ["simple_python", "server_must"]
    assert beside.categories["server_must"].failed == 2


@pytest.mark.parametrize("suite", ["core", "mine"])
@pytest.mark.parametrize("metric", ["all", "overall", "untrained"])
def test_a_metric_leaves_out_checks_as_the_scores_do(metric: str, suite: str) -> None:
    answers = [make_record(KEPT, suite=suite), make_record(BROKEN, suite=suite, number=1)]
    alone, beside = (
        score_metric(metric, [*answers, *checks], Profile.OFFICIAL, lambda name: 0)
        for checks in ([], make_checks(BROKEN, BROKEN))
    )
    assert beside
    assert alone
    assert (beside.accuracy, beside.scored) == (alone.accuracy, alone.scored)
    checks = make_checks(KEPT, BROKEN)
    assert score_metric("all", checks, Profile.OFFICIAL, lambda name: 0)
    pairing = pair_runs([*answers, *checks], [*answers, *make_checks(BROKEN, KEPT)], Profile.OFFICIAL)
    difference = pairing.measure_difference("all")
    assert difference
    assert (difference.entries, difference.worse) == (2, 0)


@pytest.mark.parametrize(
    ("verdicts", "code", "sentence"),
    [
        ([KEPT, UNSHOWN], HELD, "1 of 2 kept, 0 broken, 1 undecided"),
        ([KEPT, BROKEN], BROKEN_RULE, "1 of 2 kept, 1 broken"),
        ([UNSHOWN], UNDECIDED_RULE, "no check of server_must was decided"),
        ([KEPT, UNANSWERED], UNDECIDED_RULE, "1 of 2 kept, 0 broken, 1 undecided, but 1 got no reply"),
        ([BROKEN, UNANSWERED], BROKEN_RULE, "0 of 2 kept, 1 broken, 1 undecided"),
        ([], UNDECIDED_RULE, "no check of server_must was decided"),
    ],
)
def test_a_gate_bounds_the_number_of_broken_checks(
    verdicts: Sequence[Verdict], code: int, sentence: str
) -> None:
    records = [*make_checks(*verdicts), *make_checks(UNANSWERED, category="server_info")]
    evidence = Evidence(records, Profile.OFFICIAL, lambda name: 0, {})
    finding = parse_rule("server_must.broken<=0").check(evidence)
    assert (finding.code, finding.sentence) == (code, sentence)


def test_a_gate_refuses_what_is_no_number_of_checks() -> None:
    with pytest.raises(
        UsageError, match=r"'1%' is not a number of checks; use e\.g\. 'server_must\.broken<=0'"
    ):
        parse_rule("server_must.broken<=1%")
