"""Rows of stores as tests write them, and locks that another process holds."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from pytest_fcbench.dispatch.answer_store import AnswerStore
from pytest_fcbench.dispatch.stored_answers import AnswerKeys
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import AskModel
from tests.conftest import ROOT

MESSAGE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "theirs", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    "reasoning_content": "hm \ud83c",
    "audio": None,
}


def write_old_row(store: AnswerStore, key: str, text: str | None, *calls: object) -> None:
    """Write a row as the first version did."""
    answer = {"text": text, "tool_calls": list(calls) or None, "reasoning": None, "fault": None}
    usage = {"latency_s": 1.5, "input_tokens": 7, "output_tokens": None}
    row = (key, "core:multi_turn_0", "x", json.dumps(answer | usage), 1000.5)
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", row)


def make_key(identity: Mapping[str, object], entry: Entry, request: AskModel) -> str:
    """Return the key of an answer."""
    return AnswerKeys(identity).make_key(entry, request)


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_HOLD_LOCK = """
import sys
from pathlib import Path
from pytest_fcbench.dispatch.answer_store import AnswerStore
taken = AnswerStore(Path(sys.argv[1])).locks.take(sys.argv[2])
print(taken, flush=True)
sys.stdin.read()
"""


@contextmanager
def hold_lock(store: AnswerStore, key: str) -> Iterator[subprocess.Popen[str]]:
    """Hold the lock of a key in another process, until the block or the process ends."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", _HOLD_LOCK, str(store.path), key]
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as other:
        try:
            assert other.stdout
            assert other.stdout.readline() == "True\n", f"{key} is held by this process"
            yield other
        finally:
            other.kill()
