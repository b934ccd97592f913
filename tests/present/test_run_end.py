"""What stands at the end of a run: tables, the commands that go on, share and gate last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.present import run_end as github
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.run_end import (
    append_summary,
    list_properties,
    write_end,
    write_ranking,
)
from pytest_fcbench.present.terminal import write_summary
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import BROKEN, UNDECIDED, WORDS, RuleOutcome
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.factories import FACTS, make_call_verdict, make_path_record, make_path_score, make_record

WRONG = Failed("wrong_count", "2 calls came, 1 expected")
BROKEN_RULE = RuleOutcome("sql>=0.5", "broken", "sql is 10%")
MANY = [make_record(WRONG if number % 2 else None, number=number) for number in range(8)]


def explain(record: Record) -> Iterator[OutputLine]:
    yield OutputLine(f"why {record.entry} failed")


def make_evidence(records: Sequence[Record]) -> Evidence:
    return Evidence(records, FACTS.profile, lambda name: 0, FACTS.suites)


def write_lines(
    records: Sequence[Record], *, annotate: bool = False, ungated: str | None = None
) -> list[str]:
    facts, evidence = replace(FACTS, ungated=ungated), make_evidence(records)
    tables = write_summary(facts, evidence, [BROKEN_RULE], width=80, most=20, explain=explain)
    tables = github.silence_commands(tables) if annotate else tables
    end = write_end(facts, evidence, [BROKEN_RULE], width=80, annotate=annotate, explain=explain)
    return [line.text for line in (*tables, *end)]


def test_share_and_gate_are_first_and_last() -> None:
    lines = write_lines(MANY)
    assert [line.split(": ")[0] for line in lines[:2]] == ["50.0% of simple_python passed", "gate sql>=0.5"]
    assert lines[-2:] == lines[:2]
    (following,) = (number for number, line in enumerate(lines) if line.startswith("next: "))
    assert lines.index("what failed: 4 of 8, by cause") < following
    assert not any(line.startswith("why ") for line in lines)


def test_few_entries_are_explained_in_place_of_a_verdict_and_commands() -> None:
    lines = write_lines(MANY[:2])
    assert "why core:simple_python_1 failed" in lines
    assert not any(line.startswith(("50.0% passed", "next: ")) for line in lines)


@pytest.mark.parametrize(
    ("records", "count"),
    [
        (MANY[:2], "1 of 2 passed (official profile)"),
        (
            [MANY[0], make_record(NotScored("timeout", "why"))],
            "1 of 1 passed, 1 not scored (official profile)",
        ),
        ([make_record(NotScored("timeout", "why"))], "no entry was scored (official profile)"),
    ],
)
def test_few_entries_end_in_their_count_and_the_gate(records: Sequence[Record], count: str) -> None:
    assert write_lines(records)[-2:] == [count, "gate sql>=0.5: broken: sql is 10%"]


def test_the_reason_why_rules_were_not_applied_follows_the_gate() -> None:
    lines = write_lines(MANY, ungated="the gate was not applied")
    assert lines[-2:] == ["gate sql>=0.5: broken: sql is 10%", "the gate was not applied"]


def test_annotations_come_last_and_no_answer_can_write_one() -> None:
    hostile = make_record(Failed("wrong_count", "::error::taken over"), number=9)
    lines = write_lines([*MANY, hostile], annotate=True)
    assert lines[-1] == "::error title=gate sql>=0.5%3A broken::sql is 10%25"
    assert lines[0].startswith("::stop-commands::")
    end = lines.index(f"::{lines[0].removeprefix('::stop-commands::')}::")
    (told,) = (number for number, line in enumerate(lines) if "taken over" in line)
    assert 0 < told < end


def test_properties_are_the_facts_the_headline_and_the_gate() -> None:
    found = list(
        list_properties(FACTS, make_evidence(MANY), [BROKEN_RULE, replace(BROKEN_RULE, outcome="held")])
    )
    assert found == [
        ("fcbench.model", "test"),
        ("fcbench.mode", "fc"),
        ("fcbench.profile", "official"),
        (
            "fcbench.headline",
            f"{write_lines(MANY)[0]}, official profile; "
            "categories with 0.833% of the weight of BFCL's overall score were run",
        ),
        ("fcbench.gate", "sql>=0.5: broken: sql is 10%"),
        ("fcbench.gate", "sql>=0.5: held: sql is 10%"),
    ]
    ungated = replace(FACTS, ungated="the gate was not applied")
    *_, last = list_properties(ungated, make_evidence(MANY), [])
    assert last == ("fcbench.gate", "the gate was not applied")


def test_the_summary_is_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    assert append_summary(path, FACTS, make_evidence(MANY), [BROKEN_RULE], explain) is None
    text = path.read_text()
    assert text.startswith("before\n")
    assert "50.0% of simple\\_python passed: 4 of 8" in text


def test_a_summary_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    assert append_summary(tmp_path, FACTS, make_evidence(MANY), []) == (
        f"{tmp_path}: cannot be written: Is a directory"
    )


WHY_WRONG = Failed("wrong_count", "why")


def make_records(passed: int, of: int = 40, category: str = "simple_python") -> Sequence[Record]:
    return [
        make_record(Passed() if number < passed else WHY_WRONG, number=number, category=category)
        for number in range(of)
    ]


def make_card(name: str, records: Sequence[Record]) -> Scorecard:
    return Scorecard(Path(f"{name}.json"), replace(FACTS, model=name), tuple(records), {})


def rank(records: Sequence[Record], *rivals: Scorecard) -> list[str]:
    evidence = Evidence(records, Profile.OFFICIAL, lambda name: 0, FACTS.suites)
    return [line.text for line in write_ranking(FACTS, evidence, rivals, 100)]


def test_a_run_has_its_rank_in_a_line() -> None:
    rivals = make_card("weak", make_records(1)), make_card("strong", make_records(40))
    told = "rank 2 of 3 by simple_python: strong 100.00%, test 50.00%, weak 2.50%"
    assert rank(make_records(20), *rivals) == [told]
    assert rank(make_records(20), *rivals, make_card("none", make_records(0))) == [
        "rank 2 of 4 by simple_python: strong 100.00%, test 50.00%, weak 2.50%, ..."
    ]


def test_runs_share_a_rank_where_none_is_shown_to_be_better() -> None:
    (line,) = rank(make_records(20), make_card("close", make_records(21)))
    assert line.startswith("rank 1 to 2 of 2 by simple_python")


def test_other_categories_are_not_ranked() -> None:
    assert rank(make_records(20), make_card("other", make_records(20, category="multiple"))) == [
        "no ranking: none of 1 scorecards has the same suites and categories",
    ]


def test_checks_of_a_server_are_not_ranked() -> None:
    """A folder of runs can hold some, and the project of a rank can check a server."""
    checks, few = make_records(1, category="server_must"), make_records(0, category="server_must")
    assert rank(checks, make_card("few", few), make_card("answers", make_records(20))) == []
    (line,) = rank(make_records(20), make_card("checks", checks), make_card("close", make_records(21)))
    assert line.startswith("rank 1 to 2 of 2 by simple_python")


def test_a_run_of_which_nothing_was_scored_has_no_rank() -> None:
    missing = [make_record(NotScored("timeout", "600 s"))]
    for rival in (missing, make_records(20)):
        assert rank(missing, make_card("rival", rival)) == ["no ranking: this run has no score"]


def test_without_others_there_is_no_ranking() -> None:
    assert rank(make_records(20)) == []


RULE = "multiple>=0.5"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (BROKEN, "::error title=gate multiple>=0.5%3A broken::multiple is 10.00%25"),
        (UNDECIDED, "::warning title=gate multiple>=0.5%3A cannot tell::multiple is 10.00%25"),
    ],
)
def test_a_rule_that_does_not_hold_is_annotated(code: int, line: str) -> None:
    assert list(github.write_annotations([RuleOutcome(RULE, WORDS[code], "multiple is 10.00%")])) == [line]


def test_commas_and_colons_of_a_rule_end_no_property() -> None:
    (line,) = github.write_annotations([RuleOutcome("not-worse(live, 99%)", "broken", "a: b, c")])
    assert line == "::error title=gate not-worse(live%2C 99%25)%3A broken::a: b, c"


def test_a_rule_that_holds_is_not() -> None:
    assert list(github.write_annotations([RuleOutcome(RULE, "held", "multiple is 60.00%")])) == []


@given(st.text(max_size=40))
def test_no_sentence_begins_another_command(sentence: str) -> None:
    (line,) = github.write_annotations([RuleOutcome(RULE, "broken", sentence)])
    assert "\n" not in line
    assert "\r" not in line


def test_words_of_a_model_are_no_commands() -> None:
    lines = [OutputLine("::error::pwned"), OutputLine("x")]
    first, *between, last = github.silence_commands(lines)
    assert between == lines
    token = first.text.removeprefix("::stop-commands::")
    assert len(token) == 32
    assert last.text == f"::{token}::"
    assert next(github.silence_commands([])) != first


def _make_evidence(records: list[Record], before: list[Record] | None = None) -> Evidence:
    baseline = None if before is None else Scorecard(Path("b.json"), FACTS, tuple(before), {})
    return Evidence(records, Profile.OFFICIAL, lambda name: 0, FACTS.suites, baseline)


def test_the_summary_has_scores_gate_and_flips() -> None:
    failed = Failed("wrong_count", "2 calls | <b>not</b> 1")
    before = [make_record(Passed(), category="multiple"), make_record(failed, category="multiple", number=1)]
    after = [make_record(failed, category="multiple"), make_record(Passed(), category="multiple", number=1)]
    outcome = RuleOutcome(RULE, "held", "multiple is 50.00%")
    lines = list(github.write_step_summary(FACTS, _make_evidence(after, before), [outcome]))
    assert lines[:5:2] == [
        "50.0% of multiple passed: 1 of 2 (95% CI 9.5-90.5%)",
        "compared with b.json: 1 better, 1 worse",
        "✅ gate multiple\\>=0.5: held: multiple is 50.00%",
    ]
    assert "### test (fc)" in lines
    assert "| multiple | 2 | 1 | 1 | 0 | 50.00% | 50.00% | 9.5-90.5% | +0.00 |" in lines
    assert "### Worse (1)" in lines
    assert (
        "| core:multiple\\_0 | multiple | passed | failed | wrong\\_count: 2 calls \\| \\<b\\>not\\</b\\> 1 |"
        in lines
    )
    assert "### Better (1)" in lines
    assert lines.index("### Worse (1)") < lines.index("### Better (1)") < lines.index("### test (fc)")


def test_a_broken_rule_comes_first() -> None:
    outcome = RuleOutcome(RULE, "broken", "multiple is 10.00%")
    lines = list(github.write_step_summary(FACTS, _make_evidence([make_record()]), [outcome]))
    assert lines[2] == "❌ gate multiple\\>=0.5: broken: multiple is 10.00%"


def test_changes_are_those_of_the_entries_of_both_runs() -> None:
    failed = Failed("wrong_count", "why")
    before = [make_record(failed if n % 2 else Passed(), number=n) for n in range(10)]
    after = [make_record(Passed(), number=n) for n in (0, 1, 20, 21)]
    lines = list(github.write_step_summary(FACTS, _make_evidence(after, before), []))
    (row,) = (line for line in lines if line.startswith("| simple\\_python |"))
    assert row.split(" | ")[1:3] == ["4", "4"]
    assert row.endswith(" | +50.00 |")


def test_what_one_run_has_not_scored_is_no_change() -> None:
    failed, missing = Failed("wrong_count", "why"), NotScored("timeout", "600 s")
    before = [make_record(each, number=n, trial=1) for n, each in enumerate((None, failed))]
    after = [make_record(each, number=n) for n, each in enumerate((None, missing))]
    lines = list(github.write_step_summary(FACTS, _make_evidence(after, before), []))
    (row,) = (line for line in lines if line.startswith("| simple\\_python |"))
    assert row.endswith(" | +0.00 |")


def test_checks_of_a_server_have_no_table_of_scores() -> None:
    records = [make_record(category="server_must")]
    lines = list(github.write_step_summary(FACTS, _make_evidence(records), []))
    titles = [line for line in lines if line.startswith("### ")]
    assert titles == ["### checks of the server (no part of the model's score)"]


def test_without_a_baseline_there_is_no_change() -> None:
    lines = list(github.write_step_summary(FACTS, _make_evidence([make_record()]), []))
    assert "change" not in next(line for line in lines if "95% interval" in line)


def test_calls_along_golden_paths_have_a_table() -> None:
    records = [make_path_record(path=make_path_score(make_call_verdict()))]
    lines = list(github.write_step_summary(FACTS, _make_evidence(records), []))
    assert "| hotels | 1 | 1 | 0 | 0 | 100.00% | 100.00% | 20.7-100.0% |" in lines
    assert not any(line.startswith(("| complex |", "| overall |")) for line in lines)
    assert "### complex calls (official profile)" in lines
    assert "| hotels | 1 | 100.00% | 1 of 1 | 100.00% | 0.6-100.0% | - | - | +0.00 |" in lines


def test_flips_since_another_suite_version_are_none() -> None:
    """The same names may be other entries."""
    failed = make_record(Failed("wrong_count", "2 calls"))
    other = replace(FACTS, suites={"core": {"version": "0", "pack_hash": None}})
    baseline = Scorecard(Path("b.json"), other, (make_record(),), {})
    evidence = replace(_make_evidence([failed]), baseline=baseline)
    assert not any(line.startswith("### Worse") for line in github.write_step_summary(FACTS, evidence, []))
    same = replace(evidence, baseline=replace(baseline, facts=FACTS))
    assert any(line.startswith("### Worse") for line in github.write_step_summary(FACTS, same, []))


def test_many_flips_are_counted() -> None:
    before = [make_record(number=n) for n in range(30)]
    after = [make_record(Failed("wrong_count", "2 calls"), number=n) for n in range(30)]
    lines = list(github.write_step_summary(FACTS, _make_evidence(after, before), []))
    assert sum("| passed | failed | wrong" in line for line in lines) == 20
    assert "and 10 more; 'fcbench run compare' lists all" in lines


def test_without_gate_and_baseline_there_are_scores_only() -> None:
    lines = list(github.write_step_summary(FACTS, _make_evidence([make_record()]), []))
    assert sum(line.startswith("###") for line in lines) == 1
    assert lines[-1] == (
        "no overall score without these parts: live, irrelevance\\_all, multi\\_turn, agentic, multiple, "
        "parallel, parallel\\_multiple, simple\\_java, simple\\_javascript"
    )


def test_the_summary_says_why_there_is_no_gate_and_how_the_gate_of_the_run_came_out() -> None:
    evidence, held = _make_evidence([make_record()]), RuleOutcome(RULE, "held", "multiple is 60.00%")
    told = list(github.write_step_summary(replace(FACTS, ungated="-k selects a part"), evidence, []))
    assert "-k selects a part" in told
    assert not any("Gate of the run itself" in line for line in told)
    broken = replace(held, outcome="broken")
    lines = list(github.write_step_summary(FACTS, evidence, [broken], recorded=[held]))
    assert lines[2] == "❌ gate multiple\\>=0.5: broken: multiple is 60.00%"
    then = lines.index("### Gate of the run itself")
    assert "| multiple\\>=0.5 | held | multiple is 60.00% |" in lines[then:]


def test_the_first_failures_are_explained_behind_their_titles() -> None:
    records = [make_record(Failed("wrong_count", "x"), number=number) for number in range(30)]
    evidence = Evidence(records, FACTS.profile, lambda name: 0, {})

    def explain(record: Record) -> list[OutputLine]:
        return [OutputLine(f"{record.entry} <failed>"), OutputLine("answered f(1) & g()")]

    lines = list(github.write_step_summary(FACTS, evidence, [], explain))
    assert "### What failed (30), by cause" in lines
    assert "| another number of calls came than expected | 30 | 100% | core:simple\\_python\\_0 |" in lines
    assert "<summary>core:simple_python_0 &lt;failed&gt;</summary>" in lines
    assert "answered f(1) &amp; g()" in lines
    shown = sum(line == "<details>" for line in lines)
    assert lines[-1] == f"and {30 - shown} more in the report"
    assert 0 < shown < 30
