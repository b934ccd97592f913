"""Models behind OpenAI's chat interface, over real HTTP on loopback; litellm is the peer."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import pytest
import trustme

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.transcript import AskModel, Completion, Ending, Fault, ToolCall
from pytest_fcbench.models import registry
from pytest_fcbench.models.providers import http, litellm, openai_compatible
from pytest_fcbench.models.providers.http import find_proxy
from pytest_fcbench.models.providers.litellm import LitellmModel
from pytest_fcbench.models.providers.openai_compatible import (
    OpenAICompatibleModel,
    build_body,
    find_endpoint,
    name_server,
)
from tests.factories import make_entry
from tests.loopback import (
    Answer,
    Body,
    Endpoint,
    Reply,
    listen_on_loopback,
    make_error_reply,
    make_message_reply,
    serve_answers,
)
from tests.models.providers.whole_replies import read_reply

QUESTION = AskModel(({"role": "user", "content": "hi"},))
KEY = "sk-for-tests-only"
TOOL: Mapping[str, object] = {
    "type": "function",
    "function": {"name": "f", "description": "Do f.", "parameters": {"type": "object", "properties": {}}},
}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
CONVERSATION = AskModel(
    (
        {"role": "system", "content": "Wetter \N{CLOUD WITH RAIN}"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "calling", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "[1]"},
    ),
    (TOOL,),
)


def make_model(api_base: str, **parameters: object) -> OpenAICompatibleModel:
    return OpenAICompatibleModel("openai/m", parameters, api_base, KEY, timeout_s=60, name="m")


def ask_model(
    answer: Answer, request: AskModel = QUESTION, **parameters: object
) -> tuple[Completion, Endpoint]:
    """Return the completion of a model whose endpoint answers so, and the endpoint."""
    with serve_answers(answer) as endpoint:
        model = make_model(endpoint.api_base, **parameters)
        return asyncio.run(model.complete(make_entry(), request)), endpoint


def catch_failure(model: OpenAICompatibleModel) -> CallError:
    """Return the error of a call that fails."""
    with pytest.raises(CallError) as caught:
        asyncio.run(model.complete(make_entry(), QUESTION))
    return caught.value


def fail_with(reply: Reply) -> CallError:
    """Return the error of a call that is answered so."""
    with serve_answers(lambda _: reply) as endpoint:
        return catch_failure(make_model(endpoint.api_base))


# The request


@pytest.mark.parametrize(
    ("request_", "parameters"),
    [
        (QUESTION, {}),
        (CONVERSATION, {"temperature": 0.001, "max_tokens": 5, "seed": 1, "top_p": 0.9, "stop": ["a"]}),
        (
            QUESTION,
            {
                "top_k": 3,
                "chat_template_kwargs": {"enable_thinking": False},
                "extra_body": {"min_p": 0.1},
                "extra_headers": {"X-Team": "a"},
            },
        ),
    ],
    ids=["plain", "conversation", "extra"],
)
@pytest.mark.parametrize("prefix", ["openai", "hosted_vllm", "lm_studio"])
def test_bodies_are_those_of_litellm(
    prefix: str, request_: AskModel, parameters: Mapping[str, object]
) -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        for model in (
            make_model(endpoint.api_base, **parameters),
            LitellmModel(f"{prefix}/m", dict(parameters), endpoint.api_base, KEY, timeout_s=60),
        ):
            asyncio.run(model.complete(make_entry(), request_))
        ours, theirs = endpoint.requests
        assert ours == theirs
        assert endpoint.paths == ["/v1/chat/completions"] * 2
        assert endpoint.keys == [f"Bearer {KEY}"] * 2
        assert len({headers.get("x-team") for headers in endpoint.headers}) == 1


def test_null_and_schemas_pass_unchanged() -> None:
    """litellm leaves ``null`` out and may cut ``strict`` from schemas; officially they are sent."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False, "strict": True}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    said = {"role": "assistant", "content": None, "tool_calls": CALLS}
    _, endpoint = ask_model(lambda _: make_message_reply("ok"), AskModel((said,), (tool,)))
    assert endpoint.requests[0] == {"model": "m", "messages": [said], "tools": [tool]}


def test_half_a_character_is_no_error() -> None:
    question = AskModel(({"role": "user", "content": "\ud83c"},))
    _, endpoint = ask_model(lambda _: make_message_reply("ok"), question)
    assert endpoint.requests[0]["messages"] == [{"role": "user", "content": "\ud83c"}]


def test_no_tools_field_without_tools() -> None:
    assert json.loads(build_body("m", QUESTION, {})).keys() == {"model", "messages"}


def test_a_name_that_is_no_utf_8_is_sent_as_it_stands() -> None:
    # A folder or an argument with a byte of Latin-1 comes in as half a character.
    with serve_answers(lambda _: make_message_reply("Hi.")) as endpoint:
        model = OpenAICompatibleModel("openai/m", {}, endpoint.api_base, KEY, timeout_s=60, name="m\udcff")
        asyncio.run(model.complete(make_entry(), QUESTION))
    assert (endpoint.requests[0]["model"], endpoint.paths) == ("m\udcff", ["/v1/chat/completions"])


