"""Transcripts for xdist workers: the controller holds all conversations, a worker asks it for the results.

The link is a local socket that only this user's processes can open, and only with the key of the run
(``multiprocessing.connection`` proves it without sending it). Address and key travel with xdist's own
``workerinput``.
"""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import TypedDict

from pytest_fcbench.answers import Transcript
from pytest_fcbench.entries import Entry
from pytest_fcbench.errors import NotScoredError, RunStoppedError


class Offer(TypedDict):
    """What a worker needs to connect, in types that xdist can carry."""

    address: str | tuple[str, int]
    key: bytes


class LinkServer:
    """The controller's end: answers each worker in a thread of its own."""

    def __init__(
        self, expect: Callable[[list[Entry]], None], transcript: Callable[[Entry], Transcript]
    ) -> None:
        self._expect = expect
        self._transcript = transcript
        self._key = secrets.token_bytes(32)
        # Short, because the path of a socket must be, and closed to other users.
        self._folder = tempfile.TemporaryDirectory(prefix="fcbench-", ignore_cleanup_errors=True)
        self._listener = _listen(Path(self._folder.name), self._key)
        self._closed = False
        threading.Thread(target=self._accept, name="fcbench-link", daemon=True).start()

    @property
    def offer(self) -> Offer:
        """For the workers of this machine."""
        return {"address": self._listener.address, "key": self._key}

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection = self._listener.accept()
            except (AuthenticationError, EOFError, OSError):
                continue
            threading.Thread(target=self._serve, args=(connection,), name="fcbench-link", daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            while True:
                try:
                    asked: Entry | list[Entry] = connection.recv()
                    if isinstance(asked, list):
                        self._expect(asked)
                    else:
                        connection.send(self._outcome(asked))
                except (EOFError, OSError):
                    return  # the worker has ended

    def _outcome(self, entry: Entry) -> Transcript | NotScoredError:
        try:
            return self._transcript(entry)
        except NotScoredError as error:
            return error
        except BaseException as error:  # noqa: BLE001 - told where the entry is judged
            return NotScoredError("internal_error", f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Take no more workers. Those that are connected end with their processes."""
        self._closed = True
        with suppress(AuthenticationError, OSError):  # accept() only wakes for somebody
            Client(self._listener.address, authkey=self._key).close()
        self._listener.close()
        self._folder.cleanup()


def _listen(folder: Path, key: bytes) -> Listener:
    """A socket in the folder; where paths are too long or there are no such sockets, one on loopback."""
    try:
        return Listener(str(folder / "link"), family="AF_UNIX", authkey=key)
    except (OSError, ValueError):
        return Listener(("127.0.0.1", 0), family="AF_INET", authkey=key)


class Link:
    """A worker's end. One thread asks at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    def connect(cls, offer: Offer) -> Link | None:
        """The link of an offer; None where its address cannot be reached (on another machine)."""
        try:
            return cls(Client(offer["address"], authkey=offer["key"]))
        except (AuthenticationError, EOFError, OSError):
            return None

    def expect(self, entries: Iterable[Entry]) -> None:
        """Say which transcripts will be asked for, in which order."""
        with suppress(OSError):  # the next question tells that the controller is gone
            self._connection.send(list(entries))

    def transcript(self, entry: Entry) -> Transcript:
        """The finished conversation about an entry. Raises ``NotScoredError``."""
        try:
            self._connection.send(entry)
            outcome = self._connection.recv()
        except (EOFError, OSError):
            reason = "the process that asks the model has ended or closed the link"
            raise RunStoppedError("controller_lost", reason) from None
        if isinstance(outcome, NotScoredError):
            raise outcome
        transcript: Transcript = outcome
        return transcript

    def close(self) -> None:
        """Let go of the controller."""
        self._connection.close()
