"""Calls of Hammer 2.1: a JSON list of objects with ``name`` and ``arguments``, fenced.

Official: ``HammerHandler``.
"""

from __future__ import annotations

from pytest_fcbench.codecs.call_texts import write_spaced
from pytest_fcbench.codecs.decoders.families.parts import write_lenient_calls
from pytest_fcbench.codecs.decoders.json_text import from_json, read_members
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call


def parse_hammer(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls; a text that is no JSON calls nothing.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    return read_members(_decode(text))


def read_call_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out: of a list, or under ``tool_calls``; other members are left out.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    value = _decode(text)
    if isinstance(value, dict):
        value = value.get("tool_calls", [])
        value = value if isinstance(value, list) else [value]
    return write_lenient_calls(value)


def _decode(text: str) -> object:
    try:
        return from_json(text.replace("```", ""))
    except Undecodable:
        return []


HAMMER = read_json_calls(
    parse_hammer,
    lambda text: text.replace("```", "").strip().startswith('[{"name"') and text.startswith("```"),
    write=write_spaced,
    carried_out=read_call_texts,
)