@pytest.mark.parametrize("text", ["Grüße", "half a character: \ud800"])
def test_a_body_is_the_json_of_what_is_asked(text: str) -> None:
    asked = AskModel((MappingProxyType({"role": "user", "content": text}),), ({"default": [1, 1.0, True]},))
    body = json.loads(build_body("m", asked, {"min_p": float("inf"), "seed": 2**70}))
    assert json.dumps(body) == json.dumps(
        {
            "model": "m",
            "messages": [{"role": "user", "content": text}],
            "min_p": float("inf"),
            "seed": 2**70,
            "tools": [{"default": [1, 1.0, True]}],
        }
    )


def test_an_entry_is_named_in_a_header_only_on_request() -> None:
    entry = replace(make_entry(), trial=2)
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = make_model(endpoint.api_base, extra_headers={"X-Team": "a"})
        asyncio.run(model.complete(entry, QUESTION))
        model.tag = True
        asyncio.run(model.complete(entry, QUESTION))
    assert [headers.get("x-fcbench-entry") for headers in endpoint.headers] == [None, entry.item_id]
    assert [headers["x-team"] for headers in endpoint.headers] == ["a", "a"]


def test_without_a_key_none_is_sent() -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = OpenAICompatibleModel("m", {}, endpoint.api_base, name="m")
        asyncio.run(model.complete(make_entry(), QUESTION))
    assert "authorization" not in endpoint.headers[0]


def test_a_refused_parameter_is_dropped_with_a_note() -> None:
    def answer(asked: Mapping[str, object]) -> Reply:
        return (
            make_error_reply(422, "Extra inputs are not permitted: top_k")
            if "top_k" in asked
            else make_message_reply("ok")
        )

    with serve_answers(answer) as endpoint:
        model = make_model(endpoint.api_base, top_k=3, seed=7)
        for _ in range(2):
            asyncio.run(model.complete(make_entry(), QUESTION))
    assert model.notes == ("top_k was dropped: openai/m rejected it",)
    assert ["top_k" in asked for asked in endpoint.requests] == [True, False, False]
    assert all(asked["seed"] == 7 for asked in endpoint.requests)


def test_parameters_of_a_request_hold_unless_the_user_chose_others() -> None:
    asked = replace(QUESTION, defaults={"temperature": 0.0, "max_tokens": 2048, "tool_choice": "auto"})
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = make_model(endpoint.api_base, temperature=0.001, max_tokens=64, seed=7)
        model.chosen = frozenset(("max_tokens", "seed"))
        asyncio.run(model.complete(make_entry(), asked))
        asyncio.run(model.complete(make_entry(), QUESTION))
    first, second = (
        {name: asked[name] for name in asked if name not in ("model", "messages")}
        for asked in endpoint.requests
    )
    assert first == {"temperature": 0.0, "max_tokens": 64, "seed": 7, "tool_choice": "auto"}
    assert second == {"temperature": 0.001, "max_tokens": 64, "seed": 7}


def test_the_limit_of_tokens_is_sent_under_one_name() -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = make_model(endpoint.api_base, max_completion_tokens=64)
        asyncio.run(model.complete(make_entry(), replace(QUESTION, defaults={"max_tokens": 2048})))
    assert endpoint.requests[0]["max_completion_tokens"] == 64
    assert "max_tokens" not in endpoint.requests[0]


def test_a_refused_default_is_dropped_with_a_note() -> None:
    def answer(asked: Mapping[str, object]) -> Reply:
        refused = make_error_reply(422, "Extra inputs are not permitted: tool_choice")
        return refused if "tool_choice" in asked else make_message_reply("ok")

    asked = replace(QUESTION, defaults={"tool_choice": "auto"})
    with serve_answers(answer) as endpoint:
        model = make_model(endpoint.api_base)
        for _ in range(2):
            asyncio.run(model.complete(make_entry(), asked))
    assert model.notes == ("tool_choice was dropped: openai/m rejected it",)
    assert ["tool_choice" in asked for asked in endpoint.requests] == [True, False, False]


# The reply


def test_text_calls_reasoning_and_usage_are_read() -> None:
    reply = make_message_reply("<think>2</think> 4", [("f", '{"a": ')], reasoning_content="2 and 2")
    completion, _ = ask_model(lambda _: reply)
    assert replace(completion, latency_s=None, message=None) == Completion(
        *("<think>2</think> 4", (ToolCall("f", '{"a": ', "call_0"),), "2 and 2", 11, 7),
        finish_reason="stop",
        served=("model=loopback",),
    )
    assert completion.latency_s is not None
    assert 0 < completion.latency_s < 60


def make_reply(**said: object) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", **said}}]}).encode()


