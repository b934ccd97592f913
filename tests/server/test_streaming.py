"""Streams over real HTTP: the same answers as without one, the same faults; and through other clients."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.server.lookup import MANNERS
from tests.cases import each_case
from tests.served import served, stats
from tests.server.asking import CORE, Sent, hold_conversation, list_entries, make_body
from tests.server.clients import CHAT, open_client, open_connection, post_chat

ENTRIES = list_entries(CORE)
CALLING = ENTRIES[0]
ARGUMENTS = '{"minutes": 25, "label": "sourdough"}'
STREAM: Sent = {"stream": True}


@pytest.fixture(scope="module")
def oracle() -> Iterator[str]:
    with served("--model", "oracle") as api_base:
        yield api_base


def _join_deltas(deltas: Iterable[Any]) -> Sent:
    """Return the message that the deltas of a stream add up to."""
    message: Sent = {}
    for delta in deltas:
        for call in delta.get("tool_calls", ()):
            calls: Any = message.setdefault("tool_calls", [])
            if call["index"] == len(calls):
                calls.append({"id": call["id"], "type": call["type"], "function": call["function"]})
            else:
                calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
        message.setdefault("role", delta.get("role"))
        if "content" in delta:
            before: Any = message.get("content")
            message["content"] = delta["content"] if before is None else before + delta["content"]
    return message


def _list_questions(category: str, mode: Mode) -> Sequence[tuple[str, Sent]]:
    """Return each request about some entries of a category with its entry's name."""
    prompting = MANNERS[0] if mode is Mode.FC else MANNERS[1]
    entries = [entry for entry in ENTRIES if entry.category.name == category]
    return [
        (entry.key, body)
        for entry in entries[::5]
        for _, body in hold_conversation(OracleModel(prompting), entry, mode, prompting.names)
    ]


@each_case("mode", [Mode.FC, Mode.PROMPT])
@each_case("category", ["parallel_multiple", "irrelevance", "multi_turn_miss_func", "hotels"])
def test_the_deltas_of_a_stream_add_up_to_the_whole_answer(oracle: str, category: str, mode: Mode) -> None:
    questions = _list_questions(category, mode)
    assert questions
    for name, body in questions:
        whole = post_chat(oracle, body, name)
        answer = post_chat(oracle, body | STREAM, name)
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        *chunks, end = answer.events
        assert end == "[DONE]"
        choices = [chunk["choices"][0] for chunk in chunks]
        assert _join_deltas(choice["delta"] for choice in choices) == whole.message
        ends = [choice["finish_reason"] for choice in choices]
        assert ends == [None] * (len(ends) - 1) + [whole.body["choices"][0]["finish_reason"]]
        assert len({chunk["id"] for chunk in chunks}) == 1


def test_the_usage_of_a_stream_is_that_of_the_whole_answer(oracle: str) -> None:
    body = make_body(CALLING)
    answer = post_chat(oracle, body | STREAM | {"stream_options": {"include_usage": True}})
    *_, last, end = answer.events
    assert (last["choices"], end) == ([], "[DONE]")
    assert last["usage"] == post_chat(oracle, body).body["usage"]


@pytest.mark.parametrize("options", [None, {}, {"include_usage": False}])
def test_the_usage_comes_only_where_it_is_asked_for(oracle: str, options: object) -> None:
    answer = post_chat(oracle, make_body(CALLING) | STREAM | {"stream_options": options})
    assert all("usage" not in chunk for chunk in answer.events[:-1])


def test_a_stream_that_was_sent_in_full_counts_as_answered() -> None:
    with served("--model", "oracle") as api_base:
        post_chat(api_base, make_body(CALLING) | STREAM)
        found = stats(api_base)
    assert (found["answered"], found["requests"], found["in_flight"]) == ({CALLING.key: 1}, 1, 0)


def test_a_wrong_request_gets_no_stream(oracle: str) -> None:
    answer = post_chat(oracle, STREAM | {"messages": []})
    assert (answer.status, answer.body["error"]["code"]) == (404, "unknown_request")


# Faults


@pytest.mark.parametrize(("kind", "status"), [("429", 429), ("500", 500)])
def test_an_error_comes_in_place_of_a_stream(kind: str, status: int) -> None:
    with served("--model", "oracle", "--fault", f"{kind}:1") as api_base:
        answer = post_chat(api_base, make_body(CALLING) | STREAM)
    assert (answer.status, answer.body["error"].keys()) == (status, {"message", "type", "param", "code"})


