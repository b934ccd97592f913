"""A small web written by hand: pages of several hosts, read from YAML files.

host: lights.example
name: Register of Lights
pages:
  /vell-head:
    title: Vell Head light
    text: [paragraphs, with links such as "[works](http://works.example/)" or "[all](/)"]
    table: {head: [Property, Value], rows: [[Height, 31]]}        # optional
    log: {lines: 900, seed: 1, line: "Day {n}: {sea}", sea: [calm, rough]}   # optional: a long page
    type: application/octet-stream                                 # optional: what the server says it is
  /old: {redirect: /vell-head}
  /data.json: {title: ..., json: {...}}
  /list.txt: {title: ..., plain: ...}
  /book.pdf: {title: ..., pdf: true}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from random import Random
from typing import Annotated
from urllib.parse import urljoin

import pydantic
from pydantic import ConfigDict

from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.rows import ErrorSentence, Given, Row, read_row
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.web.loopback_server import Page

_HTML = "text/html; charset=utf-8"
_MOST_LINES = 100_000
# An address as requests have it: a page of any other would never be found.
_ADDRESS = re.compile(r"http://[a-z0-9.-]+/(?!/)[!\x22$->@-~]*")


class PageTableRow(Row):
    """A table on a page."""

    head: list[object]
    rows: list[list[object]]


class LogRow(Row):
    """Lines with random words; every further member lists the words for a place in them."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[str]]

    lines: Annotated[
        int, pydantic.Field(le=_MOST_LINES), ErrorSentence(f"must be a whole number up to {_MOST_LINES:,}")
    ]
    seed: object
    line: str


class PageRow(Row):
    """A page of one kind, or a redirect."""

    title: Given[str] = None
    text: Given[list[str]] = None
    table: Given[PageTableRow] = None
    log: Given[LogRow] = None
    type: str = _HTML
    json_value: object = pydantic.Field(None, alias="json")
    plain: Given[str] = None
    pdf: object = None
    redirect: Given[str] = None


class HostFile(Row):
    """The pages of a host."""

    host: str
    name: str
    pages: dict[str, PageRow]


def read_pages(folders: Iterable[Path | None]) -> Mapping[str, Page]:
    """Return the pages of all files of some folders, by URL. Raises ``SuiteError``."""
    pages = {}
    for path in (path for folder in folders if folder for path in sorted(folder.glob("*.yaml"))):
        file = Field(read_yaml(path), path)
        host = read_row(file, HostFile)
        for place, row in host.pages.items():
            page = _make_page(f"http://{host.host}{place}", host.name, row, file.at("pages", place))
            pages[page.url] = page
    return pages


def _make_page(url: str, site: str, row: PageRow, at: Field) -> Page:
    if not _ADDRESS.fullmatch(url):
        raise at.error(
            f"no request asks for {url}; write the host as in a.example, and the path as in /a%20b"
        )
    given_fields = row.model_fields_set
    if row.redirect is not None:
        # A redirect has no body that a reader could be shown.
        if len(given_fields) > 1:
            raise at.error("a redirect must have no other keys")
        try:
            return Page(url, "", "", _HTML, b"", urljoin(url, row.redirect))
        except ValueError as error:
            raise at.at("redirect").error(f"is not a valid address: {error}") from None
    if row.title is None:
        raise at.error("has no 'title'")
    # Asked whether it is given, because ``null`` is a JSON value as well.
    if "json_value" in given_fields:
        try:
            text = json.dumps(row.json_value, indent=2, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise at.at("json").error(f"must be a JSON value: {error}") from None
        return Page(url, row.title, text, "application/json", text.encode())
    if row.plain is not None:
        return Page(url, row.title, row.plain, "text/plain; charset=utf-8", row.plain.encode())
    if "pdf" in given_fields:
        # No text can be read from it, as from many a PDF on the web.
        return Page(url, row.title, "", "application/pdf", b"%PDF-1.4\n%%EOF\n")
    if row.text is None:
        raise at.error("has no 'text'")
    cells = (row.table.head, *row.table.rows) if row.table else ()
    table = [[str(cell) for cell in line] for line in cells]
    body = "\n".join(_write_body(row.text, table, row.log, at))
    html = _TEMPLATE.format(title=escape(row.title), site=escape(site), body=body)
    texts = [*row.text, *(cell for each in table for cell in each)]
    return Page(url, row.title, _LINK.sub(r"\1", "\n".join(texts)), row.type, html.encode())


def _write_body(texts: list[str], table: list[list[str]], log: LogRow | None, at: Field) -> Iterator[str]:
    """Yield the lines of a page's HTML; the words of a log are random, the same for the same seed."""
    yield from (f"<p>{_link_text(paragraph)}</p>" for paragraph in texts)
    if table:
        yield "<table>"
        for number, row in enumerate(table):
            kind = "td" if number else "th"
            yield f"<tr>{''.join(f'<{kind}>{_link_text(cell)}</{kind}>' for cell in row)}</tr>"
        yield "</table>"
    if log and log.lines > 0:
        yield "<ol>"
        # A text as seed gives the same numbers on every platform and Python.
        chance = Random(str(log.seed))  # noqa: S311 - makes text
        for n in range(1, log.lines + 1):
            try:
                words = {name: chance.choice(each) for name, each in (log.__pydantic_extra__ or {}).items()}
                line = log.line.format(n=n, **words)
            except (LookupError, ValueError, AttributeError, TypeError) as error:
                raise at.at("log", "line").error(f"cannot be filled in: {error!r}") from None
            yield f"<li>{_link_text(line)}</li>"
        yield "</ol>"


_LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")


def _link_text(text: str) -> str:
    """Return a text as HTML with its links."""
    return _LINK.sub(r'<a href="\2">\1</a>', escape(text))


_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title} - {site}</title>
<style>body {{ max-width: 40em; margin: 2em auto; font-family: serif; }} nav {{ float: right; }}</style>
<script>document.documentElement.dataset.opened = String(Date.now());</script>
</head>
<body>
<nav><a href="/">{site}</a></nav>
<h1>{title}</h1>
{body}
</body>
</html>
"""
