"""Tables of names, written for this package; each line is a code and the names that it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_FOLDER = Path(__file__).parent


def read_rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """Read the code and the names of each line of a table, such as ``CH Switzerland, Schweiz``."""
    for row in (_FOLDER / f"{table}.txt").read_text(encoding="utf-8").splitlines():
        code, _, names = row.partition(" ")
        yield code, names.split(", ")
