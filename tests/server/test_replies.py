"""A completion in OpenAI's form: whole, and as a stream of events."""

from __future__ import annotations

import json

import pytest

from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import Completion, PathSettings
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.server.lookup import FoundRequest
from pytest_fcbench.server.replies import (
    ServedReply,
    build_reply,
    list_choices,
    serialize_reply,
    write_stream,
)
from tests.factories import make_entry, tool_calls

ASKED = FoundRequest(
    make_entry(), Prompting.make_default(Mode.FC), PathSettings(Profile.OFFICIAL), prompt_tokens=90
)


def _build_reply(completion: Completion, *, broken: bool = False) -> ServedReply:
    return build_reply("oracle", ASKED, completion, broken=broken)


def _read_reply(completion: Completion, *, broken: bool = False) -> object:
    return json.loads(b"{" + serialize_reply(_build_reply(completion, broken=broken)))


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
    assert _read_reply(tool_calls(*calls)) == _make_whole_reply(_make_call_message(*calls), "tool_calls", 4)


def test_arguments_that_are_not_json_go_out_as_they_are() -> None:
    assert _read_reply(tool_calls(("f", '{"a": '))) == _make_whole_reply(
        _make_call_message(("f", '{"a": ')), "tool_calls", 1
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
        message, "stop", 1
    )


@pytest.mark.parametrize("arguments", ["{}", '{"a": 1}', '{"a": {"b": [1]}}', '{"a": "}"}'])
def test_broken_arguments_are_no_json(arguments: str) -> None:
    half = arguments[: len(arguments) // 2]
    sent = _make_whole_reply(
        _make_call_message(("function", half)), "tool_calls", max(1, (8 + len(half)) // 4)
    )
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
