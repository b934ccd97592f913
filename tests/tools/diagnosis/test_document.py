"""Diagnoses written to a file, and labels read from one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.failure import Divergence, FailureClass
from pytest_fcbench.domain.verdict import Failed, NotScored, Profile
from pytest_fcbench.tools.diagnosis.document import (
    SCHEMA,
    DiagnosedFailure,
    Labels,
    build_document,
    read_labels,
)
from pytest_fcbench.tools.diagnosis.root_causes import Diagnosis, Misunderstanding, RootCause

FAILED = Failed("multi_turn:x", "turn 1: no")
AT = Divergence(FailureClass.WRONG_ARGUMENT, 1, "f(a=1)", "f(a=2)", "a")
FINDINGS = [
    DiagnosedFailure(
        *("core:a", "multi_turn_base", FAILED, AT),
        Diagnosis(RootCause.OTHER, Misunderstanding.USER_REQUEST, 1, "So."),
    ),
    DiagnosedFailure("core:b", "multi_turn_base", FAILED, AT, NotScored("timeout", "no answer")),
    DiagnosedFailure("core:c-t2", "multi_turn_base", FAILED, Divergence(FailureClass.UNEXPLAINED)),
]


def write_file(path: Path, value: object) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_what_is_written_of_a_finding() -> None:
    told = build_document(FINDINGS, model="m", profile=Profile.OFFICIAL, judge="openai/j")
    entries = told["entries"]
    assert isinstance(entries, list)
    assert {key: told[key] for key in ("schema", "model", "profile", "judge")} == {
        "schema": SCHEMA,
        "model": "m",
        "profile": "official",
        "judge": "openai/j",
    }
    assert entries[0] == {
        "entry": "core:a",
        "category": "multi_turn_base",
        "code": "multi_turn:x",
        "reason": "turn 1: no",
        "class": "wrong_argument",
        "divergence": {"turn": 1, "expected": "f(a=1)", "found": "f(a=2)", "parameter": "a"},
        "root_cause": {"class": "other", "misunderstood": "user_request", "turn": 1, "explanation": "So."},
    }
    assert entries[1]["not_diagnosed"] == {"cause": "timeout", "reason": "no answer"}
    assert "root_cause" not in entries[1]
    assert entries[2].keys() & {"root_cause", "not_diagnosed"} == set()


def test_labels_are_those_of_the_judge(tmp_path: Path) -> None:
    told = build_document(FINDINGS, model="m", profile=Profile.OFFICIAL, judge="openai/j")
    path = write_file(tmp_path / "d.json", told)
    assert read_labels(path) == Labels(path, "m", {"core:a": "other"})


def test_a_person_needs_to_write_little(tmp_path: Path) -> None:
    rows = [{"entry": "core:a", "root_cause": {"class": "implicit_action"}}, {"entry": "core:b"}]
    path = write_file(tmp_path / "mine.json", {"schema": SCHEMA, "entries": rows})
    assert read_labels(path) == Labels(path, None, {"core:a": "implicit_action"})


ROW = {"entry": "core:a", "root_cause": {"class": "other"}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ([], "not a file of diagnoses: it must have 'schema': 'fcbench-diagnosis/1' and a list 'entries'"),
        ({"schema": "fcbench-diagnosis/2", "entries": []}, "not a file of diagnoses"),
        ({"schema": SCHEMA, "entries": {}}, "not a file of diagnoses"),
        ({"schema": SCHEMA, "entries": []}, "no entry has a root cause"),
        ({"schema": SCHEMA, "entries": [{"entry": "core:a"}]}, "no entry has a root cause"),
        (
            {"schema": SCHEMA, "entries": [ROW, ROW]},
            "entry 2 must have a name under 'entry' that no other entry has",
        ),
        ({"schema": SCHEMA, "entries": [1]}, "entry 1 must have a name"),
        (
            {"schema": SCHEMA, "entries": [{**ROW, "root_cause": {"class": "othr"}}]},
            "core:a: unknown class 'othr'. Did you mean 'other'?",
        ),
        ({"schema": SCHEMA, "entries": [{**ROW, "root_cause": "other"}]}, "core:a: unknown class 'None'"),
        ({"schema": SCHEMA, "entries": [{**ROW, "root_cause": {"class": []}}]}, "core:a: unknown class"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: object, says: str) -> None:
    path = write_file(tmp_path / "d.json", content)
    with pytest.raises(UsageError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"{path}: {says}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_labels(tmp_path / "none.json")