@pytest.mark.parametrize(
    ("said", "completion"),
    [
        ({}, Completion()),
        ({"content": None, "tool_calls": []}, Completion(tool_calls=())),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]},
            Completion(text="ab", in_parts=True),
        ),
        ({"content": "a", "reasoning": "b"}, Completion(text="a", reasoning="b")),
        (
            {"tool_calls": [{"function": {"name": None, "arguments": {"a": 1}}}]},
            Completion(
                tool_calls=(ToolCall("", {"a": 1}),), protocol=("arguments_not_text", "call_without_function")
            ),
        ),
    ],
    ids=["empty", "null", "parts", "reasoning", "arguments as an object"],
)
def test_forms_that_servers_send(said: Mapping[str, object], completion: Completion) -> None:
    expected = replace(completion, message={"role": "assistant", **said})
    assert read_reply(make_reply(**said), None, []) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{not json",
        b"[" * 100_000,
        b"[]",
        b"3",
        b"{}",
        b'{"choices": []}',
        b'{"choices": {"a": 1}}',
        b'{"choices": [3]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
    ],
)
def test_what_is_no_reply_may_be_asked_again(body: bytes) -> None:
    with pytest.raises(CallError) as caught:
        read_reply(body, None, [])
    assert caught.value.transient
    assert caught.value.cause in ("endpoint", "garbled")


def test_counts_of_tokens_that_are_none_are_left_out() -> None:
    body = {
        **json.loads(make_reply(content="a")),
        "usage": {"prompt_tokens": "7", "completion_tokens": True},
    }
    completion = read_reply(json.dumps(body).encode(), None, [])
    assert (completion.input_tokens, completion.output_tokens) == (None, None)


def test_an_error_with_status_200_is_told() -> None:
    """As gateways send it, which answer before the call behind them has failed."""
    found = fail_with(Reply({"error": {"message": "the upstream is gone", "code": 502}}))
    assert (found.cause, found.transient) == ("error_in_reply", True)
    assert found.reason == "openai/m: an error with status 200: the upstream is gone"


def test_a_key_that_is_repeated_is_masked_everywhere() -> None:
    key = "a-key-of-many-letters-0123456789"

    def answer(asked: Mapping[str, object]) -> Reply:
        return make_message_reply(f"1 {key}", [("f", key)], reasoning_content=f"2 {key}")

    with serve_answers(answer) as endpoint:
        model = OpenAICompatibleModel("m", {"api_key": key}, endpoint.api_base, name="m")
        completion = asyncio.run(model.complete(make_entry(), QUESTION))
    assert (completion.text, completion.reasoning) == ("1 ***", "2 ***")
    assert completion.tool_calls == (ToolCall("f", "***", "call_0"),)
    assert key not in str(completion)


# Failures


@pytest.mark.parametrize(
    ("reply", "cause", "transient"),
    [
        (make_error_reply(401, "Incorrect API key provided"), "authentication", False),
        (make_error_reply(403, "no"), "authentication", False),
        (make_error_reply(400, "tools[0] is malformed"), "bad_request", False),
        (make_error_reply(404, "no such model"), "not_found", False),
        (make_error_reply(429, "You exceeded your current quota", "insufficient_quota"), "quota", False),
        (make_error_reply(408, "too late"), "timeout", True),
        (make_error_reply(429, "slow down"), "rate_limit", True),
        (make_error_reply(500, "broken"), "endpoint", True),
        (make_error_reply(503, "busy"), "endpoint", True),
        (Reply("{not json"), "garbled", True),
        (Reply("<html>", 502), "endpoint", True),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Reply) else None,
)
def test_failures_have_a_cause(reply: Reply, cause: str, transient: bool) -> None:
    found = fail_with(reply)
    assert (found.cause, found.transient) == (cause, transient)
    assert found.reason.startswith("openai/m: ")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": {"message": "m1", "code": "c1", "type": "t1"}}, "HTTP 500: m1 (c1) (t1)"),
        ({"error": {"message": "m1", "code": 500}}, "HTTP 500: m1"),
        ({"error": "m2"}, "HTTP 500: m2"),
        ({"object": "error", "message": "m3"}, "HTTP 500: m3"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "m4"}]}, "HTTP 500: body.seed m4"),
        ({"unknown": 1}, 'HTTP 500: {"unknown": 1}'),
        ("plain\n text", "HTTP 500: plain text"),
    ],
)
def test_the_words_of_an_error_are_found(body: dict[str, object] | str, reason: str) -> None:
    assert fail_with(Reply(body, 500)).reason == f"openai/m: {reason}"


def test_the_key_is_never_told() -> None:
    found = fail_with(make_error_reply(401, f"Incorrect API key provided: {KEY}"))
    assert KEY not in found.reason
    assert KEY not in repr(make_model("http://127.0.0.1:1/v1"))


def test_how_long_to_wait_is_read_from_the_header() -> None:
    assert fail_with(Reply("", 429, {"Retry-After": "7"})).retry_after_s == 7
    assert fail_with(Reply("", 429)).retry_after_s is None


