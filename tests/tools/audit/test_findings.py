"""Verdicts of real runs are read from tables and scorecards."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed
from pytest_fcbench.scorecard.scorecard_files import load_scorecard
from pytest_fcbench.tools.audit.findings import RunVerdicts, read_scorecard_verdicts, read_verdict_matrix
from tests.cases import each_case
from tests.factories import make_record, write_scorecard

TABLE = "entry,one,two\nparallel_0,1,0\nparallel_1,,1\n"


@pytest.mark.parametrize("name", ["verdicts.csv", "verdicts.csv.gz"])
@pytest.mark.parametrize("table", [TABLE, f"\ufeff{TABLE}\n"], ids=["plain", "of a spreadsheet"])
def test_a_table_has_a_column_for_each_run(name: str, table: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(table.encode()) if name.endswith(".gz") else table.encode())
    assert read_verdict_matrix(path) == [
        RunVerdicts("one", {"parallel_0": True}),
        RunVerdicts("two", {"parallel_0": False, "parallel_1": True}),
    ]


@each_case(
    ("text", "why"),
    [
        ("", "the first line must be entry,RUN"),
        ("entry\n", "the first line must be entry,RUN"),
        ("id,one\na,1\n", "the first line must be entry,RUN"),
        ("entry,one\na,1,0\n", r"t.csv:2: 2 verdicts for 1 runs"),
        ("entry,one\na,1\nb,yes\n", r"t.csv:3: 'yes' must be 1, 0 or empty"),
    ],
)
def test_another_table_is_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(UsageError, match=why):
        read_verdict_matrix(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(TABLE.encode(), mtime=0)[:-4]], ids=["other", "cut"]
)
def test_what_is_no_table_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(content)
    with pytest.raises(UsageError, match="cannot be read as a table of verdicts"):
        read_verdict_matrix(tmp_path / "t.csv.gz")


def test_a_scorecard_has_the_official_verdicts_of_a_suite(tmp_path: Path) -> None:
    records = [
        make_record(Passed(), Failed("x", "y")),
        make_record(Failed("x", "y"), Passed(), number=1),
        make_record(NotScored("timeout", "x"), number=2),
        make_record(Passed(), suite="mine", number=3),
    ]
    write_scorecard(tmp_path / "card.json", records)
    assert read_scorecard_verdicts(load_scorecard(tmp_path / "card.json"), "core").passed == {
        "simple_python_0": True,
        "simple_python_1": False,
    }
