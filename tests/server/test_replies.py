"""A completion in OpenAI's form: whole, and as a stream of events."""

from __future__ import annotations

import base64
import http.client
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.responses import Response

from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.domain.prompting import Api, Mode
from pytest_fcbench.domain.transcript import Call, Completion, RecordedCall, ToolCall
from pytest_fcbench.environments.world import embed_by_hash
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit, ask_relevance, put_question
from pytest_fcbench.kinds.calls.truth import ExpectedCall
from pytest_fcbench.kinds.calls.verdict import ask_same_text
from pytest_fcbench.kinds.golden_path.questions import (
    ask_completeness,
    ask_correctness,
    ask_equivalence,
    compare_calls,
    rate_response,
)
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.server.body import RefusedRequestError, read_embedding_request, read_response_request
from pytest_fcbench.server.lookup import MANNERS
from pytest_fcbench.server.replies import (
    Judge,
    SentCall,
    ServedReply,
    build_embeddings,
    build_reply,
    build_response,
    list_choices,
    stream_response,
    write_reply,
    write_stream,
)
from tests.cases import each_case
from tests.factories import make_entry, make_golden_path, tool_calls
from tests.kinds.golden_path.test_questions import WORDING
from tests.served import served, stats
from tests.server.asking import CORE, Sent, hold_conversation, list_entries, make_body, read_sent
from tests.server.clients import open_client, open_connection, post_chat, post_json


def _build_reply(completion: Completion) -> ServedReply:
    return build_reply("oracle", completion, "core:simple_python_0", 90)


def _read_reply(completion: Completion, *, broken: bool = False) -> object:
    reply = _build_reply(completion)
    return json.loads(json.dumps(write_reply(Api.CHAT, reply.cut_in_half() if broken else reply)))


def _make_whole_reply(message: object, finish: str, answer: int) -> object:
    return {
        "object": "chat.completion",
        "model": "oracle",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": 90,
            "completion_tokens": answer,
            "total_tokens": 90 + answer,
        },
    }


