"""Write calls as the Python texts that are carried out (the end of the official ``decode_execute``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.domain.transcript import Call

CallWriter: TypeAlias = Callable[[Sequence[Call]], tuple[str, ...]]
"""Write each call as a text. Raises ``Undecodable``."""


def write_joined(calls: Sequence[Call]) -> tuple[str, ...]:
    """Write arguments one behind the other, as for tool calls (official: ``convert_to_function_call``)."""
    return tuple(_write_call(call.name, call.arguments, ",", repr) for call in calls)


def write_spaced(calls: Sequence[Call]) -> tuple[str, ...]:
    """Write arguments with a space behind each comma, as some handlers of JSON calls do."""
    return tuple(_write_call(call.name, call.arguments, ", ", repr) for call in calls)


def write_nested(calls: Sequence[Call]) -> tuple[str, ...]:
    """Write calls that were read from Python text, nested ones among them. Raises ``Undecodable``.

    In such a text, unlike in tool calls, a nested call was read as a dict of a dict. So every dict of dicts
    is written as a call: its first member is the function, the others are lost, and an empty dict makes the
    whole answer undecodable. The keys of any other dict become texts.
    """
    return tuple(_write_call(call.name, call.arguments, ", ", _write_value) for call in calls)


def _write_call(name: object, arguments: object, between: str, write: Callable[[object], str]) -> str:
    if not isinstance(arguments, dict):
        raise Undecodable(f"the arguments of {name} are {type(arguments).__name__}")
    return f"{name}({between.join(f'{key}={write(value)}' for key, value in arguments.items())})"


def _write_value(value: object) -> str:
    # Official: lists are not looked into, so a nested call in one stays a dict.
    if not isinstance(value, dict):
        return repr(value)
    if not all(isinstance(member, dict) for member in value.values()):
        members = (f"'{key}': {_write_value(member)}" for key, member in value.items())
        return f"{{{', '.join(members)}}}"
    if not value:
        raise Undecodable("an empty dict reads as a call without a name")
    name, arguments = next(iter(value.items()))
    return _write_call(name, arguments, ", ", _write_value)
