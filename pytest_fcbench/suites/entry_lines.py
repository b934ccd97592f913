"""Files of JSON lines, each line an entry: read line by line, and found again by its place.

A suite may have a hundred thousand of them. Their values take five times the memory of the entries that are
made of them, so a line is parsed once to find its category, and again when its entry is made.
"""

from __future__ import annotations

from array import array
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.formats.fields import MOST_ERRORS, Field, join_errors
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.suites import core


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
                list_all = partial(list_line_errors, self._path)
                part = Field({**top, "entries": [entry]}, self._path, (), place.number, list_all)
                yield part, value.get("id")


def list_line_errors(path: Path) -> Sequence[SuiteError]:
    """List the errors of a file of lines, each as if it were the only one."""
    errors: list[SuiteError] = []
    ids: set[str] = set()
    for line in _read_lines(path):
        if len(errors) > MOST_ERRORS:
            break
        if isinstance(line, SuiteError):
            errors.append(line)
            continue
        place, value = line
        top = {key: value[key] for key in entry_files.keys_at_top() if key in value}
        entry = {key: member for key, member in value.items() if key not in top}
        part = Field({**top, "entries": [entry]}, path, (), place.number)
        entry_id = str(value.get("id"))
        if "id" in value and entry_id in ids:
            errors.append(part.error(f"the id {entry_id!r} is already used by an entry in another line"))
            continue
        ids.add(entry_id)
        try:
            # A scene of several categories has the same errors in each.
            category = entry_files.read_categories(part)[0]
        except SuiteError as error:
            errors.append(error)
        else:
            errors += entry_files.list_errors(part, path.stem, category, core.make_world())
    return errors


def iterate_lines(path: Path) -> Iterator[tuple[LinePlace, Mapping[str, object]]]:
    """Yield the value of each line that is not blank, with its place.

    Raises ``SuiteError`` with all errors of the file where a line cannot be read.
    """
    for line in _read_lines(path):
        if isinstance(line, SuiteError):
            raise join_errors(list_line_errors(path))
        yield line


def _read_lines(path: Path) -> Iterator[tuple[LinePlace, Mapping[str, object]] | SuiteError]:
    number = offset = 0
    with path.open("rb") as file:
        for chunk in file:
            # A file is read up to each line feed; a carriage return alone ends a line too.
            for line in chunk.splitlines(keepends=True):
                number += 1
                text = line.removeprefix(BOM_UTF8) if number == 1 else line
                if text.strip():
                    place = LinePlace(number, offset + len(line) - len(text), len(text))
                    try:
                        yield place, _parse_line(text, path, number)
                    except SuiteError as error:
                        yield error
                offset += len(line)


def _parse_line(text: bytes, path: Path, number: int) -> Mapping[str, object]:
    try:
        value = read_json_text(text)
    except (ValueError, RecursionError) as error:
        raise SuiteError(f"{path}:{number}: not valid JSON: {error}; write one object in each line") from None
    if not isinstance(value, Mapping):
        raise SuiteError(f"{path}:{number}: must be an object")
    return value
