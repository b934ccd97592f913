"""Write calls as the Python text that is carried out (the official ``decode_execute``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_fcbench.codecs.decoders.outcome import Calls, Undecodable
from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.transcript import Call, Completion


def list_calls_to_make(completion: Completion, syntax: str) -> tuple[str, ...]:
    """Return the calls of an answer as texts; none for an answer without readable calls."""
    reading = read_official(completion, syntax, Language.PYTHON)
    try:
        return write_official_texts(reading.calls, syntax) if isinstance(reading, Calls) else ()
    except (Undecodable, RecursionError):
        return ()


def write_official_texts(calls: Sequence[Call], syntax: str) -> tuple[str, ...]:
    """Write each call as the official handlers do. Raises ``Undecodable``.

    In a text, unlike in tool calls, a nested call was read as a dict of a dict. So there every dict of
    dicts is written as a call: its first member is the function, the others are lost, and an empty dict
    makes the whole answer undecodable. The keys of any other dict become texts.
    """
    # Official: tool calls are joined without a space (``convert_to_function_call``), texts with one.
    if syntax == "tool_calls":
        return tuple(_write_call(call.name, call.arguments, ",", repr) for call in calls)
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
