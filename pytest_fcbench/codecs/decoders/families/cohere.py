"""Calls of Cohere's interface: ``{"tool_name": ..., "parameters": {...}}``. Official: ``CohereHandler``.

A text is officially an answer that calls nothing, not one that cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.codecs.decoders.families.parts import read_vendor_objects
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call, ToolCall


def parse_text(text: str) -> tuple[Call, ...]:
    """Read no call, whatever the text is."""
    return ()


def read_parts(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read a list of Cohere's calls. Raises ``Undecodable``, ``WrongFormat``."""
    return read_vendor_objects(parts, "tool_name", "parameters")


COHERE = read_json_calls(parse_text, parts=read_parts)
