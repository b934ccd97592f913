"""Frames bring values unchanged, and nothing that is made to do harm."""

from __future__ import annotations

import json
import math
import socket
import time
import tracemalloc
from collections.abc import Iterator

import pytest

from pytest_fcbench.execution.sandbox.frames import Channel, FrameError, decode_frame, encode_frame
from tests.cases import each_case

NO_FRAME = r"this is no frame|the result"


@pytest.fixture
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[Channel, Channel]]:
    """Connect two ends; ours waits for a minute, or for as long as a test says."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours, "k", time.monotonic() + getattr(request, "param", 60)), Channel(theirs, "k")


in_little_time = pytest.mark.parametrize("ends", [0.3], indirect=True)


@each_case(
    "value",
    [
        None,
        True,
        -3,
        2.5,
        math.inf,
        10**5000,
        -(2**63),
        "ä\ud800\0",
        b"\xff",
        1 + 2j,
        (),
        (1, [2, (3,)]),
        {1, 2},
        frozenset("ab"),
        {"a": {(1, 2): None}, "dict": []},
    ],
    ids=lambda value: f"{type(value).__name__}",
)
def test_a_value_stays_what_it_is(value: object) -> None:
    (found,) = decode_frame(encode_frame(value))
    assert found == value
    assert type(found) is type(value)


def test_a_value_that_is_not_plain_is_refused() -> None:
    with pytest.raises(ValueError, match="a result of the type object cannot be compared"):
        encode_frame(object())


def mark_colliding(count: int) -> bytes:
    return json.dumps([{"dict": [[{"int": hex(key * (2**61 - 1))}, 0] for key in range(count)]}]).encode()


@each_case(
    "frame",
    [
        b"",
        b"5",
        b"[",
        b"\xff",
        b'[{"code": []}]',
        b"[{}]",
        b'[{"set": 5}]',
        b'[{"set": [[]]}]',
        b'[{"dict": [1]}]',
        b'[{"int": []}]',
        b'[{"int": "x"}]',
        b'[{"bytes": 5}]',
        b'[{"complex": ["a", "b"]}]',
        b'[{"tuple": 1}]',
        b"[" + b"9" * 5000 + b"]",
        b"[" * 500_000 + b"]" * 500_000,
        b"[" + b"[]," * 1_000_001 + b"1]",
        b"[" + b" " * 9_000_000 + b"]",
        mark_colliding(5_001),
    ],
    ids=lambda frame: f"{frame[:30]!r}",
)
def test_what_is_no_frame_is_refused_at_little_cost(frame: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(FrameError, match=NO_FRAME):
            decode_frame(frame)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20


def test_the_most_keys_are_read_in_time() -> None:
    started = time.process_time()
    assert len(decode_frame(mark_colliding(5_000))) == 1
    assert time.process_time() - started < 10


def test_frames_are_exchanged(ends: tuple[Channel, Channel]) -> None:
    ours, theirs = ends
    theirs.send("returned", (1,))
    assert ours.receive() == ["returned", (1,)]


def test_a_frame_of_another_call_is_refused(ends: tuple[Channel, Channel]) -> None:
    ours, theirs = ends
    Channel(theirs.connection, "other").send("returned", 1)
    with pytest.raises(FrameError, match=NO_FRAME):
        ours.receive()


@in_little_time
@each_case("begun", [b"", b"\0", b"\0\0\0\x09", b'\0\0\0\x09["k",'])
def test_a_frame_that_does_not_end_is_given_up_at_the_deadline(
    ends: tuple[Channel, Channel], begun: bytes
) -> None:
    ours, theirs = ends
    theirs.connection.sendall(begun)
    with pytest.raises(TimeoutError):
        ours.receive()


@in_little_time
def test_a_frame_that_nobody_reads_is_given_up_at_the_deadline(ends: tuple[Channel, Channel]) -> None:
    with pytest.raises(TimeoutError):
        ends[0].send("x" * 5_000_000)


def test_a_frame_that_is_announced_as_endless_is_refused(ends: tuple[Channel, Channel]) -> None:
    ours, theirs = ends
    theirs.connection.sendall(b"\xff\xff\xff\xff")
    with pytest.raises(FrameError, match=NO_FRAME):
        ours.receive()
