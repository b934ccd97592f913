"""Calls of Ministral: a JSON list of objects with ``name`` and ``arguments``.

Official: ``MistralFCHandler``.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.families.parts import read_as_they_are
from pytest_fcbench.codecs.decoders.json_text import from_json, read_members
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call


def parse_mistral(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls. Raises ``Undecodable``, ``WrongFormat``."""
    return read_members(from_json(text))


MISTRAL = read_json_calls(parse_mistral, parts=read_as_they_are)