def test_an_address_without_v1_is_told_of() -> None:
    with serve_answers(lambda _: make_error_reply(404, "Not Found")) as endpoint:
        base = endpoint.api_base.removesuffix("/v1")
        found = catch_failure(make_model(base))
        assert f"{base} does not end in /v1" in found.reason
        assert "does not end" not in catch_failure(make_model(f"{base}/v1/")).reason


def test_a_model_that_is_not_there_is_told_with_those_that_are() -> None:
    def answer(asked: Mapping[str, object]) -> Reply:
        if "messages" in asked:
            return make_error_reply(404, "The model `m` does not exist.")
        return Reply({"object": "list", "data": [{"id": f"org/{n}"} for n in range(7)]})

    with serve_answers(answer) as endpoint:
        model = make_model(endpoint.api_base)
        reasons = [catch_failure(model).reason for _ in range(2)]
    assert (
        reasons
        == [
            "openai/m: HTTP 404: The model `m` does not exist. (error) (invalid_request_error); "
            "the server offers org/0, org/1, org/2, org/3, org/4 ..."
        ]
        * 2
    )
    assert endpoint.paths.count("/v1/models") == 1
    assert endpoint.keys[1] == f"Bearer {KEY}"


@pytest.mark.parametrize("listed", ["{not", [], {"data": None}, {"data": [3]}, {"data": [{}]}])
def test_a_list_of_models_that_is_none_is_left_out(listed: object) -> None:
    body = listed if isinstance(listed, str) else json.dumps(listed)
    reply = make_error_reply(404, "no")
    with serve_answers(lambda asked: reply if "messages" in asked else Reply(body)) as endpoint:
        found = catch_failure(make_model(endpoint.api_base))
    assert found.reason == "openai/m: HTTP 404: no (error) (invalid_request_error)"


def test_a_request_that_is_too_long_is_the_models_own_failure() -> None:
    told: dict[str, object] = {"error": {"code": 500, "message": "no", "type": "exceed_context_size_error"}}
    completion, endpoint = ask_model(lambda _: Reply(told, 500))
    assert completion == Completion(text="openai/m: no (exceed_context_size_error)", fault=Fault.OVERFLOW)
    assert len(endpoint.requests) == 1


def test_a_call_that_the_server_cannot_read_is_the_models_own_failure() -> None:
    told = "Failed to parse input at pos 12: <tool_call>{"
    completion, endpoint = ask_model(lambda _: make_error_reply(500, told, "server"))
    assert completion.fault is Fault.UNREADABLE_CALL
    assert told in (completion.text or "")
    assert len(endpoint.requests) == 1


def test_the_advice_ends_the_reason_and_survives_its_shortening() -> None:
    found = fail_with(Reply("<html>" + "x" * 2000, 413))
    assert (found.cause, found.transient) == ("request_too_large", False)
    assert found.reason.endswith("raise its limit (nginx: client_max_body_size)")


@pytest.mark.parametrize(
    ("body", "headers", "cause"),
    [
        ("<!DOCTYPE html><html>", {}, "web_page"),
        ("\n<!-- a --><HTML lang='en'>", {}, "web_page"),
        ("It works!", {"Content-Type": "text/html; charset=utf-8"}, "web_page"),
        ("<?xml version='1.0'?><Error/>", {}, "garbled"),
        ("It works!", {}, "garbled"),
    ],
)
def test_a_web_page_is_no_reply(body: str, headers: dict[str, str], cause: str) -> None:
    found = fail_with(Reply(body, 200, headers))
    assert (found.cause, found.transient) == (cause, True)
    assert ("web page" in found.reason) is (cause == "web_page")


def test_json_under_the_type_of_a_page_is_read() -> None:
    reply = replace(make_message_reply("a"), headers={"Content-Type": "text/html"})
    assert ask_model(lambda _: reply)[0].text == "a"


# Connections


def test_an_address_where_nothing_listens_is_a_connection_error() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        found = catch_failure(make_model(f"http://127.0.0.1:{bound.getsockname()[1]}/v1"))
    assert (found.cause, found.transient) == ("connection", True)


@dataclass
class RawServer:
    """A server whose replies are written byte by byte, and what it saw."""

    port: int = 0
    connections: list[object] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def api_base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def serve_bytes(status: int, headers: Mapping[str, str], body: bytes) -> Iterator[RawServer]:
    """Answer every request with these bytes until the block ends."""
    server = RawServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version: ClassVar[str] = "HTTP/1.1"  # type: ignore[misc]

        def setup(self) -> None:
            server.connections.append(self.client_address)
            super().setup()

        def do_POST(self) -> None:
            server.requests.append(self.path)
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
            """Say nothing."""

    with listen_on_loopback(Handler) as port:
        server.port = port
        yield server


