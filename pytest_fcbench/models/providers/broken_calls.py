"""Calls of the model in the history of a request whose arguments are no JSON object.

Officially the model's message is repeated as it came, and servers that read the arguments of past calls
refuse it, each time: vLLM with status 400, llama.cpp with 500. That is the model's own failure.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, cast

from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.transcript import AskModel

TOLD = "a call in the history of the request is not a JSON object"
"""The end of the text of such a failure."""

ABOUT_ARGUMENTS = re.compile(
    r"\bjson|arguments|tool.?call|function.?call|tool_use|\bpars(e|ing|er)\b|delimiter|unterminated"
    r"|expecting (value|property)|from a mapping|valid dictionary|extra data"
    r"|invalid (\\?escape|character)|unexpected (end|token|character|eof)",
    re.IGNORECASE,
)
"""Words of a server that cannot read the arguments of a call."""

Messages: TypeAlias = tuple[Mapping[str, object], ...]

_DEEPEST = 8
"""Levels of a message in which a call is looked for."""


def mend_broken_calls(request: AskModel) -> AskModel | None:
    """Return the request with empty arguments where they are no JSON object; None where all are one."""
    if request.wire is None:
        messages = cast("Messages", tuple(_mend_part(message, _DEEPEST) for message in request.messages))
        is_whole = all(map(operator.is_, messages, request.messages))
        return None if is_whole else replace(request, messages=messages)
    body = request.wire.body
    mended_parts = {name: _mend_part(body[name], _DEEPEST) for name in ("messages", "input") if name in body}
    if all(part is body[name] for name, part in mended_parts.items()):
        return None
    return replace(request, wire=replace(request.wire, body={**body, **mended_parts}))


def _mend_part(part: object, depth: int) -> object:
    """Return a part of a message with a JSON object for the arguments of each call; itself if they are."""
    if not depth or not isinstance(part, (list, tuple, Mapping)):
        return part
    if not isinstance(part, Mapping):
        parts = [_mend_part(each, depth - 1) for each in part]
        return part if all(map(operator.is_, parts, part)) else parts
    mended_members = {name: _mend_part(value, depth - 1) for name, value in part.items()}
    if {"name", "arguments"} <= part.keys() and not _is_object(part["arguments"]):
        mended_members["arguments"] = "{}"
    return part if all(mended_members[name] is value for name, value in part.items()) else mended_members


def _is_object(arguments: object) -> bool:
    """Tell whether the arguments of a call are an object, or text that is one as JSON."""
    if not isinstance(arguments, str):
        return isinstance(arguments, Mapping)
    constants: list[str] = []
    try:
        value: object = read_json_text(arguments, parse_constant=constants.append)
    except (ValueError, RecursionError):
        return False
    # ``NaN`` and ``Infinity`` are JSON for Python only.
    return isinstance(value, dict) and not constants
