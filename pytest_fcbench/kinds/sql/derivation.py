"""Tables made for entries without any, on which statements show their effect.

The truth names a table, columns, and values that columns are compared with. For each such column there are
rows with each of these values and with their neighbours, in all combinations, so that every condition holds
in some rows and not in others. Values that an answer compares with are added, so that a condition too
many shows. Every column takes numbers and texts (affinity NUMERIC), because truths write ``95`` and ``"95"``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from pytest_fcbench.domain.entry import DatabaseTable
from pytest_fcbench.kinds.sql.statements import CANNOT_TRANSLATE, Keyword, NoStatement, Statement, Value

_MOST_ROWS = 2_000
_FURTHER = "a further column"
"""A column that no statement names, so that ``*`` differs from a list of the named ones."""


def derive_tables(truth: Statement, *others: Statement) -> tuple[DatabaseTable, ...]:
    """Make the table of a truth, filled so that it and other statements show their effect.

    Raises ``NoStatement`` for a truth about several tables.
    """
    if truth.keyword is Keyword.CREATE:
        return ()
    if len(truth.tables) != 1:
        raise NoStatement(CANNOT_TRANSLATE, "the truth is about several tables, and none is given")
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
    most = max(2, int(_MOST_ROWS ** (1 / max(1, len(values)))))
    choices = islice(product(*(near[:most] for near in values.values())), _MOST_ROWS)
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
