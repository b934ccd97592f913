"""Replies to server checks are read whole and without secrets, and what is about no check is an error."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.kinds.server_check.exchange import (
    CHAT,
    MESSAGES,
    RESPONSES,
    RawRequest,
    ServerExchange,
    ServerReply,
)
from pytest_fcbench.models.providers.endpoint_probe import EndpointProbe
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from tests.cases import each_case
from tests.server.test_conforming import list_checks

KEY = "sk-test-a1b2c3d4e5f6"
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
EVENTS = "text/event-stream"


def stream(*chunks: object) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def piece(text: str | None, reason: str | None = None) -> object:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}


def ask(
    request: RawRequest, text: str, status: int = 200, kind: str = "application/json", **parameters: object
) -> tuple[Completion, list[web.Request]]:
    """What the probe makes of a reply with this body, and what the server was sent."""
    sent: list[web.Request] = []

    async def answer(received: web.Request) -> web.Response:
        sent.append(received)
        headers = {"Content-Type": kind, "Location": "http://127.0.0.2:9/v1"}
        return web.Response(body=text.encode(), status=status, headers=headers)

    async def ask_once() -> Completion:
        app = web.Application()
        app.router.add_post("/v1/{path:.*}", answer)
        async with TestServer(app) as served:
            base = f"http://{served.host}:{served.port}/v1"
            model = OpenAICompatibleModel("m", parameters, base, api_key=KEY, name="m")
            return await EndpointProbe(model).complete(list_checks()[0], request.write_question(0))

    return asyncio.run(ask_once()), sent


@each_case(
    "text, status, kind",
    [
        (f'{{"error": {{"message": "no {KEY}"}}}}', 400, "application/json"),
        (f'{{"error": {{"message": "{ESCAPED}"}}}}', 400, "application/json"),
        (f'{{"error": {{"message": "{ESCAPED}"}}}}', 200, "application/json"),
        (f'{{"choices": [{{"message": {{"content": "{ESCAPED}"}}}}]}}', 200, "application/json"),
        (stream(*map(piece, KEY), piece(None, "stop")), 200, EVENTS),
        ("x" * 490 + KEY, 400, "text/plain"),
        ("{}", 200, f"text/{KEY}"),
    ],
)
def test_no_secret_is_kept(text: str, status: int, kind: str) -> None:
    exchange = ServerExchange.read_completion(ask(RawRequest(CHAT, {}), text, status, kind)[0])
    assert KEY[:12] not in str(exchange)
    assert ESCAPED not in str(exchange)


@each_case(
    "text, status, cause",
    [
        ("slow down", 429, "rate_limit"),
        ('{"error": {"code": 429, "message": "slow down"}}', 200, "rate_limit"),
        (
            '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
            529,
            "endpoint",
        ),
        ("error code: 524", 524, "endpoint"),
        ("Method Not Allowed", 405, "endpoint"),
        ("<!doctype html><html></html>", 200, "web_page"),
        ("", 307, "redirect"),
    ],
)
def test_what_is_about_no_check_is_an_error(text: str, status: int, cause: str) -> None:
    with pytest.raises(CallError) as caught:
        ask(RawRequest(CHAT, {}), text, status)
    assert caught.value.cause == cause


def ask_check(
    answer: Callable[[web.Request], Awaitable[web.Response]], entry: Entry | None = None
) -> Completion:
    """Send the request of a check with tools to a server that answers so."""

    async def ask_once() -> Completion:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        async with TestServer(app) as served:
            base = f"http://{served.host}:{served.port}/v1"
            question = RawRequest(CHAT, {"tools": []}).write_question(0)
            probe = EndpointProbe(OpenAICompatibleModel("m", {}, base, name="m"))
            return await probe.complete(entry or list_checks()[0], question)

    return asyncio.run(ask_once())


@each_case("plain_status", [200, 400, 500])
def test_a_server_that_fails_at_plain_questions_too_breaks_no_check(plain_status: int) -> None:
    sent: list[object] = []

    async def answer(received: web.Request) -> web.Response:
        body = await received.json()
        sent.append(body)
        is_plain = "tools" not in body
        return web.Response(text="Internal Server Error", status=plain_status if is_plain else 500)

    if plain_status == 500:
        with pytest.raises(CallError, match="HTTP 500: Internal Server Error; no key was sent") as caught:
            ask_check(answer)
        assert (caught.value.cause, caught.value.transient) == ("endpoint", True)
    else:
        assert ServerExchange.read_completion(ask_check(answer)).status == 500
    assert len(sent) == 2


@each_case(
    "breaks, status, is_dead, fails",
    [(1, 200, False, False), (9, 0, False, False), (9, None, True, False), (1, 500, False, True)],
)
def test_a_request_that_always_breaks_its_connection_gets_no_reply(
    breaks: int, status: int | None, is_dead: bool, fails: bool
) -> None:
    """Where a server fails, it may close the connection after that, which the plain question then finds."""
    broken = 0

    async def answer(received: web.Request) -> web.Response:
        nonlocal broken
        is_plain = "tools" not in await received.json()
        if fails and not is_plain:
            return web.Response(status=500)
        if is_dead or (is_plain is fails and broken < breaks):
            broken += 1
            assert received.transport
            received.transport.close()
        return web.Response(text='{"choices": []}')

    if status is None:
        with pytest.raises(CallError, match="Server disconnected"):
            ask_check(answer)
    else:
        assert ServerExchange.read_completion(ask_check(answer)).status == status


def test_right_calls_whose_connection_breaks_are_sent_again_by_the_run_alone() -> None:
    """Only a check says what a connection means that a request breaks each time."""

    async def break_connection(received: web.Request) -> web.Response:
        if "tools" in await received.json():
            assert received.transport
            received.transport.close()
        return web.Response(text='{"choices": []}')

    forced = replace(list_checks()[0], category=CATEGORIES["server_forced"])
    with pytest.raises(CallError) as caught:
        ask_check(break_connection, forced)
    assert (caught.value.cause, caught.value.transient) == ("endpoint", True)


@each_case(
    "text, kind, words",
    [
        ("", EVENTS, "HTTP 200: an empty body"),
        ("data: [DONE]\n\n", EVENTS, "HTTP 200: data: [DONE]"),
        ("{}", "application/json", "HTTP 200: {}"),
    ],
)
def test_a_reply_that_says_nothing_is_none(text: str, kind: str, words: str) -> None:
    request = RawRequest(CHAT, {"stream": True})
    exchange = ServerExchange.read_completion(ask(request, text, kind=kind)[0])
    assert str(ServerReply(request, exchange)) == words


def test_a_client_that_goes_away_follows_no_redirect() -> None:
    completion, sent = ask(RawRequest(CHAT, {}, drop=True), "", 307)
    assert ServerExchange.read_completion(completion).status == 307
    assert len(sent) == 1


def test_a_client_that_goes_away_takes_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def drop_by_proxy() -> int:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", _answer_as_proxy)
        async with TestServer(app) as proxy:
            monkeypatch.setenv("http_proxy", f"http://{proxy.host}:{proxy.port}")
            monkeypatch.setenv("no_proxy", "")
            model = OpenAICompatibleModel("m", {}, "http://model.invalid/v1", name="m")
            question = RawRequest(CHAT, {}, drop=True).write_question(0)
            completion = await EndpointProbe(model).complete(list_checks()[0], question)
            return ServerExchange.read_completion(completion).status

    assert asyncio.run(drop_by_proxy()) == 203


async def _answer_as_proxy(request: web.Request) -> web.Response:
    return web.Response(status=203)


def test_the_headers_of_the_user_are_sent() -> None:
    _, sent = ask(RawRequest(CHAT, {}), "{}", extra_headers={"api-key": "x"})
    assert sent[0].headers["api-key"] == "x"
    assert sent[0].headers["Authorization"] == f"Bearer {KEY}"


def test_an_error_in_a_list_is_read() -> None:
    completion, _ = ask(RawRequest(CHAT, {}), '[{"error": {"code": 400, "message": "no"}}]', 400)
    assert ServerExchange.read_completion(completion).reply == {"error": {"code": 400, "message": "no"}}


@each_case(
    "path, text",
    [
        (MESSAGES, '{"type": "error", "error": {"type": "api_error", "message": "no"}}'),
        (RESPONSES, 'data: {"response": {"status": "failed", "error": {"message": "no"}}}'),
    ],
)
def test_an_error_with_status_200_is_no_reply(path: str, text: str) -> None:
    exchange = ServerExchange.read_completion(ask(RawRequest(path, {}), text)[0])
    assert (exchange.status, exchange.reply, exchange.notes) == (200, None, ("error_in_reply",))
    assert '"message": "no"' in exchange.beginning


def test_what_the_model_wrote_is_told_apart() -> None:
    text = '{"error": {"code": 500, "message": "Failed to parse input at pos 5: x"}}'
    assert ServerExchange.read_completion(ask(RawRequest(CHAT, {}), text)[0]).notes == (
        "error_in_reply",
        "unreadable_call",
    )


@each_case("beginning", ["data:", ": a comment\n\nevent: response.completed\ndata: "])
def test_the_last_response_of_a_stream_is_read(beginning: str) -> None:
    event = {"type": "response.completed", "response": {"output": [], "note": "one\u2028line"}}
    text = beginning + json.dumps(event, ensure_ascii=False) + "\n\n"
    completion, _ = ask(RawRequest(RESPONSES, {"stream": True}), text, kind=EVENTS)
    assert ServerExchange.read_completion(completion).reply == event["response"]


@each_case(
    "base, path, address",
    [
        ("/v1", "/tokenize", "/tokenize"),
        ("/proxy/v1/", "/tokenize", "/proxy/tokenize"),
        ("/own", "/get_server_info", "/own/get_server_info"),
        ("/v1", "chat/completions/derender", "/v1/chat/completions/derender"),
    ],
)
def test_pages_beside_the_interface_are_asked_at_the_root(base: str, path: str, address: str) -> None:
    sent: list[web.Request] = []

    async def answer(received: web.Request) -> web.Response:
        sent.append(received)
        return web.json_response({"tokens": [1]})

    async def ask_once() -> Completion:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        async with TestServer(app) as served:
            api_base = f"http://{served.host}:{served.port}{base}"
            probe = EndpointProbe(OpenAICompatibleModel("m", {}, api_base, api_key=KEY, name="m"))
            method = "GET" if path.startswith("/get") else "POST"
            request = RawRequest(path, {}, method=method)
            return await probe.complete(list_checks()[0], request.write_question(0))

    exchange = ServerExchange.read_completion(asyncio.run(ask_once()))
    assert exchange.reply == {"tokens": [1]}
    assert (sent[0].path, sent[0].method) == (address, "GET" if path.startswith("/get") else "POST")


def test_the_method_of_a_post_is_no_part_of_its_question() -> None:
    """Answers that earlier versions stored are found by the hash of the question."""
    post, get = (RawRequest("/x", {}, method=method).write_question(0) for method in ("POST", "GET"))
    assert json.loads(str(post.messages[0]["content"])) == {"path": "/x", "body": {}, "drop": False}
    assert RawRequest.read_question(post).method == "POST"
    assert RawRequest.read_question(get).method == "GET"
