"""Transcripts for xdist workers: the controller runs all conversations, a worker asks it for the results.

The link is a connection on loopback. Address and key travel with xdist's own ``workerinput``; each end proves
to the other that it has the key, without sending it. Messages are JSON, of which nothing can be executed, and
one event loop serves all workers and whoever else connects.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import BinaryIO, TypedDict

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError, RunStoppedError
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.domain.transcript_json import read_transcript, write_transcript

_LENGTH = struct.Struct(">I")
"""The length of a message in bytes, which comes before it."""
_LONGEST_OF_STRANGERS = 1024
_LONGEST = 2**30
_PROOF_S = 30.0
"""Seconds that a peer has to prove that it has the key."""
_SHORTEST_S = 0.001
"""Seconds that are waited for a message where no time is left."""
_WORKER, _CONTROLLER = b"worker", b"controller"
"""The part of each end in the proof, so that none can send back what it was sent."""


class LinkOffer(TypedDict):
    """The data that a worker needs to connect, in types that xdist can carry."""

    address: tuple[str, int]
    key: bytes


class StrangerError(Exception):
    """The other end of a connection did not prove that it has the key, or does not keep to the protocol."""


class LinkServer:
    """The controller's end.

    ``find`` returns the entry of an item id, ``request`` starts or finds its conversation, and ``expect``
    hears of entries that will be asked for.
    """

    def __init__(
        self,
        find: Callable[[str], Entry | None],
        request: Callable[[Entry], Future[Transcript]],
        expect: Callable[[list[Entry]], None] = lambda entries: None,
    ) -> None:
        self._find = find
        self._request = request
        self._expect = expect
        self._key = secrets.token_bytes(32)
        self._closed = False
        self._loop = asyncio.new_event_loop()
        # Enough for all workers of a large machine to connect at the same moment.
        listening = asyncio.start_server(self._serve_worker, "127.0.0.1", 0, backlog=256)
        self._server = self._loop.run_until_complete(listening)
        host, port = self._server.sockets[0].getsockname()
        self.offer: LinkOffer = {"address": (host, port), "key": self._key}
        """The offer for the workers of this machine."""
        self._thread = threading.Thread(target=self._loop.run_forever, name="fcbench-link", daemon=True)
        self._thread.start()

    async def _serve_worker(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a worker until it closes the connection, and a stranger not at all."""
        try:
            async with asyncio.timeout(_PROOF_S):
                await self._check_proof(reader, writer)
            while True:
                match await _receive_message(reader, _LONGEST):
                    case {"expect": list(ids)}:
                        self._expect([entry for each in ids if (entry := self._find(each))])
                    case {"ask": str(item_id)}:
                        writer.write(_encode_message(await self._find_outcome(item_id)))
                        await writer.drain()
        # The worker has ended, or is none, or the link is closed: before Python 3.12 asyncio prints an error
        # where such a task ends as cancelled.
        except (StrangerError, EOFError, OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _check_proof(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ours = secrets.token_hex(32)
        writer.write(_encode_message({"challenge": ours}))
        match await _receive_message(reader, _LONGEST_OF_STRANGERS):
            case {"challenge": str(theirs), "proof": str(text)} if _is_proof(text, self._key, _WORKER, ours):
                writer.write(_encode_message({"proof": _prove(self._key, _CONTROLLER, theirs)}))
            case _:
                raise StrangerError

    async def _find_outcome(self, item_id: str) -> Mapping[str, object]:
        """Return the transcript of an entry, or the reason why there is none, as a message."""
        try:
            entry = self._find(item_id)
            if entry is None:
                raise LookupError(f"the controlling process does not know the entry {item_id}")
            answer = self._request(entry)
            if not answer.done():
                # Shielded: the conversation goes on although nobody waits for it any more.
                await asyncio.shield(asyncio.wrap_future(answer))
            return {"transcript": write_transcript(answer.result())}
        except NotScoredError as error:
            is_stopped = isinstance(error, RunStoppedError)
            return {"cause": error.cause, "reason": error.reason, "stopped": is_stopped}
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - reported where the entry is judged
            return _describe_internal_error(f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Accept no more workers and end the connections of all."""
        if self._closed:
            return
        self._closed = True
        asyncio.run_coroutine_threadsafe(self._end_connections(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end_connections(self) -> None:
        self._server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


class Link:
    """A worker's end. One thread asks at a time.

    The controller is busy with all workers, so a worker asks for the transcript of its next test already
    while it judges the one before.
    """

    def __init__(self, offer: LinkOffer, connection: _Connection) -> None:
        self._offer = offer
        self._connection: _Connection | None = connection
        self._closed = False
        self._next_id: str | None = None
        self._asked_id: str | None = None
        """The entry whose outcome is still to come."""
        self._outcomes: dict[str, object] = {}
        """Outcomes that came early: a test that is run again needs another one first."""

    @classmethod
    def connect(cls, offer: LinkOffer) -> Link | None:
        """Connect to an offer; return None where its address cannot be reached (on another machine)."""
        try:
            return cls(offer, _Connection(offer))
        except (StrangerError, EOFError, OSError):
            return None

    def expect(self, entries: Iterable[Entry]) -> None:
        """Announce the transcripts that will be asked for, in order."""
        if self._connection is not None:
            # If the controller is gone, the next request reports it.
            with suppress(OSError):
                self._connection.send({"expect": [entry.item_id for entry in entries]})

    def expect_next(self, entry: Entry | None) -> None:
        """Announce which transcript the next test will need; None if that is not known."""
        self._next_id = entry.item_id if entry else None

    def transcript(self, entry: Entry, within_s: float | None = None) -> Transcript:
        """Return the finished conversation about an entry.

        Raises ``NotScoredError``, and ``TimeoutError`` where there is none within that time.
        """
        try:
            if self._closed:
                raise EOFError
            self._connection = self._connection or _Connection(self._offer)
            outcome = self._receive_outcome(self._connection, entry.item_id, within_s)
        except TimeoutError:
            self._drop()
            raise
        except (StrangerError, EOFError, OSError):
            self._drop()
            reason = "the process that calls the model has ended or closed the connection"
            raise RunStoppedError("controller_lost", reason) from None
        except BaseException:
            # Interrupted: the outcome that is still to come would be taken for the next entry's.
            self._drop()
            raise
        match outcome:
            case {"transcript": {} as told}:
                return read_transcript(told)
            case {"cause": str(cause), "reason": str(reason), "stopped": stopped}:
                raise (RunStoppedError if stopped else NotScoredError)(cause, reason)
        raise NotScoredError("internal_error", "the process that calls the model sent an unknown message")

    def _receive_outcome(self, connection: _Connection, item_id: str, within_s: float | None) -> object:
        """Return the outcome of an entry, asked for unless it was already, and ask for the next one."""
        start_time = time.monotonic()
        while item_id not in self._outcomes:
            asked_id = self._ask_for(connection, item_id)
            left_s = None if within_s is None else within_s - (time.monotonic() - start_time)
            self._outcomes[asked_id] = connection.receive(left_s)
            self._asked_id = None
        outcome = self._outcomes.pop(item_id)
        # A test that was left out takes none.
        self._outcomes = {name: early for name, early in self._outcomes.items() if name == self._next_id}
        if self._next_id is not None and not self._outcomes:
            # If the controller is gone, the next request reports it.
            with suppress(OSError):
                self._ask_for(connection, self._next_id)
        return outcome

    def _ask_for(self, connection: _Connection, item_id: str) -> str:
        """Ask for an outcome unless one is still to come; return the id of the entry whose outcome it is."""
        if self._asked_id is None:
            connection.send({"ask": item_id})
            self._asked_id = item_id
        return self._asked_id

    def close(self) -> None:
        """Close the connection to the controller."""
        self._closed = True
        self._drop()

    def _drop(self) -> None:
        # First, because a signal may interrupt the rest.
        connection, self._connection, self._asked_id = self._connection, None, None
        if connection is not None:
            connection.close()


class _Connection:
    """A connection to the controller, which has proved to be it.

    Raises ``StrangerError``, EOFError or OSError.
    """

    def __init__(self, offer: LinkOffer) -> None:
        self._socket = socket.create_connection(offer["address"], _PROOF_S)
        self._reader: BinaryIO = self._socket.makefile("rb")
        try:
            match self.receive(_PROOF_S, _LONGEST_OF_STRANGERS):
                case {"challenge": str(theirs)}:
                    ours = secrets.token_hex(32)
                    self.send({"challenge": ours, "proof": _prove(offer["key"], _WORKER, theirs)})
                case _:
                    raise StrangerError
            match self.receive(_PROOF_S, _LONGEST_OF_STRANGERS):
                case {"proof": str(proof)} if _is_proof(proof, offer["key"], _CONTROLLER, ours):
                    pass
                case _:
                    raise StrangerError
        except BaseException:
            self.close()
            raise

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message."""
        self._socket.settimeout(None)
        self._socket.sendall(_encode_message(message))

    def receive(self, within_s: float | None, longest: int = _LONGEST) -> object:
        """Return the next message. Raises TimeoutError where none begins within that time."""
        # A socket takes zero for not to block, and no negative number.
        self._socket.settimeout(None if within_s is None else max(within_s, _SHORTEST_S))
        length = _read_length(self._read(_LENGTH.size), longest)
        # What has begun to come is written already.
        self._socket.settimeout(_PROOF_S)
        return _decode_message(self._read(length))

    def _read(self, size: int) -> bytes:
        data = self._reader.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def close(self) -> None:
        self._reader.close()
        self._socket.close()


def _prove(key: bytes, part: bytes, challenge: str) -> str:
    return hmac.new(key, part + challenge.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _is_proof(text: str, key: bytes, part: bytes, challenge: str) -> bool:
    return hmac.compare_digest(text.encode(), _prove(key, part, challenge).encode())


def _describe_internal_error(reason: str) -> Mapping[str, object]:
    return {"cause": "internal_error", "reason": reason, "stopped": False}


def _encode_message(message: Mapping[str, object]) -> bytes:
    try:
        data = json.dumps(message).encode()
    # A model's arguments can be nested deeper than a writer goes, and a function of the user can return what
    # is no data.
    except (RecursionError, TypeError, ValueError) as error:
        reason = f"the answer cannot be sent: {type(error).__name__}: {error}"
        data = json.dumps(_describe_internal_error(reason)).encode()
    return _LENGTH.pack(len(data)) + data


def _read_length(data: bytes, longest: int) -> int:
    (length,) = _LENGTH.unpack(data)
    if length > longest:
        raise StrangerError
    return int(length)


def _decode_message(data: bytes) -> object:
    try:
        message: object = json.loads(data)
    except RecursionError as error:
        # A test runs on a deeper stack than the event loop that wrote the message.
        return _describe_internal_error(f"the answer cannot be read: {error}")
    except ValueError:
        raise StrangerError from None
    return message


async def _receive_message(reader: asyncio.StreamReader, longest: int) -> object:
    length = _read_length(await reader.readexactly(_LENGTH.size), longest)
    return _decode_message(await reader.readexactly(length))
