"""Read the rows of a log: JSON lines, one JSON list, or JSON values that are written over several lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.tools.importing.logged import split_values


def read_rows(logs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each row with its place; ``-`` is standard input. Raises ``UsageError``."""
    for log in logs:
        name = "standard input" if log == "-" else log
        try:
            with ExitStack() as stack:
                file = sys.stdin.buffer if log == "-" else stack.enter_context(Path(log).open("rb"))
                yield from _read_file(name, file)
        except OSError as error:
            raise UsageError(f"{log}: cannot be read: {error.strerror}; give a readable file") from None


def _read_file(name: str, file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file where the first is a JSON object, else its values, else its lines."""
    numbered_lines = ((number, line) for number, line in enumerate(file, 1) if line.strip())
    first = next(numbered_lines, None)
    if first is None:
        return
    lines: Iterator[tuple[int, bytes]] = chain([first], numbered_lines)
    is_line = False
    with suppress(ValueError, RecursionError):
        is_line = isinstance(read_json_text(first[1]), dict)
    if not is_line and first[1].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        # Held in memory as a whole, since a value may end anywhere.
        all_lines = list(lines)
        if (rows := read_values(b"".join(line for _, line in all_lines))) is not None:
            for number, row in enumerate(rows, 1):
                yield (
                    f"{name}: row {number}",
                    f"{json.dumps(row, ensure_ascii=False)}\n".encode(errors="surrogatepass"),
                )
            return
        lines = iter(all_lines)
    for number, line in lines:
        yield f"{name}:{number}", line


def read_values(content: bytes) -> list[object] | None:
    """Return the members of the lists, and the objects, that a file has one after the other, or None."""
    rows: list[object] = []
    try:
        for value in split_values(content.decode("utf-8-sig").strip()):
            # A list of messages is one row.
            if isinstance(value, list) and not any(
                isinstance(each, dict) and each.keys() & {"role", "from"} for each in value
            ):
                rows += value
            else:
                rows.append(value)
    except (ValueError, RecursionError):
        return None
    return rows
