"""Send the requests of server checks to an endpoint unchanged, and keep the whole reply."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.domain.redaction import mask_secrets, mask_secrets_within
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.kinds.server_check.exchange import (
    CHAT,
    MESSAGES,
    NO_REPLY,
    RESPONSES,
    RawRequest,
    ServerExchange,
)
from pytest_fcbench.models.protocol import Responder
from pytest_fcbench.models.providers.event_stream import read_value
from pytest_fcbench.models.providers.failures import diagnose_failure
from pytest_fcbench.models.providers.http import HttpReply
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel, find_endpoint, make_model
from pytest_fcbench.models.providers.reply_bodies import ReportedError, find_error, is_event_stream
from pytest_fcbench.models.providers.vendors import add_to_path, build_key_header

_BEGINNING = 500
"""Characters of a body that is no JSON object that are kept."""

_ABOUT_THE_ACCOUNT = frozenset({"authentication", "quota", "rate_limit"})
"""Causes of failures that say nothing about how the server answers."""
_NO_PATH = re.compile(rf"{CHAT}|file not found", re.IGNORECASE)
"""Words of a server that has no such path, the latter of llama.cpp."""
_WRONG_METHOD = 405
"""The status of a page that takes no requests."""
_BUSY = frozenset({429, 502, 503, 504, *range(520, 525), 529})
"""Statuses of a server, or of a gateway before it, that cannot answer now."""
_FAILURE = 500
"""The least status of a server that fails."""
_PLAIN_REQUEST = RawRequest(CHAT, {"messages": [{"role": "user", "content": "Hello."}], "max_tokens": 16})
"""A question that any server answers, whatever its checks break."""
_BREAKS = 3
"""Connections in a row that a request breaks, after which that is no chance."""
_LINE_END = re.compile(r"\r\n|\r|\n")
"""The ends of lines of a stream; JSON may hold what Python takes for others."""


@dataclass(frozen=True, slots=True)
class EndpointProbe(Responder):
    """The endpoint of the model under test, which is sent any request."""

    model: OpenAICompatibleModel

    async def prepare(self) -> None:
        """Open the pool of connections."""
        await self.model.prepare()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Send a request and return the exchange as a completion, whatever the server says.

        Raises ``CallError`` where no reply comes, or one that is about the account, the load, the name of the
        model or the address, and where the server fails at plain questions too.
        """
        raw = RawRequest.read_question(request)
        start_time = time.perf_counter()
        try:
            if raw.drop:
                status = await self.model.connections.drop_reply(
                    self._find_address(raw),
                    self._write_headers(raw, entry),
                    self._write_body(raw),
                    self.model.timeout_s,
                )
                return ServerExchange(status, "", None).write_completion(time.perf_counter() - start_time)
            reply = await self._send_check(raw, entry)
            if isinstance(reply, ServerExchange):
                return reply.write_completion(time.perf_counter() - start_time)
            latency_s = time.perf_counter() - start_time
            exchange, status = read_exchange(raw, reply, self.model.secrets)
            # What a server that answers nothing does with a request says nothing about the request.
            is_failing = status not in _BUSY and status >= _FAILURE
            if is_failing:
                is_failing = (await self._send_repeatedly(_PLAIN_REQUEST, entry)).status >= _FAILURE
        except CallError as error:
            raise error.with_reason(self.model.build_reason(error.reason)) from None
        words = json.dumps(exchange.reply)[:2000] if exchange.reply else exchange.beginning.strip()
        if status != 200:
            failure = diagnose_failure(status, words)
            is_lost = failure.cause == "not_found" and self._is_lost(raw, exchange, words)
            is_lost |= raw.path == CHAT and status == _WRONG_METHOD
            if failure.cause in _ABOUT_THE_ACCOUNT or status in _BUSY or is_lost or is_failing:
                reason = self.model.build_reason(f"HTTP {reply.status}: {words[:300] or 'no words'}")
                if is_failing and not self.model.api_key:
                    reason += "; no key was sent, which the server may need"
                raise failure.make_error(reason, reply.retry_after_s)
            if failure.fault:
                exchange = replace(exchange, notes=(*exchange.notes, failure.cause))
        return exchange.write_completion(latency_s)

    async def _send_check(self, raw: RawRequest, entry: Entry) -> HttpReply | ServerExchange:
        """Send a request; return an exchange without reply where a request of a check breaks its connection.

        Raises ``CallError`` where the server answers plain questions no more.
        """
        # Only checks, which stand in files, say what a broken connection means.
        if not entry.category.stands_in_files:
            return await self._send_request(raw, entry)
        try:
            return await self._send_repeatedly(raw, entry)
        except CallError as error:
            if error.cause != "endpoint":
                raise
            await self._send_repeatedly(_PLAIN_REQUEST, entry)
            return ServerExchange(NO_REPLY, "", None, mask_secrets(error.reason, self.model.secrets))

    async def _send_repeatedly(self, raw: RawRequest, entry: Entry) -> HttpReply:
        """Send a request, again where the connection breaks: a failure before may have closed it."""
        for _ in range(_BREAKS - 1):
            try:
                return await self._send_request(raw, entry)
            except CallError as error:
                if error.cause != "endpoint":
                    raise
        return await self._send_request(raw, entry)

    async def _send_request(self, raw: RawRequest, entry: Entry) -> HttpReply:
        """Send a request and wait for its whole reply. Raises ``CallError``."""
        return await self.model.connections.send_request(
            raw.method,
            self._find_address(raw),
            headers=self._write_headers(raw, entry),
            body=self._write_body(raw) if raw.method == "POST" else None,
            timeout_s=self.model.timeout_s,
        )

    def _write_body(self, raw: RawRequest) -> str:
        return raw.body if isinstance(raw.body, str) else json.dumps({"model": self.model.name, **raw.body})

    def _is_lost(self, raw: RawRequest, exchange: ServerExchange, words: str) -> bool:
        """Tell whether a request found no model or no address, rather than a feature that is missing."""
        if raw.path != CHAT or "model" in raw.body:
            return False
        is_unknown = str(self.model.name) in words or _NO_PATH.search(words) is not None
        # Most routers without such a path answer without an error object.
        return is_unknown or "error" not in (exchange.reply or {})

    def _find_address(self, raw: RawRequest) -> str:
        assert self.model.api_base
        if raw.path.startswith("/"):
            # Servers have these pages beside the interface of OpenAI, whose version ends the address.
            base, mark, query = self.model.api_base.partition("?")
            root = re.sub(r"/v\d+/?$", "", base)
            return add_to_path(f"{root}{mark}{query}", raw.path[1:])
        return add_to_path(self.model.api_base, raw.path)

    def _write_headers(self, raw: RawRequest, entry: Entry) -> Mapping[str, str]:
        of_key = build_key_header(Api.CHAT, self.model.api_key)
        if of_key and raw.path == MESSAGES:
            # Servers that speak Anthropic's interface beside OpenAI's take either key.
            of_key = {**of_key, **build_key_header(Api.MESSAGES, self.model.api_key)}
        return self.model.build_all_headers(entry, of_key)