def test_one_connection_serves_many_calls() -> None:
    async def ask_three_times(model: OpenAICompatibleModel) -> None:
        for _ in range(3):
            await model.complete(make_entry(), QUESTION)

    with serve_bytes(200, {}, make_reply(content="a")) as server:
        asyncio.run(ask_three_times(make_model(server.api_base)))
    assert (len(server.connections), len(server.requests)) == (1, 3)


def test_each_event_loop_has_connections_of_its_own_and_closes_them() -> None:
    """A warning about an unclosed session would be an error here."""
    with serve_bytes(200, {}, make_reply(content="a")) as server:
        model = make_model(server.api_base)
        for _ in range(2):
            asyncio.run(model.complete(make_entry(), QUESTION))
        assert len(server.connections) == 2
        assert not model.connections._sessions


def test_a_compressed_reply_is_read() -> None:
    body = gzip.compress(make_reply(content="a"))
    with serve_bytes(200, {"Content-Encoding": "gzip"}, body) as server:
        completion = asyncio.run(make_model(server.api_base).complete(make_entry(), QUESTION))
    assert completion.text == "a"


def test_a_reply_that_grows_without_end_is_refused() -> None:
    body = gzip.compress(b" " * (80 * 2**20), 9)
    with serve_bytes(200, {"Content-Encoding": "gzip"}, body) as server:
        found = catch_failure(make_model(server.api_base))
    assert (found.cause, found.transient) == ("too_large", False)
    assert found.reason == ("openai/m: the reply has more than 8 MiB; --fcbench-max-body=N reads larger ones")


