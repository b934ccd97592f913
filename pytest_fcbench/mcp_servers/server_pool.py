"""MCP servers as a tool that conversations ask: it carries calls out on a server of each conversation.

A server stays open between two requests of its conversation. Where it was ended meanwhile, or a request names
other calls than were made on it, a fresh one is started and the earlier calls are made again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError, FcbenchError, NotScoredError
from pytest_fcbench.domain.transcript import AskModel, Call, Completion
from pytest_fcbench.mcp_servers.open_server import open_server
from pytest_fcbench.mcp_servers.server_requests import ServerRequest, read_request, write_results

_IDLE_S = 60.0
"""Seconds without a request after which a server is ended."""
_AT_ONCE = 16
"""Servers that run at the same time."""


@dataclass
class ServerPool:
    """A tool that carries calls out on MCP servers, on an event loop of its own in a thread of its own.

    The loop of the dispatcher would not do: where everybody answers at once there is none.
    """

    is_allowed: bool
    """True where the user allows entries to start programs."""
    find_folder: Callable[[Entry], Path]
    """Returns the folder of the file of an entry."""
    immediate: bool = False
    """True where nothing else waits for the loop that asks, so that it may be blocked."""
    notes: tuple[str, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False, repr=False)
    _thread: threading.Thread | None = field(default=None, init=False, repr=False)
    _sessions: dict[str, _Session] = field(default_factory=dict, init=False, repr=False)
    """By item id of the entry, that without a request for the longest time first."""

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Carry the calls of a request out. Raises ``CallError``."""
        server_request = read_request(request)
        server_request = replace(
            server_request, program=server_request.program.enter_suite(str(self.find_folder(entry)))
        )
        if not self.is_allowed:
            command = " ".join(server_request.program.command)
            raise CallError("mcp_off", f"this entry starts {command!r}; allow it with --fcbench-mcp")
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="fcbench-mcp", daemon=True
                )
                self._thread.start()
            performing = self._perform_request(entry.item_id, server_request)
            future = asyncio.run_coroutine_threadsafe(performing, self._loop)
        try:
            texts = future.result() if self.immediate else await asyncio.wrap_future(future)
        except NotScoredError:
            raise
        except FcbenchError as error:
            raise CallError("mcp_server", str(error)) from None
        return write_results(texts)

    async def _perform_request(self, item_id: str, request: ServerRequest) -> list[str]:
        session = self._sessions.pop(item_id, None)
        if session and not session.can_continue(request):
            await session.end_server()
            session = None
        # End servers that nobody asks any more, and where all are busy wait until one is not.
        while session is None:
            idle = [name for name, each in self._sessions.items() if not each.is_busy]
            late = [name for name in idle if self._sessions[name].idle_s > _IDLE_S]
            surplus = idle[: max(0, len(self._sessions) - _AT_ONCE + 1)]
            # Taken out first: while one ends, another request may take or end those that are left.
            for each in [self._sessions.pop(name) for name in {*late, *surplus}]:
                await each.end_server()
            if len(self._sessions) >= _AT_ONCE:
                await asyncio.sleep(0.05)
                continue
            session = _Session(request)
        self._sessions[item_id] = session
        return await session.perform_request(request)

    def close(self) -> None:
        """End all servers, and the thread."""
        with self._lock:
            if self._loop is None or self._thread is None:
                return
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None

        async def end_sessions() -> None:
            ending = [session.end_server() for session in self._sessions.values()]
            self._sessions.clear()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*ending)
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end_sessions(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class _Session:
    """A server that is open, and the calls that were made on it.

    The SDK wants a server to be closed by the task that opened it, so a task of its own does both.
    """

    def __init__(self, request: ServerRequest) -> None:
        self.program, self.of_truth = request.program, request.of_truth
        self.made: list[Call] = []
        self._requests: asyncio.Queue[tuple[ServerRequest, asyncio.Future[list[str]]]] = asyncio.Queue()
        self._waiting = 0
        self._used_at = asyncio.get_running_loop().time()
        self._task = asyncio.create_task(self._serve_requests())

    @property
    def is_busy(self) -> bool:
        """True where a request is being carried out."""
        return self._waiting > 0

    @property
    def idle_s(self) -> float:
        """Seconds since the last request."""
        return asyncio.get_running_loop().time() - self._used_at

    def can_continue(self, request: ServerRequest) -> bool:
        """Tell whether the server is in the state in which a request finds it."""
        return (
            not (self._task.done() or self._task.cancelling())
            and self.program == request.program
            and self.of_truth == request.of_truth
            and self.made == list(request.made)
            and not self.is_busy
        )

    async def perform_request(self, request: ServerRequest) -> list[str]:
        """Carry out the calls of a request. Raises ``CallError`` and ``UsageError``."""
        answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._waiting += 1
        try:
            self._requests.put_nowait((request, answer))
            ends: list[asyncio.Future[list[str]] | asyncio.Task[None]] = [answer, self._task]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            # The server could not be opened, or ended meanwhile.
            self._task.result()
            raise CallError("mcp_server", "the MCP server ended")
        finally:
            if not answer.done():
                # Nobody waits for these calls any more, and a request that is made again must not find them.
                self._task.cancel()
            self._waiting -= 1
            self._used_at = asyncio.get_running_loop().time()

    async def _serve_requests(self) -> None:
        async with open_server(self.program) as server:
            while True:
                request, answer = await self._requests.get()
                # On a fresh server, the calls that were made before.
                for call in request.made[len(self.made) :]:
                    await server.call_tool(call)
                    self.made.append(call)
                texts: list[str] = []
                for call in request.calls:
                    texts.append(await server.call_tool(call))
                    if not request.probing:
                        self.made.append(call)
                if not answer.done():
                    answer.set_result(texts)

    async def end_server(self) -> None:
        """End the server."""
        self._task.cancel()
        await asyncio.wait([self._task])