def read_exchange(raw: RawRequest, reply: HttpReply, secrets: Sequence[str]) -> tuple[ServerExchange, int]:
    """Read a reply as far as it can be read, without secrets, and the status that it should have.

    Raises ``CallError`` where a web page stands at the address.
    """
    exchange, status = _read_exchange(raw, reply, secrets)
    # A stream tells a secret piece by piece, and JSON may write its letters as numbers.
    if exchange.reply is not None:
        exchange = replace(exchange, reply=as_mapping(mask_secrets_within(exchange.reply, secrets)))
    return replace(exchange, content_type=mask_secrets(exchange.content_type, secrets)), status


def _read_exchange(raw: RawRequest, reply: HttpReply, secrets: Sequence[str]) -> tuple[ServerExchange, int]:
    content_type, status = reply.headers.get("Content-Type", ""), reply.status
    text = mask_secrets(reply.body.decode("utf-8", "replace"), secrets)
    unread = ServerExchange(status, content_type, None, text[:_BEGINNING])
    value: object = None
    is_stream = is_event_stream(content_type) or text.lstrip().startswith(("event:", "data:"))
    if raw.path == RESPONSES and is_stream:
        value = _find_response(text)
    elif reply.status == 200 and raw.path != MESSAGES:
        wants_stream = not isinstance(raw.body, str) and raw.body.get("stream") is True
        try:
            joined = read_value(text.encode(), content_type, wants_stream=wants_stream)
        except ReportedError as error:
            return _read_reported_error(unread, error, secrets)
        except CallError as error:
            if error.cause == "web_page" and raw.path == CHAT:
                raise
            return unread, status
        if not joined.reply:
            return unread, status
        return ServerExchange(status, content_type, joined.reply, notes=joined.notes), status
    else:
        with suppress(ValueError, RecursionError):
            value = read_json_text(text)
    # Gemini sends an error in a list.
    if status != 200 and isinstance(value, list) and len(value) == 1:
        value = value[0]
    if status == 200 and isinstance(value, Mapping) and (words := find_error(value)):
        return _read_reported_error(unread, ReportedError(ProtocolNote.ERROR_IN_REPLY, words), secrets)
    return (ServerExchange(status, content_type, value) if isinstance(value, Mapping) else unread), status


def _read_reported_error(
    unread: ServerExchange, error: ReportedError, secrets: Sequence[str]
) -> tuple[ServerExchange, int]:
    words = mask_secrets(error.body.decode(), secrets)[:_BEGINNING]
    return replace(unread, beginning=words, notes=(error.cause,)), error.status


def _find_response(text: str) -> object:
    """Return the response that the last event of a stream of OpenAI's Responses API holds."""
    for line in reversed(_LINE_END.split(text)):
        with suppress(ValueError, RecursionError):
            event = read_json_text(line.removeprefix("data:"))
            if isinstance(event, Mapping) and isinstance(event.get("response"), Mapping):
                return event["response"]
    return None


def open_probe(settings: Settings) -> EndpointProbe | None:
    """Return a probe of the endpoint of a run's model, or None if its address is unknown."""
    endpoint = find_endpoint(settings)
    if endpoint is None:
        return None
    return EndpointProbe(make_model(settings, endpoint))
