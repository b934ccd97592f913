"""Each property is kept, broken and left undecided by replies made for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_fcbench.kinds.server_check.exchange import (
    CHAT,
    CUT,
    MESSAGES,
    RESPONSES,
    RawRequest,
    ServerExchange,
    ServerReply,
)
from pytest_fcbench.kinds.server_check.properties import PROPERTIES, BrokenProperty, UndecidedProperty
from tests.cases import each_case

UNIT = {"type": "object", "properties": {"unit": {"enum": ["kelvin"]}}, "required": ["unit"]}
TOOL = {"type": "function", "function": {"name": "set_unit", "parameters": UNIT}}


def call(
    arguments: object = '{"unit": "kelvin"}',
    name: object = "set_unit",
    call_id: object = "c1",
    **members: object,
) -> Any:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **members}


def chat(
    *calls: Any, text: str | None = None, ending: object = "tool_calls", usage: object = None, **options: Any
) -> ServerReply:
    """A reply of OpenAI's chat interface."""
    message = {
        "content": text,
        **({"tool_calls": list(calls)} if calls else {}),
        **options.pop("message", {}),
    }
    body = {"choices": [{"message": message, "finish_reason": ending}] * options.pop("n", 1), "usage": usage}
    request = RawRequest(CHAT, {"tools": [TOOL], "max_tokens": 10})
    status, latency_s = options.pop("status", 200), options.pop("latency_s", 0.0)
    return ServerReply(
        request, ServerExchange(status, options.pop("kind", "application/json"), body, **options), latency_s
    )


def usage(prompt: object, answer: object = 2, total: object = None) -> dict[str, object]:
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": total}


def error(status: int, body: Mapping[str, object] | None, beginning: str = "") -> ServerReply:
    return ServerReply(RawRequest(CHAT, {}), ServerExchange(status, "application/json", body, beginning))


def find_breach(name: str, wanted: object, **replies: ServerReply) -> str:
    """What a property says of replies: kept, broken or undecided."""
    own = PROPERTIES[name]
    try:
        own.find_breach(replies, own.read_argument(wanted))
    except BrokenProperty:
        return "broken"
    except UndecidedProperty:
        return "undecided"
    return "kept"


TEXT = chat(text="Fine.", ending="stop")
SAME = {"one": "one", "other": "other", "again": "again", "other_again": "other"}
GROWS = {"less": "one", "more": "other", "by": 5}

