"""Tables in YAML, and what is wrong with some."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Table
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.suites.formats import tables
from pytest_fcbench.suites.formats.fields import Field, yaml_value


def _read(folder: Path, text: str) -> tuple[Table, ...]:
    path = folder / "tables.yaml"
    path.write_text(text, encoding="utf-8")
    return tables.read(Field(yaml_value(path), path))


def test_tables_are_read(tmp_path: Path) -> None:
    text = (
        "books:\n  columns: {id: INTEGER, title: TEXT}\n  rows:\n    - [1, The Salt Road]\n    - [2, null]\n"
    )
    books = Table("books", {"id": "INTEGER", "title": "TEXT"}, ((1, "The Salt Road"), (2, None)))
    empty = "loans:\n  columns: {days: REAL}\n  rows: []\n"
    assert _read(tmp_path, text + empty) == (books, Table("loans", {"days": "REAL"}, ()))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[]", "1: file: must be a mapping"),
        ("t: {columns: {a: TEXT}}", "1: t: has no 'rows'"),
        ("t: {columns: {}, rows: []}", "1: t.columns: needs a column"),
        ("t: {columns: {a: STRING}, rows: []}", "unknown type 'STRING'"),
        ("t:\n  columns: {a: TEXT}\n  rows:\n    - [x, y]", "4: t.rows.0: has 2 values for 1 columns"),
        ("t:\n  columns: {a: TEXT}\n  rows:\n    - [[x]]", "4: t.rows.0.0: must be text, a number or null"),
        ("t:\n  columns: {a: TEXT}\n  rows:\n    - [2026-05-01]", "must be text, a number or null"),
        ("t: {columns: {a: TEXT}, rows: []}\nT: {columns: {a: TEXT}, rows: []}", "same name"),
    ],
)
def test_an_error_names_the_place(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(SuiteError) as caught:
        _read(tmp_path, text)
    assert error in str(caught.value)
