"""What GitHub is told: commands that no text can break out of, a summary that is all Markdown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import Failed, Passed, Profile
from pytest_fcbench.present import github
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import BROKEN, UNDECIDED, WORDS, RuleOutcome
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.factories import FACTS, make_call_verdict, make_path_record, make_path_score, make_record

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
    assert lines[0] == (
        "50.0% of multiple passed: 1 of 2 (95% 9.5-90.5%), official profile; "
        "2.5 of the 100 weighted parts of BFCL's overall were run"
    )
    assert lines[2:5] == [
        "✅ gate multiple\\>=0.5: held: multiple is 50.00%",
        "",
        "against b.json: 1 better, 1 worse",
    ]
    assert "### test (fc)" in lines
    assert "| multiple | 2 | 1 | 1 | 0 | 50.00% | 50.00% | 9.5-90.5% | +0.00 |" in lines
    assert "### Worse than the baseline (1)" in lines
    assert "| core:multiple\\_0 | 100% | 0% | 2 calls \\| \\<b\\>not\\</b\\> 1 |" in lines
    assert "### Better (1)" in lines


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
    assert sum("100% | 0%" in line for line in lines) == 20
    assert lines[-1] == "and 10 more"


def test_without_gate_and_baseline_there_are_scores_only() -> None:
    lines = list(github.write_step_summary(FACTS, _make_evidence([make_record()]), []))
    assert sum(line.startswith("###") for line in lines) == 1
    assert lines[-1] == (
        "no overall without live, irrelevance\\_all, multi\\_turn, agentic, multiple, parallel, "
        "parallel\\_multiple, simple\\_java, simple\\_javascript"
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
    assert "### Failed (30)" in lines
    assert "<summary>core:simple_python_0 &lt;failed&gt;</summary>" in lines
    assert "answered f(1) &amp; g()" in lines
    shown = sum(line == "<details>" for line in lines)
    assert lines[-1] == f"and {30 - shown} more in the report"
    assert 0 < shown < 30
