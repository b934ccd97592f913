"""Text views of the tables of SQL entries, and of an answer's effect beside the expected one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.kinds.sql import kind as sql
from pytest_fcbench.kinds.sql.corrected import Content, Row, has_same_state, try_calls
from pytest_fcbench.kinds.sql.statements import NoStatement, Statement
from pytest_fcbench.present.tables import Table, render_text

_MOST_ROWS = 20
_WIDEST, _WIDEST_IN_FULL = 48, 1_000
"""The longest cell, in characters."""


def render_tables(entry: Entry, transcript: Transcript | None, *, full: bool = False) -> Iterator[str]:
    """Render the tables of an entry: given ones, or those derived from its ground truth and an answer.

    ``full`` shows every row.
    """
    call = sql.find_call(entry, transcript) if transcript else None
    try:
        trial = try_calls(entry, sql.get_expected_call(entry), call)
    except NoStatement as error:
        yield from ("", f"no tables: the expected statement cannot be executed: {error}")
        return
    kind = "table" if entry.tables else "derived table"
    for table in trial.tables:
        columns = tuple(f"{name} {of}".strip() for name, of in table.columns.items())
        rows = [tuple(map(_render_cell, row)) for row in table.rows]
        yield from _render_table(f"{kind} {table.name}", columns, rows, full=full)


def render_results(entry: Entry, transcript: Transcript, *, full: bool = False) -> Iterator[str]:
    """Render the rows and the state after the statement of an answer, beside the expected ones."""
    call = sql.find_call(entry, transcript)
    if call is None:
        return
    try:
        trial = try_calls(entry, sql.get_expected_call(entry), call)
    except NoStatement:
        return
    (statement, expected_outcome), found_outcome = trial.expected[0], trial.found
    answer = trial.answer.sql if isinstance(trial.answer, Statement) else f"no statement: {trial.answer}"
    yield from ("", f"expected  {statement.sql}", f"found     {answer}")
    if isinstance(found_outcome, NoStatement):
        return
    if expected_outcome.rows or found_outcome.rows:
        both = _render_rows(expected_outcome.rows), _render_rows(found_outcome.rows)
        yield from _render_beside("rows", *both, full=full)
    if has_same_state(expected_outcome, found_outcome):
        return
    for name in sorted({*expected_outcome.state, *found_outcome.state}):
        one, other = expected_outcome.state.get(name), found_outcome.state.get(name)
        if one != other:
            only = _render_difference(one, other), _render_difference(other, one)
            yield from _render_beside(f"differences in table {name} afterwards", *only, full=full)


def _render_difference(content: Content | None, other: Content | None) -> list[str]:
    """Render the columns of a table if they differ from the other's, and the rows that the other lacks."""
    if content is None:
        return ["(no such table)"]
    columns = ", ".join(f"{name} {kind}".strip() for name, kind in content.columns)
    heads = [f"columns {columns}"] if other is None or other.columns != content.columns else []
    # Rows are counted, because a table can hold equal ones.
    return heads + _render_rows(list((content.rows - other.rows if other else content.rows).elements()))


def _render_rows(rows: Sequence[Row]) -> list[str]:
    return [", ".join(map(_render_cell, row)) for row in rows]


def _render_cell(value: object) -> str:
    return "NULL" if value is None else str(value)


def _render_beside(
    title: str, expected_lines: Sequence[str], found_lines: Sequence[str], *, full: bool
) -> Iterator[str]:
    rows = list(zip_longest(expected_lines, found_lines, fillvalue=""))
    title = f"{title} ({len(expected_lines)} and {len(found_lines)})"
    yield from _render_table(title, ("expected", "found"), rows, full=full)


def _render_table(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, full: bool
) -> Iterator[str]:
    """Render a table; unless it is shown in full, only the first rows, with long cells shortened."""
    widest, most = (_WIDEST_IN_FULL, None) if full else (_WIDEST, _MOST_ROWS)
    shown_rows = [tuple(shorten_text(cell, widest) for cell in row) for row in rows[:most]]
    hidden_count = len(rows) - len(shown_rows)
    more = (f"and {hidden_count:,} more rows; --full shows all",) if hidden_count else ()
    yield ""
    yield from render_text(Table(title, columns, tuple(shown_rows), more, left=frozenset(columns)))
