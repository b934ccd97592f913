"""Calls of Qwen and its kin: JSON objects, each between a ``<tool_call>`` and a ``</tool_call>`` line.

Official: ``QwenFCHandler``, ``NanbeigeFCHandler``, ``PelicanVLFCHandler`` (``QWEN``, which reads behind the
reasoning) and ``Granite4FCHandler`` (``GRANITE_4``). What is no JSON between the lines is left out.
"""

from __future__ import annotations

import re

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.codecs.decoders.wrapping import find_all_between
from pytest_fcbench.domain.transcript import Call, drop_official_reasoning

_OPENING = re.compile(r"<tool_call>\s*\{")


def find_tagged_texts(text: str) -> list[str]:
    """Return the texts between the tags."""
    return find_all_between(text, "<tool_call>\n", "\n</tool_call>")


def parse_tagged(text: str) -> tuple[Call, ...]:
    """Read the objects between the tags that are JSON. Raises ``Undecodable``."""
    values = []
    for piece in find_tagged_texts(text):
        try:
            values.append(from_json(piece))
        except Undecodable:
            continue
    try:
        return read_named_calls(values)
    except WrongFormat as error:
        # Official: arguments that are no object end the reader before anybody looks at their form.
        raise Undecodable(str(error)) from None


def parse_behind_reasoning(text: str) -> tuple[Call, ...]:
    """Read the tagged objects behind the reasoning. Raises ``Undecodable``."""
    return parse_tagged(drop_official_reasoning(text))


QWEN = read_json_calls(
    parse_behind_reasoning,
    lambda text: bool(_OPENING.search(text)),
)
GRANITE_4 = read_json_calls(parse_tagged)
