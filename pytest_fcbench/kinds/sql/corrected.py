"""The corrected verdict on a call of SQL, by its effect on a database.

Statements are executed in SQLite in memory. An authorizer lets one read and change the tables that it names
and nothing else: no file, no setting, no extension, no catalogue, no function but those listed. Work is
limited by counted steps, never by a clock, so a verdict does not depend on the machine.

Where an entry has no tables they are made: the truth names a table, columns, and values that columns are
compared with. For each such column there are rows with each of these values and with their neighbours, in
all combinations, so that every condition holds in some rows and not in others. Values that an answer compares
with are added, so that a condition too many shows. Every column takes numbers and texts (affinity NUMERIC),
because truths write ``95`` and ``"95"``.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TypeAlias, TypeVar

from pytest_fcbench.domain.entry import DatabaseTable, Entry
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Passed, Verdict
from pytest_fcbench.kinds.calls.truth import ExpectedCall, list_options
from pytest_fcbench.kinds.sql import statements as sql
from pytest_fcbench.kinds.sql.statements import Keyword, NoStatement, Schema, Statement, Value

T = TypeVar("T")
R = TypeVar("R")

WRONG_RESULT = "sql:wrong_result"
WRONG_STATE = "sql:wrong_state"

_MOST_ALTERNATIVES = 32
_LONGEST_DETAIL = 2_000


@dataclass(frozen=True, slots=True)
class Trial:
    """The accepted calls and an answer, carried out on the same tables."""

    tables: Sequence[DatabaseTable]
    expected: Sequence[tuple[Statement, StatementOutcome]]
    """The accepted calls that can be carried out; there is one."""
    answer: Statement | NoStatement
    found: StatementOutcome | NoStatement
    """The outcome of the answer, or of its translation where there is no statement."""


def match_call(entry: Entry, expected_call: ExpectedCall, call: Call, as_written: Verdict) -> Verdict:
    """Return the corrected verdict on a call of the expected function.

    ``as_written`` is that of the comparison with the possible answer; it decides where no accepted call can
    be carried out, and a failure then says so.
    """
    try:
        trial = try_calls(entry, expected_call, call)
    except NoStatement as error:
        if not isinstance(as_written, Failed):
            return as_written
        return replace(as_written, details={**as_written.details, "not_carried_out": str(error)})
    call_details = {"function": call.name, "expected": trial.expected[0][0].sql[:_LONGEST_DETAIL]}
    if isinstance(trial.answer, Statement):
        call_details["found"] = trial.answer.sql[:_LONGEST_DETAIL]
    if isinstance(trial.found, NoStatement):
        return Failed(trial.found.code, f"{call.name}: {trial.found}", call_details)
    failures = []
    for truth, expected_outcome in trial.expected:
        # The state first: a statement that changes tables returns no rows.
        if not has_same_state(expected_outcome, trial.found):
            failures.append(Failed(WRONG_STATE, f"the tables are not as after {truth.sql}", call_details))
        elif not has_same_rows(expected_outcome, trial.found, ordered=truth.ordered):
            numbers = f"{len(trial.found.rows)} for {len(expected_outcome.rows)}"
            reason = f"the rows ({numbers}) are not those of {truth.sql}"
            failures.append(Failed(WRONG_RESULT, reason, call_details))
        else:
            return Passed()
    # The details show the first accepted call, so its failure is the one that is reported.
    return failures[0]


def try_calls(entry: Entry, expected_call: ExpectedCall, call: Call | None = None) -> Trial:
    """Carry out the accepted calls and an answer; without one the first accepted call takes its place.

    Raises ``NoStatement`` where no accepted call can be carried out.
    """
    schema = _list_columns(entry.tables) if entry.tables else None
    options = map(list_options, expected_call.accepted.values())
    # "" among the accepted values of a parameter is its absence.
    accepted_arguments = (
        {name: value for name, value in zip(expected_call.accepted, values, strict=True) if value != ""}
        for values in islice(product(*options), _MOST_ALTERNATIVES)
    )
    truths = _make_possible(accepted_arguments, lambda arguments: sql.translate(arguments, schema))
    columns = _list_columns(entry.tables or derive_tables(truths[0])) if call else schema
    answer = _attempt(lambda: sql.translate(call.arguments, columns)) if call else truths[0]
    # Rows are derived from the answer too, so that a condition too many shows.
    statements = [truths[0], answer] if isinstance(answer, Statement) else truths[:1]
    tables = entry.tables or derive_tables(*statements)
    expected_outcomes = _make_possible(truths, lambda truth: (truth, carry_out(truth, tables)))
    if isinstance(answer, NoStatement):
        return Trial(tables, expected_outcomes, answer, answer)
    return Trial(tables, expected_outcomes, answer, _attempt(lambda: carry_out(answer, tables)))


def _attempt(make: Callable[[], R]) -> R | NoStatement:
    try:
        return make()
    except NoStatement as error:
        return error


def _make_possible(items: Iterable[T], make: Callable[[T], R]) -> Sequence[R]:
    """Make what can be made of the items. Raises ``NoStatement`` where nothing can."""
    results, cause = [], NoStatement("", "no call is accepted")
    for item in items:
        try:
            results.append(make(item))
        except NoStatement as error:
            cause = error
    if not results:
        raise cause
    return results


def _list_columns(tables: Sequence[DatabaseTable]) -> Schema:
    return {table.name: tuple(table.columns) for table in tables}


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


_CODES = {"SQLITE_AUTH": sql.REFUSED, "SQLITE_INTERRUPT": TOO_MUCH, "SQLITE_TOOBIG": TOO_MUCH}


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
            affinity = next((each for part, each in _AFFINITIES.items() if part in kind.upper()), "numeric")
            columns.append((column.lower(), affinity if kind else ""))
        yield name.lower(), Content(tuple(columns), Counter(rows))


_AFFINITIES = {"INT": "integer", **dict.fromkeys(("CHAR", "CLOB", "TEXT"), "text"), "BLOB": "blob"}
_AFFINITIES |= dict.fromkeys(("REAL", "FLOA", "DOUB"), "real")


def has_same_rows(expected: StatementOutcome, actual: StatementOutcome, *, ordered: bool) -> bool:
    """Tell whether the same rows were returned; in the same order where it counts."""
    # SQL promises no order without ORDER BY, but how often a row comes.
    return expected.rows == actual.rows or (not ordered and Counter(expected.rows) == Counter(actual.rows))


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


_MOST_DERIVED_ROWS = 2_000
_FURTHER = "a further column"
"""A column that no statement names, so that ``*`` differs from a list of the named ones."""


def derive_tables(truth: Statement, *others: Statement) -> tuple[DatabaseTable, ...]:
    """Make the table of a truth, filled so that it and other statements show their effect.

    Raises ``NoStatement`` for a truth about several tables.
    """
    if truth.keyword is Keyword.CREATE:
        return ()
    if len(truth.tables) != 1:
        raise NoStatement(sql.CANNOT_TRANSLATE, "the truth is about several tables, and none is given")
    (table,) = truth.tables
    if truth.keyword is Keyword.INSERT:
        columns: Sequence[str] = truth.columns or [f"column {number + 1}" for number in range(truth.width)]
    else:
        columns = (*(column.lower() for column in truth.columns), *truth.compared, _FURTHER)
    columns = tuple(dict.fromkeys(columns))
    statements = (truth, *others)
    values = {
        column: tuple(dict.fromkeys(near for constant in constants for near in _list_near_values(constant)))
        for column in columns
        if (constants := [value for one in statements for value in one.compared.get(column.lower(), ())])
    }
    # All combinations would be too many rows for many columns, so each column takes fewer values.
    most = max(2, int(_MOST_DERIVED_ROWS ** (1 / max(1, len(values)))))
    choices = islice(product(*(near[:most] for near in values.values())), _MOST_DERIVED_ROWS)
    rows = []
    for number, choice in enumerate(choices):
        cells = dict(zip(values, choice, strict=True))
        # A column without values gets one in each row that no other cell has.
        rows.append(tuple(cells.get(name, at * 1_000_003 + number) for at, name in enumerate(columns, 1)))
    return (DatabaseTable(table, dict.fromkeys(columns, "NUMERIC"), tuple(rows)),)


def _list_near_values(value: Value) -> Iterator[Value]:
    """Yield a value, one below it, one above it; of a pattern the text between its wildcards."""
    if value is None:
        yield from (None, "something")
    elif isinstance(value, str):
        text = value.strip("%")
        yield from (text, text[:-1], f"{text}~", f"~{text}")
    else:
        step = 1 if isinstance(value, int) else 0.5
        yield from (value, value - step, value + step)
