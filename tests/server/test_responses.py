"""The Responses API: the same entries and answers as in the chat interface, in its own form."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import openai
import pytest
from openai.types.responses import Response

from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.server.body import RefusedRequestError
from pytest_fcbench.server.lookup import MANNERS
from pytest_fcbench.server.replies import SentCall, ServedReply
from pytest_fcbench.server.responses import build_response, read_response_request, stream_response
from tests.served import served, stats
from tests.server.asking import CORE, Sent, hold_conversation, list_entries, make_body, read_sent
from tests.server.clients import open_client, open_connection, post_chat, post_json

ENTRIES = list_entries(CORE)
CALLING = ENTRIES[0]
RESPONSES = "/v1/responses"
ARGUMENTS = '{"minutes": 25, "label": "sourdough"}'


@pytest.fixture(scope="module")
def oracle() -> Iterator[str]:
    with served("--model", "oracle") as api_base:
        yield api_base


def _convert_body(body: Sent) -> Sent:
    """Return a chat request as a client of the Responses API sends it."""
    messages: Any = body["messages"]
    tools: Any = body.get("tools", [])
    items: list[Sent] = []
    for message in messages:
        if message["role"] == "tool":
            output = {"call_id": message["tool_call_id"], "output": message["content"]}
            items.append({"type": "function_call_output", **output})
            continue
        if message.get("content") is not None:
            items.append({"role": message["role"], "content": message["content"]})
        items += [
            {"type": "function_call", "call_id": call["id"], **call["function"]}
            for call in message.get("tool_calls", ())
        ]
    flat = [{"type": "function", **tool["function"], "strict": False} for tool in tools]
    return {"model": "x", "input": items, "tools": flat}


# Requests


def _read_request(**members: object) -> Sent:
    """Return messages and tools of the chat request."""
    body = read_response_request(json.dumps(members)).body
    return {"messages": body.messages, "tools": body.tools}


def test_a_text_is_a_message_of_the_user() -> None:
    assert _read_request(input="Hi") == {"messages": [{"role": "user", "content": "Hi"}], "tools": []}


def test_instructions_are_the_first_system_message() -> None:
    sent = _read_request(instructions="Be kind.", input=[{"role": "user", "content": "Hi"}])
    assert sent["messages"] == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"role": "developer", "content": "Hi"}, {"role": "system", "content": "Hi"}),
        ({"type": "message", "role": "assistant", "content": "Hi"}, {"role": "assistant", "content": "Hi"}),
        (
            {
                "role": "user",
                "content": [{"type": "input_text", "text": text} for text in "ab"],
            },
            {"role": "user", "content": "ab"},
        ),
        (
            {"role": "assistant", "content": [{"type": "output_text", "text": "a", "annotations": []}]},
            {"role": "assistant", "content": "a"},
        ),
        (
            {"type": "function_call_output", "call_id": "a", "output": "37,000"},
            {"role": "tool", "tool_call_id": "a", "content": "37,000"},
        ),
        (
            {
                "type": "function_call_output",
                "call_id": "a",
                "output": [{"type": "text", "text": "37"}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "37"},
        ),
    ],
)
def test_an_item_is_a_message(item: Sent, message: Sent) -> None:
    assert _read_request(input=[item])["messages"] == [message]


def test_calls_are_one_message_with_the_text_before_them() -> None:
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {**call, "call_id": "a"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"role": "assistant", "content": "Once more."},
        {**call, "call_id": "b"},
        {**call, "call_id": "c"},
    ]
    numbered = [
        {"id": f"call {number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for number in (1, 2, 3)
    ]
    assert _read_request(input=items)["messages"] == [
        {"role": "assistant", "tool_calls": numbered[:1]},
        {"role": "tool", "tool_call_id": "call 1", "content": "1"},
        {"role": "assistant", "content": "Once more.", "tool_calls": numbered[1:]},
    ]


def test_tools_are_nested_as_in_a_chat_request() -> None:
    tool = {"name": "f", "description": "Do it.", "parameters": {"type": "object"}}
    assert _read_request(input="Hi", tools=[{"type": "function", "strict": True, **tool}])["tools"] == [
        {"type": "function", "function": tool}
    ]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("category", ["parallel", "irrelevance", "multi_turn_base", "hotels", "memory_kv"])
def test_the_same_question_is_the_same_request_in_both_interfaces(category: str, mode: Mode) -> None:
    prompting = MANNERS[0] if mode is Mode.FC else MANNERS[1]
    entry = next(entry for entry in ENTRIES if entry.category.name == category)
    bodies = [body for _, body in hold_conversation(OracleModel(prompting), entry, mode, prompting.names)]
    assert bodies
    for body in bodies:
        sent = json.dumps(_convert_body(body))
        assert read_response_request(sent).body.digest == read_sent(body).digest


@pytest.mark.parametrize(
    ("members", "code", "says"),
    [
        ({}, "invalid_request", "the body must be an object with 'input', a text or a list of items"),
        (
            {"input": "Hi", "previous_response_id": "resp_1"},
            "unsupported",
            "this server stores nothing between requests; leave 'previous_response_id' out and send the "
            "whole conversation as 'input'",
        ),
        ({"input": ["Hi"]}, "invalid_request", "input[0] must be an object"),
        (
            {"input": [{"type": "item_reference", "id": "msg_1"}]},
            "unsupported",
            "input[0] is of the type 'item_reference'; this server takes message, function_call, "
            "function_call_output and reasoning",
        ),
        ({"input": [{"role": "user"}]}, "invalid_request", "input[0] must have a text or a list of parts"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "unsupported",
            "input[0] has a part of the type 'input_image'; this server takes input_text and output_text",
        ),
        ({"input": "Hi", "tools": {"a": 1}}, "invalid_request", "'tools' must be a list"),
        (
            {"input": "Hi", "tools": [{"type": "web_search"}]},
            "unsupported",
            'tools[0] must be {"type": "function", "name": ..., "parameters": ...}; this server takes no '
            "other tools",
        ),
    ],
)
def test_what_no_chat_request_can_ask_is_refused(members: Sent, code: str, says: str) -> None:
    with pytest.raises(RefusedRequestError) as caught:
        _read_request(**members)
    assert (caught.value.status, caught.value.code, str(caught.value)) == (400, code, says)


# Replies

HELLO = read_response_request('{"input": "Hi", "instructions": "Be kind."}')
CALLED = ServedReply("oracle", None, (SentCall("call_0", "f", '{"a": 1}'), SentCall("call_1", "g", "")), 9, 3)


def _build_response(reply: ServedReply) -> dict[str, object]:
    response = build_response(reply, HELLO, 7, 1700)
    # The types of the openai package know which members must be there.
    Response.model_validate(response)
    return response


def test_calls_are_items_with_ids() -> None:
    response = _build_response(CALLED)
    assert response["output"] == [
        {
            "type": "function_call",
            "id": f"fc_7_{index}",
            "call_id": f"call_{index}",
            "name": name,
            "arguments": arguments,
            "status": "completed",
        }
        for index, (name, arguments) in enumerate([("f", '{"a": 1}'), ("g", "")])
    ]
    assert (response["id"], response["created_at"], response["model"]) == ("resp_7", 1700, "oracle")
    assert (response["status"], response["instructions"]) == ("completed", "Be kind.")
    assert response["usage"] == {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 12,
    }


@pytest.mark.parametrize("text", ["Hello.", "", None])
def test_a_text_is_an_item_also_where_it_is_empty(text: str | None) -> None:
    (item,) = Response.model_validate(_build_response(ServedReply("oracle", text, None, 9, 3))).output
    assert item.type == "message"
    assert [part.text for part in item.content if part.type == "output_text"] == [text or ""]


def test_a_text_beside_calls_comes_first() -> None:
    response = Response.model_validate(_build_response(ServedReply("oracle", "So.", CALLED.calls, 9, 3)))
    assert [item.type for item in response.output] == ["message", "function_call", "function_call"]


def _read_events(events: Iterator[bytes]) -> Sequence[Any]:
    found = []
    for event in events:
        head, _, data = event.decode().partition("\ndata: ")
        found.append(json.loads(data))
        assert head == f"event: {found[-1]['type']}"
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    return found


def test_a_streamed_call_comes_as_item_pieces_and_item() -> None:
    response = _build_response(CALLED)
    output: Any = response["output"]
    events = _read_events(stream_response(response))
    assert [event["type"].removeprefix("response.") for event in events] == [
        *("created", "in_progress"),
        *("output_item.added", *["function_call_arguments.delta"] * 2),
        *("function_call_arguments.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.done", "output_item.done"),
        "completed",
    ]
    assert events[2]["item"] == {**output[0], "arguments": "", "status": "in_progress"}
    assert [event["delta"] for event in events if "delta" in event] == ['{"a"', ": 1}"]
    assert (events[5]["arguments"], events[5]["name"], events[5]["item_id"]) == ('{"a": 1}', "f", "fc_7_0")
    assert (events[0]["response"]["output"], events[0]["response"]["usage"]) == ([], None)
    assert events[-1]["response"] == response


def test_a_streamed_text_comes_as_item_part_pieces_part_and_item() -> None:
    events = _read_events(stream_response(_build_response(ServedReply("oracle", "Hei, Bergen!", None, 9, 3))))
    assert [event["type"].removeprefix("response.") for event in events] == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *["output_text.delta"] * 3,
        *("output_text.done", "content_part.done", "output_item.done", "completed"),
    ]
    assert "".join(event.get("delta", "") for event in events) == "Hei, Bergen!"


# Over HTTP


def test_the_openai_package_gets_the_tool_calls_of_the_oracle(oracle: str) -> None:
    body: Any = _convert_body(make_body(CALLING))
    with open_client(oracle) as client:
        response = client.responses.create(**body)
    (item,) = response.output
    assert item.type == "function_call"
    assert (item.name, item.arguments) == ("set_timer", ARGUMENTS)
    assert response.usage is not None
    chat = post_chat(oracle, make_body(CALLING)).body["usage"]
    assert (response.usage.input_tokens, response.usage.output_tokens) == (
        chat["prompt_tokens"],
        chat["completion_tokens"],
    )


def test_the_openai_package_gets_the_text_of_the_oracle(oracle: str) -> None:
    messages: Any = make_body(CALLING, Mode.PROMPT)["messages"]
    system, user = (message["content"] for message in messages)
    with open_client(oracle) as client:
        response = client.responses.create(model="x", instructions=system, input=user)
    assert response.output_text == post_chat(oracle, make_body(CALLING, Mode.PROMPT)).message["content"]


def _list_calls(output: Iterable[Any]) -> list[tuple[str, str]]:
    return [(item.name, item.arguments) for item in output if item.type == "function_call"]


@pytest.mark.parametrize("mode", Mode)
def test_the_openai_package_reads_a_stream(oracle: str, mode: Mode) -> None:
    body: Any = _convert_body(make_body(CALLING, mode))
    with open_client(oracle) as client:
        whole = client.responses.create(**body)
        with client.responses.stream(**body) as stream:
            response = stream.get_final_response()
    assert response.output_text == whole.output_text
    calls, expected = (_list_calls(found.output) for found in (response, whole))
    assert calls == expected


def test_a_conversation_can_be_held_by_sending_back_the_items_of_replies(oracle: str) -> None:
    prompting = MANNERS[0]
    entry = next(entry for entry in ENTRIES if entry.category.name == "multi_turn_base")
    bodies: list[Any] = [body for _, body in hold_conversation(OracleModel(prompting), entry, Mode.FC)]
    first = _convert_body(bodies[0])
    items: Any = first["input"]
    with open_client(oracle) as client:
        for after, body in zip(bodies[1:], bodies, strict=False):
            sent: Any = {**first, "tools": _convert_body(body)["tools"], "input": items}
            response = client.responses.create(**sent, extra_headers={"X-Fcbench-Entry": entry.key})
            made = [item.model_dump() for item in response.output]
            calls = [item["call_id"] for item in made if item["type"] == "function_call"]
            # What the environment and the user say is known from the conversation.
            said = after["messages"][len(body["messages"]) + 1 :]
            new: Any = _convert_body({"messages": said})["input"]
            for call, result in zip(calls, new, strict=False):
                result["call_id"] = call
            items = [*items, *made, *new]
    assert len(bodies) > 3


def test_a_request_of_no_entry_is_refused(oracle: str) -> None:
    with open_client(oracle) as client, pytest.raises(openai.NotFoundError, match="no entry of these suites"):
        client.responses.create(model="x", input="Tell me a joke.")


@pytest.mark.parametrize("stream", [False, True])
def test_faults_come_to_responses_too(stream: bool) -> None:
    body = {**_convert_body(make_body(CALLING)), "stream": stream}
    with served("--model", "oracle", "--fault", "json:1") as api_base:
        answer = post_json(api_base, RESPONSES, body)
        assert stats(api_base)["faults"] == {"json": 1}
    response = answer.events[-1]["response"] if stream else answer.body
    assert response["output"][0]["arguments"] == ARGUMENTS[: len(ARGUMENTS) // 2]


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_can_be_cut(stream: bool) -> None:
    body = {**_convert_body(make_body(CALLING)), "stream": stream}
    with (
        served("--model", "oracle", "--fault", "cut:1") as api_base,
        open_connection(api_base) as connection,
    ):
        connection.request("POST", RESPONSES, json.dumps(body))
        with pytest.raises(http.client.IncompleteRead, match=r"IncompleteRead\([1-9]\d* bytes read"):
            connection.getresponse().read()
