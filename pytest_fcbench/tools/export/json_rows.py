"""Entries or scores as a JSON object per line, with texts unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.ordered_rows import describe_rows


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield the lines of the file."""
    for row in describe_rows(order):
        yield f"{json.dumps(asdict(row))}\n"
