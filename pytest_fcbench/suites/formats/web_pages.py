"""A small web written by hand: pages of several hosts, from YAML files to what a server sends.

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
from urllib.parse import urljoin

from pytest_fcbench.suites.formats.fields import Field, yaml_value
from pytest_fcbench.web.page import Page


def of(folders: Iterable[Path | None]) -> Mapping[str, Page]:
    """The pages of all files of some folders, by URL. Raises ``SuiteError``."""
    paths = (path for folder in folders if folder for path in sorted(folder.glob("*.yaml")))
    return {page.url: page for path in paths for page in _host(path)}


_HTML = "text/html; charset=utf-8"


def _host(path: Path) -> Iterator[Page]:
    top = Field(yaml_value(path), path).members(("host", "name", "pages"))
    site = f"http://{top['host'].text()}"
    for place, field in top["pages"].members().items():
        yield _page(site + place, top["name"].text(), field)


def _page(url: str, site: str, field: Field) -> Page:
    if "redirect" in field.members():
        return Page(url, "", "", _HTML, b"", _target(url, field.members(("redirect",))["redirect"]))
    members = field.members(("title",), ("text", "table", "log", "type", "json", "plain", "pdf"))
    title = members["title"].text()
    if "json" in members:
        text = _json(members["json"])
        return Page(url, title, text, "application/json", text.encode())
    if "plain" in members:
        text = members["plain"].text()
        return Page(url, title, text, "text/plain; charset=utf-8", text.encode())
    if "pdf" in members:
        return Page(url, title, "", "application/pdf", b"%PDF-1.4\n%%EOF\n")
    if "text" not in members:
        raise field.error("has no 'text'")
    paragraphs = [paragraph.text() for paragraph in members["text"].elements()]
    table = [] if "table" not in members else _rows(members["table"])
    log = [] if "log" not in members else list(_log(members["log"]))
    body = "\n".join(
        [*(f"<p>{_marked(paragraph)}</p>" for paragraph in paragraphs), *_table(table), *_list(log)]
    )
    html = _TEMPLATE.format(title=escape(title), site=escape(site), body=body)
    said = [*paragraphs, *(cell for row in table for cell in row)]
    kind = members["type"].text() if "type" in members else _HTML
    return Page(url, title, _LINK.sub(r"\1", "\n".join(said)), kind, html.encode())


def _target(url: str, field: Field) -> str:
    try:
        return urljoin(url, field.text())
    except ValueError as error:
        raise field.error(f"is no place to go to: {error}") from None


def _json(field: Field) -> str:
    try:
        return json.dumps(field.value, indent=2, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise field.error(f"must be what JSON can hold: {error}") from None


def _rows(field: Field) -> list[list[str]]:
    """Head and rows of a table."""
    members = field.members(("head", "rows"))
    return [
        [str(cell.value) for cell in row.elements()] for row in (members["head"], *members["rows"].elements())
    ]


def _log(field: Field) -> Iterator[str]:
    """Lines in which chance chooses the words, the same every time."""
    words = {
        name: member for name, member in field.members().items() if name not in ("lines", "seed", "line")
    }
    chance = Random(str(field.member("seed").value))  # noqa: S311 - makes text
    choices = {name: [word.text() for word in member.elements()] for name, member in words.items()}
    lines, line = field.member("lines"), field.member("line")
    if not isinstance(lines.value, int) or lines.value > _MOST_LINES:
        raise lines.error(f"must be a whole number up to {_MOST_LINES:,}")
    for n in range(1, lines.value + 1):
        try:
            chosen = {name: chance.choice(options) for name, options in choices.items()}
            yield line.text().format(n=n, **chosen)
        except (LookupError, ValueError, AttributeError, TypeError) as error:
            raise line.error(f"cannot be filled in: {error!r}") from None


_MOST_LINES = 100_000


_LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")


def _marked(text: str) -> str:
    """A text as HTML, its links as such."""
    return _LINK.sub(r'<a href="\2">\1</a>', escape(text))


def _table(rows: list[list[str]]) -> Iterator[str]:
    if rows:
        yield "<table>"
        for number, row in enumerate(rows):
            kind = "td" if number else "th"
            yield f"<tr>{''.join(f'<{kind}>{_marked(cell)}</{kind}>' for cell in row)}</tr>"
        yield "</table>"


def _list(lines: list[str]) -> Iterator[str]:
    if lines:
        yield "<ol>"
        yield from (f"<li>{_marked(line)}</li>" for line in lines)
        yield "</ol>"


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
