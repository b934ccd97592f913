"""Questions that a statement of SQL answers, written by hand in YAML.

To what questions with calls have (``calls.entries``) come tables, which the statements of all entries act on:

tables:
  books:
    columns: {id: INTEGER, title: TEXT, price: REAL}
    rows:
      - [1, The Salt Road, 12.5]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated

from pytest_fcbench.domain.entry import Category, DatabaseTable, Entry
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.questions import read_questions
from pytest_fcbench.formats.rows import AtLeastOne, OneOf, Row
from pytest_fcbench.kinds.calls.entries import ExpectingFile, ExpectingRow, read_expected_calls
from pytest_fcbench.kinds.calls.truth import ExpectedCalls

COLUMN_TYPES = ("INTEGER", "REAL", "TEXT", "NUMERIC")


class DatabaseTableRow(Row):
    """A table: its columns with their types, and its rows."""

    columns: AtLeastOne[Annotated[str, OneOf("type", COLUMN_TYPES)]]
    rows: list[list[object]]
    """Values by column."""


class SqlFile(ExpectingFile):
    """Questions that statements of SQL answer."""

    tables: dict[str, DatabaseTableRow]
    """The tables that the statement acts on."""


def entries(row: SqlFile, file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""

    def read_statement(
        question: ExpectingRow, place: Field, functions: Mapping[str, FunctionDoc]
    ) -> ExpectedCalls:
        # A judge of texts knows nothing of what a statement does.
        if question.judged:
            raise place.at("judged").error(
                f"is not for {category.name}, whose statements are carried out; leave it out"
            )
        return read_expected_calls(category, question, place, functions)

    # The tables last, so that an error in them does not hide those of the rest.
    without_tables = list(read_questions(row, file, suite, category, read_statement))
    tables = read_tables(row.tables, file.at("tables"))
    for place, entry in without_tables:
        yield place, replace(entry, tables=tables)


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
