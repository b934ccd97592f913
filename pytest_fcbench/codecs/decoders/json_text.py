"""Decode JSON in the answers of models, and read calls from objects with ``name`` and ``arguments``."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_fcbench.codecs.decoders.outcome import Undecodable, as_call
from pytest_fcbench.domain.transcript import Call


def from_json(text: str) -> object:
    """Decode JSON text of a model. Raises ``Undecodable`` with the parser's words."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
    return value


def read_named_call(value: object) -> Call:
    """Read a decoded object as a call. Raises ``Undecodable`` and ``WrongFormat``."""
    if not isinstance(value, Mapping) or "name" not in value:
        raise Undecodable('expected an object with "name" and "arguments"')
    if "arguments" not in value:
        raise Undecodable(f'the call of {value["name"]!r} has no "arguments"')
    return as_call(str(value["name"]), value["arguments"])
