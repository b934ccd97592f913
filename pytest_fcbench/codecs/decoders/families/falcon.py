"""Calls of Falcon 3: JSON behind the first ``<tool_call>``, which may be fenced.

Official: ``Falcon3FCHandler``.
"""

from __future__ import annotations

import re

from pytest_fcbench.codecs.decoders.json_text import from_json, read_named_calls
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call

_OPENING = re.compile(r"<tool_call>\s*(?:```(?:json)?\s*)?\[")


def parse_falcon(text: str) -> tuple[Call, ...]:
    """Read a JSON list of calls, or one call, between the first tags.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    _, tag, rest = text.partition("<tool_call>")
    if not tag:
        raise Undecodable("there is no <tool_call> tag")
    # Official: a second opening tag ends the text, as a closing one does.
    inside = rest.split("<tool_call>")[0].split("</tool_call>")[0].strip()
    if inside.startswith("```") and inside.endswith("```"):
        inside = inside.strip("`").strip()
        inside = inside.removeprefix("json").strip()
    return read_named_calls(from_json(inside))


FALCON = read_json_calls(parse_falcon, lambda text: bool(_OPENING.match(text)))
