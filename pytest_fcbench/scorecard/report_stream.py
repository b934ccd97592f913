"""A JSON report read test by test, so that a large one is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

from pytest_fcbench.domain.json_text import read_json_at, read_json_text

_CHUNK = 1 << 20
"""Bytes that are read at once; a value that is longer is read in ever larger steps."""
_SPACE = " \t\n\r"
"""White space between the tokens of JSON (RFC 8259)."""
_DELIMITERS = frozenset(f"{_SPACE},:]}}")
"""Characters that may follow a value."""


class ByteRange(NamedTuple):
    """The place of a value in its file, in bytes."""

    offset: int
    length: int


TakeTest: TypeAlias = Callable[[object, ByteRange], object]
"""Takes a test of a report, and its place in the file."""


def read_report(path: Path, take_test: TakeTest) -> dict[str, object]:
    """Read a report; hand each of its tests to ``take_test``, and return its members without them.

    Raises ``OSError`` where the file cannot be read. What is no object of JSON with each key once raises
    ``ValueError`` or ``RecursionError``; tests may have been taken by then.
    """
    with path.open("rb") as file:
        scanner = _Scanner(file)
        members: dict[str, object] = {}
        for _ in scanner.iterate_items("{", "}"):
            key, _ = scanner.read_value()
            scanner.skip_character(":")
            if not isinstance(key, str) or key in members:
                raise ValueError(f"the key {key!r} is not a text, or is there twice")
            if key == "tests" and scanner.peek_character() == "[":
                members[key] = []
                for _ in scanner.iterate_items("[", "]"):
                    take_test(*scanner.read_value())
            else:
                members[key], _ = scanner.read_value()
        if scanner.peek_character():
            raise ValueError("there is text after the end of the object")
    return members


class _Scanner:
    """Reads the values of a file of JSON one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        # Read as Latin-1, in which a character is a byte: places are those of the file.
        self._text = ""
        self._at = 0
        self._passed = 0
        """Bytes of the file before ``_text``."""

    def _read_chunk(self) -> bool:
        """Read on behind the text; return False at the end of the file."""
        more = self._file.read(max(_CHUNK, len(self._text) - self._at))
        self._passed += self._at
        self._text, self._at = self._text[self._at :] + more.decode("latin-1"), 0
        return bool(more)

    def peek_character(self) -> str:
        """Return the next character that is no white space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._read_chunk():
                return ""

    def skip_character(self, character: str) -> None:
        """Pass over a character. Raises ``ValueError`` where another one comes."""
        if (next_character := self.peek_character()) != character:
            raise ValueError(f"expected {character!r}, found {next_character!r}")
        self._at += 1

    def iterate_items(self, opening: str, closing: str) -> Iterator[None]:
        """Stop at each item between two brackets, which has to be read before the next."""
        self.skip_character(opening)
        if self.peek_character() != closing:
            yield
            while self.peek_character() == ",":
                self._at += 1
                yield
        self.skip_character(closing)

    def read_value(self) -> tuple[object, ByteRange]:
        """Read the next value. Raises ``ValueError`` or ``RecursionError``."""
        self.peek_character()
        while True:
            try:
                value, end = read_json_at(self._text, self._at)
            except ValueError:
                if self._read_chunk():
                    continue
                raise
            # Of a number that goes on in what was not read yet, the beginning is one too.
            if self._text[end : end + 1] in _DELIMITERS or not self._read_chunk():
                break
        piece = self._text[self._at : end]
        if not piece.isascii():
            value = read_json_text(piece.encode("latin-1").decode())
        place = ByteRange(self._passed + self._at, len(piece))
        self._at = end
        return value, place


@contextmanager
def open_places(path: Path) -> Iterator[Callable[[ByteRange], str]]:
    """Open a file for reading the text at places in it, as long as the block lasts."""
    with path.open("rb") as file:

        def read_place(place: ByteRange) -> str:
            file.seek(place.offset)
            return file.read(place.length).decode()

        yield read_place
