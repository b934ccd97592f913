"""Bodies are read within limits, however they are compressed and cut."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall
from pytest_fcbench.domain.transcript_json import read_completion, write_completion
from pytest_fcbench.models.providers.event_stream import join_events
from pytest_fcbench.models.providers.litellm import LitellmModel, import_litellm
from pytest_fcbench.models.providers.reply_bodies import MIB, bound_replies, parse_json, read_body
from tests.cases import each_case
from tests.factories import make_entry
from tests.loopback import Answer, Body, Endpoint, Reply, make_message_reply, serve_answers
from tests.models.providers.whole_replies import read_reply


def read_parts(
    parts: Iterable[bytes], encoding: str = "", longest: int = MIB, kind: str = "application/json"
) -> bytes:
    async def yield_parts() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    headers = {"Content-Encoding": encoding, "Content-Type": kind}
    return asyncio.run(read_body(yield_parts(), headers, longest))


def catch_failure(parts: Iterable[bytes], encoding: str = "", longest: int = MIB) -> CallError:
    with pytest.raises(CallError) as caught:
        read_parts(parts, encoding, longest)
    return caught.value


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def deflate_bare(data: bytes) -> bytes:
    compress = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compress.compress(data) + compress.flush()


COMPRESSIONS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "none": ("", bytes),
    "identity": ("Identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "x-gzip": (" X-GZIP ", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", deflate_bare),
}


@given(
    st.sampled_from(sorted(COMPRESSIONS)), st.binary(max_size=300), st.integers(1, 50), st.integers(1, 500)
)
def test_a_body_comes_back_as_it_was(compression: str, content: bytes, repeated: int, size: int) -> None:
    encoding, compress = COMPRESSIONS[compression]
    content *= repeated
    assert read_parts(cut(compress(content), size), encoding) == content


@each_case(("encoding", "compress"), COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_a_body_may_be_as_long_as_the_limit_and_no_longer(
    encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    # Random bytes would be longer when they are compressed.
    longest = 100_000
    assert len(read_parts([compress(b"x" * longest)], encoding, longest)) == longest
    failure = catch_failure([compress(b"x" * (longest + 1))], encoding, longest)
    assert (failure.cause, failure.transient) == ("too_large", False)
    assert "--fcbench-max-body=N reads larger ones" in failure.reason


def test_an_endless_body_is_left() -> None:
    taken = 0

    def send_endlessly() -> Iterable[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 1000

    assert catch_failure(send_endlessly(), longest=10_000).cause == "too_large"
    assert taken == 11


def test_compressed_bytes_without_content_count() -> None:
    """Empty blocks of deflate can go on for ever and bring nothing."""
    compress = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    empty = compress.flush(zlib.Z_FULL_FLUSH)
    assert catch_failure([empty * 1000], "deflate", longest=1000).cause == "too_large"


@pytest.mark.nightly
def test_a_bomb_takes_no_memory() -> None:
    bomb = gzip.compress(bytes(300 * MIB), 9)
    tracemalloc.start()
    try:
        assert catch_failure(cut(bomb, 2**16), "gzip", 8 * MIB).cause == "too_large"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MIB


@each_case("encoding", ["br", "zstd", "gzip, gzip", "x" * 1000])
def test_a_compression_that_was_not_asked_for_is_garbled(encoding: str) -> None:
    failure = catch_failure([b"x"], encoding)
    assert (failure.cause, failure.transient) == ("garbled", False)
    assert len(failure.reason) < 150


@pytest.mark.parametrize("data", [b"x", b"\x1f\x8b\x08broken", gzip.compress(b"x" * 99)[:-20] + b"\0" * 20])
def test_a_broken_compression_is_garbled(data: bytes) -> None:
    failure = catch_failure([data], "gzip")
    assert (failure.cause, failure.transient) == ("garbled", True)


def test_a_stream_of_events_may_be_longer_and_of_any_number_of_parts() -> None:
    stream = b"data: [],\n\n" * 100_000
    kind = "text/event-stream; charset=utf-8"
    assert read_parts([stream], longest=len(stream) // 3, kind=kind) == stream
    assert catch_failure([stream], longest=len(stream) // 3).cause == "too_large"
    with pytest.raises(CallError, match="more than"):
        read_parts([stream], longest=len(stream) // 5, kind=kind)


@pytest.mark.parametrize("deep", [b"[", b'{"a":'])
def test_deep_json_is_garbled(deep: bytes) -> None:
    with pytest.raises(CallError, match="the reply is not JSON") as caught:
        parse_json(deep * 400_000)
    assert caught.value.cause == "garbled"


@pytest.mark.parametrize(("sign", "signs"), [(b"[],", 2), (b"{},", 2), (b"0,", 1)])
def test_json_of_too_many_parts_is_not_read(sign: bytes, signs: int) -> None:
    most = MIB // 16 // signs
    whole = sign * most
    assert read_parts(cut(whole, 1000)) == whole
    failure = catch_failure(cut(sign * (most + 1), 1000))
    assert failure.cause == "too_large"
    assert failure.reason.startswith("the reply has more than 65,536 lists, objects and members; --fcb")


def test_a_stream_of_too_many_events_is_too_large() -> None:
    with pytest.raises(CallError, match="more than 150,000 events") as caught:
        join_events(b"data: {}\n\n" * 150_001)
    assert caught.value.cause == "too_large"


@pytest.mark.parametrize("delta", ['{"delta": {"tool_calls": [%s]}}', "%s"])
def test_a_stream_of_too_many_parts_is_too_large(delta: str) -> None:
    """An event can hold far more pieces of calls, or choices, than an honest one."""
    parts = delta % ",".join(["{}"] * 100_000)
    event = f'data: {{"choices": [{parts}]}}\n\n'.encode()
    assert join_events(event * 2 + b"data: [DONE]\n\n").reply["choices"]
    with pytest.raises(CallError, match="the answer comes in more than 300,000 parts") as caught:
        join_events(event * 4)
    assert caught.value.cause == "too_large"


def test_an_event_of_any_number_of_lines_takes_little_memory() -> None:
    body = b"data\n" * 2_000_000
    tracemalloc.start()
    try:
        with pytest.raises(CallError, match="more than 150,000 events"):
            join_events(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(body) * 4


def test_an_event_of_too_many_bytes_is_too_large() -> None:
    """A stream may be long, but each event is read into memory."""
    with pytest.raises(CallError, match="an event has more than 2 MiB") as caught:
        join_events(b"data: [" + b"[]," * MIB + b"0]\n\n")
    assert caught.value.cause == "too_large"
    with pytest.raises(CallError, match="an event has 600,001 lists, objects and members") as caught:
        join_events(b"data: [" + b"[]," * 300_000 + b"0]\n\n")
    assert caught.value.cause == "too_large"
    with pytest.raises(CallError, match=r"the events have 4,[23]..,... lists, objects and members") as caught:
        join_events((b"data: [" + b"[]," * 100_000 + b"0]\n\n") * 30)
    assert caught.value.cause == "too_large"


_LARGE: list[list[object]] = [[]] * 20_000
_ROOM = 20


@each_case(
    "write_delta",
    [
        pytest.param(lambda at: {f"m{at}": _LARGE}, id="members of a message"),
        pytest.param(lambda at: {"m": _LARGE}, id="one list that goes on"),
        pytest.param(lambda at: {"m": "é" * 900_000}, id="a text that goes on"),
        pytest.param(lambda at: {"tool_calls": [{"index": 0, f"m{at}": _LARGE}]}, id="members of a call"),
        pytest.param(
            lambda at: {"tool_calls": [{"index": 0, "function": {f"m{at}": _LARGE}}]},
            id="members of a function",
        ),
    ],
)
def test_members_beside_the_answer_are_kept_up_to_a_limit(
    write_delta: Callable[[int], dict[str, object]],
) -> None:
    """The answer is read whole all the same."""
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    deltas = [*map(write_delta, range(30)), {"tool_calls": [call]}, *({"content": "a"},) * 30]
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    body = b"".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode() for chunk in chunks)
    choices = join_events(body + b"data: [DONE]\n\n").reply["choices"]
    assert isinstance(choices, list)
    message = choices[0]["message"]
    assert message["content"] == "a" * 30
    (joined,) = message["tool_calls"]
    assert {"name": "f", "arguments": "{}"}.items() <= joined.get("function", {}).items()
    written = len(json.dumps(write_delta(0)))
    assert written * _ROOM > len(json.dumps(message)) > written


def test_an_answer_is_read_up_to_the_length_of_a_whole_reply() -> None:
    piece = {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "[0," * 1000}}]}
    text = {"choices": [{"delta": {"content": "é" * 1000}}]}
    call = {"choices": [{"delta": piece, "finish_reason": "tool_calls"}]}
    body = b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in (text, call) * 30)
    choices = join_events(body + b"data: [DONE]\n\n", 50_000).reply["choices"]
    assert isinstance(choices, list)
    message = choices[0]["message"]
    (joined,) = message["tool_calls"]
    assert len(message["content"]) + len("f") + len(joined["function"]["arguments"]) == 50_000


def test_many_events_are_joined_in_linear_time() -> None:
    """Adding each piece to the text before took minutes for an answer of this length."""
    event = json.dumps({"choices": [{"delta": {"content": "0123456789" * 10}}]}).encode()
    choices = join_events((b"data: " + event + b"\n\n") * 60_000 + b"data: [DONE]\n\n").reply["choices"]
    assert isinstance(choices, list)
    assert len(choices[0]["message"]["content"]) == 6_000_000


@each_case("depth", [300, 500, 900])
@each_case("name", ["message", "choice", "reply", "usage", "arguments", "event"])
def test_deep_members_beside_an_answer_do_not_cost_its_verdict(depth: int, name: str) -> None:
    deep = "[" * depth + "]" * depth
    places = dict.fromkeys(("message", "choice", "reply"), "1") | {"usage": "{}", "arguments": '"{}"'}
    held = places | {name: deep}
    call = f'{{"id": "c", "function": {{"name": "f", "arguments": {held["arguments"]}}}}}'
    message = f'{{"role": "assistant", "tool_calls": [{call}], "own": {held["message"]}}}'
    member = "delta" if name == "event" else "message"
    choice = f'{{"{member}": {message}, "finish_reason": "tool_calls", "own": {held["choice"]}}}'
    reply = f'{{"choices": [{choice}], "usage": {held["usage"]}, "own": {held["reply"]}}}'
    body = f'data: {reply}\n\ndata: {{"own": {deep}}}\n\ndata: [DONE]\n\n' if name == "event" else reply
    completion = read_reply(body.encode(), 0.1, ["kEy-12345"])
    assert completion.tool_calls
    (read,) = completion.tool_calls
    assert isinstance(read, ToolCall)
    assert read.name == "f"
    assert read_completion(json.loads(json.dumps(write_completion(completion)))) == completion


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"index": 0, "text": "é" * 900}, id="text of a completion"),
        pytest.param({"index": 1, "delta": {"content": "é" * 900}}, id="another choice"),
        pytest.param({"index": 0, "delta": {"function_call": {"arguments": "é" * 900}}}, id="legacy call"),
    ],
)
def test_what_is_no_answer_takes_no_room_from_it(other: dict[str, object]) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    last = {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    events = [{"choices": [choice]} for choice in (*[other] * 3, last)]
    body = b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)
    choices = join_events(body + b"data: [DONE]\n\n", 1000).reply["choices"]
    assert isinstance(choices, list)
    assert choices[0]["message"]["tool_calls"] == [{"id": "c", "function": call["function"]}]


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


def catch_litellm_failure(answer: Answer, model: str, **parameters: object) -> CallError:
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


@each_case("model", IDS)
def test_an_ordinary_reply_is_read_compressed_or_not(model: str) -> None:
    for write in (lambda reply: reply, compress):
        with serve_answers(lambda _, write=write: write(make_reply_of(model))) as endpoint:  # type: ignore[misc]
            assert ask_litellm(endpoint, model).text == "ok"
        assert endpoint.headers[0]["accept-encoding"] == "gzip, deflate"


@each_case("model", IDS)
@each_case(
    "make_long",
    [
        lambda: Reply("x" * (2 * MIB)),
        lambda: Reply(gzip.compress(bytes(50 * MIB)), headers={"Content-Encoding": "gzip"}),
    ],
    ids=["long", "bomb"],
)
def test_a_reply_that_is_too_long_is_left(model: str, make_long: Callable[[], Reply]) -> None:
    reply = make_long()
    failure = catch_litellm_failure(lambda _: reply, model)
    assert (failure.cause, failure.transient) == ("too_large", False)
    assert failure.reason == f"{model}: the reply has more than 1 MiB; --fcbench-max-body=N reads larger ones"


def test_a_long_error_is_left() -> None:
    assert catch_litellm_failure(lambda _: Reply("x" * (2 * MIB), 500), "openai/m").cause == "too_large"


def test_a_stream_may_be_four_times_as_long_and_no_longer() -> None:
    def stream_text(length: int) -> Reply:
        event = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        delta = {"index": 0, "delta": {"role": "assistant", "content": "x" * length}, "finish_reason": "stop"}
        text = f"data: {json.dumps({**event, 'choices': [delta]})}\n\ndata: [DONE]\n\n"
        return Reply(text, headers={"Content-Type": "text/event-stream"})

    with serve_answers(lambda _: stream_text(2 * MIB)) as endpoint:
        assert ask_litellm(endpoint, "openai/m", stream=True).text == "x" * (2 * MIB)
    assert catch_litellm_failure(lambda _: stream_text(5 * MIB), "openai/m", stream=True).cause == "too_large"


@each_case("model", IDS)
@each_case("status", [302, 307])
def test_no_redirect_leads_to_another_origin(model: str, status: int) -> None:
    with serve_answers(lambda _: make_reply_of(model)) as other:
        failure = catch_litellm_failure(
            lambda _: Reply("", status, {"Location": f"{other.api_base}/x"}), model
        )
        assert other.requests == []
    assert (failure.cause, failure.transient) == ("redirect", False)
    assert f"the endpoint redirects to {other.api_base}/x; give that address" in failure.reason


@each_case("model", IDS)
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
        catch_litellm_failure(redirect_always, "openai/m").reason
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