CASES: list[tuple[str, object, str, dict[str, ServerReply]]] = [
    ("calls", 0, "kept", {"reply": TEXT}),
    ("calls", 0, "broken", {"reply": chat(call())}),
    ("calls", {"least": 1}, "broken", {"reply": TEXT}),
    # What is no object among the calls is no call.
    ("calls", 0, "kept", {"reply": chat(None, text="Fine.", ending="stop")}),
    ("names", ["set_unit"], "kept", {"reply": chat(call(), None)}),
    ("calls", {"least": 1, "most": 1}, "broken", {"reply": chat(call(), call(call_id="c2"))}),
    ("names", ["set_unit"], "kept", {"reply": chat(call())}),
    ("names", ["set_unit"], "broken", {"reply": chat(call(name="set_units"))}),
    ("names", ["set_unit"], "undecided", {"reply": TEXT}),
    # A breach decides, whatever another reply leaves open.
    ("names", ["set_unit"], "broken", {"one": TEXT, "other": chat(call(name="set_units"))}),
    ("arguments", "object", "kept", {"reply": chat(call("{}"))}),
    ("arguments", "object", "broken", {"reply": chat(call("[1]"))}),
    ("arguments", "object", "broken", {"reply": chat(call('{"unit": '))}),
    ("arguments", "object", "broken", {"reply": chat(call('{"unit": NaN}'))}),
    ("arguments", "valid", "kept", {"reply": chat(call())}),
    ("arguments", "valid", "broken", {"reply": chat(call('{"unit": "celsius"}'))}),
    ("arguments", "valid", "undecided", {"reply": TEXT}),
    # No quotient of these floats is whole.
    ("json_text", {"multipleOf": 0.1}, "kept", {"reply": chat(text="0.3")}),
    ("arguments", {"unit": "kelvin"}, "kept", {"reply": chat(call())}),
    ("arguments", {"unit": "celsius"}, "broken", {"reply": chat(call())}),
    ("argument_type", "text", "kept", {"reply": chat(call())}),
    ("argument_type", "text", "broken", {"reply": chat(call({"unit": "kelvin"}))}),
    ("ids", "unique", "kept", {"reply": chat(call(), call(call_id="c2"))}),
    ("ids", "unique", "broken", {"reply": chat(call(), call())}),
    ("ids", "unique", "broken", {"reply": chat(call(call_id=None))}),
    ("other_ids", ["one", "other"], "kept", {"one": chat(call()), "other": chat(call(call_id="c2"))}),
    ("other_ids", ["one", "other"], "broken", {"one": chat(call()), "other": chat(call())}),
    ("other_ids", ["one", "other"], "undecided", {"one": chat(call()), "other": TEXT}),
    ("call_type", "function", "kept", {"reply": chat(call())}),
    ("call_type", "function", "broken", {"reply": chat(call(type=None))}),
    ("text", "none", "kept", {"reply": chat(call())}),
    ("text", "none", "broken", {"reply": TEXT}),
    ("text", "some", "undecided", {"reply": chat(call())}),
    ("markup", "none", "kept", {"reply": chat(call(), text="I look it up.")}),
    ("markup", "none", "broken", {"reply": chat(call(), text="<tool_call>")}),
    ("markup", "none", "broken", {"reply": chat(call(), message={"reasoning_content": "so </think>"})}),
    ("markup", "none", "kept", {"reply": chat(call(), message={"reasoning": "I write <tool_call> then"})}),
    ("markup", "none", "undecided", {"reply": TEXT}),
    ("json_text", UNIT, "kept", {"reply": chat(text='{"unit": "kelvin"}')}),
    ("json_text", UNIT, "broken", {"reply": chat(text='{"unit": 1}')}),
    ("json_text", UNIT, "broken", {"reply": TEXT}),
    ("json_text", {}, "broken", {"reply": chat(text='{"unit": Infinity}')}),
    ("ending", "tool_calls", "kept", {"reply": chat(call())}),
    ("ending", "tool_calls", "broken", {"reply": chat(call(), ending="stop")}),
    ("ending", "tool_calls", "undecided", {"reply": TEXT}),
    ("ending", ["stop"], "undecided", {"reply": chat(text="Fi", ending="length")}),
    ("ending", ["stop", "length"], "kept", {"reply": chat(text="Fi", ending="length")}),
    ("ending", ["stop"], "broken", {"reply": chat(text="Fine.", ending="eos")}),
    ("ending", "length", "kept", {"reply": chat(text="Fi", ending="length")}),
    ("ending", "length", "broken", {"reply": chat(text="Fi", ending="stop", usage=usage(1, 10))}),
    ("ending", "length", "undecided", {"reply": chat(text="Fi", ending="stop", usage=usage(1, 3))}),
    ("cut_calls", "marked", "kept", {"reply": chat(call('{"un'), ending="length")}),
    ("cut_calls", "marked", "broken", {"reply": chat(call('{"un'))}),
    ("cut_calls", "marked", "kept", {"reply": chat(call('{"unit": NaN}'))}),
    ("usage", "adds_up", "kept", {"reply": chat(usage=usage(3, 2, 5))}),
    ("usage", "adds_up", "broken", {"reply": chat(usage=usage(3, 2, 6))}),
    ("usage", "adds_up", "broken", {"reply": chat()}),
    (
        "usage",
        "adds_up",
        "kept",
        {"reply": chat(usage=usage(3, 2, 9) | {"completion_tokens_details": {"reasoning_tokens": 4}})},
    ),
    ("usage", "adds_up", "undecided", {"reply": replace(chat(), request=RawRequest(CHAT, {"stream": True}))}),
    ("prompt_grows", GROWS, "kept", {"one": chat(usage=usage(10)), "other": chat(usage=usage(15))}),
    ("prompt_grows", GROWS, "broken", {"one": chat(usage=usage(10)), "other": chat(usage=usage(14))}),
    ("prompt_grows", GROWS, "undecided", {"one": chat(), "other": chat(usage=usage(15))}),
    ("prompt_grows", GROWS, "undecided", {"one": chat(usage=usage(9)), "other": chat(usage=usage(0))}),
    ("choices", 2, "kept", {"reply": chat(n=2)}),
    ("choices", 2, "broken", {"reply": chat()}),
    ("notes", ["no_done"], "kept", {"reply": chat(notes=("stream_index",))}),
    ("notes", ["no_done"], "broken", {"reply": chat(notes=("no_done",))}),
    ("content_type", "text/event-stream", "kept", {"reply": chat(kind="text/event-stream; charset=utf-8")}),
    ("content_type", "text/event-stream", "broken", {"reply": chat()}),
    (
        "same",
        SAME,
        "kept",
        {"one": chat(call()), "again": chat(call(call_id="c2")), "other": chat(call('{"unit":"kelvin"}'))},
    ),
    ("same", SAME, "broken", {"one": chat(call()), "again": chat(call()), "other": chat(call("{}"))}),
    ("same", SAME, "broken", {"one": TEXT, "again": TEXT, "other": chat(text="Fine", ending="stop")}),
    ("same", SAME, "undecided", {"one": TEXT, "again": chat(call()), "other": TEXT}),
    (
        "same",
        {**SAME, "other_again": "one"},
        "undecided",
        {"one": TEXT, "again": TEXT, "other": chat(call())},
    ),
    ("same", SAME, "kept", {"one": TEXT, "again": TEXT, "other": chat(text="Fine.\n", ending="stop")}),
    ("error", "object", "kept", {"reply": error(400, {"error": {"message": "no"}})}),
    ("error", "object", "kept", {"reply": error(422, {"detail": "no"})}),
    ("error", "object", "broken", {"reply": error(400, None, "Bad Request")}),
    (
        "soon",
        {"before": "one", "after": "other", "times": 5},
        "kept",
        {"one": chat(latency_s=2), "other": chat(latency_s=9)},
    ),
    (
        "soon",
        {"before": "one", "after": "other", "times": 5},
        "broken",
        {"one": chat(latency_s=2), "other": chat(latency_s=11)},
    ),
]


