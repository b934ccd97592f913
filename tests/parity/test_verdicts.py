"""Verdict and error type equal the official ones on every recorded answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pytest_fcbench.suites.suite import Suite
from tests.parity.comparison import Comparison, compare_file, read_records
from tests.parity.conftest import find_oracle_files

FILES = [*find_oracle_files("v4_*.jsonl.gz"), *find_oracle_files("v4dec_*.jsonl.gz")]
NEEDS_ORACLE = pytest.mark.skipif(not FILES, reason="FCBENCH_ORACLE names no folder with v4_*.jsonl.gz")


@NEEDS_ORACLE
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_every_verdict_is_the_official_one(path: Path, bfcl: Suite, comparisons: list[Comparison]) -> None:
    comparison = compare_file(path, bfcl)
    comparisons.append(comparison)
    assert comparison.records > 0
    assert comparison.different == (), "\n".join(comparison.different[:20])


@NEEDS_ORACLE
@pytest.mark.parametrize("field", ["valid", "error_type", "decoded"])
def test_a_flipped_record_is_found(bfcl: Suite, tmp_path: Path, field: str) -> None:
    """The comparison can fail: one record changed in one field is one difference, by name."""
    source = next(path for path in FILES if path.name == "v4_multiple.jsonl.gz")
    changed = [dict(record) for record in read_records(source)]
    victim = next(record for record in changed if record["valid"] and record["decode"] == "fc")
    flipped: dict[str, object] = {
        "valid": False,
        "error_type": "value_error:string",
        "decoded": [{"other": {}}],
    }
    victim[field] = flipped[field]
    path = tmp_path / source.name
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in changed)
    (difference,) = compare_file(path, bfcl).different
    assert difference.startswith(f"{victim['model']} {victim['id']}: ")
