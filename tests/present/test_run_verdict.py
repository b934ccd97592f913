"""The share, the gate, what is remarkable, and the commands that go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.verdict import Failed, NotScored, Verdicts
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.run_verdict import (
    describe_share,
    describe_weakest,
    write_gate,
    write_next_commands,
    write_remarks,
    write_verdict,
)
from pytest_fcbench.scorecard.aggregate.scores import aggregate_scores, weigh_categories
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import RuleOutcome
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.cases import each_case
from tests.factories import FACTS, make_format_record, make_record

WRONG = Failed("wrong_count", "2 calls came, 1 expected")
HALF = [make_record(), make_record(WRONG, number=1)]
LF = "pytest --lf"


def write(
    records: Sequence[Record], outcomes: Sequence[RuleOutcome] = (), before: Sequence[Record] | None = None
) -> list[str]:
    baseline = None if before is None else Scorecard(Path("b.json"), FACTS, tuple(before), {})
    evidence = Evidence(records, FACTS.profile, lambda name: 0, FACTS.suites, baseline)
    return [line.text for line in write_parts(evidence, outcomes)]


def write_parts(evidence: Evidence, outcomes: Sequence[RuleOutcome]) -> list[OutputLine]:
    return [*write_verdict(FACTS, evidence, outcomes, 100), *write_remarks(FACTS, evidence, 100)]


def test_the_share_of_what_was_scored_comes_first() -> None:
    late = make_record(NotScored("timeout", "late"), number=2)
    lines = write([*HALF, late])
    assert lines[0] == "50.0% of simple_python passed: 1 of 2 (95% CI 9.5-90.5%)"
    assert lines[-1] == "not scored: 1 of 3 (timeout 1)"
    scores = aggregate_scores(HALF, FACTS.profile, lambda name: 0)
    assert describe_share(HALF, FACTS.profile, scores) == (
        f"{lines[0]}, official profile; categories with 0.833% of the weight of BFCL's overall score were run"
    )
    assert write([late])[0] == "no entry was scored in the official profile"


def test_a_sample_of_the_weighted_parts_says_of_how_many_entries() -> None:
    whole = [make_record(category=name) for name in weigh_categories("overall", lambda name: 1.0)]
    for records, end in (
        (
            HALF,
            "categories with 0.833% of the weight of BFCL's overall score were run, 2 of 4 entries of them",
        ),
        (whole, "by BFCL's weights on a sample, 21 of 84 entries: 100.00%"),
    ):
        scores = aggregate_scores(records, FACTS.profile, lambda name: 4)
        assert describe_share(records, FACTS.profile, scores).endswith(f"; {end}")


@each_case(
    ("names", "says"),
    [
        (
            ["irrelevance", "live_irrelevance", "parallel"],
            "66.7% passed: 2 of 3 (95% CI 20.8-93.9%), official profile; "
            "categories with 12.5% of the weight of BFCL's overall score were run",
        ),
        (
            ["irrelevance", "live_irrelevance"],
            "100.0% of irrelevance_all passed: 2 of 2 (95% CI 34.2-100.0%), official profile; "
            "categories with 10% of the weight of BFCL's overall score were run",
        ),
        (["hotels"], "100.0% of hotels passed: 1 of 1 (95% CI 20.7-100.0%), official profile"),
        (["hotels", "cross"], "100.0% passed: 2 of 2 (95% CI 34.2-100.0%), official profile"),
        (
            list(weigh_categories("overall", lambda name: 1.0)),
            "95.2% passed: 20 of 21 (95% CI 74.0-99.3%), official profile; by BFCL's weights: 97.50%",
        ),
    ],
    ids=len,
)
def test_the_official_overall_stands_beside_the_share_where_all_of_it_was_run(
    names: list[str], says: str
) -> None:
    records = [make_record(WRONG if name == "parallel" else None, category=name) for name in names]
    scores = aggregate_scores(records, FACTS.profile, lambda name: 0)
    assert describe_share(records, FACTS.profile, scores) == says
    is_whole = "by BFCL's weights: " in says
    short = describe_share(records, FACTS.profile, scores, is_short=True)
    assert short == (says.replace(", official profile", "") if is_whole else says.partition(", official")[0])


def test_each_rule_is_one_line_with_its_outcome() -> None:
    held, broken = (
        RuleOutcome("live>=0.5", "held", "live is 60%"),
        RuleOutcome("sql>=0.5", "broken", "sql\nis 10%"),
    )
    assert list(write_gate(FACTS, [held, broken], 80)) == [
        OutputLine("gate live>=0.5: held: live is 60%", good=True),
        OutputLine("gate sql>=0.5: broken: sql is 10%", wrong=True),
    ]


def test_many_rules_that_held_share_a_line_above_those_that_did_not() -> None:
    held = [RuleOutcome(f"{name}>=0.5", "held", "why") for name in ("live", "sql", "all")]
    broken = RuleOutcome("chat>=0.5", "broken", "chat is 10%")
    assert [line.text for line in write_gate(FACTS, [*held, broken], 80)] == [
        "gate held: live>=0.5, sql>=0.5, all>=0.5",
        "gate chat>=0.5: broken: chat is 10%",
    ]


def test_the_reason_why_rules_were_not_applied_stands_in_their_place() -> None:
    ungated = replace(FACTS, ungated="the gate was not applied")
    assert [line.text for line in write_gate(ungated, [], 80)] == ["the gate was not applied"]


def test_only_a_broken_gate_and_what_was_not_scored_are_marked() -> None:
    broken = RuleOutcome("sql>=0.5", "broken", "sql is 10%")
    evidence = Evidence(
        [*HALF, make_record(NotScored("timeout", "late"), number=2)], FACTS.profile, lambda name: 0, {}
    )
    found = write_parts(evidence, [broken])
    assert [line.text.split(":")[0] for line in found if line.wrong] == ["gate sql>=0.5", "not scored"]


def test_the_change_to_the_baseline_is_counted() -> None:
    before = [make_record(WRONG), make_record(number=1), make_record(number=2)]
    after = [make_record(), make_record(WRONG, number=1), make_record(number=2)]
    assert "compared with b.json: 1 better, 1 worse" in write(after, before=before)
    assert not any(line.startswith("against") for line in write(after))
    kept = make_record(category="server_must", suite="wire")
    broken = replace(kept, verdicts=Verdicts.same_in_both(WRONG))
    assert "compared with b.json: 1 better, 1 worse" in write([*after, broken], before=[*before, kept])


def test_the_weakest_categories_are_named_where_there_are_several() -> None:
    names = ("simple_python", "multiple", "parallel", "live_simple")
    records = [make_record(WRONG if name == "parallel" else None, category=name) for name in names]
    scores, few = (aggregate_scores(each, FACTS.profile, lambda name: 0) for each in (records, HALF))
    assert describe_weakest(scores) == "weakest of 4 categories: parallel 0.0%"
    assert describe_weakest(few) is None


def write_commands(
    records: Sequence[Record], width: int = 100, *, rerun: str = LF, blame: str = ""
) -> list[str]:
    evidence = Evidence(records, FACTS.profile, lambda name: 0, FACTS.suites)
    return [line.text for line in write_next_commands(FACTS, evidence, width, rerun=rerun, blame=blame)]


def test_the_purpose_of_a_command_has_no_line_of_its_own_but_that_of_the_first() -> None:
    purposes = {width: [" - " in line for line in write_commands(HALF, width)] for width in (80, 60)}
    assert purposes == {80: [True, True, True], 60: [False, False, True, True]}


def test_the_last_lines_are_commands_that_go_on() -> None:
    lines = write_commands(HALF)
    assert lines[0] == "next: fcbench run show core:simple_python_1 - why this one failed"
    assert [line.split(" - ")[0].strip() for line in lines[1:]] == ["pytest --lf", "fcbench run report"]
    assert write_commands(HALF[:1]) == ["next: fcbench run report - a page with every entry"]


def test_the_first_command_explains_the_most_frequent_cause() -> None:
    silent = [make_record(Failed("no_call", "why"), number=number) for number in (7, 8)]
    assert "core:simple_python_7" in write_commands([*HALF, *silent])[0]
    # The names of prompt formats hold signs of the shell.
    failed = make_format_record(0, 1, WRONG)
    assert write_commands([failed], 200)[0].startswith(f"next: fcbench run show '{failed.item_id}' - ")


def test_a_model_that_lost_a_whole_category_is_asked_again_through_its_server() -> None:
    lost = [make_record(WRONG, category="parallel", number=number) for number in range(5)]
    blame = "fcbench blame --limit=6"
    asked = [write_commands(each, blame=blame)[0] for each in ([*HALF, *lost], [*HALF, *lost[1:]], lost)]
    assert [blame in line for line in asked] == [True, False, False]


def test_names_of_a_model_or_an_id_cannot_control_the_terminal() -> None:
    odd = replace(make_record(WRONG), entry="core:\x1b[2J")
    assert all(line.isprintable() for line in write([odd]))
    assert all(line.isprintable() for line in write_commands([odd], rerun=f"{LF} -k \x1b[2J"))


def test_broken_checks_are_run_again_with_new_requests() -> None:
    """A stored reply would hide that the server was mended."""
    broken = make_record(WRONG, category="server_must", suite="wire")
    lines = write_commands([broken], 120)
    assert f"      {LF} --fcbench-refresh" in lines[1]
    assert "again, with new requests" in lines[1]
