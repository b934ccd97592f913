"""Events of a stream become the reply that would have come without one."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote
from pytest_fcbench.models.providers.event_stream import JoinedStream, join_chunks, join_events, read_value
from pytest_fcbench.models.providers.reply_bodies import ReportedError, is_event_stream
from tests.cases import each_case
from tests.models.providers.whole_replies import read_reply
from tests.wire import NEEDS_STREAMS, RecordedStream, list_recorded_streams

STREAM = "text/event-stream"


def write_events(*chunks: object, end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


def make_delta(reason: str | None = None, **said: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": reason}]}


def join_message(*chunks: object) -> object:
    return find_message(join_events(write_events(*chunks)))


def find_message(joined: JoinedStream) -> object:
    choices = joined.reply["choices"]
    assert isinstance(choices, list)
    return choices[0]["message"]


def test_an_event_may_begin_with_a_byte_order_mark() -> None:
    end = write_events(make_delta("stop", content="a"))
    assert join_events(end.replace(b"{", b"\xef\xbb\xbf{", 1)) == join_events(end)


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
    joined = join_events(write_events(role, one, two, last, {"choices": [], "usage": {"prompt_tokens": 3}}))
    assert joined == JoinedStream(
        {
            "choices": [{"message": {"role": "assistant", "content": "ab"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3},
        },
        (),
    )


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3}}]},
        {
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            "x_groq": {"usage": {"prompt_tokens": 3}},
        },
        {
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 1}}],
            "usage": {"prompt_tokens": 3},
        },
    ],
    ids=["in the choice", "in a member of its own", "in both, where that of the whole counts"],
)
def test_the_usage_is_read_wherever_a_stream_states_it(chunk: dict[str, object]) -> None:
    joined = join_events(write_events(make_delta(role="assistant", content="a"), chunk))
    assert joined.reply["usage"] == {"prompt_tokens": 3}


def test_a_stream_without_usage_states_none() -> None:
    joined = join_events(write_events(make_delta(content="a"), {"x_groq": {"id": "q"}}, make_delta("stop")))
    assert "usage" not in joined.reply


def test_an_empty_value_takes_no_text_back() -> None:
    empty_values: tuple[object, ...] = (None, "", [])
    for empty in empty_values:
        last = make_delta("stop", content=empty)
        assert join_message(make_delta(content=None), make_delta(content="a"), last) == {"content": "a"}


def test_an_empty_list_of_calls_takes_no_call_back() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    nothing: tuple[object, ...] = ("", [], None)
    for empty in nothing:
        message = join_message(make_delta(tool_calls=[call]), make_delta("tool_calls", tool_calls=empty))
        assert isinstance(message, dict)
        assert [each["function"]["name"] for each in message["tool_calls"]] == ["f"]


def test_parts_and_texts_of_one_answer_are_joined() -> None:
    """Mistral sends reasoning as a part, and the answer after it as text."""
    part = {"type": "text", "text": "a"}
    assert join_message(
        make_delta(content=[part]), make_delta(content=""), make_delta("stop", content="b")
    ) == {"content": [part, {"type": "text", "text": "b"}]}
    assert join_message(make_delta(content="b"), make_delta("stop", content=[part])) == {
        "content": [{"type": "text", "text": "b"}, part]
    }


def test_a_text_has_room_behind_the_longest_reasoning() -> None:
    first, second = ({"type": "thinking", "thinking": text} for text in ("a", "a" * (16 << 20)))
    deltas = make_delta(content=[first]), make_delta(content=[second]), make_delta("stop", content="b")
    assert find_message(join_chunks(iter(deltas))) == {"content": [first, {"type": "text", "text": "b"}]}


def test_reasoning_and_further_members_are_kept() -> None:
    message = join_message(
        make_delta(reasoning_content="x"), make_delta(reasoning_content="y"), make_delta(signature="S")
    )
    assert message == {"reasoning_content": "xy", "signature": "S"}


LINE_ENDS = ["\n", "\r\n", "\r"]


@pytest.mark.parametrize("end", LINE_ENDS)
def test_events_are_separated_by_empty_lines_of_any_kind(end: str) -> None:
    body = write_events(make_delta(content="a"), make_delta("stop", content="b")).decode()
    assert find_message(join_events(body.replace("\n", end).encode())) == {"content": "ab"}


@pytest.mark.parametrize("end", LINE_ENDS)
def test_lines_of_data_belong_to_one_event(end: str) -> None:
    """CRLF is one line end, so what stands around it is not separated."""
    lines = json.dumps(make_delta("stop", content="a"), indent=1).splitlines()
    body = "".join(f"data: {line}{end}" for line in lines) + end + f"data: [DONE]{end}{end}"
    joined = join_events(body.encode())
    assert (find_message(joined), joined.notes) == ({"content": "a"}, ())


def test_values_of_one_event_are_read_apart_where_they_are_no_value_together() -> None:
    body = write_events(make_delta(content="a"), make_delta("stop", content="b")).replace(b"\n\n", b"\n")
    joined = join_events(body)
    assert (find_message(joined), joined.notes) == ({"content": "ab"}, ("event_lines",))


def test_a_byte_order_mark_comments_and_other_fields_are_passed_over() -> None:
    body = b"\xef\xbb\xbf: keep alive\n\nevent: chunk\nid: 7\nretry: 10\n" + write_events(
        make_delta("stop", content="a")
    )
    assert find_message(join_events(body)) == {"content": "a"}


def test_a_field_whose_name_only_begins_with_data_is_none() -> None:
    body = b"database: {}\n\n" + write_events(make_delta("stop", content="a"))
    assert find_message(join_events(body)) == {"content": "a"}


def test_of_several_answers_the_first_counts_wherever_it_stands() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
    assert join_message(other, make_delta("stop", content="a"), other) == {"content": "a"}


def test_halves_of_a_character_in_two_pieces_are_joined() -> None:
    salt = "\U0001f9c2"
    high, low = json.dumps(salt)[1:7], json.dumps(salt)[7:13]
    chunks = [
        f'{{"choices": [{{"index": 0, "delta": {{"content": "{half}"}}}}]}}'
        for half in (high, low, r"\ud800")
    ]
    body = "".join(f"data: {chunk}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    assert find_message(join_events(body.encode())) == {"content": f"{salt}\ud800"}


def test_a_stream_without_end_is_cut() -> None:
    """Either sign of an end is enough."""
    with pytest.raises(CallError) as cut:
        join_events(write_events(make_delta(content="a"), end=""))
    assert (cut.value.cause, cut.value.transient) == ("cut_stream", True)
    assert join_events(write_events(make_delta("stop", content="a"), end="")).notes == ("no_done",)
    assert join_events(write_events(make_delta(content="a"))).notes == ("no_finish_reason",)


@each_case(
    "event",
    [
        'data: {"error": {"message": "gone", "code": 502}}',
        'data: {"error": "gone", "error_type": "overloaded"}',
        'data: {"choices": [{"index": 0, "error": {"message": "gone"}, "delta": {"content": ""}}]}',
        'event: error\ndata: {"message": "gone"}',
        'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}',
        'data: {"object": "error", "message": "gone", "code": 500}',
        'data: {"detail": "gone"}',
        'data: {"message": "gone", "code": 500}',
        'event: error\ndata: "gone"',
        "event: error\ndata: gone",
        'data: [{"error": {"code": 503, "message": "gone"}}]',
        '{"error": {"message": "gone"}}',
        'error: {"code": 500, "message": "gone"}',
        'data: {"choices": [{"index": 0, "delta": {}}], "x_groq": {"error": "gone"}}',
        'data: {"error_code": 336100, "error_msg": "gone"}',
        'data: {"choices": null, "base_resp": {"status_code": 1008, "status_msg": "gone"}}',
        'data: {"errors": [{"message": "gone"}]}',
        'data: {"modelStreamErrorException": {"message": "gone"}}',
        'data: {"success": false, "msg": "gone", "code": 500}',
    ],
)
def test_an_error_in_a_stream_is_no_answer(event: str) -> None:
    begun = write_events(make_delta(content="I would"), end="")
    with pytest.raises(ReportedError) as failure:
        join_events(begun + f"{event}\n\ndata: [DONE]\n\n".encode())
    assert failure.value.cause == "error_in_stream"


@each_case(("code", "status"), [(429, 429), (502, 502), ("502", 502), (7, 500), (None, 500)])
def test_an_error_in_a_stream_has_the_status_that_it_names(code: object, status: int) -> None:
    with pytest.raises(ReportedError) as failure:
        join_events(write_events({"error": {"message": "gone", "code": code}}))
    assert (failure.value.status, json.loads(failure.value.body)["error"]["message"]) == (status, "gone")


@each_case(
    "event",
    [
        'data: {"choices": [], "code": 0, "message": "Success", "usage": {"prompt_tokens": 1}}',
        'data: {"choices": [], "base_resp": {"status_code": 0, "status_msg": ""}}',
        "data: ping",
        "data: keep-alive",
        "data: null",
    ],
)
def test_what_only_looks_like_an_error_is_none(event: str) -> None:
    body = write_events(make_delta("stop", content="a"), end=f"{event}\n\ndata: [DONE]\n\n")
    assert find_message(join_events(body)) == {"content": "a"}


def test_null_is_no_end_of_a_stream() -> None:
    with pytest.raises(CallError, match="so the answer is cut"):
        join_events(write_events(make_delta(content="a"), end="data: null\n\n"))


def test_half_a_call_before_the_end_is_cut() -> None:
    half = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a'}}
    with pytest.raises(CallError, match="so the answer is cut"):
        join_events(write_events(make_delta(tool_calls=[half])))
    assert join_events(write_events(make_delta("length", tool_calls=[half]))).notes == ()


def test_calls_of_a_whole_message_count_where_text_was_streamed() -> None:
    call = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
    whole = {"choices": [{"index": 0, "message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    empty = {"choices": [{"index": 0, "message": {"content": ""}, "finish_reason": "tool_calls"}]}
    assert join_message(make_delta(content="Let me"), whole, empty) == {"tool_calls": [call]}


def test_a_call_without_its_list_is_read() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    assert join_message(make_delta(tool_calls=call)) == {
        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]
    }


def test_an_empty_error_is_none() -> None:
    chunk = make_delta("stop", content="a") | {"error": None}
    assert join_message(chunk) == {"content": "a"}


def test_an_event_that_is_not_json_may_be_asked_again() -> None:
    with pytest.raises(CallError, match="an event is not JSON") as caught:
        join_events(b"data: {half\n\n")
    assert caught.value.transient


def test_a_legacy_call_is_read_as_a_call_and_noted() -> None:
    pieces = [{"name": "f", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ": 1}"}]
    joined = join_events(write_events(*(make_delta(function_call=piece) for piece in pieces)))
    function = {"name": "f", "arguments": '{"a": 1}'}
    assert find_message(joined) == {"tool_calls": [{"type": "function", "function": function}]}
    assert "legacy_function_call" in joined.notes


def test_a_whole_message_counts_where_no_delta_came() -> None:
    whole = {"choices": [{"index": 0, "message": {"content": "whole"}, "finish_reason": "stop"}]}
    assert join_events(write_events(whole)).notes == ("message_in_stream",)
    assert join_message(make_delta(content="delta"), whole) == {"content": "delta"}


def test_a_completion_without_messages_is_joined_too() -> None:
    texts = [{"choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in ("a", "b")]
    choices = join_events(write_events(*texts)).reply["choices"]
    assert isinstance(choices, list)
    assert choices[0]["text"] == "ab"


def test_chunks_of_a_client_library_need_no_done() -> None:
    assert join_chunks(iter([make_delta("stop", content="a")])).notes == ()
    with pytest.raises(CallError, match="so the answer is cut"):
        join_chunks(iter([make_delta(content="a")]))


@pytest.mark.parametrize("kind", [STREAM, "application/json", "text/plain"])
def test_a_body_says_itself_whether_it_is_a_stream(kind: str) -> None:
    streamed = write_events(make_delta("stop", content="a"))
    whole = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
    assert read_value(streamed, kind).reply == whole
    assert read_value(json.dumps(whole).encode(), kind).reply == whole


@each_case(
    "body",
    [
        {"error": {"message": "gone"}},
        {"error": {"message": "gone"}, "choices": [{"message": {"content": "a"}}]},
        {"choices": [{"message": {"content": "a"}, "error": {"message": "gone"}}]},
        {"detail": "gone"},
        {"object": "error", "message": "gone"},
    ],
)
def test_an_error_in_a_whole_reply_is_no_answer(body: object) -> None:
    with pytest.raises(ReportedError) as failure:
        read_value(json.dumps(body).encode(), "application/json")
    assert failure.value.cause == "error_in_reply"


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
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "tool_calls",
                        "index",
                        "id",
                        "function",
                        "name",
                        "arguments",
                        "error",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_json_breaks_it(chunk: object) -> None:
    # A stream of anything may hold an error, or no end.
    with suppress(CallError):
        assert isinstance(join_events(write_events(chunk, {"choices": [{"delta": chunk}]})), JoinedStream)


@NEEDS_STREAMS
@pytest.mark.parametrize("stream", list_recorded_streams(), ids=lambda stream: str(stream.name))
def test_streams_of_real_servers_are_read_as_they_were_meant(stream: RecordedStream) -> None:
    if stream.is_failure:
        with pytest.raises(CallError) as failure:
            read_reply(stream.body, None, [], STREAM)
        assert failure.value.transient
        return
    completion = read_reply(stream.body, None, [], STREAM)
    if stream.calls is None:
        assert completion.protocol == (ProtocolNote.EMPTY_ARGUMENTS_FIRST,)
        return
    calls = [
        (call.name, json.loads(str(call.arguments)))
        for call in completion.tool_calls or ()
        if not isinstance(call, str)
    ]
    assert (calls, completion.text or "") == (stream.calls, stream.text)
