"""Scores as a table for LaTeX."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.present.tables import render_latex
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.score_tables import tabulate_scores


def render_text(order: ExportRequest) -> Iterator[str]:
    """Yield the table; a document needs the package booktabs for it."""
    yield "% \\usepackage{booktabs}\n"
    yield from (f"{line}\n" for line in render_latex(tabulate_scores(order)))
