"""Decode JSON in the answers of models, and read calls from objects with ``name`` and ``arguments``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_fcbench.codecs.decoders.outcome import Undecodable, as_call
from pytest_fcbench.domain.transcript import Call

DEEPEST = 200
"""The largest depth of JSON that is read in an answer, as of Python's brackets."""
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{\]}]', re.DOTALL)
"""A text of JSON, which may have brackets in it, or a bracket."""
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def check_depth(text: str, start: int = 0) -> None:
    """Raise ``Undecodable`` where the JSON value that begins at a place is nested too deeply."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        depth += _STEPS.get(bracket[0], 0)
        if depth > DEEPEST:
            raise Undecodable(f"not JSON: nested more than {DEEPEST} deep")
        if depth < 1:
            return


def from_json(text: str) -> object:
    """Decode JSON text of a model. Raises ``Undecodable`` with the parser's words."""
    check_depth(text)
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
    return value


def read_named_call(value: object, arguments: str = "arguments") -> Call:
    """Read a decoded object as a call; ``arguments`` is its key for these.

    Raises ``Undecodable`` and ``WrongFormat``.
    """
    if not isinstance(value, Mapping) or "name" not in value:
        raise Undecodable(f'expected an object with "name" and "{arguments}"')
    if arguments not in value:
        raise Undecodable(f'the call of {value["name"]!r} has no "{arguments}"')
    if isinstance(value["name"], list | dict):
        raise Undecodable("a function's name is text")
    return as_call(str(value["name"]), value[arguments])


def read_named_calls(value: object, arguments: str = "arguments") -> tuple[Call, ...]:
    """Read a decoded list of calls, or a single call. Raises ``Undecodable`` and ``WrongFormat``."""
    # All are decoded before the form of any is looked at, as officially.
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, Mapping) or not {"name", arguments} <= item.keys():
            raise Undecodable(f'expected objects with "name" and "{arguments}"')
    return tuple(read_named_call(item, arguments) for item in items)


def read_members(value: object) -> tuple[Call, ...]:
    """Read every member of a decoded value as a call. Raises ``Undecodable`` and ``WrongFormat``.

    Officially the members of anything are looked at, so that an empty text or object calls nothing.
    """
    if not isinstance(value, list | str | dict):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return read_named_calls(list(value))


_VALUE = re.compile(r"\[\s*[{\]]|\{\s*\"")
"""The beginning of a list of calls, of an empty list or of a call; other brackets belong to prose."""


def find_json_values(text: str) -> list[object]:
    """Decode the JSON lists and objects of a text; members of lists stand for themselves.

    Raises ``Undecodable`` where there is none, or one is broken.
    """
    decoder, at = json.JSONDecoder(), 0
    items: list[object] = []
    while match := _VALUE.search(text, at):
        check_depth(text, match.start())
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError) as error:
            # Nothing behind a broken value is read: it could be a part of it.
            raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
        items += value if isinstance(value, list) else [value]
    if not at:
        raise Undecodable("there is no JSON list of calls")
    return items


def find_named_calls(text: str) -> tuple[Call, ...]:
    """Read every JSON object of a text as a call with a name, and arguments or parameters.

    Raises ``Undecodable`` and ``WrongFormat``.
    """
    calls = []
    for item in find_json_values(text):
        tool_calls = item.get("tool_calls") if isinstance(item, Mapping) else None
        for value in tool_calls if isinstance(tool_calls, list) else [item]:
            if not isinstance(value, Mapping):
                raise Undecodable('expected objects with "name" and "arguments"')
            # Cohere's calls have "tool_name" and "parameters".
            if not isinstance(name := value.get("name", value.get("tool_name")), str):
                raise Undecodable('expected objects with "name" and "arguments"')
            arguments = value.get("arguments", value.get("parameters", {}))
            calls.append(as_call(name, from_json(arguments) if isinstance(arguments, str) else arguments))
    return tuple(calls)
