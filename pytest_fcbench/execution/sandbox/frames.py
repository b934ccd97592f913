"""Frames between a child process and its parent: plain values, nothing that could be executed.

The parent sends a call as text. The child answers ``("returned", value)``, ``("raised", reason)``,
``("memory", reason)`` or ``("unanswered", function)``; before, it can ask ``("ask", function, arguments)``,
which is answered ``("answer", value)``, ``("failed", reason)`` or ``("unanswered",)``.
"""

from __future__ import annotations

import marshal
from multiprocessing.connection import Connection
from typing import Any

READY = "ready"
"""The first message of a child."""

LONGEST = 64 * 2**20
"""The limit of a result in bytes."""


def encode(value: Any) -> bytes:
    """Encode a value as a frame. Raises ValueError for a value that is not plain."""
    # Unlike pickle, marshal writes and reads values only, so a frame cannot run code.
    return marshal.dumps(value)


def receive(connection: Connection) -> Any:
    """Wait for a frame and return its value. Raises EOFError or OSError where the other side is gone."""
    return marshal.loads(connection.recv_bytes(LONGEST + 1024))  # noqa: S302 - both sides are ours
