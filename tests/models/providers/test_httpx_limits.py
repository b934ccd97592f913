"""What litellm's clients read and follow is bounded, for every kind of client that litellm makes."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import AskModel, Completion
from pytest_fcbench.models.providers.httpx_limits import bound_replies
from pytest_fcbench.models.providers.litellm import LitellmModel, import_litellm
from pytest_fcbench.models.providers.reply_bodies import MIB
from tests.factories import make_entry
from tests.loopback import Answer, Body, Endpoint, Reply, make_message_reply, serve_answers

QUESTION = AskModel(({"role": "user", "content": "hi"},))

IDS = ("openai/m", "hosted_vllm/m", "anthropic/m", "azure/m")
"""Ids for which litellm makes its clients in different ways."""


def ask_litellm(endpoint: Endpoint, model: str, **parameters: object) -> Completion:
    more = {"api_version": "2024-06-01"} if model.startswith("azure/") else {}
    # litellm completes the addresses of these two by itself.
    origin = "://".join(urlsplit(endpoint.api_base)[:2])
    base = origin if model.startswith(("azure/", "anthropic/")) else endpoint.api_base
    asked = LitellmModel(
        model,
        {**more, **parameters},
        api_base=base,
        api_key="sk-for-tests-only",
        timeout_s=20,
        longest_body=MIB,
    )
    return asyncio.run(asked.complete(make_entry(), QUESTION))


def catch_failure(answer: Answer, model: str, **parameters: object) -> CallError:
    with serve_answers(answer) as endpoint, pytest.raises(CallError) as caught:
        ask_litellm(endpoint, model, **parameters)
    return caught.value


def make_reply_of(model: str, text: str = "ok") -> Reply:
    if not model.startswith("anthropic/"):
        return make_message_reply(text)
    usage = {"input_tokens": 1, "output_tokens": 1}
    content = [{"type": "text", "text": text}]
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return Reply({**message, "content": content, "usage": usage})


def compress(reply: Reply) -> Reply:
    """Return the same reply, compressed."""
    assert isinstance(reply.body, dict)
    return Reply(gzip.compress(json.dumps(reply.body).encode()), headers={"Content-Encoding": "gzip"})


@pytest.mark.parametrize("model", IDS)
def test_an_ordinary_reply_is_read_compressed_or_not(model: str) -> None:
    for write in (lambda reply: reply, compress):
        with serve_answers(lambda _, write=write: write(make_reply_of(model))) as endpoint:  # type: ignore[misc]
            assert ask_litellm(endpoint, model).text == "ok"
        assert endpoint.headers[0]["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize("model", IDS)
@pytest.mark.parametrize(
    "make_long",
    [
        lambda: Reply("x" * (2 * MIB)),
        lambda: Reply(gzip.compress(bytes(50 * MIB)), headers={"Content-Encoding": "gzip"}),
    ],
    ids=["long", "bomb"],
)
def test_a_reply_that_is_too_long_is_left(model: str, make_long: Callable[[], Reply]) -> None:
    reply = make_long()
    failure = catch_failure(lambda _: reply, model)
    assert (failure.cause, failure.transient) == ("too_large", False)
    assert failure.reason == f"{model}: the reply has more than 1 MiB; --fcbench-max-body=N reads larger ones"


def test_a_long_error_is_left() -> None:
    assert catch_failure(lambda _: Reply("x" * (2 * MIB), 500), "openai/m").cause == "too_large"


def test_a_stream_may_be_four_times_as_long_and_no_longer() -> None:
    def stream_text(length: int) -> Reply:
        event = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        delta = {"index": 0, "delta": {"role": "assistant", "content": "x" * length}, "finish_reason": "stop"}
        text = f"data: {json.dumps({**event, 'choices': [delta]})}\n\ndata: [DONE]\n\n"
        return Reply(text, headers={"Content-Type": "text/event-stream"})

    with serve_answers(lambda _: stream_text(2 * MIB)) as endpoint:
        assert ask_litellm(endpoint, "openai/m", stream=True).text == "x" * (2 * MIB)
    assert catch_failure(lambda _: stream_text(5 * MIB), "openai/m", stream=True).cause == "too_large"


@pytest.mark.parametrize("model", IDS)
@pytest.mark.parametrize("status", [302, 307])
def test_no_redirect_leads_to_another_origin(model: str, status: int) -> None:
    with serve_answers(lambda _: make_reply_of(model)) as other:
        failure = catch_failure(lambda _: Reply("", status, {"Location": f"{other.api_base}/x"}), model)
        assert other.requests == []
    assert (failure.cause, failure.transient) == ("redirect", False)
    assert f"the endpoint redirects to {other.api_base}/x; give that address" in failure.reason


@pytest.mark.parametrize("model", IDS)
def test_a_redirect_within_the_origin_is_followed(model: str) -> None:
    asked: list[Body] = []

    def redirect_once(body: Body) -> Reply:
        asked.append(body)
        return Reply("", 308, {"Location": "/elsewhere"}) if len(asked) == 1 else make_reply_of(model)

    with serve_answers(redirect_once) as endpoint:
        assert ask_litellm(endpoint, model).text == "ok"
    assert asked[0] == asked[1]
    assert endpoint.paths[1] == "/elsewhere"


def test_a_redirect_in_circles_ends() -> None:
    asked: list[Body] = []

    def redirect_always(body: Body) -> Reply:
        asked.append(body)
        return Reply("", 307, {"Location": "/again"})

    assert (
        catch_failure(redirect_always, "openai/m").reason
        == "openai/m: the endpoint redirects more than 3 times"
    )
    assert len(asked) == 4


def test_requests_of_others_are_not_bounded() -> None:
    httpx = import_litellm().httpx

    async def ask_plainly(api_base: str) -> int:
        with bound_replies(httpx, 10):
            pass
        async with httpx.AsyncClient() as client:
            return len((await client.get(api_base)).content)

    with serve_answers(lambda _: Reply("x" * 100)) as endpoint:
        assert asyncio.run(ask_plainly(endpoint.api_base)) == 100
