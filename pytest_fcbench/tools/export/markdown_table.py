"""Scores as a table in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.present.tables import render_markdown
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.score_tables import tabulate_scores


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield the table."""
    yield from (f"{line}\n" for line in render_markdown(tabulate_scores(order)))
