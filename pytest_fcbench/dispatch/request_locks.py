"""Locks by which runs that share a store do not ask the same at the same time.

A lock is one byte of a file beside the store, at a place that follows from the key of the answer. The system
releases it when the process ends, however it ends, so no run ever waits for a dead one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_DIGITS = 15
"""Hexadecimal digits of a key that give its place; an offset in a file has 63 bits."""


class RequestLocks:
    """The locks of one process in a file, which is made when the first is taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self, key: str) -> bool:
        """Take the lock of a key, a hash in hexadecimal digits; return False if another process has it.

        Where nobody can take locks, runs at the same time may ask the same.
        """
        if sys.platform != "win32":
            try:
                if self._file is None:
                    self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[:_DIGITS], 16))
            except BlockingIOError:
                return False
            except OSError:
                # A file system without locks, such as some network drives, or a file of another user: stored
                # answers are reused all the same.
                return True
        return True

    def release(self, key: str) -> None:
        """Release the lock of a key."""
        if sys.platform != "win32" and self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, int(key[:_DIGITS], 16))

    def close(self) -> None:
        """Release all locks."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
