"""Replies of each API: what the client of that API reads is the completion that was given."""

from __future__ import annotations

import pytest

from pytest_fcbench.codecs.dialogues.replies import read_family_reply
from pytest_fcbench.domain.family import Api
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.models.providers.event_stream import join_events
from pytest_fcbench.server.family_replies import (
    build_family_reply,
    is_streamed,
    make_chunk,
    read_arguments,
)
from pytest_fcbench.server.replies import serialize_event

CALLS = (ToolCall("f", '{"a": 1}'), ToolCall("g", {"b": None}))


@pytest.mark.parametrize("api", [api for api in Api if api is not Api.COMPLETIONS])
def test_calls_arrive_with_an_id_each(api: Api) -> None:
    read = read_family_reply(api, build_family_reply(api, Completion(tool_calls=CALLS), "e_0_1"))
    calls = [call for call in read.tool_calls or () if isinstance(call, ToolCall)]
    assert [(call.name, read_arguments(call)) for call in calls] == [("f", {"a": 1}), ("g", {"b": None})]
    # Google's calls have no id.
    if api is not Api.GENERATE_CONTENT:
        assert [call.id for call in calls] == ["call_e_0_1_0", "call_e_0_1_1"]
    assert (read.input_tokens, read.output_tokens) == (1, 1)


@pytest.mark.parametrize("api", list(Api))
def test_a_text_arrives_without_calls(api: Api) -> None:
    read = read_family_reply(api, build_family_reply(api, Completion(text="Done."), "e"))
    assert (read.text, read.tool_calls) == ("Done.", None)


@pytest.mark.parametrize("api", list(Api))
def test_replies_of_different_completions_differ(api: Api) -> None:
    one, other = (build_family_reply(api, Completion(text=text), "e") for text in ("Done.", "Done!"))
    assert one != other


def test_a_chat_reply_arrives_in_one_chunk_too() -> None:
    reply = build_family_reply(Api.CHAT, Completion(tool_calls=CALLS), "e")
    joined = join_events(serialize_event(make_chunk(reply))).reply
    assert read_family_reply(Api.CHAT, joined) == read_family_reply(Api.CHAT, reply)
    assert is_streamed(b'{"stream": true}')
    assert not is_streamed(b'{"stream": false}')
