"""Entries or scores as CSV: numbers as numbers, texts as no spreadsheet calculates them."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.present.tables import escape_cell, render_csv_row
from pytest_fcbench.scorecard.rows import list_columns
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.ordered_rows import ROWS, describe_rows


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield the lines of the file."""
    columns = list_columns(ROWS[order.per])
    yield f"{render_csv_row(columns)}\n"
    for row in describe_rows(order):
        # In the order of the head, whatever the order of the row's fields.
        cells = (getattr(row, name) for name in columns)
        yield f"{render_csv_row(escape_cell(cell) if isinstance(cell, str) else cell for cell in cells)}\n"