def _make_call_message(*calls: tuple[str, str]) -> object:
    listed = [
        {
            "id": f"call_core:simple_python_0_{index}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def test_a_text_is_the_content() -> None:
    message = {"role": "assistant", "content": "åååå"}
    assert _read_reply(Completion(text="åååå")) == _make_whole_reply(message, "stop", 2)


def test_tool_calls_have_ids_and_no_content() -> None:
    calls = (("f", '{"a": "1234"}'), ("g", "{}"))
    assert _read_reply(tool_calls(*calls)) == _make_whole_reply(_make_call_message(*calls), "tool_calls", 30)


def test_arguments_that_are_not_json_go_out_as_they_are() -> None:
    assert _read_reply(tool_calls(("f", '{"a": '))) == _make_whole_reply(
        _make_call_message(("f", '{"a": ')), "tool_calls", 15
    )


@pytest.mark.parametrize("completion", [Completion(), Completion(text=""), Completion(tool_calls=())])
def test_an_empty_answer_is_one_token(completion: Completion) -> None:
    message: dict[str, object] = {"role": "assistant", "content": completion.text}
    if completion.tool_calls is not None:
        message["tool_calls"] = []
    assert _read_reply(completion) == _make_whole_reply(message, "stop", 1)


def test_half_a_surrogate_pair_can_be_sent() -> None:
    assert _read_reply(Completion(text="\ud800")) == _make_whole_reply(
        {"role": "assistant", "content": "\ud800"}, "stop", 1
    )


def test_broken_text_is_cut() -> None:
    message = {"role": "assistant", "content": "none of"}
    assert _read_reply(Completion(text="none of the two"), broken=True) == _make_whole_reply(
        message, "stop", 3
    )


@each_case("arguments", ["{}", '{"a": 1}', '{"a": {"b": [1]}}', '{"a": "}"}'])
def test_broken_arguments_are_no_json(arguments: str) -> None:
    half = arguments[: len(arguments) // 2]
    # What the model writes around a call has 53 characters.
    tokens = (8 + 53 + len(arguments)) // 4
    sent = _make_whole_reply(_make_call_message(("function", half)), "tool_calls", tokens)
    assert _read_reply(tool_calls(("function", arguments)), broken=True) == sent
    json.loads(arguments)
    with pytest.raises(ValueError, match="line 1"):
        json.loads(half)


# Streams


def _stream_reply(completion: Completion, *, include_usage: bool = False) -> list[object]:
    """Return the chunks before the end mark."""
    reply = _build_reply(completion)
    events = write_stream(list_choices(reply), reply, "chatcmpl-7", 1700, include_usage=include_usage)
    assert events.pop() == b"data: [DONE]\n\n"
    assert all(event.startswith(b"data: {") and event.endswith(b"}\n\n") for event in events)
    return [json.loads(event.removeprefix(b"data: ")) for event in events]


def _make_chunk(delta: object, finish: str | None = None, **more: object) -> object:
    return {
        "id": "chatcmpl-7",
        "object": "chat.completion.chunk",
        "created": 1700,
        "model": "oracle",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def test_a_streamed_text_comes_in_pieces_between_role_and_end() -> None:
    assert _stream_reply(Completion(text="Hei, Bergen!")) == [
        _make_chunk({"role": "assistant", "content": ""}),
        *(_make_chunk({"content": piece}) for piece in ("Hei,", " Ber", "gen!")),
        _make_chunk({}, "stop"),
    ]


def test_a_streamed_call_begins_with_its_name_and_its_arguments_follow_in_pieces() -> None:
    opened, second = (
        {
            "index": index,
            "id": f"call_core:simple_python_0_{index}",
            "type": "function",
            "function": {"name": name, "arguments": ""},
        }
        for index, name in enumerate("fg")
    )
    pieces = [{"index": 0, "function": {"arguments": piece}} for piece in ('{"a"', ": 1}")]
    closing = {"index": 1, "function": {"arguments": "{}"}}
    assert _stream_reply(tool_calls(("f", '{"a": 1}'), ("g", "{}"))) == [
        _make_chunk({"role": "assistant", "content": None}),
        *(_make_chunk({"tool_calls": [part]}) for part in (opened, *pieces, second, closing)),
        _make_chunk({}, "tool_calls"),
    ]


def test_the_usage_is_the_last_chunk_and_null_in_the_others() -> None:
    *others, last = _stream_reply(Completion(text="yes"), include_usage=True)
    assert others == [
        _make_chunk({"role": "assistant", "content": ""}, usage=None),
        _make_chunk({"content": "yes"}, usage=None),
        _make_chunk({}, "stop", usage=None),
    ]
    assert last == {
        "id": "chatcmpl-7",
        "object": "chat.completion.chunk",
        "created": 1700,
        "model": "oracle",
        "choices": [],
        "usage": {"prompt_tokens": 90, "completion_tokens": 1, "total_tokens": 91},
    }


@pytest.mark.parametrize("completion", [Completion(), Completion(tool_calls=())])
def test_an_empty_answer_is_streamed_as_role_and_end(completion: Completion) -> None:
    assert _stream_reply(completion) == [
        _make_chunk({"role": "assistant", "content": None}),
        _make_chunk({}, "stop"),
    ]


# The APIs of families

CALLS = (ToolCall("f", '{"a": 1}'), ToolCall("g", {"b": None}))


def _read_back(api: Api, completion: Completion) -> Completion:
    """Return what the client of an API reads."""
    return read_family_reply(api, write_reply(api, build_reply("m", completion, "e_0_1", 1)))


@each_case("api", [api for api in Api if api is not Api.COMPLETIONS])
def test_calls_arrive_with_an_id_each(api: Api) -> None:
    read = _read_back(api, Completion(tool_calls=CALLS))
    calls = [call for call in read.tool_calls or () if isinstance(call, ToolCall)]
    arguments = [json.loads(x) if isinstance(x := call.arguments, str) else x for call in calls]
    assert [call.name for call in calls] == ["f", "g"]
    assert arguments == [{"a": 1}, {"b": None}]
    # Google's calls have no id.
    if api is not Api.GENERATE_CONTENT:
        assert [call.id for call in calls] == ["call_e_0_1_0", "call_e_0_1_1"]
    assert (read.input_tokens, read.output_tokens) == (1, 31)


@pytest.mark.parametrize("api", list(Api))
@pytest.mark.parametrize("text", ["Done.", "Done!"])
def test_a_text_arrives_without_calls(api: Api, text: str) -> None:
    read = _read_back(api, Completion(text=text))
    assert (read.text, read.tool_calls) == (text, None)


# Judges

ENTRY = make_golden_path([("find", {"query": "Bergen"}, {"id": 7})])
CALL = {"name": "find", "arguments": {"query": "Bergen"}}
RATING = {"score": 2, "reason": "This server agrees with everything."}
SAME = {"same": True, "reason": RATING["reason"]}
TOLD = make_entry()
QUESTIONS: list[tuple[JudgeQuestion[Any], Sent]] = [
    (ask_equivalence(ENTRY, CALL, CALL, []), SAME),
    (ask_same_text(TOLD, ExpectedCall("weather.forecast", {"city": ["Bergen"]}), "city", "There"), SAME),
    (ask_completeness(ENTRY, "Found."), RATING),
    (ask_correctness(ENTRY, [], "Found."), RATING),
    (ask_relevance(ENTRY, "Found."), RATING),
]


def _ask_question(question: JudgeQuestion[Any], *replies: str) -> list[Any]:
    """Return the messages of the request after these replies."""
    conversation = put_question(question, "judge")
    request = next(conversation)
    for reply in replies:
        request = conversation.send(Completion(text=reply))
    return list(request.messages)


@each_case(("question", "opinion"), QUESTIONS)
@each_case("replies", [(), ("Yes.",), ("Yes.", "No.")])
def test_each_question_gets_an_opinion_in_its_form(
    question: JudgeQuestion[Any], opinion: Sent, replies: tuple[str, ...]
) -> None:
    reply = Judge().answer_question(_ask_question(question, *replies))
    assert reply is not None
    assert json.loads(reply) == opinion
    question.answer(Completion(text=reply))


@each_case(
    "messages",
    [
        [],
        ["Hi"],
        [{"role": "user"}],
        [{"role": "user", "content": "Rate this."}],
        make_body(make_entry())["messages"],
    ],
)
def test_other_requests_are_no_questions_to_a_judge(messages: list[object]) -> None:
    assert Judge(WORDING).answer_question(messages) is None
    assert Judge(WORDING, "No idea.").answer_question(messages) is None


def test_a_question_of_another_kind_is_refused_with_the_option_to_use() -> None:
    with pytest.raises(RefusedRequestError) as caught:
        Judge().answer_question(_ask_question(JudgeQuestion(ENTRY, "Name the cause.", {}, dict)))
    assert (caught.value.status, str(caught.value)) == (
        404,
        "this question to a judge is of a kind unknown to this server; give a reply with --judge-reply",
    )


def test_official_questions_get_opinions_in_their_form() -> None:
    judge, call = Judge(WORDING), RecordedCall("find", {"query": "Bergen"}, reply="{}")
    comparison = compare_calls(ENTRY, WORDING, Call("find", {"query": "There"}), call, [])
    reply = judge.answer_question(next(comparison).messages)
    with pytest.raises(StopIteration) as compared:
        comparison.send(Completion(text=reply))
    assert compared.value.value[1:] == (True, RATING["reason"])
    rating = rate_response(ENTRY, WORDING, "Found.", [])
    second = rating.send(Completion(text=judge.answer_question(next(rating).messages)))
    with pytest.raises(StopIteration) as rated:
        rating.send(Completion(text=judge.answer_question(second.messages)))
    assert rated.value.value == (2, 2)


def test_official_questions_are_known_by_the_texts_of_the_code() -> None:
    question = next(rate_response(ENTRY, WORDING, "Found.", [])).messages
    assert Judge().answer_question(question) is None
    assert Judge(WORDING, "No idea.").answer_question(question) == "No idea."


# Over HTTP


def test_an_opinion_is_counted_as_the_judges_and_not_for_an_entry() -> None:
    question, opinion = QUESTIONS[0]
    asked: Sent = {"messages": _ask_question(question)}
    with served("--model", "oracle") as api_base:
        answer = post_chat(api_base, asked, "core:simple_python_0")
        response = post_json(api_base, "/v1/responses", {"input": asked["messages"]})
        assert stats(api_base)["answered"] == {"judge": 2}
    assert json.loads(answer.message["content"]) == opinion
    assert json.loads(response.body["output"][0]["content"][0]["text"]) == opinion
    assert answer.body["usage"]["prompt_tokens"] > 100


@pytest.mark.parametrize("from_file", [False, True])
def test_another_reply_can_be_given(tmp_path: Path, *, from_file: bool) -> None:
    path = tmp_path / "reply.txt"
    path.write_text("No idea.", encoding="utf-8")
    given = f"@{path}" if from_file else "No idea."
    with served("--model", "oracle", "--judge-reply", given) as api_base:
        answers = [post_chat(api_base, {"messages": _ask_question(question)}) for question, _ in QUESTIONS]
    assert [answer.message["content"] for answer in answers] == ["No idea."] * len(QUESTIONS)


def test_faults_come_to_questions_too() -> None:
    question = QUESTIONS[0][0]
    with served("--model", "oracle", "--fault", "json:1") as api_base:
        answer = post_chat(api_base, {"messages": _ask_question(question)})
        assert stats(api_base)["faults"] == {"json": 1}
    with pytest.raises(Unfit, match="is not one JSON object"):
        question.answer(Completion(text=answer.message["content"]))


TEXTS = ["The weather in Bergen", "Das Wetter in Bergen", ""]
EMBEDDINGS = "/v1/embeddings"


def _build_embeddings(members: Mapping[str, object], *, broken: bool = False) -> Any:
    return build_embeddings("oracle", read_embedding_request(json.dumps(members)), broken=broken)


def test_each_text_has_its_vector_in_order() -> None:
    assert _build_embeddings({"input": TEXTS}) == {
        "object": "list",
        "model": "oracle",
        "data": [
            {"object": "embedding", "index": index, "embedding": list(vector)}
            for index, vector in enumerate(embed_by_hash(TEXTS))
        ],
        "usage": {"prompt_tokens": 5 + 5 + 1, "total_tokens": 11},
    }


@each_case("members", [{}, {"encoding_format": None}, {"dimensions": 1024}, {"user": "me"}])
def test_a_single_text_needs_no_list(members: Sent) -> None:
    listed = {"input": TEXTS[:1], "encoding_format": "float"}
    assert _build_embeddings({"input": TEXTS[0], **members}) == _build_embeddings(listed)


def test_base64_holds_32_bit_floats() -> None:
    (row,) = _build_embeddings({"input": TEXTS[0], "encoding_format": "base64"})["data"]
    found = struct.unpack("<1024f", base64.b64decode(row["embedding"]))
    assert found == pytest.approx(embed_by_hash(TEXTS)[0], abs=1e-7)


@pytest.mark.parametrize(("texts", "left"), [(TEXTS, 1), (TEXTS[:2], 1), (TEXTS[:1], 0)])
def test_in_a_broken_list_vectors_are_missing(texts: list[str], left: int) -> None:
    whole = _build_embeddings({"input": texts})
    assert _build_embeddings({"input": texts}, broken=True)["data"] == whole["data"][:left]


@each_case(
    ("members", "says"),
    [
        ({}, "the body must be an object with 'input', a text or a list of texts"),
        ({"input": []}, "the body must be an object with 'input', a text or a list of texts"),
        (
            {"input": [[15, 7]]},
            "'input' must be a text or a list of texts; this server takes no token ids",
        ),
        (
            {"input": "a", "dimensions": 256},
            "the vectors of this server have 1024 dimensions; leave 'dimensions' out",
        ),
        (
            {"input": "a", "encoding_format": "int8"},
            "'encoding_format' must be float or base64, not 'int8'",
        ),
    ],
)
def test_other_vectors_are_refused(members: Sent, says: str) -> None:
    with pytest.raises(RefusedRequestError) as caught:
        _build_embeddings(members)
    assert (caught.value.status, caught.value.code, str(caught.value)) == (400, "invalid_request", says)


# Over HTTP


@pytest.fixture(scope="module")
def oracle() -> Iterator[str]:
    with served("--model", "oracle") as api_base:
        yield api_base


@pytest.mark.parametrize("encoding", ["float", "base64", None])
def test_the_openai_package_gets_the_vectors(oracle: str, encoding: str | None) -> None:
    asked: Any = {"model": "x", "input": TEXTS} | ({"encoding_format": encoding} if encoding else {})
    with open_client(oracle) as client:
        reply = client.embeddings.create(**asked)
    rows: list[Any] = [row.embedding for row in reply.data]
    if encoding == "base64":
        rows = [struct.unpack("<1024f", base64.b64decode(row)) for row in rows]
    for row, vector in zip(rows, embed_by_hash(TEXTS), strict=True):
        assert row == pytest.approx(vector, abs=1e-7)
    assert reply.usage.prompt_tokens == 11


def test_vectors_are_counted_as_answers_and_get_faults() -> None:
    with served("--model", "oracle", "--fault", "429:0.5", "--seed", "7") as api_base:
        statuses = [post_json(api_base, EMBEDDINGS, {"input": "a"}).status for _ in range(12)]
        found = stats(api_base)
    assert set(statuses) == {200, 429}
    assert found["answered"] == {"embeddings": statuses.count(200)}
    assert found["faults"] == {"429": statuses.count(429)}


ENTRIES = list_entries(CORE)
CALLING = ENTRIES[0]
RESPONSES = "/v1/responses"
ARGUMENTS = '{"minutes": 25, "label": "sourdough"}'


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
    body = read_response_request(json.dumps(members))
    return {"messages": body.messages, "tools": body.tools}


def test_a_text_is_a_message_of_the_user() -> None:
    assert _read_request(input="Hi") == {"messages": [{"role": "user", "content": "Hi"}], "tools": []}


def test_instructions_are_the_first_system_message() -> None:
    sent = _read_request(instructions="Be kind.", input=[{"role": "user", "content": "Hi"}])
    assert sent["messages"] == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]


@each_case(
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


@each_case("mode", [Mode.FC, Mode.PROMPT])
@each_case("category", ["parallel", "irrelevance", "multi_turn_base", "hotels", "memory_kv"])
def test_the_same_question_is_the_same_request_in_both_interfaces(category: str, mode: Mode) -> None:
    prompting = MANNERS[0] if mode is Mode.FC else MANNERS[1]
    entry = next(entry for entry in ENTRIES if entry.category.name == category)
    bodies = [body for _, body in hold_conversation(OracleModel(prompting), entry, mode, prompting.names)]
    assert bodies
    for body in bodies:
        sent = json.dumps(_convert_body(body))
        assert read_response_request(sent).digest == read_sent(body).digest


@each_case(
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

CALLED = ServedReply("oracle", None, (SentCall("call_0", "f", '{"a": 1}'), SentCall("call_1", "g", "")), 9, 3)


def _build_response(reply: ServedReply) -> dict[str, object]:
    response = build_response(reply, 7, 1700)
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
    assert response["status"] == "completed"
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


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
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
