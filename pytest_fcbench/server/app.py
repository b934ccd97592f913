"""An HTTP server with OpenAI's and other interfaces, behind which a built-in model answers."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import struct
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.text import as_mapping, list_objects
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.server.answers import (
    KeyedReply,
    ReceivedRequest,
    ServedAnswer,
    write_answer,
    write_conforming_answer,
)
from pytest_fcbench.server.body import (
    Body,
    RefusedRequestError,
    estimate_tokens,
    parse_json,
    read_body,
    read_completion_request,
    read_embedding_request,
    read_response_request,
)
from pytest_fcbench.server.conforming import ConformingModel, WireFault, read_message_request, read_response
from pytest_fcbench.server.faults import (
    CHANGES_ANSWER,
    STREAM_FAULTS,
    Draw,
    Fault,
    FaultKind,
    Mistakes,
    ModelFault,
    lose_from_prompt,
    write_as_text,
    write_wrong_answer,
)
from pytest_fcbench.server.lookup import EntryIndex, FamilyLookup, FoundRequest
from pytest_fcbench.server.parsing import NATIVE_PATHS, NativeServer, ParserFault, find_forced_text
from pytest_fcbench.server.replies import Judge, ServedReply, build_embeddings, build_reply, write_reply

FAMILY_PATHS: Mapping[Api, str] = {
    Api.CHAT: "/v1/chat/completions",
    Api.COMPLETIONS: "/v1/completions",
    Api.RESPONSES: "/v1/responses",
    Api.MESSAGES: "/v1/messages",
    Api.GENERATE_CONTENT: "/v1/models/{name:.+}",
    Api.COHERE: "/v1/chat",
    Api.CONVERSE: "/v1/model/{name:.+}/converse",
}
"""The paths of APIs behind the server's address, which ends in ``/v1``."""

_READ: Mapping[Api, Callable[[bytes], Body]] = {
    Api.CHAT: read_body,
    Api.COMPLETIONS: read_completion_request,
    Api.RESPONSES: read_response_request,
}
"""The readers of requests in forms that are not those of a family."""

ENTRY_HEADER = "X-Fcbench-Entry"
"""The header of a request that names its entry: ``suite:id``, or ``suite:id-t2`` for a trial."""

MOST_BYTES = 16 * 2**20
"""The longest request body that is accepted."""

_LONGEST_HANG_S = 3600
"""Seconds after which a request that is left hanging ends."""
_LONG = 1000
"""Tokens of a reply that takes long."""
LONG_REPLY_S = 2.0
"""Seconds that a long reply takes where a fault has the server finish it though the client left."""
_SENDS_ANSWER = frozenset[Fault]((*CHANGES_ANSWER, *STREAM_FAULTS, *ModelFault, *WireFault, *ParserFault))
"""The faults that change an answer, which is then sent like a good one."""
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with a time of 0: closing resets the connection."""


@dataclass
class Stats:
    """Counts of requests and answers so far. Times are seconds since the epoch."""

    requests: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    """Good answers sent in full, by the name in the request's header or else the entry's key; ``judge`` and
    ``embeddings`` where no entry is asked."""
    faults: Counter[Fault] = field(default_factory=Counter)
    abandoned: int = 0
    """Requests without a fault whose client gave up before it had the answer."""
    in_flight: int = 0
    most_in_flight: int = 0
    first_request: float | None = None
    last_answer: float | None = None


Prepare: TypeAlias = Callable[[bytes, ReceivedRequest], Awaitable[ServedAnswer]]
"""Makes the answer of a request's body. Raises ``RefusedRequestError``."""


