"""The server: OpenAI's chat interface over the models that need no network."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from aiohttp import web

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Prompting
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.server import replies
from pytest_fcbench.server.faults import Draw, Kind
from pytest_fcbench.server.lookup import FoundRequest, Lookup, Models, RefusedRequestError, read_body

ENTRY_HEADER = "X-Fcbench-Entry"
"""The header of a request that names its entry: ``suite:id``, or ``suite:id-t2`` for a trial."""

MOST_BYTES = 16 * 2**20
"""The longest request body that is accepted."""

_LONGEST_HANG_S = 3600
# SO_LINGER with a time of 0: to close resets the connection.
_RESET = struct.pack("ii", 1, 0)


@dataclass
class Stats:
    """Counts of requests and answers so far. Times are seconds since the epoch."""

    requests: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    """Good answers sent in full, by the name in the request's header or else the entry's key."""
    faults: Counter[Kind] = field(default_factory=Counter)
    abandoned: int = 0
    """Requests without a fault whose client gave up before it had the answer."""
    in_flight: int = 0
    most_in_flight: int = 0
    first_request: float | None = None
    last_answer: float | None = None


class ChatServer:
    """Answers requests as the model would; ``draws`` say what happens to each."""

    def __init__(self, name: str, models: Models, lookup: Lookup, draws: Iterator[Draw], retry_after: float):
        self._name = name
        self._models = models
        self._lookup = lookup
        self._draws = draws
        self._retry_after = {"Retry-After": f"{retry_after:g}"}
        self._stats = Stats()
        self._replies: dict[tuple[str, Prompting, int, int, bool], bytes] = {}

    def run(self, listening: socket.socket, ready: Callable[..., None]) -> None:
        """Serve until SIGINT or SIGTERM; ``ready`` is called as soon as requests are taken."""
        app = web.Application(client_max_size=MOST_BYTES, middlewares=[_format_errors])
        app.router.add_post("/v1/chat/completions", self._answer_chat)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/stats", self._show_stats)
        web.run_app(
            app,
            sock=listening,
            print=ready,
            access_log=None,
            # Cancels the handler of a client that gave up, which then no longer counts as in flight.
            handler_cancellation=True,
            shutdown_timeout=0.1,
            backlog=1024,
        )

    async def _list_models(self, request: web.Request) -> web.Response:
        model = {"id": self._name, "object": "model", "created": 0, "owned_by": "fcbench"}
        return web.json_response({"object": "list", "data": [model]})

    async def _show_stats(self, request: web.Request) -> web.Response:
        return web.json_response(vars(self._stats))

    async def _answer_chat(self, request: web.Request) -> web.StreamResponse:
        # Drawn before anything is awaited, so that faults come in the order of arrival.
        stats, draw = self._stats, next(self._draws)
        stats.requests += 1
        stats.in_flight += 1
        stats.most_in_flight = max(stats.most_in_flight, stats.in_flight)
        stats.first_request = stats.first_request or time.time()
        fault = None
        head = b'{"id":"chatcmpl-%d","created":%d,' % (stats.requests, time.time())
        try:
            body = read_body(await request.read())
            if body.stream:
                raise RefusedRequestError(
                    400, "unsupported", "this server does not support streaming; leave 'stream' out"
                )
            name = request.headers.get(ENTRY_HEADER)
            asked = self._lookup.find_request(body, name)
            fault = draw.fault
            if fault is Kind.JSON and not asked.entry.category.single_turn:
                # Only the right answers are known here, so not what is asked after a broken one.
                fault = None
            answer = head + await self._build_reply(asked, broken=fault is Kind.JSON)
            if draw.latency_s and fault is not Kind.HANG:
                await asyncio.sleep(draw.latency_s)
            if fault:
                stats.faults[fault] += 1
                return await self._send_fault(request, fault, answer)
            response = await _send(request, answer)
            stats.answered[name or asked.entry.key] += 1
            stats.last_answer = time.time()
            return response
        except (asyncio.CancelledError, ConnectionResetError):
            # Cancelled where the connection was closed while the answer was made, reset while it was sent.
            stats.abandoned += not fault
            raise
        finally:
            stats.in_flight -= 1

    async def _build_reply(self, asked: FoundRequest, *, broken: bool) -> bytes:
        """Build the reply once for all equal requests. Raises ``RefusedRequestError`` without an answer."""
        key = asked.entry.key, asked.prompting, asked.turn, asked.step, broken
        if key not in self._replies:
            try:
                request = AskModel(asked.messages, turn=asked.turn, step=asked.step)
                completion = await self._models(asked.prompting).complete(asked.entry, request)
            except NotScoredError as error:
                raise RefusedRequestError(404, error.cause, error.reason) from None
            self._replies[key] = replies.serialize_reply(self._name, asked, completion, broken=broken)
        return self._replies[key]

    async def _send_fault(self, request: web.Request, fault: Kind, answer: bytes) -> web.StreamResponse:
        match fault:
            case Kind.RATE_LIMIT:
                return _build_error(
                    429,
                    "rate_limit_exceeded",
                    "rate limit exceeded (simulated by --fault)",
                    self._retry_after,
                )
            case Kind.SERVER_ERROR:
                return _build_error(500, "server_error", "internal server error (simulated by --fault)")
            case Kind.GARBAGE:
                return await _send(request, b"<html><body>Bad Gateway</body></html>")
            case Kind.JSON:
                return await _send(request, answer)
            case Kind.HANG:
                await asyncio.sleep(_LONGEST_HANG_S)
        response = web.StreamResponse(headers={"Content-Length": str(len(answer))})
        # The client is gone already.
        if (transport := request.transport) is None:
            return response
        if fault is Kind.CUT:
            await response.prepare(request)
            # The whole length was announced, so the client can see that the body is cut.
            await response.write(answer[: len(answer) // 2])
            transport.close()
        else:
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            # Without the option above the system would close the connection in order, as after an answer.
            transport.abort()
        return response


async def _send(request: web.Request, body: bytes) -> web.StreamResponse:
    """Send all of the body before returning, so that only what was sent is counted."""
    response = web.Response(body=body, content_type="application/json")
    await response.prepare(request)
    await response.write_eof()
    return response


@web.middleware
async def _format_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except RefusedRequestError as error:
        return _build_error(error.status, error.code, str(error))
    except web.HTTPException as error:
        return _build_error(error.status, "http_error", f"{request.method} {request.path}: {error.reason}")


def _build_error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> web.Response:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)
