"""What a child process and its parent say to each other: plain values, nothing that could be carried out.

The parent sends a call as text. The child answers ``("returned", value)``, ``("raised", reason)``,
``("memory", reason)`` or ``("unanswered", function)``; before, it can ask ``("ask", function, arguments)``,
which is answered ``("answer", value)``, ``("failed", reason)`` or ``("unanswered",)``.
"""

from __future__ import annotations

import marshal
from multiprocessing.connection import Connection
from typing import Any

READY = "ready"
"""What a child says first."""

LONGEST = 64 * 2**20
"""Bytes of what a call returns."""


def encode(value: Any) -> bytes:
    """Return a value as a frame. Raises ValueError for what is not plain."""
    return marshal.dumps(value)


def receive(connection: Connection) -> Any:
    """Wait for a frame and return its value. Raises EOFError or OSError where the other side is gone."""
    return marshal.loads(connection.recv_bytes(LONGEST + 1024))  # noqa: S302 - both sides are ours
