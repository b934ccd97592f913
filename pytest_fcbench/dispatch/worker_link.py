"""Transcripts for xdist workers: the controller runs all conversations, a worker asks it for the results.

The link is a local socket that only this user's processes can open, and only with the key of the run
(``multiprocessing.connection`` proves it without sending it). Address and key travel with xdist's own
``workerinput``.
"""

from __future__ import annotations

import pickle
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from typing import Any, TypedDict

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError
from pytest_fcbench.domain.transcript import Transcript


class Offer(TypedDict):
    """The data that a worker needs to connect, in types that xdist can carry."""

    address: str | tuple[str, int]
    key: bytes


class LinkServer:
    """The controller's end: answers each worker in a thread of its own."""

    def __init__(
        self,
        transcript: Callable[[Entry], Transcript],
        expect: Callable[[list[Entry]], None] = lambda entries: None,
    ) -> None:
        self._expect = expect
        self._transcript = transcript
        self._key = secrets.token_bytes(32)
        # Short, because the path of a socket must be, and closed to other users.
        self._folder = tempfile.TemporaryDirectory(prefix="fcbench-", ignore_cleanup_errors=True)
        try:
            self._listener = Listener(f"{self._folder.name}/link", family="AF_UNIX", backlog=64)
        except (OSError, ValueError):
            # Without such sockets, or where the path is too long for one, it listens on loopback.
            self._listener = Listener(("127.0.0.1", 0), family="AF_INET", backlog=64)
        self._address = self._listener.address
        self._closed = False
        threading.Thread(target=self._accept, name="fcbench-link", daemon=True).start()

    @property
    def offer(self) -> Offer:
        """The offer for the workers of this machine."""
        return {"address": self._address, "key": self._key}

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                if self._closed:
                    return
                # Out of file descriptors, for example: others may become free.
                time.sleep(0.1)
                continue
            if self._closed:
                connection.close()
                return
            threading.Thread(target=self._serve, args=(connection,), name="fcbench-link", daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        """Answer a worker until its process ends.

        The key is asked for here and not where connections are accepted: a silent peer keeps nobody waiting.
        """
        with connection, suppress(AuthenticationError, AssertionError, EOFError, OSError):
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            while True:
                asked: Entry | list[Entry] = _receive_value(connection)
                if isinstance(asked, list):
                    self._expect(asked)
                else:
                    connection.send_bytes(self._pickle_outcome(asked))

    def _pickle_outcome(self, entry: Entry) -> bytes:
        outcome: Transcript | NotScoredError
        try:
            outcome = self._transcript(entry)
        except NotScoredError as error:
            outcome = error
        except BaseException as error:  # noqa: BLE001 - reported where the entry is judged
            outcome = NotScoredError("internal_error", f"{type(error).__name__}: {error}")
        try:
            return pickle.dumps(outcome)
        except Exception as error:  # noqa: BLE001 - a model's arguments can be nested deeper than pickle goes
            reason = f"the answer cannot be sent: {type(error).__name__}: {error}"
            return pickle.dumps(NotScoredError("internal_error", reason))

    def close(self) -> None:
        """Accept no more workers. Those that are connected end with their processes."""
        if self._closed:
            return
        self._closed = True
        # accept() returns only when somebody connects.
        with suppress(OSError):
            Client(self._address).close()
        self._listener.close()
        self._folder.cleanup()


class Link:
    """A worker's end. One thread asks at a time."""

    def __init__(self, offer: Offer, connection: Connection) -> None:
        self._offer = offer
        self._connection: Connection | None = connection
        self._closed = False

    @classmethod
    def connect(cls, offer: Offer) -> Link | None:
        """Connect to an offer; return None where its address cannot be reached (on another machine)."""
        try:
            return cls(offer, _connect(offer))
        except (AuthenticationError, AssertionError, EOFError, OSError):
            return None

    def expect(self, entries: Iterable[Entry]) -> None:
        """Announce the transcripts that will be asked for, in order."""
        if self._connection is not None:
            # If the controller is gone, the next request reports it.
            with suppress(OSError):
                self._connection.send_bytes(pickle.dumps(list(entries)))

    def transcript(self, entry: Entry, within_s: float | None = None) -> Transcript:
        """Return the finished conversation about an entry.

        Raises ``NotScoredError``, and ``TimeoutError`` where there is none within that time.
        """
        try:
            if self._closed:
                raise EOFError
            self._connection = self._connection or _connect(self._offer)
            self._connection.send_bytes(pickle.dumps(entry))
            if within_s is not None and not self._connection.poll(within_s):
                raise TimeoutError
            outcome: Transcript | NotScoredError = _receive_value(self._connection)
        except TimeoutError:
            self._drop()
            raise
        except (AuthenticationError, EOFError, OSError):
            self._drop()
            reason = "the process that calls the model has ended or closed the connection"
            raise RunStoppedError("controller_lost", reason) from None
        except BaseException:
            # Interrupted: the outcome that is still to come would be taken for the next entry's.
            self._drop()
            raise
        if isinstance(outcome, NotScoredError):
            raise outcome
        return outcome

    def close(self) -> None:
        """Close the connection to the controller."""
        self._closed = True
        self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


# Values are pickled here and not by ``Connection.send`` and ``recv``: these leave the buffer of a BytesIO in
# the traceback of an error, and the garbage collector of CPython 3.12.1 crashes where that is in a cycle.
def _receive_value(connection: Connection) -> Any:
    return pickle.loads(connection.recv_bytes())  # noqa: S301 - the other end has proved that it has the key


def _connect(offer: Offer) -> Connection:
    return Client(offer["address"], authkey=offer["key"])
