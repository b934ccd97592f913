"""Processes that tests start and end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def listening_to_ctrl_c() -> Iterator[None]:
    """Let SIGINT end processes started here, also where a shell in the background started the tests."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
