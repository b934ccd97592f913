"""Calls of xLAM: a JSON list of objects with ``name`` and ``arguments``.

Official: ``xLAMHandler`` of versions 1 to 3 (``XLAM``); ``SalesforceLlamaHandler`` and
``SalesforceQwenHandler`` of today (``XLAM_2``), which also take one object, and objects between semicolons.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_call, read_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import read_every_language, read_json_calls
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call


def parse_xlam(text: str) -> tuple[Call, ...]:
    """Read a JSON list of ``{"name": ..., "arguments": {...}}``, bare or under ``tool_calls``."""
    value = from_json(text)
    if isinstance(value, Mapping):
        value = value.get("tool_calls")
    if not isinstance(value, list):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return tuple(map(read_named_call, value))


def parse_xlam_2(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls, one call, or calls between semicolons."""
    try:
        value = from_json(text)
    except Undecodable:
        value = [from_json(part.strip()) for part in text.split(";")]
    return read_named_calls(value)


XLAM = read_every_language(
    Mode.FC, parse_xlam, parse_xlam, lambda text: text.startswith(('{"tool_calls"', '[{"name"'))
)
XLAM_2 = read_json_calls(parse_xlam_2)
