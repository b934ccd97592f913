"""A small database, and calls on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_fcbench.domain.entry import DatabaseTable, Entry
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.kinds.sql.corrected import StatementOutcome, carry_out
from pytest_fcbench.kinds.sql.statements import Statement, translate
from tests.factories import make_doc, make_entry

TABLES = (
    DatabaseTable(
        "tools",
        {"id": "INTEGER", "name": "TEXT", "price": "REAL", "shelf": "INTEGER"},
        ((1, "saw", 12.5, 1), (2, "file", 4, 1), (3, "plane", 40, 2), (4, "Old plane", 9, None)),
    ),
    DatabaseTable("shelves", {"id": "INTEGER", "room": "TEXT"}, ((1, "shed"), (2, "attic"), (3, "attic"))),
)
SCHEMA = {table.name: tuple(table.columns) for table in TABLES}

_TEXTS = {"type": "array", "items": {"type": "string"}}
_VALUES = {"type": "array", "items": {"type": "any"}}

DOC: FunctionDoc = make_doc(
    "sql.execute",
    {
        "sql_keyword": {"type": "string"},
        "table_name": {"type": "string"},
        "columns": _TEXTS,
        "insert_values": {"type": "array", "items": _VALUES},
        "update_values": _VALUES,
        "conditions": _TEXTS,
        **dict.fromkeys(("joins", "group_by", "having", "order_by"), _TEXTS),
        "limit": {"type": "integer"},
    },
    ["sql_keyword", "table_name"],
)


def make_arguments(
    keyword: str = "SELECT", table: object = "tools", **arguments: object
) -> dict[str, object]:
    """Make the arguments of a call."""
    return {"sql_keyword": keyword, "table_name": table, **arguments}


def make_statement(keyword: str = "SELECT", table: object = "tools", **arguments: object) -> Statement:
    """Translate a call on the small database into a statement."""
    return translate(make_arguments(keyword, table, **arguments), SCHEMA)


def run_statement(keyword: str = "SELECT", table: object = "tools", **arguments: object) -> StatementOutcome:
    """Carry out a call on the small database."""
    return carry_out(make_statement(keyword, table, **arguments), TABLES)


def make_sql_entry(truth: dict[str, object], tables: tuple[DatabaseTable, ...] = TABLES) -> Entry:
    """Make an entry that expects this call; each value is the only one accepted."""
    accepted = {name: [value] for name, value in truth.items()}
    return make_accepting_entry(accepted, tables)


def make_accepting_entry(accepted: Mapping[str, object], tables: tuple[DatabaseTable, ...] = TABLES) -> Entry:
    """Make an entry that expects a call with these accepted values."""
    return replace(make_entry("sql", functions=[DOC], expect=[{DOC.name: accepted}]), tables=tables)
