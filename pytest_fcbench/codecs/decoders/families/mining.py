"""Calls of xiaoming and DM-Cito: a JSON list between ``<tool_calls>`` lines. Official: ``MiningHandler``."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.codecs.call_texts import write_spaced
from pytest_fcbench.codecs.decoders.families.parts import read_vendor_objects, write_lenient_calls
from pytest_fcbench.codecs.decoders.json_text import from_json, read_members
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.codecs.decoders.wrapping import find_between
from pytest_fcbench.domain.transcript import Call, ToolCall

_OPENING, _CLOSING = "<tool_calls>\n", "\n</tool_calls>"


def parse_mining(text: str) -> tuple[Call, ...]:
    """Read the list between the first tags, or a bare one. Raises ``Undecodable``, ``WrongFormat``."""
    return read_members(_decode(text))


def read_call_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out; what is no object is left out. Raises ``WrongFormat``."""
    return write_lenient_calls(_decode(text))


def _decode(text: str) -> object:
    """Decode the list between the first tags; a text that is no JSON stays a text."""
    place = find_between(text, _OPENING, _CLOSING)
    list_text = text[slice(*place)].strip() if place else text
    try:
        return from_json(list_text)
    except Undecodable:
        return list_text


def read_parts(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read a list of calls, which officially are never those of an interface.

    The handler expects ``{"name": ..., "arguments": ...}`` where the interface's calls are kept as ``{name:
    arguments}``, so it fails at every one. Raises ``Undecodable``, ``WrongFormat``.
    """
    if any(isinstance(part, ToolCall) for part in parts):
        raise Undecodable('expected objects with "name" and "arguments", not calls of the interface')
    return read_vendor_objects(parts, "name", "arguments")


def read_part_texts(parts: Sequence[ToolCall | str]) -> tuple[str, ...]:
    """Read the calls to carry out: of a call of the interface nothing is found, and nothing is called."""
    objects = [{} if isinstance(part, ToolCall) else from_json(part) for part in parts]
    return write_lenient_calls(objects)


MINING = read_json_calls(
    parse_mining,
    lambda text: _OPENING in text,
    parts=read_parts,
    write=write_spaced,
    carried_out=read_call_texts,
    carried_out_parts=read_part_texts,
)
