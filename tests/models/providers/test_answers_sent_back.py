"""An answer reaches the decoder as the server sent it, and the server gets it back as it came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting, Reasoning
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Ending,
    Transcript,
    drive_conversation_async,
)
from pytest_fcbench.kinds.kind import carry_out_calls, put_turns
from pytest_fcbench.models.providers.endpoint_model import EndpointModel
from pytest_fcbench.models.providers.litellm import LitellmModel
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from pytest_fcbench.suites import core
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_multi_turn
from tests.loopback import Body, Endpoint, Reply, make_error_reply, serve_answers

WORDING = core.open_suite(Path()).wording
TALK = make_multi_turn(("Go.", []), ("On.", []), functions=[make_doc("f", {})])
Message: TypeAlias = Mapping[str, Any]
Maker: TypeAlias = Callable[[Endpoint], EndpointModel]

DONE: Message = {"role": "assistant", "content": "Done."}
CALL = {"id": "their id", "type": "function", "function": {"name": "f", "arguments": "{}"}}
BROKEN = {"id": "broken", "type": "function", "function": {"name": "f", "arguments": "{"}}
SIGNED = {**CALL, "extra_content": {"google": {"thought_signature": "s"}}, "index": 0}


def ask_directly(endpoint: Endpoint) -> EndpointModel:
    return OpenAICompatibleModel("openai/m", {}, endpoint.api_base, timeout_s=60, name="m")


def ask_through_litellm(endpoint: Endpoint) -> EndpointModel:
    return LitellmModel("openai/m", {}, endpoint.api_base, "sk-for-tests-only", timeout_s=60)


BOTH_WAYS = pytest.mark.parametrize("make", [ask_directly, ask_through_litellm], ids=["directly", "litellm"])


def answer_in_turn(messages: Sequence[Message], reason: str = "stop") -> Callable[[Body], Reply]:
    """Answer the first request by the first message, each later one by the next, then by ``DONE``."""
    waiting = iter(messages)

    def answer(asked: Body) -> Reply:
        choice = {"index": 0, "finish_reason": reason, "message": dict(next(waiting, DONE))}
        whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        return Reply({**whole, "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})

    return answer


def hold_conversation(
    make: Maker, answer: Callable[[Body], Reply], mode: Mode, reasoning: Reasoning = Reasoning.KEEP
) -> tuple[list[list[Message]], Transcript, EndpointModel]:
    """Return the messages of each request that the endpoint got, the transcript, and the model."""
    manner = ModelPresentation("m", Prompting.make_default(mode), reasoning)
    talk = carry_out_calls(put_turns(TALK, manner, WORDING), lambda calls: tuple(f"did {c}" for c in calls))
    with serve_answers(answer) as endpoint:
        model = make(endpoint)

        async def ask(request: AskModel) -> Completion:
            return await model.complete(make_entry(), request)

        transcript = asyncio.run(drive_conversation_async(talk, ask))
    sent: Any = [request["messages"] for request in endpoint.requests]
    return sent, transcript, model


AS_THEY_CAME: Mapping[str, Message] = {
    "signed call": {"role": "assistant", "content": "", "tool_calls": [SIGNED], "annotations": []},
    "reasoning": {
        "role": "assistant",
        "content": "4",
        "reasoning_content": "2 and 2",
        "thinking_blocks": [{"type": "thinking", "thinking": "2 and 2", "signature": "s"}],
        "provider_specific_fields": {"a": 1},
    },
    "thoughts in the text": {"role": "assistant", "content": "<think>2 and 2</think>\n\n4 "},
    "no calls": {"role": "assistant", "content": "", "tool_calls": []},
    "parts": {"role": "assistant", "content": [{"type": "text", "text": "a"}], "reasoning": "r"},
    "calls under one id": {"role": "assistant", "content": "", "tool_calls": [{**CALL, "id": ""}] * 2},
}


# The client that litellm uses warns of content in parts, which it does not expect in an answer.
@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
@BOTH_WAYS
@each_case("mode", [Mode.FC, Mode.PROMPT])
@each_case("name", AS_THEY_CAME)
def test_an_answer_is_sent_back_as_it_came(make: Maker, mode: Mode, name: str) -> None:
    message = AS_THEY_CAME[name]
    sent, transcript, _ = hold_conversation(make, answer_in_turn([message]), mode)
    assert message in sent[1]
    assert transcript.turns[0][0].completion.message == message


ONLY_DIRECTLY: Mapping[str, Message] = {
    "null": {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "audio": None,
        "function_call": None,
        "tool_calls": [{**SIGNED, "custom": None}],
    },
    "refusal": {"role": "assistant", "content": None, "refusal": "I cannot"},
    "legacy call": {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
}


@each_case("mode", [Mode.FC, Mode.PROMPT])
@each_case("name", ONLY_DIRECTLY)
def test_null_is_sent_back_where_the_server_is_asked_directly(mode: Mode, name: str) -> None:
    message = ONLY_DIRECTLY[name]
    sent, _, _ = hold_conversation(ask_directly, answer_in_turn([message]), mode)
    assert message in sent[1]


def test_litellm_leaves_null_out() -> None:
    """The exception of docs/project/decisions-models.md."""
    sent, _, _ = hold_conversation(ask_through_litellm, answer_in_turn([ONLY_DIRECTLY["null"]]), Mode.FC)
    (back,) = (message for message in sent[1] if message["role"] == "assistant")
    assert back == {"role": "assistant", "tool_calls": [SIGNED]}


@BOTH_WAYS
def test_results_have_the_ids_of_their_calls(make: Maker) -> None:
    calls = [CALL, {**CALL, "id": "second"}, CALL]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    sent, _, _ = hold_conversation(make, answer_in_turn([message]), Mode.FC)
    told = [each["tool_call_id"] for each in sent[1] if each["role"] == "tool"]
    assert told == ["their id", "second", "their id"]


@BOTH_WAYS
def test_thoughts_reach_the_decoder(make: Maker) -> None:
    """litellm cuts them off, so that a text is read that the official harness cannot read."""
    text = "<think>so</think>[f()]"
    message = {"role": "assistant", "content": text}
    _, transcript, _ = hold_conversation(make, answer_in_turn([message]), Mode.PROMPT)
    step = transcript.turns[0][0]
    assert step.completion.text == text
    assert step.calls == ()


@BOTH_WAYS
@each_case("mode", [Mode.FC, Mode.PROMPT])
def test_reasoning_is_left_out_on_request(make: Maker, mode: Mode) -> None:
    told = {"reasoning_content": "r", "reasoning": "r", "thinking_blocks": [], "reasoning_details": []}
    message = {"role": "assistant", "content": " <think>a</think>\n<think>b</think> c", **told, "kept": 1}
    sent, transcript, _ = hold_conversation(make, answer_in_turn([message]), mode, Reasoning.STRIP)
    assert {"role": "assistant", "content": "<think>b</think> c", "kept": 1} in sent[1]
    # What is judged is the whole answer.
    assert transcript.turns[0][0].completion.text == message["content"]


@BOTH_WAYS
def test_the_end_of_an_answer_is_read(make: Maker) -> None:
    _, transcript, _ = hold_conversation(make, answer_in_turn([DONE], "length"), Mode.FC)
    completion = transcript.turns[0][0].completion
    assert (completion.finish_reason, completion.ending) == ("length", Ending.CUT)


UNREADABLE: Message = {"role": "assistant", "content": "", "tool_calls": [CALL, BROKEN]}


@BOTH_WAYS
def test_calls_that_cannot_be_read_are_not_answered(make: Maker) -> None:
    """Officially nothing is, and the next turn follows at once."""
    sent, transcript, model = hold_conversation(make, answer_in_turn([UNREADABLE]), Mode.FC)
    assert sent[1] == [{"role": "user", "content": "Go."}, UNREADABLE, {"role": "user", "content": "On."}]
    assert [len(turn) for turn in transcript.turns] == [1, 1]
    assert model.notes == ()


@BOTH_WAYS
def test_a_strict_server_gets_an_answer_to_each_call(make: Maker) -> None:
    answer = answer_in_turn([UNREADABLE, UNREADABLE])

    def answer_strictly(asked: Body) -> Reply:
        messages: Any = asked["messages"]
        made = [call["id"] for each in messages for call in each.get("tool_calls") or ()]
        told = [each["tool_call_id"] for each in messages if each["role"] == "tool"]
        if made != told:
            return make_error_reply(
                400, "An assistant message with 'tool_calls' must be followed by tool messages"
            )
        return answer(asked)

    sent, transcript, model = hold_conversation(make, answer_strictly, Mode.FC)
    assert [len(turn) for turn in transcript.turns] == [1, 1]
    # The official request first, then the one that the server wants.
    assert [[each["role"] for each in messages] for messages in sent] == [
        ["user"],
        ["user", "assistant", "user"],
        ["user", "assistant", "tool", "tool", "user"],
    ]
    assert [each["tool_call_id"] for each in sent[2] if each["role"] == "tool"] == ["their id", "broken"]
    (note,) = model.notes
    assert note.startswith("tool calls that could not be read were answered with an error")
    assert model.answers_every_call


@BOTH_WAYS
def test_another_refusal_is_not_answered_by_another_request(make: Maker) -> None:
    refusal = make_error_reply(400, "the temperature of the room is too high")
    replies = answer_in_turn([UNREADABLE])

    def answer(asked: Body) -> Reply:
        messages: Any = asked["messages"]
        return replies(asked) if len(messages) == 1 else refusal

    with pytest.raises(Exception, match="temperature of the room"):
        hold_conversation(make, answer, Mode.FC)
