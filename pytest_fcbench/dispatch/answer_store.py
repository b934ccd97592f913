"""A store of answers on disk: nothing is paid for twice, and a run that was killed continues where it was.

One SQLite file in WAL mode, which several processes may use at once. An answer is keyed by a digest of
everything that can change it, and is written before anybody sees it. Keys and secrets are not in it.

Runs that share a store do not ask the same at the same time. Their lock is one byte of a file beside the
store, at a place that follows from the key of the answer. The system releases it when the process ends,
however it ends, so no run ever waits for a dead one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.domain.errors import NotScoredError, UsageError
from pytest_fcbench.domain.text import escape_surrogates, read_json_text
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.domain.transcript_json import read_completion, write_completion

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


_PATIENCE_S = 30.0
"""Seconds that a statement waits while another process writes."""

_BETWEEN_TRIES_S = 0.01

_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""Errors of reading a row that something else than a store has written."""

_WAY_OUT = "move it away, or name another file with --fcbench-store ('none' stores no answers)"


@dataclass(frozen=True, slots=True)
class Kept:
    """The facts about a stored answer beside the answer."""

    entry: str
    """Its item id: ``suite:id``, with ``-t2`` for the second of several trials."""
    model: str
    """Its id, and the address at which it was asked, if any was given."""
    input_tokens: int | None
    output_tokens: int | None
    written: float
    """Seconds since 1970."""
    is_damaged: bool = False
    """True where it cannot be read."""


AT = " at "
"""Stands between the id of a model and the address at which it was asked, which earlier versions left out."""
_OF_MODEL = f"(:model IS NULL OR model = :model OR substr(model, 1, length(:model) + 4) = :model || '{AT}')"
"""An id alone stands for the model at every address."""
_CONDITIONS = (
    f"{_OF_MODEL} AND (:entries IS NULL OR entry GLOB :entries) AND (:before IS NULL OR written < :before)"
)
_DELETE = f"DELETE FROM answers WHERE {_CONDITIONS}"  # noqa: S608 - values are parameters
_COUNT = f"SELECT count(*) FROM answers WHERE {_CONDITIONS}"  # noqa: S608 - values are parameters
_Row: TypeAlias = tuple[str, str, str, str, float]
"""Key, entry, model, answer as JSON, and the time of writing."""


@dataclass
class OldReads:
    """Answers that were read and are older than the run; a server that was mended since answers otherwise."""

    count: int = 0
    oldest_s: float = math.inf
    """When the oldest of them was written, in seconds since 1970."""

    def add(self, others: OldReads) -> None:
        """Add those of another store, or of another part of the run."""
        self.count += others.count
        self.oldest_s = min(self.oldest_s, others.oldest_s)

    def describe(self, way_out: str) -> list[str]:
        """Say how many there are and from when, as a line; nothing where there are none."""
        answers = "1 stored answer was" if self.count == 1 else f"{self.count:,} stored answers were"
        when = f"{datetime.fromtimestamp(self.oldest_s):%Y-%m-%d %H:%M}" if self.count else ""
        return [f"{answers} compared, the oldest of {when}; {way_out} asks again"] if self.count else []


