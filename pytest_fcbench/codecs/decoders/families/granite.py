"""Calls of Granite: ``<function_call>`` before each (``GRANITE_20B``), or a tagged list (``GRANITE_3``).

Official: ``GraniteFunctionCallingHandler`` and ``Granite3FCHandler``; Granite 4 is in ``tagged_json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_fcbench.codecs.call_texts import write_joined
from pytest_fcbench.codecs.decoders.families.parts import read_calls_only
from pytest_fcbench.codecs.decoders.families.tagged_list import decode_lists, read_plain_calls
from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat, as_call
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call

_TAG = "<function_call>"
_PLAIN_TAG = re.compile(r"<tool_call>(.*)", re.DOTALL)
_TOKEN_TAG = re.compile(r"<\|tool_call\|>(.*)", re.DOTALL)


def parse_granite_20b(text: str) -> tuple[Call, ...]:
    """Read one JSON object behind each tag. Raises ``Undecodable``, ``WrongFormat``.

    Official: what is no JSON stays among the calls as text, which makes the list one of a wrong format.
    """
    parts = list(_read_parts(text))
    calls = [part for part in parts if isinstance(part, Call)]
    if len(calls) < len(parts):
        raise WrongFormat("there is text among the calls")
    return tuple(calls)


def read_call_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out, texts among them. Raises ``Undecodable``, ``WrongFormat``."""
    return tuple(part if isinstance(part, str) else write_joined([part])[0] for part in _read_parts(text))


def _read_parts(text: str) -> Iterator[Call | str]:
    for piece in filter(None, map(str.strip, text.split(_TAG))):
        try:
            value = from_json(piece)
        except Undecodable:
            yield piece
            continue
        if not isinstance(value, dict) or not isinstance(name := value.get("name", ""), str):
            raise Undecodable("expected an object with a name")
        if name.strip() == "no_function":
            yield "No function is called"
        else:
            yield as_call(name.strip(), value.get("arguments", {}))


def parse_granite_3(text: str) -> tuple[Call, ...]:
    """Read the list of calls behind the first tag. Raises ``Undecodable``, ``WrongFormat``."""
    # Official: the letters of the role are cut off at the beginning, not the word.
    text = text.lstrip("AINST:").lstrip()
    tag = _TOKEN_TAG
    if "<tool_call>" in text:
        text, tag = text.replace("</tool_call>", ""), _PLAIN_TAG
    return read_plain_calls(decode_lists(map(str.strip, tag.findall(text))))


GRANITE_20B = read_json_calls(
    parse_granite_20b, lambda text: text.startswith(_TAG), carried_out=read_call_texts
)
GRANITE_3 = read_json_calls(parse_granite_3, parts=read_calls_only)
