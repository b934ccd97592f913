"""Send the requests of server checks to an endpoint unchanged, and keep the whole reply."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.redaction import mask_secrets
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.kinds.server_check.exchange import (
    CHAT,
    MESSAGES,
    RESPONSES,
    RawRequest,
    ServerExchange,
)
from pytest_fcbench.models.providers.event_stream import read_value
from pytest_fcbench.models.providers.failures import diagnose_failure
from pytest_fcbench.models.providers.http import HttpReply
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel, find_endpoint, make_model
from pytest_fcbench.models.providers.reply_bodies import ReportedError
from pytest_fcbench.models.providers.vendors import add_to_path

_BEGINNING = 500
"""Characters of a body that is no JSON object that are kept."""

_ABOUT_THE_ACCOUNT = frozenset({"authentication", "quota", "rate_limit"})
"""Causes of failures that say nothing about how the server answers."""
_NO_PATH = re.compile(rf"{CHAT}|file not found", re.IGNORECASE)
"""Words of a server that has no such path, the latter of llama.cpp."""
_BUSY = (429, 502, 503, 504)
"""Statuses of a server, or of a gateway before it, that cannot answer now."""


@dataclass(frozen=True, slots=True)
class EndpointProbe:
    """The endpoint of the model under test, which is sent any request."""

    model: OpenAICompatibleModel
    immediate: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing: requests are sent as they are."""
        return ()

    async def prepare(self) -> None:
        """Open the pool of connections."""
        await self.model.prepare()

    async def complete(self, entry: Entry, request: AskModel) -> Completion:
        """Send a request and return the exchange as a completion, whatever the server says.

        Raises ``CallError`` where no reply comes, or one that is about the account, the load, the name of the
        model or the address.
        """
        raw = RawRequest.read_question(request)
        body = raw.body if isinstance(raw.body, str) else json.dumps({"model": self.model.name, **raw.body})
        start_time = time.perf_counter()
        try:
            if raw.drop:
                status = await self.model.connections.drop_reply(
                    self._find_address(raw), self._write_headers(raw), body, self.model.timeout_s
                )
                return ServerExchange(status, "", None).write_completion(time.perf_counter() - start_time)
            reply = await self.model.connections.send_request(
                "POST",
                self._find_address(raw),
                headers=self._write_headers(raw),
                body=body,
                timeout_s=self.model.timeout_s,
            )
        except CallError as error:
            raise error.with_reason(self.model.build_reason(error.reason)) from None
        latency_s = time.perf_counter() - start_time
        exchange = read_exchange(raw, reply, self.model)
        words = f"{exchange.beginning} {json.dumps(exchange.reply)[:2000]}"
        if reply.status != 200:
            failure = diagnose_failure(reply.status, words)
            is_lost = failure.cause == "not_found" and self._is_lost(raw, exchange, words)
            if failure.cause in _ABOUT_THE_ACCOUNT or reply.status in _BUSY or is_lost:
                reason = self.model.build_reason(f"HTTP {reply.status}: {words.strip()[:300]}")
                raise failure.make_error(reason, reply.retry_after_s)
        return exchange.write_completion(latency_s)

    def _is_lost(self, raw: RawRequest, exchange: ServerExchange, words: str) -> bool:
        """Tell whether a request found no model or no address, rather than a feature that is missing."""
        if raw.path != CHAT or "model" in raw.body:
            return False
        is_unknown = str(self.model.name) in words or _NO_PATH.search(words) is not None
        # Most routers without such a path answer without an error object.
        return is_unknown or "error" not in (exchange.reply or {})

    def _find_address(self, raw: RawRequest) -> str:
        assert self.model.api_base
        return add_to_path(self.model.api_base, raw.path)

    def _write_headers(self, raw: RawRequest) -> Mapping[str, str]:
        headers = {"Content-Type": "application/json"}
        if (key := self.model.api_key) is None:
            return headers
        # Servers that speak Anthropic's interface beside OpenAI's take either key.
        own = {"x-api-key": key, "anthropic-version": "2023-06-01"} if raw.path == MESSAGES else {}
        return {**headers, "Authorization": f"Bearer {key}", **own}


def read_exchange(raw: RawRequest, reply: HttpReply, model: OpenAICompatibleModel) -> ServerExchange:
    """Read a reply as far as it can be read, without secrets."""
    content_type = reply.headers.get("Content-Type", "")
    text = mask_secrets(reply.body.decode("utf-8", "replace"), model.secrets)
    value: object = None
    if raw.path == RESPONSES and text.lstrip()[:6] in ("event:", "data: "):
        value = _find_response(text)
    elif reply.status == 200 and raw.path != MESSAGES:
        wants_stream = not isinstance(raw.body, str) and raw.body.get("stream") is True
        try:
            joined = read_value(text.encode(), content_type, wants_stream=wants_stream)
        except ReportedError as error:
            return ServerExchange(reply.status, content_type, None, text[:_BEGINNING], (error.cause,))
        except (CallError, RecursionError):
            return ServerExchange(reply.status, content_type, None, text[:_BEGINNING])
        return ServerExchange(reply.status, content_type, joined.reply, notes=joined.notes)
    else:
        with suppress(ValueError, RecursionError):
            value = read_json_text(text)
    if isinstance(value, Mapping):
        return ServerExchange(reply.status, content_type, value)
    return ServerExchange(reply.status, content_type, None, text[:_BEGINNING])


def _find_response(text: str) -> object:
    """Return the response that the last event of a stream of OpenAI's Responses API holds."""
    for line in reversed(text.splitlines()):
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
