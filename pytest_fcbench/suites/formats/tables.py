"""Tables of a database written in YAML, which all entries of a file act on:

tables:
  books:
    columns: {id: INTEGER, title: TEXT, price: REAL}
    rows:
      - [1, The Salt Road, 12.5]
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.entry import Table
from pytest_fcbench.domain.errors import unknown
from pytest_fcbench.suites.formats.fields import Field

COLUMN_TYPES = ("INTEGER", "REAL", "TEXT", "NUMERIC")


def read(field: Field) -> tuple[Table, ...]:
    """The tables, in their order. Raises ``SuiteError``."""
    found = {name.lower(): _table(name, table) for name, table in field.members().items()}
    if len(found) != len(field.members()):
        raise field.error("two tables have the same name, whatever the case of letters")
    return tuple(found.values())


def _table(name: str, field: Field) -> Table:
    members = field.members(("columns", "rows"))
    columns = dict(_columns(members["columns"]))
    if not columns:
        raise members["columns"].error("needs a column")
    rows = tuple(_row(row, len(columns)) for row in members["rows"].elements())
    return Table(name, columns, rows)


def _columns(field: Field) -> Iterator[tuple[str, str]]:
    for name, kind in field.members().items():
        if kind.text() not in COLUMN_TYPES:
            raise kind.error(unknown("type", kind.text(), COLUMN_TYPES))
        yield name, kind.text()


def _row(field: Field, width: int) -> tuple[object, ...]:
    values = tuple(value.value for value in field.elements())
    if len(values) != width:
        raise field.error(f"has {len(values)} values for {width} columns")
    for value in field.elements():
        if value.value is not None and not isinstance(value.value, (str, int, float)):
            raise value.error("must be text, a number or null")
    return values
