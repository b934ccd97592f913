"""Print the output of commands or write it to files: lines for a terminal, tables in several formats."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.present.table_formats import FORMATS, render_texts
from pytest_fcbench.present.tables import WIDTH, Table, wrap_text
from pytest_fcbench.run.output_files import write_file
from pytest_fcbench.scorecard.scorecard_files import Scorecard

_FORMAT_BY_ENDING = {".md": "markdown", ".csv": "csv", ".tex": "latex", ".html": "html", ".json": "json"}


def print_lines(lines: Iterable[str], *, flush: bool = False) -> None:
    """Print lines that may hold a model's words, each cut and without control characters.

    ``flush`` shows each line at once, for a command that computes long between them.
    """
    for line in lines:
        print(_wrap_line(make_printable(line)), flush=flush)


def print_long_lines(lines: Iterable[str]) -> None:
    """Print lines without control characters, however long they are."""
    for line in lines:
        print(_wrap_line(escape_long_line(line)))


_COLUMNS = re.compile(r" *(?:\S+(?: \S+)* {2,})*")


def _wrap_line(text: str) -> str:
    """Wrap a line for a terminal, below its last column; a pipe gets it whole, so that it can be searched."""
    width = find_width() if sys.stdout.isatty() else len(text)
    lines: list[str] = []
    for line in text.split("\n"):
        columns = _COLUMNS.match(line)
        indent = len(columns[0]) if columns else 0
        is_wide = indent > width // 3
        lines += (
            [line] if len(line) <= width else wrap_text(line, width, " " * (4 if is_wide else max(2, indent)))
        )
    return "\n".join(lines)


def escape_long_line(text: str) -> str:
    """Make a line safe for any terminal without cutting it."""
    # ``make_printable`` cuts, so it gets pieces that are short enough to stay whole.
    return "".join(make_printable(text[at : at + 500]) for at in range(0, len(text), 500))


def write_and_report(path: Path, text: str | Iterable[str]) -> None:
    """Write a file, given whole or in pieces, and print its path."""
    write_file(path, text)
    print(f"written to {path}")


def require_other_file(to: Path | None, sources: Iterable[Path]) -> None:
    """Raise ``UsageError`` if the file to write, where there is one, is one of those that are read."""
    if to and to.resolve() in {path.resolve() for path in sources}:
        raise UsageError(f"--output={to}: this scorecard is also an input; name another file")


def require_known_endings(option: str, files: Iterable[Path], endings: Collection[str]) -> None:
    """Raise ``UsageError`` for a file with another ending."""
    for file in files:
        if file.suffix not in endings:
            raise UsageError(f"{option}={file}: {describe_unknown_name('ending', file.suffix, endings)}")


def choose_format(arguments: argparse.Namespace) -> str:
    """Return the format of ``--format``, or that of the file's ending."""
    ending = arguments.to.suffix.lower() if arguments.to else ""
    # A device or a pipe has no ending.
    if not arguments.format and ending not in ("", ".txt", *_FORMAT_BY_ENDING):
        raise UsageError(
            f"--output={arguments.to}: unknown ending {ending!r}; use one of {', '.join(_FORMAT_BY_ENDING)} "
            "and .txt, or name the format with --format"
        )
    return str(arguments.format or _FORMAT_BY_ENDING.get(ending, "text"))


def render_tables(
    arguments: argparse.Namespace, form: str, title: str, tables: Sequence[Table]
) -> Iterator[str]:
    """Render tables in a format; as text on a terminal in its width."""
    if form == "text" and arguments.to is None:
        return render_texts(tables, find_width())
    return FORMATS[form](title, tables)


def find_width() -> int:
    """Return the width of the terminal in characters."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def choose_profile(arguments: argparse.Namespace, cards: Sequence[Scorecard]) -> Profile:
    """Return the profile of ``--profile``, or that of the runs if they agree."""
    if arguments.profile:
        return Profile(arguments.profile)
    profiles = {card.facts.profile for card in cards}
    return profiles.pop() if len(profiles) == 1 else Profile.OFFICIAL


def print_json(value: object) -> None:
    """Print a value as JSON that any terminal can show."""
    print(json.dumps(value, indent=1, default=str))


def split_names(values: Sequence[str] | None) -> list[str]:
    """Split names that were given one by one or with commas."""
    return [name.strip() for value in values or () for name in value.split(",")]


def print_or_write(arguments: argparse.Namespace, lines: Iterable[str], cards: Sequence[Scorecard]) -> None:
    """Print lines, or write them to the file that ``--to`` names."""
    require_other_file(arguments.to, (card.path for card in cards))
    if arguments.to is None:
        for line in lines:
            print(line)
    else:
        write_and_report(arguments.to, (f"{line}\n" for line in lines))
