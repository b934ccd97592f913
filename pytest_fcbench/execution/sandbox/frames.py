"""Frames between the run and the process of a call: plain values, nothing that could be executed.

The run sends ``(call,)`` after the process sent ``("ready",)``. The answer is ``("returned", value)``,
``("raised", reason)``, ``("memory", reason)`` or ``("unanswered", function)``; before, the process can send
``("ask", function, arguments)``, which is answered ``("answer", value)``, ``("failed", reason)`` or
``("unanswered",)``.

A function may write bytes that a model chose to the connection. So each frame begins with the secret key of
its call, which no argument contains. A frame is JSON with limits on its size, values and keys.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

READY = "ready"
"""The first word of each process."""

_LONGEST = 8 * 2**20
_MOST_VALUES = 1_000_000
# Hashes of numbers can be made to collide, and then the time that tables take grows as the square of this.
_MOST_KEYS = 5_000


class FrameError(Exception):
    """Bytes that are no frame of this call, or a value beyond the limits."""


@dataclass(slots=True)
class Channel:
    """An end of a connection on which each frame begins with the key of its call."""

    connection: socket.socket
    key: str
    deadline: float | None = None
    """The time of ``time.monotonic`` after which nothing is sent or awaited; None for no end."""

    def send(self, *values: object) -> None:
        """Send a frame. Raises what ``encode_frame`` does, and OSError (TimeoutError at the deadline)."""
        frame = encode_frame(self.key, *values)
        self._limit_time()
        self.connection.sendall(len(frame).to_bytes(4, "big") + frame)

    def receive(self) -> list[object]:
        """Return the values of the next frame.

        Raises OSError (TimeoutError at the deadline), EOFError where the other side is gone, and FrameError.
        """
        size = int.from_bytes(self._receive_bytes(4), "big")
        values = decode_frame(self._receive_bytes(size)) if size <= _LONGEST else []
        if values[:1] != [self.key]:
            raise FrameError("this is no frame of this call")
        return values[1:]

    def _receive_bytes(self, size: int) -> bytes:
        read = bytearray()
        while len(read) < size:
            self._limit_time()
            part = self.connection.recv(min(size - len(read), 2**16))
            if not part:
                raise EOFError
            read += part
        return bytes(read)

    def _limit_time(self) -> None:
        if self.deadline is not None:
            left_s = self.deadline - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self.connection.settimeout(left_s)


def encode_frame(*values: object) -> bytes:
    """Encode values as a frame. Raises ValueError and RecursionError where they are not plain or too deep."""
    marked_values = [_mark_type(value) for value in values]
    return json.dumps(marked_values, check_circular=False, ensure_ascii=False).encode(errors="surrogatepass")


def decode_frame(frame: bytes) -> list[object]:
    """Return the values of a frame, which may be hostile. Raises FrameError."""
    keys = 0

    def restore_type(marked_value: dict[str, Any]) -> object:
        nonlocal keys
        ((kind, value),) = marked_value.items()
        if kind in ("set", "frozenset", "dict"):
            names = value if kind != "dict" else [name for name, _ in value]
            keys += sum(not isinstance(name, str) for name in names)
            if keys > _MOST_KEYS:
                raise FrameError(f"the result has more than {_MOST_KEYS:,} keys that are no text")
        return _KINDS[kind](value)

    # Each value but the first of a list has a comma before it.
    if len(frame) > _LONGEST or frame.count(b",") > _MOST_VALUES:
        raise FrameError("the result is too large")
    try:
        values: list[object] = [*json.loads(frame.decode(errors="surrogatepass"), object_hook=restore_type)]
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FrameError("this is no frame") from error
    return values


# Constructors of the types that JSON lacks, by the name that marks them in a frame.
_KINDS: Mapping[str, Callable[[Any], object]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "int": partial(int, base=16),
    "bytes": bytes.fromhex,
    "complex": lambda parts: complex(*parts),
}


def _mark_type(value: object) -> object:
    """Return a value for JSON; a type that JSON lacks becomes an object with the type as its only key."""
    match value:
        case None | bool() | float() | str():
            return value
        case int():
            # JSON would write all digits, for which the time grows as their square.
            return value if abs(value) < 2**63 else {"int": hex(value)}
        case list():
            return [_mark_type(member) for member in value]
        case tuple() | set() | frozenset():
            kind = next(kind for kind in (tuple, set, frozenset) if isinstance(value, kind))
            return {kind.__name__: [_mark_type(member) for member in value]}
        case dict():
            return {"dict": [[_mark_type(key), _mark_type(member)] for key, member in value.items()]}
        case bytes():
            return {"bytes": value.hex()}
        case complex():
            return {"complex": [value.real, value.imag]}
    raise ValueError(f"a result of the type {type(value).__name__} cannot be compared")
