"""Calls of BitAgent: a JSON list of objects with ``name`` and ``arguments``, or one.

Official: ``BitAgentHandler``.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_calls
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call


def parse_bitagent(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls, or one call. Raises ``Undecodable``, ``WrongFormat``."""
    return read_named_calls(from_json(text))


BITAGENT = read_json_calls(parse_bitagent)
