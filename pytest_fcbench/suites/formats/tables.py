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

from pytest_fcbench.domain.entry import Table
from pytest_fcbench.suites.formats.fields import Field
from pytest_fcbench.suites.formats.rows import AtLeastOne, OneOf, Row

COLUMN_TYPES = ("INTEGER", "REAL", "TEXT", "NUMERIC")


class TableRow(Row):
    """A table: its columns with their types, and its rows."""

    columns: AtLeastOne[Annotated[str, OneOf("type", COLUMN_TYPES)]]
    rows: list[list[object]]
    """Values by column."""


def read_tables(rows: Mapping[str, TableRow], at: Field) -> tuple[Table, ...]:
    """Return the tables, in their order. Raises ``SuiteError``."""
    # SQL does not tell names apart by the case of letters.
    if len({name.lower() for name in rows}) != len(rows):
        raise at.error("two tables have the same name, whatever the case of letters")
    return tuple(
        Table(
            name,
            row.columns,
            tuple(_read_values(place, len(row.columns)) for place in at.at(name, "rows").elements()),
        )
        for name, row in rows.items()
    )


def _read_values(at: Field, width: int) -> tuple[object, ...]:
    values = list(at.elements())
    if len(values) != width:
        raise at.error(f"has {len(values)} values for {width} columns")
    for field in values:
        # YAML also reads dates, which SQLite has no type for.
        if field.value is not None and not isinstance(field.value, (str, int, float)):
            raise field.error("must be text, a number or null")
    return tuple(field.value for field in values)
