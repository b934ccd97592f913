"""Entries or scores as Parquet, with a type for each column."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from pytest_fcbench.domain.text import escape_surrogates
from pytest_fcbench.scorecard.rows import list_columns
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.ordered_rows import ROWS, describe_rows

_AT_ONCE = 10_000
"""Rows that are in memory at once."""


def write_path(order: ExportRequest, path: Path) -> list[str]:
    """Write the file and return the number of its rows."""
    # Given and not inferred: a column that is empty in one part would have another type there.
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    columns = {name: types[of] for name, of in list_columns(ROWS[order.per]).items()}
    schema, rows, number = pa.schema(columns), describe_rows(order), 0
    with parquet.ParquetWriter(path, schema) as writer:
        while part := list(islice(rows, _AT_ONCE)):
            raw_columns = {name: [getattr(row, name) for row in part] for name in columns}
            # Parquet keeps texts as UTF-8, which has no lone surrogates.
            values = {
                name: [escape_surrogates(value) if isinstance(value, str) else value for value in column]
                for name, column in raw_columns.items()
            }
            writer.write_table(pa.table(values, schema))
            number += len(part)
    return [f"{number:,} rows"]
