"""Files of JSON lines, each line an entry: read line by line, and found again by its place.

A suite may have a hundred thousand of them. Their values take five times the memory of the entries that are
made of them, so a line is parsed once to find its category, and again when its entry is made.
"""

from __future__ import annotations

import json
from array import array
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.suites.formats import entry_files
from pytest_fcbench.suites.formats.fields import Field


class LinePlace(NamedTuple):
    """The place of a line in its file."""

    number: int
    """From 1 on."""
    offset: int
    """Bytes before it."""
    length: int
    """Its bytes."""


class EntryLines:
    """The lines of a file with the entries of one category."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Arrays, because three numbers of Python take as much memory as an entry.
        self._places = array("Q")
        self.clusters: set[str] = set()
        """Names of clusters that any of these lines gives its entry."""

    def add_line(self, place: LinePlace, value: Mapping[str, object]) -> None:
        """Add a line."""
        self._places.extend(place)
        if isinstance(cluster := value.get("cluster"), str):
            self.clusters.add(cluster)

    def __len__(self) -> int:
        return len(self._places) // len(LinePlace._fields)

    def read_lines(self) -> Iterator[tuple[Field, object]]:
        """Yield each line in the form of a YAML file, and the id that it has. Raises ``SuiteError``."""
        with self._path.open("rb") as file:
            places = iter(self._places)
            for place in map(LinePlace, places, places, places):
                file.seek(place.offset)
                value = _parse_line(file.read(place.length), self._path, place.number)
                top = {key: value[key] for key in entry_files.keys_at_top() if key in value}
                entry = {key: member for key, member in value.items() if key not in top}
                yield Field({**top, "entries": [entry]}, self._path, (), place.number), value.get("id")


def iterate_lines(path: Path) -> Iterator[tuple[LinePlace, Mapping[str, object]]]:
    """Yield the value of each line that is not blank, with its place. Raises ``SuiteError``."""
    number = offset = 0
    with path.open("rb") as file:
        for chunk in file:
            # A file is read up to each line feed; a carriage return alone ends a line too.
            for line in chunk.splitlines(keepends=True):
                number += 1
                text = line.removeprefix(BOM_UTF8) if number == 1 else line
                if text.strip():
                    place = LinePlace(number, offset + len(line) - len(text), len(text))
                    yield place, _parse_line(text, path, number)
                offset += len(line)


def _parse_line(text: bytes, path: Path, number: int) -> Mapping[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SuiteError(f"{path}:{number}: not valid JSON: {error}; write one object in each line") from None
    if not isinstance(value, Mapping):
        raise SuiteError(f"{path}:{number}: must be an object")
    return value
