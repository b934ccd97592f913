"""Tables of a database written in YAML, which all entries of a file act on:

tables:
  books:
    columns: {id: INTEGER, title: TEXT, price: REAL}
    rows:
      - [1, The Salt Road, 12.5]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pytest_fcbench.domain.entry import DatabaseTable
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import AtLeastOne, OneOf, Row

COLUMN_TYPES = ("INTEGER", "REAL", "TEXT", "NUMERIC")


class DatabaseTableRow(Row):
    """A table: its columns with their types, and its rows."""

    columns: AtLeastOne[Annotated[str, OneOf("type", COLUMN_TYPES)]]
    rows: list[list[object]]
    """Values by column."""


def read_tables(rows: Mapping[str, DatabaseTableRow], at: Field) -> tuple[DatabaseTable, ...]:
    """Return the tables, in their order. Raises ``SuiteError``."""
    # SQL does not tell names apart by the case of letters.
    if len({name.lower() for name in rows}) != len(rows):
        raise at.error("two tables have the same name, apart from upper and lower case")
    tables = []
    for name, row in rows.items():
        for place, values in zip(at.at(name, "rows").elements(), row.rows, strict=True):
            if len(values) != len(row.columns):
                raise place.error(f"has {len(values)} values for {len(row.columns)} columns")
            for field in place.elements():
                # YAML also reads dates, which SQLite has no type for.
                if field.value is not None and not isinstance(field.value, (str, int, float)):
                    raise field.error("must be text, a number or null")
        tables.append(DatabaseTable(name, row.columns, tuple(map(tuple, row.rows))))
    return tuple(tables)
