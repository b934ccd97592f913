"""Read calls of another syntax between ``<TOOLCALL>`` and ``</TOOLCALL>`` (format sensitivity)."""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import TextReader
from pytest_fcbench.codecs.decoders.wrapping import CLOSING, OPENING, add_brackets, find_between
from pytest_fcbench.domain.transcript import Call


def make_official_reader(read: TextReader) -> TextReader:
    """Return a reader that passes the text between the first tags on to ``read``, as BFCL does."""

    def read_first(text: str) -> tuple[Call, ...]:
        # Official: brackets are added around the whole text, before its tags are looked for.
        text = add_brackets(text)
        place = find_between(text, OPENING, CLOSING)
        if place is None:
            raise Undecodable(f"there is no {OPENING} tag")
        return read(text[slice(*place)].strip())

    return read_first


def make_corrected_reader(read: TextReader) -> TextReader:
    """Return a reader of the texts between all tags, the last of which may be left open."""

    def read_all(text: str) -> tuple[Call, ...]:
        _, *parts = text.split(OPENING)
        if not parts:
            raise Undecodable(f"there is no {OPENING} tag")
        return tuple(call for part in parts for call in read(part.partition(CLOSING)[0]))

    return read_all