@each_case("name, wanted, found, replies", CASES)
def test_a_property_is_kept_broken_or_undecided(
    name: str, wanted: object, found: str, replies: dict[str, ServerReply]
) -> None:
    assert find_breach(name, wanted, **replies) == found


def test_every_property_has_a_case_that_breaks_it() -> None:
    assert {name for name, _, found, _ in CASES if found == "broken"} == set(PROPERTIES)


def test_a_property_names_the_reply_that_breaks_it() -> None:
    calls = PROPERTIES["calls"]
    with pytest.raises(BrokenProperty, match=r"^second: 1 calls: set_unit"):
        calls.find_breach({"first": TEXT, "second": chat(call())}, 0)


def test_replies_of_other_interfaces_are_read_alike() -> None:
    item = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
    response = {"status": "completed", "output": [item], "usage": {"input_tokens": 3, "output_tokens": 2}}
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
    message = {"content": [{"type": "text", "text": "So."}, block], "stop_reason": "tool_use"}
    replies = [
        ServerReply(RawRequest(path, {}), ServerExchange(200, "application/json", body))
        for path, body in ((RESPONSES, response), (MESSAGES, message))
    ]
    assert [[(each.id, each.name, each.read_arguments()) for each in reply.calls] for reply in replies] == [
        [("c1", "f", {"a": 1})]
    ] * 2
    assert [(reply.ending, reply.text) for reply in replies] == [("tool_calls", ""), ("tool_calls", "So.")]
    assert replies[0].tokens == (3, 2, None)


@each_case("reason, ending", [("content_filter", "content_filter"), ("max_output_tokens", CUT), (None, CUT)])
def test_a_response_that_was_withheld_was_not_cut(reason: object, ending: str) -> None:
    body = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []}
    reply = ServerReply(RawRequest(RESPONSES, {}), ServerExchange(200, "application/json", body))
    assert (reply.ending, reply.is_withheld) == (ending, ending != CUT)


def test_an_exchange_is_kept_as_a_completion() -> None:
    exchange = ServerExchange(400, "text/plain", None, "no", ("no_done",))
    completion = exchange.write_completion(0.5)
    assert ServerExchange.read_completion(completion) == exchange
    assert json.loads(completion.text or "")["status"] == 400
