"""The syntax of xLAM: a JSON list of ``{"name": ..., "arguments": {...}}``, bare or under ``tool_calls``.

The published verdicts of these models rest on this reading, so both profiles share it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.codecs.decoders.json_text import from_json, named_call
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import Syntax
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.transcript import Call


def read(text: str) -> tuple[Call, ...]:
    """Read the calls of a JSON list."""
    value = from_json(text)
    if isinstance(value, Mapping):
        value = value.get("tool_calls")
    if not isinstance(value, list):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return tuple(map(named_call, value))


_READERS = dict.fromkeys(Language, read)

SYNTAX = Syntax(
    *(Mode.FC, _READERS, _READERS, ("xlam",)),
    looks_so=lambda text: text.startswith(('{"tool_calls"', '[{"name"')),
)