@dataclass
class ChatServer:
    """Answers requests as a model would, each with the fault and the latency that are drawn for it."""

    name: str
    lookup: EntryIndex
    draws: Iterator[Draw]
    retry_after: float
    judge: Judge
    """Replies to questions that are about no entry."""
    families: FamilyLookup | None = None
    """Answers requests in the form of a family, at the path of its API."""
    conforming: ConformingModel | None = None
    """Replies to all other requests that are about no entry."""
    mistakes: Mistakes = Mistakes()  # noqa: RUF009 - frozen
    _stats: Stats = field(default_factory=Stats, init=False)
    _busy_until: float = field(default=0.0, init=False)
    """The time of the event loop until which long replies are written."""
    _fails_next: bool = field(default=False, init=False)
    """True where a fault makes the next request fail."""

    def run(self, listening: socket.socket, ready: Callable[..., None]) -> None:
        """Serve until SIGINT or SIGTERM; ``ready`` is called as soon as requests are taken."""
        # aiohttp would print a traceback for each client that does not speak HTTP.
        faults_of_clients = HttpProcessingError, web.RequestPayloadError
        logging.getLogger("aiohttp.server").addFilter(
            lambda record: not (record.exc_info and isinstance(record.exc_info[1], faults_of_clients))
        )
        web.run_app(
            self.build_application(),
            sock=listening,
            print=ready,
            access_log=None,
            # Cancels the handler of a client that gave up, which then no longer counts as in flight.
            handler_cancellation=True,
            shutdown_timeout=0.1,
            backlog=1024,
        )

    def build_application(self) -> web.Application:
        """Build the application with all paths."""
        app = web.Application(client_max_size=MOST_BYTES, middlewares=[_format_errors])
        paths: dict[str, Prepare] = {FAMILY_PATHS[api]: partial(self._prepare_answer, api) for api in _READ}
        paths["/v1/embeddings"] = self._prepare_embedding
        if self.conforming:
            paths = {
                FAMILY_PATHS[api]: partial(self._prepare_conforming_answer, self.conforming, api)
                for api in (Api.CHAT, Api.RESPONSES, Api.MESSAGES)
            }
            if self.lookup.has_entries:
                paths[FAMILY_PATHS[Api.CHAT]] = partial(self._prepare_chat_or_any, self.conforming)
            paths |= {
                path: partial(self._prepare_native_answer, self.conforming, path) for path in NATIVE_PATHS
            }
        if self.families:
            paths[FAMILY_PATHS[self.families.api]] = partial(self._prepare_family_answer, self.families)
        for path, prepare in paths.items():
            app.router.add_post(path, partial(self._answer_request, prepare))
        model = {"id": self.name, "object": "model", "created": 0, "owned_by": "fcbench"}
        contents: dict[str, Mapping[str, object]] = {
            "/v1/models": {"object": "list", "data": [model]},
            # The attributes themselves, which change with each request.
            "/stats": vars(self._stats),
            # vLLM and SGLang have the first, llama.cpp has both.
            "/health": {"status": "ok"},
            "/v1/health": {"status": "ok"},
        }
        if self.conforming:
            contents["/get_server_info"] = {"tool_call_parser": self.conforming.syntax}
        for path, content in contents.items():
            app.router.add_get(path, partial(_send_json, content))
        return app

    async def _answer_request(self, prepare: Prepare, request: web.Request) -> web.StreamResponse:
        # Drawn before anything is awaited, so that faults come in the order of arrival.
        stats, draw = self._stats, next(self.draws)
        stats.requests += 1
        stats.in_flight += 1
        stats.most_in_flight = max(stats.most_in_flight, stats.in_flight)
        stats.first_request = stats.first_request or time.time()
        fault = None
        received = ReceivedRequest(
            stats.requests, int(time.time()), request.headers.get(ENTRY_HEADER), draw.fault
        )
        try:
            answer = await prepare(await request.read(), received)
            fault = None if draw.fault in _SENDS_ANSWER and not answer.broken else draw.fault
            if draw.latency_s and fault is not FaultKind.HANG:
                await asyncio.sleep(draw.latency_s)
            if fault:
                stats.faults[fault] += 1
                return await self._send_fault(request, fault, answer)
            response = await _send(request, answer)
            stats.answered[answer.key] += 1
            stats.last_answer = time.time()
            return response
        except (asyncio.CancelledError, ConnectionResetError):
            # Cancelled where the connection was closed while the answer was made, reset while it was sent.
            stats.abandoned += not fault
            raise
        finally:
            stats.in_flight -= 1

    async def _prepare_answer(self, api: Api, content: bytes, received: ReceivedRequest) -> ServedAnswer:
        body = _READ[api](content)
        reply = self._make_reply(body, received)
        return write_answer(api, reply, received, stream=body.stream, include_usage=body.include_usage)

    async def _prepare_chat_or_any(
        self, model: ConformingModel, content: bytes, received: ReceivedRequest
    ) -> ServedAnswer:
        """Answer a request about an entry with its answer, any other with the conforming model.

        With a fault of the parser, the conforming model's parser reads the entry's answer.
        """
        request = as_mapping(parse_json(content))
        if find_forced_text(request) is None:
            try:
                answer = await self._prepare_answer(Api.CHAT, content, received)
            except RefusedRequestError as error:
                if error.code != "unknown_request":
                    raise
            else:
                if not isinstance(received.fault, ParserFault):
                    return answer
                calls = self._make_reply(read_body(content), received).reply.calls or ()
                forced_request = model.force_answer(request, calls)
                if forced_request is None:
                    return answer
                content = json.dumps(forced_request).encode()
                forced_answer = await self._prepare_conforming_answer(model, Api.CHAT, content, received)
                return replace(forced_answer, key=answer.key)
        return await self._prepare_conforming_answer(model, Api.CHAT, content, received)

    async def _prepare_family_answer(
        self, families: FamilyLookup, content: bytes, received: ReceivedRequest
    ) -> ServedAnswer:
        api = families.api
        try:
            key, reply = families.find_reply(content, received.name)
        except RefusedRequestError:
            if api is not Api.CHAT:
                raise
            # Judges and golden paths are asked at the same path, in the form for every server.
            return await self._prepare_answer(Api.CHAT, content, received)
        key, is_broken = received.name or key, received.fault is FaultKind.JSON
        if api is Api.CHAT:
            reply = reply.cut_in_half() if is_broken else reply
            body, keyed_reply = read_body(content), KeyedReply(key, reply, is_broken)
            return write_answer(
                api, keyed_reply, received, stream=body.stream, include_usage=body.include_usage
            )
        whole = json.dumps(write_reply(api, reply)).encode()
        return ServedAnswer(key, (whole[: len(whole) // 2] if is_broken else whole,), broken=is_broken)

    async def _prepare_conforming_answer(
        self, model: ConformingModel, api: Api, content: bytes, received: ReceivedRequest
    ) -> ServedAnswer:
        fault = received.fault if isinstance(received.fault, WireFault) else None
        try:
            if self._fails_next:
                raise RefusedRequestError(500, "server_error", "the request before was refused")
            if fault is WireFault.FAIL_ON_LARGE and len(content) > 50_000:
                raise RefusedRequestError(500, "server_error", "the request is too long for this server")
            request = as_mapping(parse_json(content))
            if api is Api.RESPONSES:
                body = read_response_request(content)
                request = read_response(request, body.messages, body.tools)
            elif api is Api.MESSAGES:
                request = read_message_request(request)
            if fault is WireFault.HOLD_PLACE:
                await self._hold_place(request.get("max_tokens"))
            parser_fault = received.fault if isinstance(received.fault, ParserFault) else None
            reply = model.answer_request(request, fault, parser_fault)
            answer = write_conforming_answer(api, reply, received, fault)
        except RefusedRequestError as error:
            self._fails_next = fault is WireFault.FAIL_AFTER and not self._fails_next
            if fault is not WireFault.PLAIN_ERRORS:
                raise
            parts = (f"Error: {error}".encode(),)
            return ServedAnswer(
                "conforming", parts, broken=True, status=error.status, content_type="text/plain"
            )
        return replace(answer, broken=answer.broken or bool(fault or parser_fault))

    async def _prepare_native_answer(
        self, model: ConformingModel, path: str, content: bytes, received: ReceivedRequest
    ) -> ServedAnswer:
        fault = received.fault if isinstance(received.fault, ParserFault) else None
        body = as_mapping(parse_json(content))
        value = NATIVE_PATHS[path](NativeServer(model.syntax, fault), body)
        return ServedAnswer("conforming", (json.dumps(value).encode(),), broken=fault is not None)

    async def _hold_place(self, limit: object) -> None:
        """Wait for earlier long replies, as behind a server that finishes them though their clients left."""
        now = asyncio.get_running_loop().time()
        if isinstance(limit, int) and limit > _LONG:
            self._busy_until = max(now, self._busy_until) + LONG_REPLY_S
        else:
            await asyncio.sleep(max(0.0, self._busy_until - now))

    def _make_reply(self, body: Body, received: ReceivedRequest) -> KeyedReply:
        """Make the reply to a chat request. Raises ``RefusedRequestError`` where there is none."""
        is_broken = received.fault is FaultKind.JSON
        if (opinion := self.judge.answer_question(body.messages)) is not None:
            prompt_tokens = estimate_tokens(json.dumps([body.messages, body.tools], ensure_ascii=False))
            reply = ServedReply(self.name, opinion, None, prompt_tokens, estimate_tokens(opinion))
            return KeyedReply("judge", reply.cut_in_half() if is_broken else reply, is_broken)
        hit = self.lookup.find_request(body, received.name)
        # In a conversation only the right answers are known, not what would follow a broken one.
        fault = (
            received.fault if received.fault in CHANGES_ANSWER and hit.entry.category.single_turn else None
        )
        completion = hit.answer
        if isinstance(completion, NotScoredError):
            raise RefusedRequestError(404, completion.cause, completion.reason)
        changed_completion = self._change_answer(hit, body, received.fault)
        completion = changed_completion or completion
        if hit.native:
            completion = write_as_text(completion, hit.native, hit.tools)
        reply = whole_reply = build_reply(self.name, completion, hit.entry.key, hit.prompt_tokens)
        # Lost after the usage is counted, as by a server that drops calls of the model.
        if fault is FaultKind.ONE_CALL and reply.calls:
            reply = replace(reply, calls=reply.calls[:1])
        reply = reply.cut_in_half() if fault is FaultKind.JSON else reply
        # Of a single call none is lost.
        is_changed = received.fault is not None and changed_completion not in (None, hit.answer)
        is_broken = reply != whole_reply or is_changed
        return KeyedReply(received.name or hit.entry.key, reply, is_broken)

    def _change_answer(self, hit: FoundRequest, body: Body, fault: Fault | None) -> Completion | None:
        """Answer as a model that is wrong or was shown too little; None where the right answer stays."""
        tools = tuple(list_objects(body.tools))
        request = AskModel(tuple(map(as_mapping, body.messages)), tools, hit.turn, hit.step)
        if isinstance(fault, WireFault) and (blind_answer := lose_from_prompt(request, fault)):
            return blind_answer
        if fault is ModelFault.STOP_EARLY and tools and not isinstance(hit.answer, NotScoredError):
            return replace(hit.answer, tool_calls=(hit.answer.tool_calls or ())[:1] or None)
        if fault is ModelFault.FLIP or self.mistakes.has_entry(hit.entry):
            return write_wrong_answer(hit.entry, replace(request, tools=hit.tools), hit.prompting)
        return None

    async def _prepare_embedding(self, content: bytes, received: ReceivedRequest) -> ServedAnswer:
        is_broken = received.fault is FaultKind.JSON
        embeddings = build_embeddings(self.name, read_embedding_request(content), broken=is_broken)
        return ServedAnswer("embeddings", (json.dumps(embeddings).encode(),), broken=is_broken)

    async def _send_fault(
        self, request: web.Request, fault: Fault, answer: ServedAnswer
    ) -> web.StreamResponse:
        if fault in _SENDS_ANSWER:
            return await _send(request, answer)
        match fault:
            case FaultKind.RATE_LIMIT:
                wait = {"Retry-After": f"{self.retry_after:g}"}
                says = "rate limit exceeded (simulated by --fault)"
                return _build_error(429, "rate_limit_exceeded", says, wait)
            case FaultKind.SERVER_ERROR:
                return _build_error(500, "server_error", "internal server error (simulated by --fault)")
            case FaultKind.GARBAGE:
                page = b"<html><body>Bad Gateway</body></html>"
                # An event that is not JSON, because clients read nothing of a stream but its events.
                return await _send(
                    request, replace(answer, parts=(b"data: %s\n\n" % page if answer.is_stream else page,))
                )
            case FaultKind.HANG:
                await asyncio.sleep(_LONGEST_HANG_S)
        content = b"".join(answer.parts)
        # The whole length is announced, so the client can see that the body is cut. Of a stream, which has
        # no length, it misses the last chunk.
        length = {} if answer.is_stream else {"Content-Length": str(len(content))}
        response = web.StreamResponse(headers={**answer.headers, **length})
        # The client is gone already.
        if (transport := request.transport) is None:
            return response
        if fault is FaultKind.CUT:
            await response.prepare(request)
            await response.write(content[: len(content) // 2])
            transport.close()
        else:
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            # Without the option above the system would close the connection in order, as after an answer.
            transport.abort()
        return response


async def _send_json(value: Mapping[str, object], request: web.Request) -> web.Response:
    return web.json_response(value)


async def _send(request: web.Request, answer: ServedAnswer) -> web.StreamResponse:
    """Send all of the answer before returning, so that only what was sent is counted."""
    if not answer.is_stream:
        whole = web.Response(body=b"".join(answer.parts), headers=answer.headers, status=answer.status)
        await whole.prepare(request)
        await whole.write_eof()
        return whole
    response = web.StreamResponse(headers=answer.headers)
    await response.prepare(request)
    for part in answer.parts:
        await response.write(part)
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
    except web.RequestPayloadError:
        return _build_error(400, "invalid_body", "the body of the request cannot be read")
    except web.HTTPException as error:
        return _build_error(error.status, "http_error", f"{request.method} {request.path}: {error.reason}")


def _build_error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> web.Response:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)
