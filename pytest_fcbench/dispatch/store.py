"""Answers on disk: nothing is bought twice, and a run killed at any moment goes on where it was.

One SQLite file in WAL mode, which several processes may use at once. An answer is keyed by a digest of
everything that can change it, and is written before anybody sees it. Keys and secrets are not in it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fcbench.answers import AskModel, Completion, completion_from_json, completion_to_json
from pytest_fcbench.entries import Entry
from pytest_fcbench.errors import NotScoredError, UsageError
from pytest_fcbench.models.model import Model

_APPLICATION_ID = 0x0FCBE1
_VERSION = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY,
    entry TEXT NOT NULL,
    model TEXT NOT NULL,
    answer TEXT NOT NULL,
    written REAL NOT NULL
) WITHOUT ROWID
"""


class AnswerStore:
    """Completions by key. Raises ``UsageError`` for a file that is not one of ours; it stays as it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # The dispatcher uses it from the thread of its loop, one statement at a time.
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._open()
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{path}: {error}; {_WAY_OUT}") from None

    def _open(self) -> None:
        (found,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and (found, version) != (_APPLICATION_ID, _VERSION):
            self._database.close()
            raise UsageError(f"{self.path} is not a store of this version of fcbench; {_WAY_OUT}")
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        self._database.execute(f"PRAGMA user_version = {_VERSION}")
        self._database.execute(_TABLE)

    def get(self, key: str) -> Completion | None:
        """The stored completion, or None."""
        row = self._database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        answer = json.loads(row[0])
        usage = {name: answer.pop(name) for name in ("latency_s", "input_tokens", "output_tokens")}
        return replace(completion_from_json(answer), **usage)

    def put(self, key: str, entry: str, model: str, completion: Completion) -> None:
        """Keep a completion; it is on disk when this returns."""
        answer = completion_to_json(completion) | {
            "latency_s": completion.latency_s,
            "input_tokens": completion.input_tokens,
            "output_tokens": completion.output_tokens,
        }
        self._database.execute(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)",
            (key, entry, model, json.dumps(answer), time.time()),
        )

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


_WAY_OUT = "move it away, or name another file with --fcbench-store (none keeps no answers)"


@dataclass
class StoredModel:
    """A model whose answers are kept, and given again where the same is asked.

    ``identity`` is what can change an answer beside the request: id, endpoint, parameters.
    """

    model: Model
    store: AnswerStore
    identity: Mapping[str, object]
    offline: bool = False
    """Ask nothing: an entry without a stored answer is not scored."""
    refresh: bool = False
    """Ask everything again and keep the new answers."""
    immediate: bool = False
    reused: int = 0

    @property
    def mode(self) -> None:
        """Any mode will do."""

    @property
    def syntax(self) -> None:
        """The mode's own."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The model's, and how many answers were not bought again."""
        reused = f"{self.reused} answers came from {self.store.path.name}"
        return (*self.model.notes, reused) if self.reused else self.model.notes

    def has(self, entry: Entry, request: AskModel) -> bool:
        """Whether nothing would have to be asked."""
        return not self.refresh and self.store.get(digest(self.identity, entry, request)) is not None

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """The stored answer, or a new one that is stored first: one that cannot be kept is not scored."""
        key = digest(self.identity, entry, request)
        stored = None if self.refresh else self.store.get(key)
        if stored is not None:
            self.reused += 1
            return stored
        if self.offline:
            raise NotScoredError("offline", f"{self.store.path.name} has no answer for {entry.item_id}")
        completion = await self.model.complete(entry, request)
        if completion.fault is None:
            try:
                self.store.put(key, entry.item_id, str(self.identity.get("model")), completion)
            except sqlite3.Error as error:
                raise NotScoredError("store", f"{self.store.path}: {error}") from None
        return completion


_SECRET = re.compile(r"key|token$|secret|password|headers?$", re.IGNORECASE)


def digest(identity: Mapping[str, object], entry: Entry, request: AskModel) -> str:
    """The key of an answer. Parameters that hold secrets do not change an answer and are left out.

    Entry and trial are in it because each is a draw of its own, also where two entries ask the same. The
    first of several trials is what a run with one finds.
    """
    parameters = identity.get("parameters")
    if isinstance(parameters, Mapping):
        kept = {name: value for name, value in parameters.items() if not _SECRET.search(name)}
        identity = {**identity, "parameters": kept}
    asked = [
        dict(identity),
        [entry.key, entry.trial or 1],
        [dict(message) for message in request.messages],
        [dict(tool) for tool in request.tools],
    ]
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=repr).encode()).hexdigest()
