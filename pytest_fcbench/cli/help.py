"""``fcbench help``, ``codes`` and ``completion``: print a page of the docs, explain codes, complete words."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from textwrap import wrap

from pytest_fcbench.cli.output import find_width, print_json
from pytest_fcbench.cli.tree import find_folder
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.present.failure_codes import FailureCode, read_failure_codes
from pytest_fcbench.present.tables import WIDTH, Table, render_text, wrap_text

_CODE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$|^((?: {4}.*\n?)+)", re.MULTILINE)
_LINK = re.compile(r"!?\[([^]]*)\]\(([^)#]*)#?([^)]*)\)")
_LEFT_OUT = "(The site of the docs has a table or a list here, which is made when it is built.)"


def run_help(arguments: argparse.Namespace) -> int:
    pages = {path.stem: path for path in sorted(find_folder("docs").glob("*.md"))}
    if arguments.page not in pages:
        raise UsageError(describe_unknown_name("page", arguments.page, pages))
    text = pages[arguments.page].read_text(encoding="utf-8")
    print(*render_page(text, min(find_width(), WIDTH)), sep="\n")
    return 0


def render_page(text: str, width: int) -> Iterator[str]:
    """Write a page in Markdown as lines of a terminal: links as commands, tables in columns."""
    text, end = re.sub(r"<!--.*?-->\n*", "", text), 0
    for code in _CODE.finditer(text):
        yield from _render_prose(text[end : code.start()], width)
        lines = code[3] or re.sub("^", "    ", code[2].rstrip("\n"), flags=re.MULTILINE)
        end = code.end()
        if (code[1] or "").startswith("{toctree}"):
            continue
        yield from ([_LEFT_OUT] if (code[1] or "").startswith("{") else lines.rstrip().split("\n"))
        yield ""
    yield from _render_prose(text[end:], width)


def _render_prose(text: str, width: int) -> Iterator[str]:
    paragraphs = re.split(r"\n\s*\n|\n(?=- )", _LINK.sub(_name_target, text).strip())
    for paragraph in filter(None, paragraphs):
        if paragraph.startswith("|"):
            lines = paragraph.replace("`", "").split("\n")
            head, _, *rows = (tuple(map(str.strip, re.split(r"(?<!\\)\|", line)[1:-1])) for line in lines)
            table = Table("", head, tuple(rows), left=frozenset(head), whole=True)
            for line in render_text(table, width):
                yield from wrap_text(line, width, "    ")
        else:
            yield from wrap_text(paragraph, width, "  " if paragraph.startswith("- ") else "")
        yield ""


def _name_target(link: re.Match[str]) -> str:
    """Name the target of a link, a page by the command that prints it."""
    words, target, section = link.groups()
    page = target.removesuffix(".md")
    is_page = page != target and "/" not in page
    name = f"`fcbench help {page}`" if is_page else target or f"'{section}'"
    return name if not words or (is_page and words == page) else f"{words} ({name})"


CODES = {
    **read_failure_codes(),
    **{
        note.value: FailureCode(note.meaning, "tell who runs the server; no verdict depends on it")
        for note in ProtocolNote
    },
}
"""The codes of failures, and those of what servers do wrong."""


def run_codes(arguments: argparse.Namespace) -> int:
    for code in arguments.codes:
        if code not in CODES:
            raise UsageError(describe_unknown_name("code", code, CODES))
    if arguments.json:
        print_json({code: CODES[code]._asdict() for code in arguments.codes or CODES})
        return 0
    width = max(find_width(), 40)
    for code in arguments.codes or CODES:
        meaning, advice = CODES[code]
        print(code)
        for text in (meaning, f"{advice[0].upper()}{advice[1:]}."):
            for line in wrap(text, width, initial_indent="    ", subsequent_indent="    "):
                print(line)
    return 0


SHELLS = ("bash", "zsh", "fish", "powershell")


def run_completion(arguments: argparse.Namespace) -> int:
    require_extra("completion", "fcbench completion")
    import shtab

    print(shtab.complete(arguments.make_parser(), arguments.shell))
    return 0
