"""A correct stream reads as the whole reply does, however it is cut into pieces, events and bytes."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.providers.event_stream import join_events
from pytest_fcbench.models.providers.reply_bodies import MIB, read_body
from tests.cases import each_case
from tests.models.providers.whole_replies import read_reply

STREAMS = 2_000
LETTERS = [*'abz 0{}[]:,"\\/\n\r\t', "é", "例", "\u2028", "\ufeff", "🧂", "👩‍🍳", "data: ", "[DONE]", "\n\n"]
NAMES = ("price", "get_weather", "a.b", "données", "price")
USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[^"]')
"""A text of JSON, or a sign outside of one."""

Piece: TypeAlias = dict[str, object]
Delta: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Reply:
    """A reply of the chat interface: its message and why it ended."""

    message: dict[str, object]
    reason: str

    def write_whole(self) -> bytes:
        """Write the reply as it comes without a stream."""
        choice = {"index": 0, "message": self.message, "finish_reason": self.reason}
        return json.dumps({"choices": [choice], "usage": USAGE}).encode()


def draw_text(random: Random, longest: int = 12) -> str:
    return "".join(random.choices(LETTERS, k=random.randint(0, longest)))


def draw_value(random: Random, depth: int = 3) -> object:
    match random.randrange(9 if depth else 6):
        case 0:
            return random.choice([None, True, False])
        case 1:
            return random.randint(-(10**6), 10**6)
        case 2:
            return random.random()
        case 3 | 4 | 5:
            return draw_text(random)
        case 6:
            return [draw_value(random, depth - 1) for _ in range(random.randint(0, 3))]
    return {draw_text(random, 4): draw_value(random, depth - 1) for _ in range(random.randint(0, 3))}


def draw_reply(random: Random) -> Reply:
    message: dict[str, object] = {
        "role": "assistant",
        "content": random.choice([None, draw_text(random, 40)]),
    }
    if random.random() < 0.3:
        message["reasoning_content"] = draw_text(random, 40)
    calls = [
        {
            "id": f"call_{place}",
            "type": "function",
            "function": {"name": random.choice(NAMES), "arguments": text},
        }
        for place in range(random.randint(0, 4))
        for arguments in [{f"p{n}": draw_value(random) for n in range(random.randint(0, 3))}]
        for text in [json.dumps(arguments, ensure_ascii=random.random() < 0.5)]
    ]
    if calls:
        message["tool_calls"] = calls
    return Reply(message, "tool_calls" if calls else random.choice(["stop", "length"]))


# Pieces


def cut_text(random: Random, text: str) -> list[str]:
    """Cut a text at random, also between the two halves in which JSON escapes a rare letter."""
    units = text.encode("utf-16-le", "surrogatepass")
    ends = sorted(2 * random.randint(0, len(units) // 2) for _ in range(random.randint(0, 6)))
    bounds = zip([0, *ends], [*ends, len(units)], strict=True)
    return [units[start:end].decode("utf-16-le", "surrogatepass") for start, end in bounds]


def cut_call(random: Random, index: int, call: dict[str, object]) -> list[Piece]:
    function = call["function"]
    assert isinstance(function, dict)
    first, *others = cut_text(random, function["arguments"])
    opening = {"name": function["name"]} | ({"arguments": first} if first or random.random() < 0.7 else {})
    later: Piece = random.choice([{}, {"id": call["id"], "type": "function"}, {"id": None, "type": None}])
    unnamed: Piece = random.choice([{}, {"name": None}, {"name": ""}])
    return [
        {"index": index, "id": call["id"], "type": "function", "function": opening},
        *({"index": index, **later, "function": {**unnamed, "arguments": piece}} for piece in others),
    ]


def merge_queues(random: Random, queues: Sequence[Sequence[Delta]]) -> Iterator[Delta]:
    """Yield the deltas of all queues in an order in which each queue keeps its own."""
    waiting = [list(queue) for queue in queues if queue]
    while waiting:
        queue = random.choice(waiting)
        yield queue.pop(0)
        waiting = [queue for queue in waiting if queue]


def merge_calls(random: Random, calls: Sequence[Sequence[Piece]]) -> list[Delta]:
    """Return the pieces of calls, one call after another, or in turn after each has begun."""
    if random.random() < 0.5:
        pieces = [piece for call in calls for piece in call]
    else:
        pieces = [call[0] for call in calls] + list(merge_queues(random, [call[1:] for call in calls]))
    return [{"tool_calls": [piece]} for piece in pieces]


def cut_reply(random: Random, reply: Reply) -> list[Delta]:
    """Cut a message into deltas, some of which say several things at once."""
    message = reply.message
    listed = message.get("tool_calls", [])
    assert isinstance(listed, list)
    calls = [cut_call(random, index, call) for index, call in enumerate(listed)]
    texts: list[list[Delta]] = [
        [{name: piece} for piece in cut_text(random, text)]
        for name in ("reasoning_content", "content")
        if isinstance(text := message.get(name), str)
    ]
    opening: Delta = {"role": "assistant", "content": random.choice([None, ""])}
    # Without a null there would be no content at all.
    deltas: list[Delta] = [opening if message["content"] is not None else opening | {"content": None}]
    for delta in merge_queues(random, [*texts, merge_calls(random, calls)]):
        last = deltas[-1]
        if random.random() < 0.3 and not last.keys() & delta.keys():
            last |= delta
        elif random.random() < 0.3 and last.keys() == delta.keys() == {"tool_calls"}:
            last["tool_calls"] = [*_list_pieces(last), *_list_pieces(delta)]
        else:
            deltas.append(delta)
    return deltas


def _list_pieces(delta: Delta) -> list[object]:
    pieces = delta.get("tool_calls", [])
    assert isinstance(pieces, list)
    return pieces


# Events and bytes


def write_chunks(random: Random, reply: Reply, deltas: Sequence[Delta]) -> list[str]:
    """Write the chunks of a stream as JSON."""
    closing: list[Delta] = random.choice([[], [{}]])
    reasons: list[str | None] = [None] * (len(deltas) + len(closing) - 1) + [reply.reason]
    choices = [
        {"index": 0, "delta": delta, "finish_reason": reason}
        for delta, reason in zip([*deltas, *closing], reasons, strict=True)
    ]
    chunks: list[dict[str, object]] = [{"choices": [choice]} for choice in choices]
    if random.random() < 0.5:
        chunks.insert(0, {"choices": [], "prompt_filter_results": []})
    if random.random() < 0.5:
        chunks.append({"choices": [], "usage": USAGE})
    else:
        chunks[-1]["usage"] = USAGE
    return [_write_json(random, chunk) for chunk in chunks]


def _write_json(random: Random, chunk: object) -> str:
    separators = random.choice([None, (",", ":"), (" , ", " :\t")])
    text = json.dumps(chunk, ensure_ascii=False, separators=separators)
    # Half a letter can only be sent escaped.
    is_escaped = random.random() < 0.5 or text != text.encode("utf-8", "replace").decode()
    return json.dumps(chunk, separators=separators) if is_escaped else text


def write_body(random: Random, chunks: Sequence[str]) -> bytes:
    """Write chunks as the events of a body, with comments, several lines of data and different line ends."""
    ends = random.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]])
    is_noisy, is_split = random.random() < 0.5, random.random() < 0.5
    lines: list[str] = []
    for data in (*chunks, "[DONE]"):
        tokens = TOKEN.findall(data) if is_split and data != "[DONE]" else [data]
        parts = "".join(token + "\n" * (token in "{}[],:" and random.random() < 0.1) for token in tokens)
        event = [f"data:{' ' * (random.random() < 0.8)}{part}" for part in parts.split("\n")]
        for _ in range(random.randint(0, 3) if is_noisy else 0):
            noise = random.choice(
                [": ping", ":", "event: message", "id: 7", "retry: 10", "x", "y: z", ": data: {"]
            )
            event.insert(random.randint(0, len(event)), noise)
        lines += [*event, ""]
        if is_noisy and random.random() < 0.3:
            lines += random.choice([[""], [": ping", ""], ["event: ping", ""], ["data:", ""]])
    body = "".join(line + random.choice(ends) for line in lines).encode()
    return random.choice([b"", "\ufeff".encode()]) + body


def send_bytes(random: Random, body: bytes) -> bytes:
    """Return what a client receives of a body that comes in parts, perhaps compressed."""
    encoding = random.choice(["", "deflate"])
    sent = zlib.compress(body) if encoding else body

    async def send_parts() -> AsyncIterator[bytes]:
        start = 0
        while start < len(sent):
            end = start + random.randint(1, 400)
            yield sent[start:end]
            start = end

    headers = {"Content-Encoding": encoding, "Content-Type": "text/event-stream"}
    return asyncio.run(read_body(send_parts(), headers, 8 * MIB))


# Laws


def read_stream(body: bytes) -> Completion:
    return read_reply(body, None, [], "text/event-stream")


@pytest.mark.nightly
@each_case("seed", range(4))
def test_every_cut_reads_as_the_whole_reply(seed: int) -> None:
    random = Random(seed)
    for _ in range(STREAMS // 4):
        reply = draw_reply(random)
        chunks = write_chunks(random, reply, cut_reply(random, reply))
        body = send_bytes(random, write_body(random, chunks))
        joined = join_events(body)
        choices = joined.reply["choices"]
        assert isinstance(choices, list)
        assert (choices[0]["finish_reason"], joined.notes) == (reply.reason, ()), body
        assert read_stream(body) == read_reply(reply.write_whole(), None, [], "application/json"), body


def test_a_stream_that_loses_a_chunk_does_not_read_as_the_whole_reply() -> None:
    """Otherwise the law above could hold because nothing is compared."""
    random = Random(5)
    compared = 0
    for _ in range(300):
        reply = draw_reply(random)
        deltas = cut_reply(random, reply)
        losses = [place for place, delta in enumerate(deltas) if _says_something(delta)]
        if not losses:
            continue
        del deltas[random.choice(losses)]
        body = write_body(random, write_chunks(random, reply, deltas or [{}]))
        whole = read_reply(reply.write_whole(), None, [], "application/json")
        compared += 1
        with suppress(CallError):
            assert read_stream(body) != whole, body
    assert compared > 200


def _says_something(delta: Delta) -> bool:
    """Tell whether a delta brings text, or arguments of a call."""
    functions = [piece.get("function") for piece in _list_pieces(delta) if isinstance(piece, dict)]
    return bool(delta.get("content")) or any(
        isinstance(function, dict) and (function.get("name") or function.get("arguments"))
        for function in functions
    )