def test_a_reply_that_does_not_come_is_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        model = make_model(f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        model.timeout_s = 0.2
        found = catch_failure(model)
    assert (found.cause, found.transient) == ("timeout", True)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_leads_to_another_origin(status: int) -> None:
    """The key and the messages would go there."""
    with serve_answers(lambda _: make_message_reply("ok")) as other:
        target = f"{other.api_base}/chat/completions"
        with serve_bytes(status, {"Location": target}, b"") as server:
            found = catch_failure(make_model(server.api_base))
        assert other.requests == []
    assert (found.cause, found.transient) == ("redirect", False)
    assert target in found.reason


def test_a_redirect_within_the_origin_is_followed() -> None:
    with serve_bytes(308, {"Location": "/v2/chat/completions"}, b"") as server:
        found = catch_failure(make_model(server.api_base))
    assert server.requests == ["/v1/chat/completions", *["/v2/chat/completions"] * 3]
    assert found.reason == "openai/m: the endpoint redirects more than 3 times"


def test_tls_and_plain_http_are_told_apart() -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        found = catch_failure(make_model(endpoint.api_base.replace("http:", "https:")))
    assert found.cause == "connection"
    assert "begin the address with http://" in found.reason


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Return a certificate authority that nobody knows."""
    return trustme.CA()


@pytest.fixture(scope="module")
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    """Return the TLS of a server whose certificate that authority signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


def test_an_unknown_authority_is_refused_with_the_way_out(server_tls: ssl.SSLContext) -> None:
    with serve_answers(lambda _: make_message_reply("ok"), server_tls) as endpoint:
        found = catch_failure(make_model(endpoint.api_base))
    assert (found.cause, found.transient) == ("connection", False)
    assert "certificate verify failed" in found.reason
    assert found.reason.endswith("; name your certificate authority with SSL_CERT_FILE")
    assert endpoint.requests == []


@pytest.mark.parametrize("other", ["", "/nowhere/ca.pem"], ids=["alone", "before REQUESTS_CA_BUNDLE"])
@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_authority_of_the_environment_is_trusted(
    authority: trustme.CA,
    server_tls: ssl.SSLContext,
    variable: str,
    other: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of several the one that OpenSSL reads counts, then that of requests."""
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    for each in (*http._CA_VARIABLES, *http._OPENSSL_VARIABLES):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv({"SSL_CERT_FILE": "REQUESTS_CA_BUNDLE"}.get(variable, "CURL_CA_BUNDLE"), other)
    monkeypatch.setenv(variable, str(tmp_path / "ca.pem"))
    http._load_certificates.cache_clear()
    with serve_answers(lambda _: make_message_reply("ok"), server_tls) as endpoint:
        answer = asyncio.run(make_model(endpoint.api_base).complete(make_entry(), QUESTION))
    http._load_certificates.cache_clear()
    assert answer.text == "ok"


def test_authorities_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in http._OPENSSL_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")
    found = catch_failure(make_model("https://127.0.0.1:1/v1"))
    assert (found.cause, found.transient) == ("connection", False)
    assert "the certificate authorities cannot be read: /nowhere/ca.pem" in found.reason


def test_plain_http_to_a_port_of_tls_is_told() -> None:
    """OpenSSL answers what is no handshake with an alert."""

    async def send_alert(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\x15\x03\x01\x00\x02\x02\x46")
        await writer.drain()
        writer.close()

    async def ask_server() -> str:
        async with await asyncio.start_server(send_alert, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(CallError) as caught:
                await make_model(f"http://127.0.0.1:{port}/v1").complete(make_entry(), QUESTION)
            return caught.value.reason

    reason = asyncio.run(ask_server())
    assert reason.endswith("; the server seems to want TLS: begin the address with https://")


def test_a_web_server_that_wants_tls_is_told_too() -> None:
    """Nginx answers so."""
    page = b"<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>"
    with serve_bytes(400, {}, page) as server:
        found = catch_failure(make_model(server.api_base))
    assert (found.cause, found.transient) == ("connection", False)
    assert found.reason.endswith("; begin the address with https://")


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.api_base.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        asyncio.run(make_model("http://model.invalid/v1").complete(make_entry(), QUESTION))
    assert proxy.paths == ["http://model.invalid/v1/chat/completions"]


@pytest.mark.parametrize(
    ("variables", "proxy"),
    [
        ({"http_proxy": "http://127.0.0.1:3128"}, "http://127.0.0.1:3128"),
        ({"all_proxy": "http://127.0.0.1:3128"}, "http://127.0.0.1:3128"),
        ({"http_proxy": "127.0.0.1:3128"}, "http://127.0.0.1:3128"),
        ({"https_proxy": "http://127.0.0.1:3128"}, None),
        ({"http_proxy": "http://127.0.0.1:3128", "no_proxy": "other.invalid, model.invalid"}, None),
        ({"http_proxy": "http://127.0.0.1:3128", "no_proxy": "*"}, None),
        ({}, None),
    ],
)
def test_the_environment_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str], proxy: str | None
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_proxy("http://model.invalid:8000/v1") == proxy


def test_the_proxy_is_found_while_pytest_changes_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest does so between tests, and a call that began just then was lost."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    ended = threading.Event()

    def change_environment() -> None:
        while not ended.is_set():
            os.environ["CURRENT_TEST"] = "x"
            del os.environ["CURRENT_TEST"]

    thread = threading.Thread(target=change_environment)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        found = {find_proxy("http://model.invalid:8000/v1") for _ in range(500)}
    finally:
        ended.set()
        thread.join()
        sys.setswitchinterval(before)
    assert found == {"http://127.0.0.1:3128"}


def test_a_proxy_of_another_kind_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://me:pass-1234@127.0.0.1:1080")
    monkeypatch.delenv("no_proxy", raising=False)
    found = catch_failure(make_model("http://model.invalid/v1"))
    assert (found.cause, found.transient) == ("connection", False)
    assert "the proxy for http must be an http or https URL, not socks5; correct http_proxy" in found.reason
    assert "pass-1234" not in found.reason


def test_a_login_of_the_netrc_file_is_not_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password pass-1234\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = OpenAICompatibleModel("openai/m", {}, endpoint.api_base, None, name="m")
        asyncio.run(model.complete(make_entry(), QUESTION))
    assert "authorization" not in endpoint.headers[0]


def test_a_header_that_the_user_gives_replaces_ours_in_any_case() -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = make_model(endpoint.api_base, extra_headers={"authorization": "Basic mine"})
        asyncio.run(model.complete(make_entry(), QUESTION))
    # The first one that was sent.
    assert endpoint.keys == ["Basic mine"]


def test_a_long_error_keeps_what_to_do_at_its_end() -> None:
    told = make_error_reply(404, "no such model " + "x" * 500)
    with serve_answers(lambda _: told) as endpoint:
        found = catch_failure(make_model(endpoint.api_base.removesuffix("/v1")))
    assert found.reason.endswith("does not end in /v1, as most such addresses do")
    assert len(found.reason) < 350


# Who is asked


def read_settings(**given: object) -> Settings:
    return build_settings(given, None)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for prefix in openai_compatible.PREFIXES.values():
        for name in (*prefix.bases, *prefix.keys):
            monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/m", "m"),
        ("hosted_vllm/org/m", "org/m"),
        ("lm_studio/m", "m"),
        ("my-model", "my-model"),
        ("gpt-4o", "gpt-4o"),
        # Names that servers give their models by default: a repository, a folder.
        ("Qwen/Qwen3-8B-AWQ", "Qwen/Qwen3-8B-AWQ"),
        ("meta-llama/Llama-3.2-8B-Mine", "meta-llama/Llama-3.2-8B-Mine"),
        ("/models/mine", "/models/mine"),
    ],
)
def test_a_model_at_an_address_is_asked_directly(model: str, name: str) -> None:
    settings = read_settings(model=model, api_base="http://127.0.0.1:1/v1")
    assert registry.find_provider(settings)[0] is openai_compatible.PROVIDER
    endpoint = find_endpoint(settings)
    assert endpoint
    assert (endpoint.model, endpoint.api_base) == (name, "http://127.0.0.1:1/v1")
    chosen = registry.choose_model(settings).model
    assert isinstance(chosen, OpenAICompatibleModel)
    assert (chosen.id, chosen.name) == (model, name)


def test_a_parameter_that_nobody_knows_goes_to_a_server_that_litellm_would_not_find() -> None:
    given = {"model": "my-model", "api_base": "http://127.0.0.1:1/v1", "param": ["ignore_eos=true"]}
    model = registry.choose_model(read_settings(**given)).model
    assert isinstance(model, OpenAICompatibleModel)
    assert model.parameters["ignore_eos"] is True


@pytest.mark.parametrize(
    "given",
    [
        {"model": "openai/gpt-4o"},
        {"model": "gpt-4o"},
        {"model": "my-model"},
        {"model": "claude-sonnet-4-5", "api_base": "http://127.0.0.1:1/v1"},
        {"model": "ollama/llama3", "api_base": "http://127.0.0.1:1"},
        {"model": "Qwen/Qwen3-8B"},
        {"model": "litellm_proxy/gpt-4o", "api_base": "http://127.0.0.1:1"},
        {"model": "deepseek/deepseek-chat", "api_base": "http://127.0.0.1:1/v1"},
        {"model": "openai/", "api_base": "http://127.0.0.1:1/v1"},
        {"model": "litellm:openai/m", "api_base": "http://127.0.0.1:1/v1"},
        {"model": "openai/m", "api_base": "http://127.0.0.1:1/v1", "param": ['mock_response="a"']},
        {"model": "gpt-4o", "api_base": "http://127.0.0.1:1/v1", "param": ['mock_response="a"']},
        {"model": "m", "api_base": "http://127.0.0.1:1/v1", "param": ['custom_llm_provider="groq"']},
    ],
    ids=lambda given: " ".join(sorted(map(str, given.values()))),
)
def test_litellm_is_asked_for_all_else(given: Mapping[str, object]) -> None:
    assert registry.find_provider(read_settings(**given))[0] is litellm.PROVIDER


def test_litellm_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = registry.choose_model(
        read_settings(model="litellm:openai/m", api_base="http://127.0.0.1:1/v1")
    ).model
    assert isinstance(chosen, LitellmModel)
    assert chosen.id == "openai/m"


def test_a_server_is_named_without_its_keys() -> None:
    given = {
        "model": "hosted_vllm/my-ft",
        "api_base": "http://me:s3cr3t-word@host:8000/v1?token=abcd1234efgh",
    }
    server = name_server(read_settings(**given))
    assert server.model == "my-ft"
    assert server.address.endswith("@host:8000/v1?token=***")
    assert "abcd1234efgh" in server.secrets
    assert "s3cr3t" not in repr(server)
    assert name_server(read_settings(model="gpt-4o")).model == "NAME"


@pytest.mark.parametrize("key", ["k1", "k1\n"], ids=["alone", "from a file"])
def test_address_and_key_may_stand_in_the_environment(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", key.replace("k1", "http://127.0.0.1:2/v1"))
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", key)
    found = find_endpoint(read_settings(model="hosted_vllm/m"))
    assert found
    assert (found.api_base, found.api_key) == ("http://127.0.0.1:2/v1", "k1")
    assert "k1" not in repr(found)


def test_a_named_variable_of_the_key_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    # No header can hold a line break.
    monkeypatch.setenv("MY_KEY", "named\n")
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    found = find_endpoint(
        read_settings(model="my-model", api_base="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    )
    assert found
    assert (found.api_key, found.key_variable) == ("named", "MY_KEY")


@pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://h/v1", "http://", "http://[::1"])
def test_what_is_no_address_is_refused_at_once(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.choose_model(read_settings(model="my-model", api_base=address))
    rule = "must be an http or https URL, e.g. http://localhost:8000/v1"
    assert str(caught.value) == f"--fcbench-api-base={address}: {rule}"


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(UsageError, match="name it with --fcbench-api-key-env") as caught:
        registry.choose_model(read_settings(model="my-model", api_base="http://me:pass-1234@host/v1"))
    assert "pass-1234" not in str(caught.value)


# Calls that nobody answered


def test_a_server_that_wants_an_answer_to_each_call_gets_one() -> None:
    """Officially such calls stay unanswered, and the entry ends with the server's error."""
    broken = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    user = {"role": "user", "content": "Go on."}

    def answer(asked: Mapping[str, object]) -> Reply:
        messages = asked["messages"]
        assert isinstance(messages, list)
        if messages[1].get("role") != "tool":
            return make_error_reply(400, "tool_calls must be followed by tool messages")
        return make_message_reply("Done.")

    with serve_answers(answer) as endpoint:
        model = OpenAICompatibleModel("m", {}, endpoint.api_base, name="m")
        for _ in range(2):
            assert asyncio.run(model.complete(make_entry(), AskModel((broken, user)))).text == "Done."
    # The second time it is known.
    assert len(endpoint.requests) == 3
    assert "were answered with an error" in model.notes[-1]


def test_another_refusal_is_not_asked_again() -> None:
    broken = {"role": "assistant", "tool_calls": [{"id": "c"}]}
    with serve_answers(lambda _: make_error_reply(400, "bad thing")) as endpoint:
        model = OpenAICompatibleModel("m", {}, endpoint.api_base, name="m")
        with pytest.raises(CallError, match="bad thing"):
            asyncio.run(model.complete(make_entry(), AskModel((broken,))))
    assert len(endpoint.requests) == 1
    assert model.notes == ()


STREAM_TYPE = {"Content-Type": "text/event-stream"}


def write_stream(*chunks: object) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


WHOLE_STREAM = write_stream(
    {"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}},
)


def test_a_stream_is_asked_for_with_its_usage() -> None:
    with serve_answers(lambda _: Reply(WHOLE_STREAM, headers=STREAM_TYPE)) as endpoint:
        model = make_model(endpoint.api_base, stream=True)
        completion = asyncio.run(model.complete(make_entry(), QUESTION))
    assert endpoint.requests[0]["stream"] is True
    assert endpoint.requests[0]["stream_options"] == {"include_usage": True}
    assert (completion.text, completion.input_tokens, completion.output_tokens) == ("ok", 3, 1)


def test_a_whole_answer_where_a_stream_was_asked_for_is_noted() -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        streaming, plain = make_model(endpoint.api_base, stream=True), make_model(endpoint.api_base)
        assert asyncio.run(streaming.complete(make_entry(), QUESTION)).protocol == ("not_streamed",)
        assert asyncio.run(plain.complete(make_entry(), QUESTION)).protocol == ()


def test_a_server_that_knows_no_stream_options_is_asked_without() -> None:
    def answer(asked: Body) -> Reply:
        if "stream_options" in asked:
            return make_error_reply(400, "stream_options is not supported")
        return Reply(WHOLE_STREAM, headers=STREAM_TYPE)

    with serve_answers(answer) as endpoint:
        model = make_model(endpoint.api_base, stream=True)
        asyncio.run(model.complete(make_entry(), QUESTION))
        asyncio.run(model.complete(make_entry(), QUESTION))
    assert ["stream_options" in asked for asked in endpoint.requests] == [True, False, False]
    assert all(asked["stream"] is True for asked in endpoint.requests)


def test_a_stream_that_is_refused_is_not_replaced_by_a_whole_answer() -> None:
    with serve_answers(lambda _: make_error_reply(400, "stream is not supported")) as endpoint:
        model = make_model(endpoint.api_base, stream=True)
        with pytest.raises(CallError, match="stream is not supported"):
            asyncio.run(model.complete(make_entry(), QUESTION))
    assert all(asked["stream"] is True for asked in endpoint.requests)


def test_what_the_server_did_wrong_is_noted_on_the_answer() -> None:
    piece = {"index": 1, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": "tool_calls"}]}
    completion = read_reply(write_stream(chunk).encode(), None, [], "text/event-stream")
    assert completion.protocol == ("stream_index",)
    assert completion.tool_calls == (ToolCall("f", "{}", "a"),)


def test_an_error_in_a_stream_has_the_cause_that_it_names() -> None:
    begun = {"choices": [{"index": 0, "delta": {"content": "I"}}]}
    for error, cause in (
        ({"message": "the engine died", "code": 502}, "error_in_stream"),
        ({"message": "slow down", "code": 429}, "rate_limit"),
    ):
        reply = Reply(write_stream(begun, {"error": error}), headers=STREAM_TYPE)
        assert fail_with(reply).cause == cause


def test_a_stream_is_read_as_a_reply() -> None:
    events = [
        {"choices": [{"delta": {"role": "assistant", "content": "a"}}]},
        {"choices": [{"delta": {"content": "b"}, "finish_reason": "length"}]},
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    completion = read_reply(body.encode(), None, [], "text/event-stream")
    assert (completion.text, completion.ending) == ("ab", Ending.CUT)
    assert completion.message == {"role": "assistant", "content": "ab"}


def test_a_reply_that_nobody_asked_for_is_not_taken_for_the_next_one() -> None:
    """A second reply behind the first would answer the next entry, which may use the same connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version: ClassVar[str] = "HTTP/1.1"  # type: ignore[misc]
        asked = 0

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            Handler.asked += 1
            texts = ("first", "smuggled") if Handler.asked == 1 else ("second",)
            bodies = [json.dumps(make_message_reply(text).body).encode() for text in texts]
            # At once: a second reply that comes after the next request cannot be told from its answer.
            self.wfile.write(
                b"".join(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(b), b) for b in bodies)
            )

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
            """Say nothing."""

    async def ask_twice(model: OpenAICompatibleModel) -> list[str | None]:
        answers = []
        for _ in range(2):
            try:
                answers.append((await model.complete(make_entry(), QUESTION)).text)
            except CallError as error:
                # The connection may be given up with both replies.
                answers.append(error.cause)
        return answers

    with listen_on_loopback(Handler) as port:
        first, second = asyncio.run(ask_twice(make_model(f"http://127.0.0.1:{port}/v1")))
    assert (first, second) in [("first", "second"), ("endpoint", "second"), ("endpoint", "first")]
