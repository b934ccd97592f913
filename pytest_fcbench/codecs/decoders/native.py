"""The native call syntaxes of some open models, as published in BFCL result files.

- ``hermes``: one JSON object a line between ``<tool_call>`` and ``</tool_call>`` (Hermes, Qwen).
- ``xlam``: a JSON list of ``{"name": ..., "arguments": {...}}``, bare or under ``tool_calls`` (xLAM).
- ``glm``: the function name on the first line, its arguments as JSON on the second (GLM-4).

These are the readings that the published verdicts of these models rest on; ``hermes`` therefore turns
every single quote into a double one before it parses, and every value of a Java or JavaScript call into
its text, as its handler did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat, as_call
from pytest_fcbench.domain.transcript import Call


def from_json(text: str) -> object:
    """Decode JSON text of a model. Raises ``Undecodable`` with the parser's words."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
    return value


def hermes(text: str) -> tuple[Call, ...]:
    """Calls between tool-call tags; text without tags is no call."""
    calls = []
    inside = False
    for line in text.split("\n"):
        if line in ("<tool_call>", "</tool_call>"):
            inside = line == "<tool_call>"
        elif inside:
            calls.append(_named(from_json(line.replace("'", '"'))))
    return tuple(calls)


def hermes_texts(text: str) -> tuple[Call, ...]:
    """The same with every argument as text, for Java and JavaScript."""
    return tuple(
        Call(call.name, {name: str(value) for name, value in call.arguments.items()}) for call in hermes(text)
    )


def xlam(text: str) -> tuple[Call, ...]:
    """Calls of a JSON list."""
    value = from_json(text)
    if isinstance(value, Mapping):
        value = value.get("tool_calls")
    if not isinstance(value, list):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    return tuple(_named(item) for item in value)


def glm(text: str) -> tuple[Call, ...]:
    """One call on two lines."""
    name, *rest = text.split("\n")
    if not rest:
        raise WrongFormat("a single line is a name without arguments")
    return (as_call(name, from_json(rest[0])),)


def _named(value: object) -> Call:
    if not isinstance(value, Mapping) or "name" not in value:
        raise Undecodable('expected an object with "name" and "arguments"')
    if "arguments" not in value:
        raise Undecodable(f'the call of {value["name"]!r} has no "arguments"')
    return as_call(str(value["name"]), value["arguments"])
