"""The tables that statements of SQL act on, and what an answer did beside what was expected, to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.text import shorten
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.matchers import sql
from pytest_fcbench.matchers.sql.corrected import tried
from pytest_fcbench.matchers.sql.database import Content, Outcome, Row, same_state
from pytest_fcbench.matchers.sql.statements import NoStatement, Statement
from pytest_fcbench.scorecard.render.tables import Table, text

_MOST_ROWS = 20
_WIDEST, _WIDEST_IN_FULL = 48, 1_000
"""Characters of a cell."""


def tables(entry: Entry, transcript: Transcript | None, *, full: bool = False) -> Iterator[str]:
    """The tables of an entry: given ones, or those that follow from its truth and an answer; ``full`` is
    every row."""
    call = sql.call_of(entry, transcript) if transcript else None
    try:
        trial = tried(entry, sql.wanted(entry), call)
    except NoStatement as error:
        yield from ("", f"no tables: the truth cannot be carried out: {error}")
        return
    kind = "table" if entry.tables else "derived table"
    for table in trial.tables:
        columns = tuple(f"{name} {of}".strip() for name, of in table.columns.items())
        rows = [tuple(map(_cell, row)) for row in table.rows]
        yield from _drawn(f"{kind} {table.name}", columns, rows, full=full)


def results(entry: Entry, transcript: Transcript, *, full: bool = False) -> Iterator[str]:
    """What the statement of an answer returned and left behind, beside what was expected."""
    call = sql.call_of(entry, transcript)
    if call is None:
        return
    try:
        trial = tried(entry, sql.wanted(entry), call)
    except NoStatement:
        return
    (statement, expected), found = trial.expected[0], trial.found
    answer = trial.answer.sql if isinstance(trial.answer, Statement) else f"no statement: {trial.answer}"
    yield from ("", f"expected  {statement.sql}", f"found     {answer}")
    if isinstance(found, NoStatement):
        return
    if expected.rows or found.rows:
        yield from _beside("rows", _lines(expected.rows), _lines(found.rows), full=full)
    if not same_state(expected, found):
        yield from _states(expected, found, full=full)


def _states(expected: Outcome, found: Outcome, *, full: bool) -> Iterator[str]:
    """What only one of two leaves behind, table by table."""
    for name in sorted({*expected.state, *found.state}):
        one, other = expected.state.get(name), found.state.get(name)
        if one != other:
            only = _only(one, other), _only(other, one)
            yield from _beside(f"table {name} afterwards, as far as it differs", *only, full=full)


def _only(content: Content | None, other: Content | None) -> list[str]:
    """The columns where they differ, and the rows that the other has not."""
    if content is None:
        return ["(there is no such table)"]
    columns = ", ".join(f"{name} {kind}".strip() for name, kind in content.columns)
    heads = [f"columns {columns}"] if other is None or other.columns != content.columns else []
    return heads + _lines(list((content.rows - other.rows if other else content.rows).elements()))


def _lines(rows: Sequence[Row]) -> list[str]:
    return [", ".join(map(_cell, row)) for row in rows]


def _cell(value: object) -> str:
    return "NULL" if value is None else str(value)


def _beside(title: str, expected: Sequence[str], found: Sequence[str], *, full: bool) -> Iterator[str]:
    rows = list(zip_longest(expected, found, fillvalue=""))
    yield from _drawn(f"{title} ({len(expected)} and {len(found)})", ("expected", "found"), rows, full=full)


def _drawn(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, full: bool
) -> Iterator[str]:
    widest, most = (_WIDEST_IN_FULL, None) if full else (_WIDEST, _MOST_ROWS)
    kept = [tuple(shorten(cell, widest) for cell in row) for row in rows[:most]]
    more = (f"and {len(rows) - len(kept):,} more rows; --full shows all",) if len(kept) < len(rows) else ()
    yield ""
    yield from text(Table(title, columns, tuple(kept), more, left=frozenset(columns)))
