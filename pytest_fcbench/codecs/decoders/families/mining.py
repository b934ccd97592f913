"""Calls of xiaoming and DM-Cito: a JSON list between ``<tool_calls>`` lines. Official: ``MiningHandler``."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.codecs.call_texts import write_spaced
from pytest_fcbench.codecs.decoders.families.parts import read_vendor_objects
from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.codecs.decoders.wrapping import find_between
from pytest_fcbench.domain.transcript import Call, ToolCall

_OPENING, _CLOSING = "<tool_calls>\n", "\n</tool_calls>"


def parse_mining(text: str) -> tuple[Call, ...]:
    """Read the list between the first tags, or a bare one. Raises ``Undecodable``, ``WrongFormat``."""
    place = find_between(text, _OPENING, _CLOSING)
    written = text[slice(*place)].strip() if place else text
    value = from_json(written) if written else []
    if not isinstance(value, list):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return read_named_calls(value)


def read_parts(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read a list of calls. Raises ``Undecodable``, ``WrongFormat``."""
    return read_vendor_objects(parts, "name", "arguments")


MINING = read_json_calls(parse_mining, lambda text: _OPENING in text, parts=read_parts, write=write_spaced)
