"""Recordings of the web: JSON lines, each a call and its answer.

    {"name": "fetch_url_content", "arguments": {"url": "...", "mode": "raw"}, "answer": {"content": "..."}}

If a call is recorded twice, the later line counts.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.json_text import read_json_text


def make_key(name: object, arguments: object) -> str:
    """Return the key of a call; the order of its arguments does not count."""
    return json.dumps([name, arguments], sort_keys=True)


def read_recording(path: Path) -> Mapping[str, Mapping[str, object]]:
    """Read the answers of a file, by key. Raises ``UsageError`` with file and line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"recorded:{path}: cannot be read: {error.strerror}; "
            "name a file that --fcbench-search-record has written"
        ) from None
    answers = {}
    for number, line in enumerate(lines, 1):
        try:
            row = read_json_text(line)
            name, arguments, answer = row["name"], row["arguments"], row["answer"]
        except (ValueError, KeyError, TypeError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise UsageError(
                f"{path}:{number}: not a line of a recording; make a recording with --fcbench-search-record"
            )
        answers[make_key(name, arguments)] = answer
    return answers


class Recording:
    """A file that answers are added to. Threads and processes may share it: a line is one write to its end.

    Raises ``UsageError`` for a place that cannot be written to.
    """

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise UsageError(f"--fcbench-search-record={path}: cannot be written: {error.strerror}") from None
        self._last: dict[str, str] = {}
        """The last line of each call."""
        self._lock = threading.Lock()

    def add(self, name: object, arguments: object, answer: Mapping[str, object]) -> None:
        """Add an answer if it differs from the last one to this call. Raises OSError."""
        call = make_key(name, arguments)
        line = json.dumps({"name": name, "arguments": arguments, "answer": answer})
        with self._lock:
            if self._last.get(call) != line:
                os.write(self._file, f"{line}\n".encode())
                self._last[call] = line

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
