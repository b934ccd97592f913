"""Read JSON text to a limited depth: the one place where text becomes JSON values.

How deep ``json`` itself reads depends on the version of Python, and on 3.11 on how much of the stack its
caller has used. What is too deep for the next reader would fail there, far from its cause.
"""

from __future__ import annotations

import json
from typing import Any

DEEPEST = 300
"""Levels of JSON that are read; functions that call themselves can walk them.

More than of any answer: Records hold answers and their values a few levels further inside.
"""
DEEPEST_OF_REPLY = 100
"""Levels of an endpoint's reply that are kept."""
TOO_DEEP = f"nested more than {DEEPEST} deep"
_DECODER = json.JSONDecoder()
_CONTAINERS = frozenset({dict, list})


def read_json_text(text: str | bytes, **options: Any) -> Any:
    """Read JSON text. Raises ``ValueError``, also for what is nested too deeply.

    ``options`` are those of ``json.loads``.
    """
    try:
        value = json.loads(text, **options)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    # Each level takes two brackets.
    if len(text) > 2 * DEEPEST and _find_deep_parts(value, DEEPEST):
        raise ValueError(TOO_DEEP)
    return value


def read_json_at(text: str, start: int = 0, *, strict: bool = True) -> tuple[Any, int]:
    """Read the JSON value at a place of a text; return it and the place behind it. Raises ``ValueError``."""
    try:
        value, end = json.JSONDecoder(strict=strict).raw_decode(text, start)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if end - start > 2 * DEEPEST and _find_deep_parts(value, DEEPEST):
        raise ValueError(TOO_DEEP)
    return value, end


def read_reply_text(text: str | bytes) -> object:
    """Read the JSON of a reply, in which lists and objects that are nested too deeply are emptied.

    Raises ``ValueError`` for text that is no JSON, and for what Python itself cannot read.
    """
    value: object
    try:
        if isinstance(text, str):
            # A stream has many short texts, of which ``json.loads`` takes as long again as the value does.
            text = text.strip(" \t\r\n")
            value, end = _DECODER.raw_decode(text)
            if end < len(text):
                raise ValueError("more follows the value")
        else:
            value = json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    # Brackets of text are counted faster than a value is walked.
    may_be_deep = isinstance(text, bytes) or text.count("[") + text.count("{") > DEEPEST_OF_REPLY
    if may_be_deep and len(text) > 2 * DEEPEST_OF_REPLY:
        for part in _find_deep_parts(value, DEEPEST_OF_REPLY):
            part.clear()
    return value


def _find_deep_parts(value: object, deepest: int) -> list[Any]:
    """Find the lists and objects of a JSON value that have more levels around them."""
    level: list[Any] = [[value]]
    for _ in range(deepest + 1):
        members = (part.values() if type(part) is dict else part for part in level)
        level = [each for part in members for each in part if type(each) in _CONTAINERS]
        if not level:
            break
    return level
