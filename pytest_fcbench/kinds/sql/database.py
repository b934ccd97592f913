"""Execution of a statement on tables, in an isolated database of its own.

SQLite in memory. An authorizer lets a statement read and change the tables that it names and nothing else: no
file, no setting, no extension, no catalogue, no function but those listed. Work is limited by
counted steps, never by a clock, so a verdict does not depend on the machine.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.domain.entry import DatabaseTable
from pytest_fcbench.kinds.sql.statements import REFUSED, Keyword, NoStatement, Statement

ERROR = "sql:error"
TOO_MUCH = "sql:too_much"

_MOST_STEPS = 1_000_000
"""Instructions of SQLite's machine that a statement may take."""
_STEPS_AT_ONCE = 1_000
_MOST_ROWS = 10_000
_LIMITS: Mapping[int, int] = {
    sqlite3.SQLITE_LIMIT_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 10,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""Bytes of a value or row, bytes of a statement and so on."""

_FUNCTIONS = frozenset(
    [
        *("count", "sum", "avg", "min", "max", "abs", "round", "length", "lower", "upper", "trim", "ltrim"),
        *("rtrim", "substr", "substring", "coalesce", "ifnull", "nullif", "like", "iif"),
    ]
)

Row: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a table: lower-case column names with their affinity ("" without a type), and rows."""

    columns: tuple[tuple[str, str], ...]
    rows: Counter[Row]


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """The rows that a statement returned, and the tables after it by lower-case name."""

    rows: tuple[Row, ...]
    state: Mapping[str, Content]


def carry_out(statement: Statement, tables: Collection[DatabaseTable]) -> StatementOutcome:
    """Carry out a statement on tables. Raises ``NoStatement``."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for table in tables:
            columns = ", ".join(f"{_quote(name)} {kind}" for name, kind in table.columns.items())
            connection.execute(f"CREATE TABLE {_quote(table.name)} ({columns})")
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f"INSERT INTO {_quote(table.name)} VALUES ({marks})", table.rows)  # noqa: S608
        # Limits and authorizer come after the tables are filled, which is our own work.
        for limit, most in _LIMITS.items():
            connection.setlimit(limit, most)
        connection.set_authorizer(_make_authorizer(statement))
        steps_left = iter(range(_MOST_STEPS // _STEPS_AT_ONCE))
        # SQLite stops a statement when its progress handler returns true.
        connection.set_progress_handler(lambda: next(steps_left, None) is None, _STEPS_AT_ONCE)
        try:
            rows = connection.execute(statement.sql).fetchmany(_MOST_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning) as error:
            code = _CODES.get(getattr(error, "sqlite_errorname", ""), ERROR)
            raise NoStatement(code, f"SQLite: {error}") from None
        if len(rows) > _MOST_ROWS:
            raise NoStatement(TOO_MUCH, f"it returns more than {_MOST_ROWS:,} rows")
        # Reading the tables afterwards is our own work, which is neither limited nor refused.
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
        return StatementOutcome(tuple(rows), dict(_read_state(connection)))


_CODES = {"SQLITE_AUTH": REFUSED, "SQLITE_INTERRUPT": TOO_MUCH, "SQLITE_TOOBIG": TOO_MUCH}


def _quote(name: str) -> str:
    escaped_name = name.replace('"', '""')
    return f'"{escaped_name}"'


_CHANGES: Mapping[Keyword, int] = {
    Keyword.INSERT: sqlite3.SQLITE_INSERT,
    Keyword.UPDATE: sqlite3.SQLITE_UPDATE,
    Keyword.DELETE: sqlite3.SQLITE_DELETE,
}
_CREATING = (sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_REINDEX)
_NOTING = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_READ)
"""Actions of SQLite in its catalogue when it creates a table."""


def _make_authorizer(statement: Statement) -> Callable[..., int]:
    is_creation = statement.keyword is Keyword.CREATE

    def allows(action: int, first: str | None, second: str | None) -> bool:
        name = (first or "").lower()
        if action == sqlite3.SQLITE_SELECT:
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return (second or "").lower() in _FUNCTIONS
        if is_creation and (action in _CREATING or (action in _NOTING and name == "sqlite_master")):
            return True
        return action in (sqlite3.SQLITE_READ, _CHANGES.get(statement.keyword)) and name in statement.tables

    def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        return sqlite3.SQLITE_OK if allows(action, first, second) else sqlite3.SQLITE_DENY

    return authorize


def _read_state(connection: sqlite3.Connection) -> Iterator[tuple[str, Content]]:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in names:
        info = connection.execute(f"PRAGMA table_info({_quote(name)})").fetchall()
        rows = connection.execute(f"SELECT * FROM {_quote(name)}").fetchall()  # noqa: S608
        columns = []
        for _, column, kind, *_ in info:
            # SQLite, "Determination Of Column Affinity": the first of these parts in a type decides.
            affinity = next((each for part, each in _AFFINITIES if part in kind.upper()), "numeric")
            columns.append((column.lower(), affinity if kind else ""))
        yield name.lower(), Content(tuple(columns), Counter(rows))


_AFFINITIES = (
    ("INT", "integer"),
    ("CHAR", "text"),
    ("CLOB", "text"),
    ("TEXT", "text"),
    ("BLOB", "blob"),
    ("REAL", "real"),
    ("FLOA", "real"),
    ("DOUB", "real"),
)


def has_same_rows(
    expected_outcome: StatementOutcome, actual_outcome: StatementOutcome, *, ordered: bool
) -> bool:
    """Tell whether the same rows were returned; in the same order where it counts."""
    if ordered:
        return expected_outcome.rows == actual_outcome.rows
    # SQL promises no order without ORDER BY, but how often a row comes.
    return Counter(expected_outcome.rows) == Counter(actual_outcome.rows)


def has_same_state(expected_outcome: StatementOutcome, actual_outcome: StatementOutcome) -> bool:
    """Tell whether the same tables with the same rows are there."""
    if expected_outcome.state.keys() != actual_outcome.state.keys():
        return False
    for table, content in expected_outcome.state.items():
        other = actual_outcome.state[table]
        if content.rows != other.rows or len(content.columns) != len(other.columns):
            return False
        for (expected_name, affinity), (name, kind) in zip(content.columns, other.columns, strict=True):
            # A type counts only where the truth declares one.
            if name != expected_name or affinity not in ("", kind):
                return False
    return True
