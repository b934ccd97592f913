"""What stands at the end of a run: tables, the commands that go on, share and gate last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.verdict import Failed, NotScored
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.run_end import append_summary, list_properties, write_end, write_tables
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.run_facts import RuleOutcome
from tests.factories import FACTS, make_record

WRONG = Failed("wrong_count", "2 calls came, 1 expected")
BROKEN = RuleOutcome("sql>=0.5", "broken", "sql is 10%")
MANY = [make_record(WRONG if number % 2 else None, number=number) for number in range(8)]


def explain(record: Record) -> Iterator[OutputLine]:
    yield OutputLine(f"why {record.entry} failed")


def make_evidence(records: Sequence[Record]) -> Evidence:
    return Evidence(records, FACTS.profile, lambda name: 0, FACTS.suites)


def write_lines(
    records: Sequence[Record], *, annotate: bool = False, ungated: str | None = None
) -> list[str]:
    facts, evidence = replace(FACTS, ungated=ungated), make_evidence(records)
    tables = write_tables(facts, evidence, width=80, most=20, annotate=annotate, explain=explain)
    end = write_end(facts, evidence, [BROKEN], width=80, annotate=annotate, explain=explain)
    return [line.text for line in (*tables, *end)]


def test_share_and_gate_are_last() -> None:
    lines = write_lines(MANY)
    assert [line.split(": ")[0] for line in lines[-3:]] == [
        "50.0% of simple_python passed",
        "  of the 100 weighted parts of BFCL's overall were run",
        "gate sql>=0.5",
    ]
    (following,) = (number for number, line in enumerate(lines) if line.startswith("next: "))
    assert lines.index("failed (4, official profile)") < following
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
    assert lines.index("the gate was not applied") == lines.index("gate sql>=0.5: broken: sql is 10%") + 1


def test_annotations_come_last_and_no_answer_can_write_one() -> None:
    hostile = make_record(Failed("wrong_count", "::error::taken over"), number=9)
    lines = write_lines([*MANY, hostile], annotate=True)
    assert lines[-1] == "::error title=gate sql>=0.5%3A broken::sql is 10%25"
    assert lines[0].startswith("::stop-commands::")
    end = lines.index(f"::{lines[0].removeprefix('::stop-commands::')}::")
    (told,) = (number for number, line in enumerate(lines) if "taken over" in line)
    assert 0 < told < end


def test_properties_are_the_facts_the_headline_and_the_gate() -> None:
    found = list(list_properties(FACTS, make_evidence(MANY), [BROKEN, replace(BROKEN, outcome="held")]))
    assert found == [
        ("fcbench.model", "test"),
        ("fcbench.mode", "fc"),
        ("fcbench.profile", "official"),
        ("fcbench.headline", " ".join(write_lines(MANY)[-3:-1]).replace("  ", "")),
        ("fcbench.gate", "sql>=0.5: broken: sql is 10%"),
        ("fcbench.gate", "sql>=0.5: held: sql is 10%"),
    ]
    ungated = replace(FACTS, ungated="the gate was not applied")
    *_, last = list_properties(ungated, make_evidence(MANY), [])
    assert last == ("fcbench.gate", "the gate was not applied")


def test_the_summary_is_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    assert append_summary(path, FACTS, make_evidence(MANY), [BROKEN], explain) is None
    text = path.read_text()
    assert text.startswith("before\n")
    assert "50.0% of simple\\_python passed: 4 of 8" in text


def test_a_summary_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    assert append_summary(tmp_path, FACTS, make_evidence(MANY), []) == (
        f"{tmp_path}: cannot be written: Is a directory"
    )
