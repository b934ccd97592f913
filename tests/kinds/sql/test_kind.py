"""Statements of SQL are explained as they are judged."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from pytest_fcbench.domain.entry import DatabaseTable
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.explanation import FailedEntry
from pytest_fcbench.domain.verdict import Failed, Profile
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import Row, read_row
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.sql.kind import SQL, DatabaseTableRow, read_tables
from tests.cases import each_case
from tests.factories import make_entry, make_transcript


@pytest.mark.parametrize(("profile", "pairs"), [(Profile.OFFICIAL, 1), (Profile.CORRECTED, 0)])
def test_arguments_stand_beside_each_other_only_where_they_are_compared(profile: Profile, pairs: int) -> None:
    transcript = make_transcript("[weather.forecast(city='Oslo')]")
    failed = FailedEntry(make_entry("sql"), transcript, Failed("code", "why"), profile)
    assert len(SQL.pair_calls(failed, None)) == pairs


class File(Row):
    """Tables alone."""

    tables: dict[str, DatabaseTableRow]


def _read_tables(folder: Path, text: str) -> tuple[DatabaseTable, ...]:
    path = folder / "tables.yaml"
    path.write_text("tables:\n" + indent(text, "  "), encoding="utf-8")
    file = Field(read_yaml(path), path)
    return read_tables(read_row(file, File).tables, file.at("tables"))


def test_tables_are_read(tmp_path: Path) -> None:
    text = (
        "books:\n  columns: {id: INTEGER, title: TEXT}\n  rows:\n    - [1, The Salt Road]\n    - [2, null]\n"
    )
    books = DatabaseTable("books", {"id": "INTEGER", "title": "TEXT"}, ((1, "The Salt Road"), (2, None)))
    empty = "loans:\n  columns: {days: REAL}\n  rows: []\n"
    assert _read_tables(tmp_path, text + empty) == (books, DatabaseTable("loans", {"days": "REAL"}, ()))


@each_case(
    ("text", "error"),
    [
        ("[]", "1: tables: must be a mapping"),
        ("t: {columns: {a: TEXT}}", "2: tables.t: has no 'rows'"),
        ("t: {columns: {}, rows: []}", "2: tables.t.columns: must have at least one name"),
        ("t: {columns: {a: STRING}, rows: []}", "unknown type 'STRING'"),
        ("t:\n  columns: {a: TEXT}\n  rows:\n    - [x, y]", "5: tables.t.rows.0: has 2 values for 1 columns"),
        (
            "t:\n  columns: {a: TEXT}\n  rows:\n    - [[x]]",
            "5: tables.t.rows.0.0: must be text, a number or null",
        ),
        (
            "t:\n  columns: {a: TEXT}\n  rows:\n    - [!!timestamp 2026-05-01]",
            "must be text, a number or null",
        ),
        (f"t: {{columns: {{a: TEXT}}, rows: [[{2**63}]]}}", "0.0: has more than 63 bits; put it in quotes"),
        ("t: {columns: {a: TEXT, A: TEXT}, rows: []}", "2: tables.t.columns: two columns have the same"),
        ("t: {columns: {a: TEXT}, rows: []}\nT: {columns: {a: TEXT}, rows: []}", "same name"),
    ],
)
def test_an_error_names_the_place(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(SuiteError) as caught:
        _read_tables(tmp_path, text)
    assert error in str(caught.value)
