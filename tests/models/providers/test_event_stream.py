"""Events of a stream become the reply that would have come without one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.models.providers.event_stream import join_events
from pytest_fcbench.models.providers.reply_bodies import is_event_stream


def write_events(*chunks: object, end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


def make_delta(reason: str | None = None, **said: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": reason}]}


def join_message(*chunks: object) -> object:
    choices = join_events(write_events(*chunks))["choices"]
    assert isinstance(choices, list)
    return choices[0]["message"]


@pytest.mark.parametrize(
    ("kind", "streams"),
    [("text/event-stream; charset=utf-8", True), ("Text/Event-Stream", True), ("application/json", False)],
)
def test_the_content_type_says_whether_it_is_one(kind: str, streams: bool) -> None:
    assert is_event_stream(kind) is streams


def test_texts_go_on_from_chunk_to_chunk() -> None:
    role, one, two = (
        make_delta(role="assistant", content=""),
        make_delta(content="a"),
        make_delta(content="b"),
    )
    last = make_delta("stop")
    reply = join_events(write_events(role, one, two, last, {"choices": [], "usage": {"prompt_tokens": 3}}))
    assert reply == {
        "choices": [{"message": {"role": "assistant", "content": "ab"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3},
    }


def test_pieces_of_tool_calls_are_joined_by_their_index() -> None:
    def piece(index: int, call_id: str | None, name: str | None, arguments: str) -> dict[str, object]:
        function = {"name": name, "arguments": arguments}
        return make_delta(tool_calls=[{"index": index, "id": call_id, "function": function}])

    message = join_message(
        *(piece(0, "c0", "f", ""), piece(0, None, None, '{"a"'), piece(1, "c1", "g", "{}")),
        piece(0, "", None, ": 1}"),
    )
    assert message == {
        "tool_calls": [
            {"id": "c0", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "c1", "function": {"name": "g", "arguments": "{}"}},
        ]
    }


def test_a_null_takes_nothing_back() -> None:
    message = join_message(make_delta(content=None), make_delta(content="a"), make_delta(content=None))
    assert message == {"content": "a"}


def test_reasoning_and_further_members_are_kept() -> None:
    message = join_message(
        make_delta(reasoning_content="x"), make_delta(reasoning_content="y"), make_delta(signature="S")
    )
    assert message == {"reasoning_content": "xy", "signature": "S"}


def test_comments_and_names_of_events_are_passed_over() -> None:
    body = b": keep alive\n\nevent: chunk\n" + write_events(make_delta(content="a"), end="")
    assert join_events(body) == {"choices": [{"message": {"content": "a"}, "finish_reason": None}]}


def test_an_error_in_the_stream_is_part_of_the_reply() -> None:
    assert join_events(write_events({"error": {"message": "gone"}})) == {"error": {"message": "gone"}}


def test_an_event_that_is_not_json_may_be_asked_again() -> None:
    with pytest.raises(CallError, match="an event is not JSON") as caught:
        join_events(b"data: {half\n\n")
    assert caught.value.transient


@given(st.text(max_size=40).map(lambda text: text.replace("\x00", "")), st.integers(1, 5))
def test_a_text_is_the_same_however_it_is_cut(text: str, size: int) -> None:
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    message = join_message(make_delta(content=""), *(make_delta(content=part) for part in parts))
    assert message == {"content": text}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["choices", "delta", "tool_calls", "index", "function", "name", "content"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_breaks_it(chunk: object) -> None:
    assert isinstance(join_events(write_events(chunk, {"choices": [{"delta": chunk}]})), dict)
