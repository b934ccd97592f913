"""Read answers that handlers keep as lists: ``{name: arguments}``, vendors' objects, texts among them."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.codecs.call_texts import write_spaced
from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat, as_call
from pytest_fcbench.domain.transcript import Call, ToolCall


def read_as_they_are(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read calls whose list is passed on unread; a text among them is no call (``WrongFormat``)."""
    if any(isinstance(part, str) for part in parts):
        raise WrongFormat("there is text among the calls")
    return tuple(as_call(part.name, _decode(part.arguments)) for part in parts if isinstance(part, ToolCall))


def read_calls_only(parts: Sequence[ToolCall | str]) -> tuple[Call, ...]:
    """Read calls of a list that must hold nothing else (``Undecodable``)."""
    if any(isinstance(part, str) for part in parts):
        raise Undecodable("the model did not return a list of calls only")
    return read_as_they_are(parts)


def read_vendor_objects(parts: Sequence[ToolCall | str], name: str, arguments: str) -> tuple[Call, ...]:
    """Read objects with these two keys, which are kept as JSON text; also ordinary tool calls."""
    calls = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(as_call(part.name, _decode(part.arguments)))
            continue
        value = from_json(part)
        if not isinstance(value, dict) or not {name, arguments} <= value.keys():
            raise Undecodable(f'expected objects with "{name}" and "{arguments}"')
        calls.append(as_call(str(value[name]), value[arguments]))
    return tuple(calls)


def write_lenient_calls(value: object) -> tuple[str, ...]:
    """Write the objects of a list as calls; other members are left out, and what an object lacks is empty.

    Raises ``WrongFormat``.
    """
    objects = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return write_spaced([as_call(str(item.get("name", "")), item.get("arguments", {})) for item in objects])


def _decode(arguments: object) -> object:
    """Return arguments as an object: an endpoint sends them as JSON text."""
    try:
        return from_json(arguments) if isinstance(arguments, str) else arguments
    except Undecodable:
        return arguments
