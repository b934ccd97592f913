"""Final answers get the recorded official verdicts."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.answers import verdict as answer
from tests.parity.comparison import read_records
from tests.parity.conftest import find_oracle_files

FILES = find_oracle_files("agentic.jsonl.gz")
NEEDS_ORACLE = pytest.mark.skipif(not FILES, reason="FCBENCH_ORACLE names no folder with agentic.jsonl.gz")


def _find_difference(record: dict[str, object]) -> str | None:
    right = record["possible_answers"]
    assert isinstance(right, list)
    verdict = answer.match_answer(record["response"], right)
    code = verdict.code if isinstance(verdict, Failed) else None
    if record["valid"] is None or (verdict.passed, code) == (record["valid"], record["error_type"]):
        return None
    return f"{record['id']} {record['kind']}: {verdict} not {record['error_type']}"


@NEEDS_ORACLE
def test_every_verdict_is_the_official_one() -> None:
    told = [dict(record) for record in read_records(FILES[0])]
    assert len(told) == 862
    assert [difference for record in told if (difference := _find_difference(record))] == []


def test_another_verdict_is_found() -> None:
    record: dict[str, object] = {"id": "memory_0", "kind": "exact", "response": "Oslo", "valid": True}
    record |= {"possible_answers": ["Oslo"], "error_type": None}
    assert _find_difference(record) is None
    assert _find_difference({**record, "response": "Bergen"}) is not None
    assert _find_difference({**record, "valid": False, "error_type": answer.NOT_FOUND}) is not None
