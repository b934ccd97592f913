"""What is asked to go wrong is read from texts, and drawn the same way for the same seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.server.faults import (
    CHANGES_ANSWER,
    STREAM_FAULTS,
    Draw,
    FaultKind,
    ModelFault,
    break_stream,
    draw_faults,
    read_latency,
    read_shares,
)
from pytest_fcbench.server.replies import SentCall, ServedReply, list_choices, write_stream
from tests.cases import each_case
from tests.served import served, stats
from tests.server.asking import CORE, Sent, list_entries, make_body
from tests.server.clients import post_chat, post_json

CHANCES = st.floats(0, 1, exclude_max=True)
HALF = {FaultKind.CUT: 0.25, FaultKind.HANG: 0.25}


def _draw_first(number: int, shared: Mapping[FaultKind, float], wait: str = "0", seed: int = 0) -> list[Draw]:
    return list(islice(draw_faults(shared, read_latency(wait), seed), number))


# Reading


@each_case(
    ("texts", "read"),
    [
        ([], {}),
        (["429:0.1", "hang:.25"], {FaultKind.RATE_LIMIT: 0.1, FaultKind.HANG: 0.25}),
        (["json:1"], {FaultKind.JSON: 1.0}),
        (["cut:0"], {FaultKind.CUT: 0.0}),
        (["cut:1", "crowded:20"], {FaultKind.CUT: 1.0, ModelFault.CROWDED: 20.0}),
        (
            ["cut:0.7", "500:0.2", "reset:0.1"],
            {FaultKind.CUT: 0.7, FaultKind.SERVER_ERROR: 0.2, FaultKind.RESET: 0.1},
        ),
    ],
)
def test_shares_are_read_by_kind(texts: Sequence[str], read: dict[FaultKind, float]) -> None:
    assert read_shares(texts, (*FaultKind, *ModelFault)) == read


@each_case(
    ("texts", "says"),
    [
        (
            ["rest:0.1"],
            "--fault=rest:0.1: unknown fault 'rest'. Did you mean 'reset'? There are 32 valid names.",
        ),
        (["0.1"], "Use KIND:SHARE, e.g. 429:0.1."),
        (["cut"], "--fault=cut: the share must be a number from 0 to 1, e.g. cut:0.1"),
        (["crowded:0.5"], "--fault=crowded:0.5: must have a number of functions, e.g. crowded:20"),
        (["cut:1.01"], "must be a number from 0 to 1"),
        (["cut:-0.1"], "must be a number from 0 to 1"),
        (["cut:nan"], "must be a number from 0 to 1"),
        (["cut:10%"], "must be a number from 0 to 1"),
        (["cut:٠.١"], "must be a number from 0 to 1"),
        (["cut:0.1", "cut:0.2"], "--fault=cut:0.2: cut is given twice; give each kind once"),
        (
            ["cut:0.6", "500:0.5"],
            "--fault=cut:0.6 500:0.5: the shares add up to 1.1; their sum must not exceed 1",
        ),
    ],
)
def test_wrong_shares_are_refused(texts: Sequence[str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_shares(texts, (*FaultKind, ModelFault.CROWDED))
    assert says in str(caught.value)


@each_case(
    ("text", "chance", "seconds"),
    [
        ("1", 0.9, 1),
        ("0", 0.9, 0),
        (".5", 0.9, 0.5),
        ("0.5-2", 0, 0.5),
        ("0.5-2", 0.5, 1.25),
        ("2-2", 0.5, 2),
        ("exp:0.8", 0, 0),
        ("exp:0.8", 1 - 1 / 2.718281828459045, 0.8),
    ],
)
def test_a_latency_is_constant_a_range_or_exponential(text: str, chance: float, seconds: float) -> None:
    assert read_latency(text)(chance) == pytest.approx(seconds)


@each_case("text", ["", "-1", "2-1", "1e3", "inf", "nan", "1s", "exp:", "exp:1-2", "norm:1", "1-"])
def test_a_wrong_latency_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_latency(text)
    says = (
        f"--latency={text}: must be a number of seconds (1), a range (0.5-2) or an "
        f"exponential distribution with a mean (exp:0.8)"
    )
    assert str(caught.value) == says


@given(st.integers(0, 1000), st.integers(0, 1000), CHANCES)
def test_a_range_is_kept(low: int, more: int, chance: float) -> None:
    assert low <= read_latency(f"{low}-{low + more}")(chance) <= low + more


@given(CHANCES)
def test_an_exponential_wait_is_finite_and_not_negative(chance: float) -> None:
    assert 0 <= read_latency("exp:0.8")(chance) < 60


# Drawing


@given(st.integers(), st.sampled_from(["0", "1", "0-9", "exp:2"]))
def test_the_same_seed_gives_the_same_faults_whatever_the_latency(seed: int, wait: str) -> None:
    drawn = _draw_first(50, HALF, wait, seed)
    assert drawn == _draw_first(50, HALF, wait, seed)
    assert [draw.fault for draw in drawn] == [draw.fault for draw in _draw_first(50, HALF, seed=seed)]


def test_another_seed_gives_other_faults() -> None:
    assert _draw_first(50, HALF, seed=1) != _draw_first(50, HALF, seed=2)


def test_faults_come_in_the_shares_that_were_asked_for() -> None:
    shared = {FaultKind.RATE_LIMIT: 0.1, FaultKind.JSON: 0.25}
    found = Counter(draw.fault for draw in _draw_first(20_000, shared, seed=5))
    assert found.keys() == {FaultKind.RATE_LIMIT, FaultKind.JSON, None}
    assert found[FaultKind.RATE_LIMIT] / 20_000 == pytest.approx(0.1, abs=0.01)
    assert found[FaultKind.JSON] / 20_000 == pytest.approx(0.25, abs=0.01)


def test_latencies_have_the_mean_that_was_asked_for_with_faults_and_without() -> None:
    drawn = _draw_first(20_000, {FaultKind.CUT: 0.5}, "exp:0.8", seed=5)
    for fault in (FaultKind.CUT, None):
        waits = [draw.latency_s for draw in drawn if draw.fault is fault]
        assert sum(waits) / len(waits) == pytest.approx(0.8, abs=0.04)


@each_case("kind", FaultKind)
def test_a_share_of_1_is_every_request_and_one_of_0_is_none(kind: FaultKind) -> None:
    assert {draw.fault for draw in _draw_first(500, {kind: 1.0})} == {kind}
    assert {draw.fault for draw in _draw_first(500, {kind: 0.0})} == {None}


KINDS = [kind for kind in FaultKind if kind in STREAM_FAULTS]
SALT, RICE = '{"item": "salt", "count": 3}', '{"item": "rice"}'
OF_CALLS = [
    *(
        FaultKind.INDEX_FROM_1,
        FaultKind.INDEX_GAP,
        FaultKind.SHARED_INDEX,
        FaultKind.TEXT_INDEX,
        FaultKind.NO_INDEX,
    ),
    *(
        FaultKind.GROWING_INDEX,
        FaultKind.CHANGED_ID,
        FaultKind.REPEATED_NAME,
        FaultKind.REPEATED_CALL,
        FaultKind.EMPTY_ARGUMENTS_FIRST,
    ),
    *(FaultKind.INTERLEAVED_CALLS, FaultKind.OBJECT_ARGUMENTS),
]
"""The faults that only calls can show."""
OF_SEVERAL_CALLS = [FaultKind.INDEX_GAP, FaultKind.SHARED_INDEX, FaultKind.INTERLEAVED_CALLS]


def make_reply(*arguments: str, text: str | None = None) -> ServedReply:
    calls = tuple(SentCall(f"c{place}", "price", written) for place, written in enumerate(arguments))
    return ServedReply("m", text, calls, 5, 7)


def write_events(fault: FaultKind | None, reply: ServedReply) -> list[bytes]:
    write = partial(write_stream, reply=reply, reply_id="r", created=1, include_usage=False)
    choices = list_choices(reply)
    return write(choices) if fault is None else break_stream(fault, choices, write)


def read_chunks(events: Sequence[bytes]) -> list[Any]:
    return [json.loads(event.removeprefix(b"data: ")) for event in events if b"[DONE]" not in event]


def list_pieces(fault: FaultKind | None, *arguments: str) -> list[Any]:
    """Return the pieces of calls in the stream of a reply to which a fault comes."""
    deltas = [
        chunk["choices"][0]["delta"] for chunk in read_chunks(write_events(fault, make_reply(*arguments)))
    ]
    return [piece for delta in deltas for piece in delta.get("tool_calls", ())]


def list_indices(fault: FaultKind | None, *arguments: str) -> list[object]:
    return [piece.get("index") for piece in list_pieces(fault, *arguments)]


# Where it shows


@each_case("kind", KINDS)
def test_each_fault_changes_a_stream_of_two_calls(kind: FaultKind) -> None:
    reply = make_reply(SALT, RICE)
    assert write_events(kind, reply) != write_events(None, reply)


@each_case("kind", KINDS)
@each_case(("reply", "unseen"), [(make_reply(text="hei"), OF_CALLS), (make_reply(SALT), OF_SEVERAL_CALLS)])
def test_a_stream_that_cannot_show_a_fault_is_sent_as_it_is(
    kind: FaultKind, reply: ServedReply, unseen: Sequence[FaultKind]
) -> None:
    assert (write_events(kind, reply) == write_events(None, reply)) is (kind in unseen)


def test_arguments_that_are_no_json_cannot_be_an_object() -> None:
    reply = make_reply('{"item": ')
    assert write_events(FaultKind.OBJECT_ARGUMENTS, reply) == write_events(None, reply)


# Calls


@each_case(
    ("kind", "indices"),
    [
        (None, (0, 1)),
        (FaultKind.INDEX_FROM_1, (1, 2)),
        (FaultKind.INDEX_GAP, (0, 2)),
        (FaultKind.SHARED_INDEX, (0, 0)),
        (FaultKind.TEXT_INDEX, ("0", "1")),
        (FaultKind.NO_INDEX, (None, None)),
    ],
)
def test_the_index_of_each_call(kind: FaultKind | None, indices: tuple[object, object]) -> None:
    first, second = indices
    assert list_indices(kind, SALT, RICE) == [first] * 8 + [second] * 5


def test_a_growing_index_comes_with_the_id_in_each_piece() -> None:
    pieces = list_pieces(FaultKind.GROWING_INDEX, SALT, RICE)
    assert [piece["index"] for piece in pieces] == list(range(13))
    assert [piece["id"] for piece in pieces] == ["c0"] * 8 + ["c1"] * 5


def test_the_name_is_in_each_piece() -> None:
    assert {piece["function"].get("name") for piece in list_pieces(None, SALT)} == {"price", None}
    assert {piece["function"].get("name") for piece in list_pieces(FaultKind.REPEATED_NAME, SALT)} == {
        "price"
    }


def test_a_call_comes_again_as_a_whole() -> None:
    good, pieces = list_pieces(None, SALT, RICE), list_pieces(FaultKind.REPEATED_CALL, SALT, RICE)
    assert pieces[:8] + pieces[9:-1] == good
    assert [pieces[8], pieces[-1]] == [
        {
            "index": index,
            "id": f"c{index}",
            "type": "function",
            "function": {"name": "price", "arguments": all_},
        }
        for index, all_ in enumerate((SALT, RICE))
    ]


def test_empty_arguments_come_before_those_that_are_meant() -> None:
    pieces = list_pieces(FaultKind.EMPTY_ARGUMENTS_FIRST, SALT, RICE)
    assert [piece["function"]["arguments"] for piece in pieces] == ["{}", SALT, "{}", RICE]


def test_calls_are_announced_from_the_last_and_go_on_in_turn() -> None:
    indices = list_indices(FaultKind.INTERLEAVED_CALLS, SALT, RICE)
    assert indices == [1, 0] * 5 + [0] * 3
    pieces = list_pieces(FaultKind.INTERLEAVED_CALLS, SALT, RICE)
    assert [piece for piece in pieces if piece["index"] == 0] == list_pieces(None, SALT)


def test_arguments_are_an_object() -> None:
    pieces = list_pieces(FaultKind.OBJECT_ARGUMENTS, SALT, RICE)
    assert [piece["function"]["arguments"] for piece in pieces] == [json.loads(SALT), json.loads(RICE)]


# Choices


def test_a_whole_message_comes_in_place_of_deltas() -> None:
    (chunk,) = read_chunks(write_events(FaultKind.WHOLE_MESSAGE, make_reply(SALT, text="Let me see")))
    assert chunk["choices"] == [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Let me see",
                "tool_calls": [
                    {"id": "c0", "type": "function", "function": {"name": "price", "arguments": SALT}}
                ],
            },
            "finish_reason": "tool_calls",
        }
    ]


def test_a_second_choice_calls_another_function() -> None:
    chunks = read_chunks(write_events(FaultKind.SECOND_CHOICE, make_reply(SALT)))
    assert [chunk["choices"][0]["index"] for chunk in chunks] == [1, 0] * (len(chunks) // 2)
    assert chunks[1::2] == read_chunks(write_events(None, make_reply(SALT)))
    (other,) = chunks[2]["choices"][0]["delta"]["tool_calls"]
    assert other["function"]["name"] == "other_function"


@each_case(
    ("kind", "reasons", "done"),
    [
        (None, ["tool_calls"], True),
        (FaultKind.NO_FINISH_REASON, [], True),
        (FaultKind.NO_DONE, ["tool_calls"], False),
        (FaultKind.CUT_STREAM, [], False),
        (FaultKind.STREAM_ERROR, [], True),
    ],
)
@each_case("arguments", [(SALT, RICE), ()])
def test_the_end_of_a_stream(
    kind: FaultKind | None, reasons: list[str], done: bool, arguments: Sequence[str]
) -> None:
    events = write_events(kind, make_reply(*arguments))
    choices = [choice for chunk in read_chunks(events) for choice in chunk.get("choices", ())]
    found = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    assert found == (reasons and (reasons if arguments else ["stop"]))
    assert (events[-1] == b"data: [DONE]\n\n") is done


@pytest.mark.parametrize("kind", [FaultKind.CUT_STREAM, FaultKind.STREAM_ERROR])
def test_an_endpoint_that_fails_has_said_the_first_half(kind: FaultKind) -> None:
    good, events = (write_events(each, make_reply(SALT, RICE)) for each in (None, kind))
    half = len(good) // 2 - 1
    assert events[:half] == good[:half]
    assert [list(chunk) for chunk in read_chunks(events[half:])] == [["error"]] * (
        kind is FaultKind.STREAM_ERROR
    )


# Events


@pytest.mark.parametrize(("kind", "end"), [(FaultKind.CR_LINES, b"\r"), (FaultKind.CRLF_LINES, b"\r\n")])
def test_lines_end_in_another_way(kind: FaultKind, end: bytes) -> None:
    body = b"".join(write_events(kind, make_reply(SALT)))
    assert body.split(end) == b"".join(write_events(None, make_reply(SALT))).split(b"\n")


def test_the_data_of_an_event_stands_on_several_lines() -> None:
    reply = make_reply(SALT, text="zwei\nZeilen")
    events = write_events(FaultKind.SPLIT_DATA, reply)
    lines = [event.decode().removesuffix("\n\n").split("\n") for event in events]
    assert all(line.startswith("data: ") for event in lines for line in event)
    assert min(len(event) for event in lines[:-1]) > 10
    joined = [json.loads("\n".join(line.removeprefix("data: ") for line in event)) for event in lines[:-1]]
    assert joined == read_chunks(write_events(None, reply))
    assert lines[-1] == ["data: [DONE]"]


def test_comments_names_and_numbers_stand_between_the_events() -> None:
    body = b"".join(write_events(FaultKind.COMMENTS, make_reply(SALT)))
    assert body.startswith(b"\xef\xbb\xbf: keep-alive\n\nevent: message\nid: 0\nretry: 10\ndata: {")
    kept = [line for line in body.split(b"\n") if line.startswith(b"data: ")]
    assert kept == [event.removesuffix(b"\n\n") for event in write_events(None, make_reply(SALT))]


# Over HTTP

PARALLEL = next(entry for entry in list_entries(CORE) if entry.category.name == "parallel")
STREAM: Sent = {"stream": True}


def test_a_fault_changes_streams_and_no_whole_reply() -> None:
    body = make_body(PARALLEL)
    with served("--model", "oracle") as api_base:
        whole, streamed = (post_chat(api_base, body | more) for more in ({}, STREAM))
    with served("--model", "oracle", "--fault", "index_from_1:1") as api_base:
        assert post_chat(api_base, body).message == whole.message
        assert (stats(api_base)["faults"], stats(api_base)["answered"]) == ({}, {PARALLEL.key: 1})
        changed = post_chat(api_base, body | STREAM)
        assert (stats(api_base)["faults"], stats(api_base)["answered"]) == (
            {"index_from_1": 1},
            {PARALLEL.key: 1},
        )
    assert [event for event in streamed.events if '"index": 2' in json.dumps(event)] == []
    assert [event for event in changed.events if '"index": 2' in json.dumps(event)] != []


def test_streams_of_other_interfaces_are_sent_as_they_are() -> None:
    body = make_body(PARALLEL)
    asked = {"input": body["messages"], "stream": True}
    with served("--model", "oracle", "--fault", "cr_lines:1") as api_base:
        answer = post_json(api_base, "/v1/responses", asked, PARALLEL.key)
        assert stats(api_base)["faults"] == {}
    assert b"\r" not in answer.content


# Names


def test_each_kind_that_sends_an_answer_is_of_one_sort() -> None:
    assert len(KINDS) == 23
    assert not STREAM_FAULTS & CHANGES_ANSWER
