"""Every format in which tables are written, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from pytest_fcbench.present.tables import WIDTH, Table, render_csv, render_latex, render_markdown, render_text


def render_page(title: str, tables: Sequence[Table], figures: Sequence[str] = ()) -> Iterator[str]:
    """Write a page of its own, which loads nothing; ``figures`` are our SVG elements."""
    # Imported late: most commands write no page, and templates take time to load.
    from pytest_fcbench.present.html.templates import TABLES, generate_page

    page = generate_page("tables.html", {"title": title, "tables": tables, "figures": figures}, (TABLES,))
    yield from "".join(page).split("\n")


def _join_tables(form: Callable[[Table], Iterator[str]]) -> Callable[[str, Sequence[Table]], Iterator[str]]:
    def lines(title: str, tables: Sequence[Table]) -> Iterator[str]:
        for number, table in enumerate(tables):
            if number:
                yield ""
            yield from form(table)

    return lines


def render_texts(tables: Sequence[Table], width: int = WIDTH) -> Iterator[str]:
    """Render tables one below the other for a terminal of this width."""
    yield from _join_tables(partial(render_text, width=width))("", tables)


def render_json(title: str, tables: Sequence[Table]) -> Iterator[str]:
    """Render tables as JSON; cells are texts, as people see them."""
    members = [
        {"title": each.title, "columns": each.columns, "rows": each.rows, "notes": [*each.list_notes()]}
        for each in tables
    ]
    yield from json.dumps({"title": title, "tables": members}, indent=1).split("\n")


FORMATS: Mapping[str, Callable[[str, Sequence[Table]], Iterator[str]]] = {
    "text": _join_tables(render_text),
    "markdown": _join_tables(render_markdown),
    "csv": _join_tables(render_csv),
    "latex": _join_tables(render_latex),
    "html": render_page,
    "json": render_json,
}
"""Writers of tables below a title, as lines, by the name of the format"""