class AnswerStore:
    """A file of completions by key; a missing one is created unless ``new`` is False.

    Raises ``UsageError`` for a file that is not one of ours; it stays as it is.
    """

    def __init__(self, path: Path, *, new: bool = True) -> None:
        self.path = path
        self.old_reads = OldReads()
        self._opened_s = time.time()
        if not new and not path.is_file():
            raise UsageError(f"{path}: no such file; name the file that stores answers with --fcbench-store")
        self.is_restored = False
        """True where the file was deleted or replaced while it was open; its answers were written again."""
        with ExitStack() as self._connections:
            try:
                self._open_file(new)
            except (OSError, sqlite3.Error) as error:
                raise UsageError(self.describe_error(error)) from None
            self._connections = self._connections.pop_all()
        self.locks = RequestLocks(path.with_name(f"{path.name}-asking"))
        """Locks on the answers that this run is asking for."""
        self._writer = ThreadPoolExecutor(1, "fcbench-store")
        self._writing = threading.Lock()
        # Conversations of several event loops may store answers.
        self._adding = threading.Lock()
        self._waiting: deque[tuple[_Row, asyncio.Future[None]]] = deque()
        self._written = 0

    def _open_file(self, new: bool) -> None:
        """Open the file. Raises ``UsageError``, ``OSError``, ``sqlite3.Error``."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._database = self._connect()
        self._create_table(new)
        # Its own, because reads come from the event loop while a thread writes.
        self._reads = self._connect()
        self._file_ids = self._identify_files()

    def _identify_files(self) -> tuple[tuple[int, int] | None, ...]:
        """Return what tells the file, and its ``-wal``, from others that take their names."""
        return _identify_file(self.path), _identify_file(self.path.with_name(f"{self.path.name}-wal"))

    def _connect(self) -> sqlite3.Connection:
        """Open a connection that any thread may use, one at a time."""
        connection = sqlite3.connect(
            self.path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
        )
        return self._connections.enter_context(closing(connection))

    def require_writable(self) -> None:
        """Try a write. Raises ``sqlite3.Error`` where no answer could be stored."""
        with self._writing:
            # It stays as it is, but is written.
            self._database.execute(f"PRAGMA user_version = {_VERSION}")

    def _create_table(self, new: bool) -> None:
        """Create the table in a new file. Raises ``UsageError`` for what is no store."""
        # Both figures are set before the table is made, and the table is looked for first: so neither a run
        # killed in between nor one that creates the store now leaves what looks like another file.
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application_id,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if (application_id, version) == (_APPLICATION_ID, _VERSION) and tables:
            return
        if tables or not new:
            raise UsageError(f"{self.path} was not written as a store by this version of fcbench; {_WAY_OUT}")
        # In WAL mode readers and one writer do not wait for each other.
        self._switch_to_wal()
        self._database.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        self._database.execute(f"PRAGMA user_version = {_VERSION}")
        self._database.execute(_TABLE)

    def _switch_to_wal(self) -> None:
        """Switch the file to WAL mode, where SQLite itself does not wait for another process that writes."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                    raise
                time.sleep(_BETWEEN_TRIES_S)

    def get(self, key: str) -> Completion | None:
        """Return the stored completion, or None. Raises ``NotScoredError`` for one that cannot be read."""
        try:
            query = "SELECT entry, answer, written FROM answers WHERE key = ?"
            row = self._reads.execute(query, (key,)).fetchone()
        except sqlite3.Error as error:
            raise NotScoredError("store", self.describe_error(error)) from None
        if row is None:
            return None
        entry, answer, write_time = row
        if write_time < self._opened_s:
            self.old_reads.add(OldReads(1, write_time))
        try:
            return read_completion(read_json_text(answer))
        except _UNREADABLE as error:
            reason = (
                f"{self.path}: the stored answer of {entry} is damaged ({type(error).__name__}: {error}); "
                f"delete it with 'fcbench store prune --entry {entry}', or ask again with --fcbench-refresh"
            )
            raise NotScoredError("store", reason) from None

    def put(self, key: str, entry: str, model: str, completion: Completion) -> None:
        """Store a completion; it is on disk when this returns."""
        self._write_rows([_make_row(key, entry, model, completion)])

    async def keep(self, key: str, entry: str, model: str, completion: Completion) -> None:
        """Store a completion from a thread of its own: a slow disk must not hold up the event loop.

        Answers that come while others are written are written together, in one transaction.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        row = _make_row(key, entry, model, completion)
        with self._adding:
            self._waiting.append((row, future))
            # Those that came before it and still wait are written by a call that takes this one too.
            is_first = len(self._waiting) == 1
        if is_first:
            self._writer.submit(self._write_waiting)
        await future

    def _write_waiting(self) -> None:
        """Write all answers that are waiting, and tell those who wait for them."""
        batch: list[tuple[_Row, asyncio.Future[None]]] = []
        while self._waiting:
            batch.append(self._waiting.popleft())
        if not batch:
            return
        failure = self._try_rows([row for row, _ in batch])
        errors = [failure] * len(batch)
        if failure and getattr(failure, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
            # A full disk may still hold some of them, and each counts: it is paid for. A lock holds off all.
            errors = [self._try_rows([row]) for row, _ in batch]
        for (_, future), error in zip(batch, errors, strict=True):
            # A loop that has ended waits for nothing; the answers are on disk all the same.
            with suppress(RuntimeError):
                future.get_loop().call_soon_threadsafe(_settle_future, future, error)

    def _try_rows(self, rows: Sequence[_Row]) -> sqlite3.Error | None:
        """Write rows in one transaction; return the error, if any."""
        try:
            self._write_rows(rows)
        except sqlite3.Error as error:
            return error
        return None

    def _write_rows(self, rows: Sequence[_Row]) -> None:
        """Write rows in one transaction, which costs one flush. Raises ``sqlite3.Error``."""
        # Without the lock a row of another thread would become part of this transaction.
        with self._writing:
            former_state = self._database, self._reads, self._file_ids
            all_rows: Iterable[_Row] = rows
            try:
                file, wal = self._identify_files()
                # SQLite would go on in a file that was deleted or replaced, and nobody would find it.
                if file != self._file_ids[0]:
                    # It would take what is left of the former file for a part of the one that is there now.
                    if wal and wal == self._file_ids[1]:
                        for ending in ("-wal", "-shm"):
                            self.path.with_name(f"{self.path.name}{ending}").unlink(missing_ok=True)
                    former = former_state[0].execute("SELECT key, entry, model, answer, written FROM answers")
                    self._open_file(new=True)
                    all_rows = chain(former, rows)
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", all_rows)
                self._database.execute("COMMIT")
            except BaseException as error:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                self._database, self._reads, self._file_ids = former_state
                if isinstance(error, (OSError, UsageError)):
                    raise sqlite3.OperationalError(f"deleted or replaced during the run: {error}") from None
                raise
            self._written += len(rows)
            self._file_ids = self._file_ids[0], self._identify_files()[1]
            self.is_restored |= self._database is not former_state[0]

    def count_written(self) -> int:
        """Write what is still waiting; return the number of answers that were written to this store."""
        self._writer.submit(self._write_waiting).result()
        return self._written

    def describe_error(self, error: OSError | sqlite3.Error) -> str:
        """Describe an error of the file or its database, with the way out."""
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            return f"{self.path}: another process holds its lock; end that process and run again"
        return f"{self.path}: {error}; {_WAY_OUT}"

    def kept(self, model: str | None = None) -> Iterator[Kept]:
        """Yield the facts about all stored answers, or about those of one model."""
        query = f"SELECT entry, model, answer, written FROM answers WHERE {_OF_MODEL}"  # noqa: S608 - no values
        rows = self._database.execute(query, {"model": model and escape_surrogates(model)})
        for entry, of, answer, write_time in rows:
            try:
                usage = read_completion(read_json_text(answer))
            except _UNREADABLE:
                yield Kept(entry, of, None, None, write_time, is_damaged=True)
            else:
                yield Kept(entry, of, usage.input_tokens, usage.output_tokens, write_time)

    def delete(
        self, model: str | None = None, entries: str | None = None, before: float | None = None
    ) -> int:
        """Delete the answers that meet all conditions given and return their number; without any, all.

        ``entries`` is a pattern of item ids (``bfcl:live_*``), ``before`` is in seconds since 1970.
        """
        values = {"model": model and escape_surrogates(model), "entries": entries, "before": before}
        return self._database.execute(_DELETE, values).rowcount

    def count(self, model: str | None = None, entries: str | None = None, before: float | None = None) -> int:
        """Count the answers that ``delete`` would delete."""
        values = {"model": model and escape_surrogates(model), "entries": entries, "before": before}
        row = self._database.execute(_COUNT, values).fetchone()
        return int(row[0])

    def shrink(self) -> None:
        """Give back the space of deleted answers."""
        self._database.execute("VACUUM")
        # The smaller file is in the -wal until it is merged.
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @property
    def size(self) -> int:
        """Bytes on disk, including those not yet merged into the file (``-wal``)."""
        wal = self.path.with_name(f"{self.path.name}-wal")
        return sum(file.stat().st_size for file in (self.path, wal) if file.exists())

    def close(self) -> None:
        """Write what is still waiting, then close the file."""
        self._writer.shutdown()
        if self._written:
            # A file that was deleted after the last answer is written again.
            with suppress(sqlite3.Error):
                self._write_rows([])
        self._connections.close()
        self.locks.close()


def _identify_file(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from all others, also from one that takes its name; None for a missing one."""
    try:
        file_stat = path.stat()
    except FileNotFoundError:
        return None
    return file_stat.st_dev, file_stat.st_ino


def _make_row(key: str, entry: str, model: str, completion: Completion) -> _Row:
    answer = write_completion(completion)
    return key, escape_surrogates(entry), escape_surrogates(model), json.dumps(answer), time.time()


def _settle_future(future: asyncio.Future[None], error: sqlite3.Error | None) -> None:
    # Whoever waited may have been cancelled.
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


@dataclass(frozen=True, slots=True)
class Replies:
    """Stored replies of web APIs, beside the answers of models."""

    store: AnswerStore
    offline: bool = False
    """True where only stored replies may be used."""
    refresh: bool = False
    """Ask everything again and keep the new replies."""

    def get(self, key: str) -> str | None:
        """Return the reply that was stored under a key."""
        answer = None if self.refresh else self.store.get(_hash_key(key))
        return answer.text if answer else None

    def put(self, key: str, host: str, text: str) -> None:
        """Store a reply; it is on disk when this returns."""
        self.store.put(_hash_key(key), f"web:{host}", "web", Completion(text=text))


def _hash_key(key: str) -> str:
    return hashlib.sha256(json.dumps(["web", key]).encode()).hexdigest()


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