def test_a_cut_stream_ends_in_the_middle_of_its_events(oracle: str) -> None:
    whole = post_chat(oracle, make_body(CALLING) | STREAM).content
    with (
        served("--model", "oracle", "--fault", "cut:1") as api_base,
        open_connection(api_base) as connection,
    ):
        connection.request("POST", CHAT, json.dumps(make_body(CALLING) | STREAM))
        response = connection.getresponse()
        with pytest.raises(http.client.IncompleteRead) as caught:
            response.read()
        assert stats(api_base)["faults"] == {"cut": 1}
    assert response.status == 200
    assert caught.value.partial.startswith(b'data: {"id": "chatcmpl-1", "object": "chat.completion.chunk"')
    assert abs(len(caught.value.partial) - len(whole) / 2) < 100


def test_a_reset_comes_in_place_of_a_stream() -> None:
    with (
        served("--model", "oracle", "--fault", "reset:1") as api_base,
        pytest.raises(ConnectionResetError, match="reset by peer"),
    ):
        post_chat(api_base, make_body(CALLING) | STREAM)


def test_garbage_in_a_stream_is_an_event_that_is_not_json() -> None:
    with served("--model", "oracle", "--fault", "garbage:1") as api_base:
        answer = post_chat(api_base, make_body(CALLING) | STREAM)
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.events == ["<html><body>Bad Gateway</body></html>"]


def test_the_json_fault_streams_half_of_the_arguments(oracle: str) -> None:
    body = make_body(CALLING)
    with served("--model", "oracle", "--fault", "json:1") as api_base:
        whole = post_chat(api_base, body).message
        *chunks, end = post_chat(api_base, body | STREAM).events
    message = _join_deltas(chunk["choices"][0]["delta"] for chunk in chunks)
    assert (message, end) == (whole, "[DONE]")
    good = post_chat(oracle, body).message["tool_calls"][0]["function"]["arguments"]
    assert whole["tool_calls"][0]["function"]["arguments"] == good[: len(good) // 2]


# Through other clients


def test_the_openai_package_reads_a_stream_of_tool_calls(oracle: str) -> None:
    body: Any = make_body(CALLING)
    asked = {"messages": body["messages"], "tools": body["tools"], "stream_options": {"include_usage": True}}
    with open_client(oracle) as client, client.chat.completions.stream(model="x", **asked) as stream:
        completion = stream.get_final_completion()
    calls = completion.choices[0].message.tool_calls
    assert calls is not None
    (call,) = calls
    assert (call.function.name, call.function.arguments) == ("set_timer", ARGUMENTS)
    assert completion.choices[0].finish_reason == "tool_calls"
    assert completion.usage is not None
    assert completion.usage.prompt_tokens > 0


def test_the_openai_package_reads_a_stream_of_text(oracle: str) -> None:
    body: Any = make_body(CALLING, Mode.PROMPT)
    with open_client(oracle) as client:
        chunks = list(client.chat.completions.create(model="oracle", messages=body["messages"], stream=True))
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks]
    assert "".join(texts) == post_chat(oracle, body).message["content"]
    assert len(list(filter(None, texts))) > 5


@pytest.mark.nightly
def test_the_openai_package_tells_that_a_stream_was_cut() -> None:
    body: Any = make_body(CALLING)
    with (
        served("--model", "oracle", "--fault", "cut:1") as api_base,
        open_client(api_base) as client,
        # openai 3 wraps the error of its transport, openai 2 does not.
        pytest.raises(Exception, match=r"peer closed connection|Connection error\."),
    ):
        list(
            client.chat.completions.create(
                model="x", messages=body["messages"], tools=body["tools"], stream=True
            )
        )


def test_litellm_reads_a_stream(oracle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    import litellm

    body = make_body(CALLING)

    async def collect_chunks() -> list[Any]:
        stream: Any = await litellm.acompletion(
            model="openai/x",
            api_base=oracle,
            api_key="unused",
            stream=True,
            messages=body["messages"],
            tools=body["tools"],
        )
        return [chunk async for chunk in stream]

    built: Any = litellm.stream_chunk_builder(asyncio.run(collect_chunks()))
    (call,) = built.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("set_timer", ARGUMENTS)
    assert built.choices[0].finish_reason == "tool_calls"
