"""What the server reads of a request's body."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.server.body import RefusedRequestError, read_body
from tests.cases import each_case
from tests.server.asking import Sent, read_sent


@each_case(
    ("text", "code"),
    [
        (b"", "invalid_json"),
        (b'{"messages": [', "invalid_json"),
        (b"\xff", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"[]", "invalid_request"),
        (b"{}", "invalid_request"),
        (b'{"messages": "hi"}', "invalid_request"),
    ],
)
def test_a_body_must_be_an_object_with_messages(text: bytes, code: str) -> None:
    with pytest.raises(RefusedRequestError) as caught:
        read_body(text)
    assert (caught.value.status, caught.value.code) == (400, code)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(VALUES)
def test_the_same_values_are_the_same_request_however_written(value: object) -> None:
    body = {"messages": [value], "tools": [{"b": value, "a": 1}]}
    other = json.dumps({"tools": [{"a": 1.0, "b": value}], "messages": [value]}, indent=2, ensure_ascii=False)
    assert read_sent(body) == read_body(other)


@each_case(
    ("one", "other"),
    [
        (1, True),
        (1, "1"),
        (0, None),
        ([1, 2], [2, 1]),
        ({"a": {"b": None}}, {"a": {}}),
        ({"a": [None]}, {"a": []}),
        (1, 1.5),
    ],
)
def test_other_values_are_another_request(one: object, other: object) -> None:
    assert read_sent({"messages": [one]}).digest != read_sent({"messages": [other]}).digest


def test_a_member_of_a_message_that_is_null_can_be_left_out() -> None:
    """Of a message of tool calls some clients send the content, others do not."""
    assert read_sent({"messages": [{"role": "assistant", "content": None}]}) == read_sent(
        {"messages": [{"role": "assistant"}]}
    )


@pytest.mark.parametrize(
    ("given", "stream"), [({}, False), ({"stream": None}, False), ({"stream": True}, True)]
)
def test_whether_a_stream_is_asked_for(given: Sent, stream: bool) -> None:
    assert read_sent({"messages": [], **given}).stream is stream


# Ids of tool calls


def _make_messages(*ids: str) -> list[Sent]:
    """Make messages of calls with these ids, each followed by its result."""
    pairs: list[list[Sent]] = [
        [
            {"role": "assistant", "tool_calls": [{"id": each, "function": {"name": "f"}}]},
            {"role": "tool", "tool_call_id": each, "content": "done"},
        ]
        for each in ids
    ]
    return [message for pair in pairs for message in pair]


@pytest.mark.parametrize("ids", [("x", "y"), ("same", "same"), ("call 2", "call 1")])
def test_ids_of_tool_calls_count_by_their_order(ids: tuple[str, str]) -> None:
    expected = read_sent({"messages": _make_messages("a", "b")})
    found = read_sent({"messages": _make_messages(*ids)})
    assert found == expected
    assert found.messages == _make_messages("call 1", "call 2")


def test_a_result_of_another_call_is_another_request() -> None:
    first, second, third, fourth = _make_messages("a", "b")
    expected = read_sent({"messages": [first, third, second, fourth]})
    assert read_sent({"messages": [first, third, fourth, second]}) != expected


@each_case(
    "message",
    [
        {"tool_calls": [{"id": 1}, "x", {}]},
        {"tool_calls": "x"},
        {"tool_call_id": "unknown"},
        {"tool_call_id": 7},
        "x",
    ],
)
def test_what_is_not_an_id_stays_as_it_is(message: object) -> None:
    assert read_sent({"messages": [message]}).messages == [message]


def test_a_short_body_is_remembered_and_a_long_one_read_again() -> None:
    """Trials send the same one soon after another; 256 of the longest that are accepted would fill 4 GB."""
    short, long = (json.dumps({"messages": ["x" * length]}).encode() for length in (10, 2**17))
    assert read_body(short) is read_body(bytes(short))
    assert read_body(long) == read_body(long)
    assert read_body(long) is not read_body(long)
