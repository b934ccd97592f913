"""Replies that no server should send, each as a named function that writes to a connection.

Every loop is bounded, and ends when the client has closed the connection.
"""

from __future__ import annotations

import gzip
import json
import socket
import time
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from itertools import repeat
from typing import TypeAlias

EvilReply: TypeAlias = Callable[[socket.socket], None]

MIB = 2**20
_MOST_BYTES = 64 * MIB
"""The most that any reply sends."""
_MOST_S = 20.0
"""The longest that any reply takes."""


def write_head(status: str = "200 OK", **headers: str) -> bytes:
    """Write the head of a reply; underscores in the names of headers stand for hyphens."""
    lines = [
        f"HTTP/1.1 {status}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def write_reply(body: bytes, status: str = "200 OK", kind: str = "application/json", **headers: str) -> bytes:
    """Write a whole reply, the last one of its connection."""
    length = str(len(body))
    return write_head(status, Connection="close", Content_Type=kind, Content_Length=length, **headers) + body


def write_json(value: object) -> bytes:
    """Write a reply of JSON."""
    return write_reply(json.dumps(value).encode())


def write_message(message: object, **choice: object) -> bytes:
    """Write a reply with one choice."""
    return write_json({"choices": [{"message": message, "finish_reason": "stop", **choice}]})


def write_text(text: str) -> bytes:
    """Write an answer in words."""
    return write_message({"role": "assistant", "content": text})


def write_call(name: object, arguments: object) -> bytes:
    """Write an answer with one tool call."""
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return write_message({"role": "assistant", "content": None, "tool_calls": [call]})


def send(data: bytes) -> EvilReply:
    """Make a reply that sends these bytes and closes the connection."""

    def send_bytes(connection: socket.socket) -> None:
        connection.sendall(data)

    return send_bytes


def send_endlessly(head: bytes, part: bytes, pause_s: float = 0.0) -> EvilReply:
    """Make a reply that repeats a part for as long as it may."""

    def send_parts(connection: socket.socket) -> None:
        until = time.monotonic() + _MOST_S
        connection.sendall(head)
        for _ in repeat(None, _MOST_BYTES // len(part)):
            if time.monotonic() > until:
                return
            connection.sendall(part)
            if pause_s:
                time.sleep(pause_s)

    return send_parts


def wait_silently(head: bytes = b"") -> EvilReply:
    """Make a reply that begins, if at all, and never ends."""

    def wait_for_client(connection: socket.socket) -> None:
        connection.sendall(head)
        connection.settimeout(_MOST_S)
        connection.recv(1)

    return wait_for_client


@cache
def make_bomb(form: str) -> bytes:
    """Compress a quarter of a gigabyte of blanks."""
    content = b" " * (256 * MIB)
    return gzip.compress(content, 9) if form == "gzip" else zlib.compress(content, 9)


def send_bomb(form: str) -> EvilReply:
    """Make a reply that grows when it is decompressed."""

    def send_compressed(connection: socket.socket) -> None:
        connection.sendall(write_reply(make_bomb(form), Content_Encoding=form))

    return send_compressed


def write_events(*events: object, end: bytes = b"data: [DONE]\n\n") -> bytes:
    """Write a stream of events."""
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + end
    return write_reply(body, kind="text/event-stream")


def nest(depth: int) -> object:
    """Nest lists as deep as that."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


CHUNKED = write_head(Content_Type="application/json", Transfer_Encoding="chunked")
UNENDED = write_head(Content_Type="application/json", Content_Length=str(10**12))
STREAM = write_head(Content_Type="text/event-stream", Transfer_Encoding="chunked")
_CHUNK = b"10000\r\n" + b" " * 2**16 + b"\r\n"
_EVENT = b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
_SMUGGLED = write_text("[smuggled(x=1)]")

TRANSPORT: Mapping[str, EvilReply] = {
    "closes at once": lambda connection: None,
    "closes after the head": send(UNENDED),
    "half a body": send(write_head(Content_Length="100") + b'{"choices"'),
    "half a head": send(b"HTTP/1.1 200 OK\r\nContent-"),
    "says nothing": wait_silently(),
    "head and nothing": wait_silently(UNENDED),
    "drips its head": send_endlessly(b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.2),
    "drips its body": send_endlessly(UNENDED, b" ", 0.2),
    "endless header line": send_endlessly(b"HTTP/1.1 200 OK\r\nX: ", b"x" * 2**16),
    "endless headers": send_endlessly(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 2**12),
    "endless body": send_endlessly(UNENDED, b" " * 2**16),
    "endless chunks": send_endlessly(CHUNKED, _CHUNK),
    "endless small chunks": send_endlessly(CHUNKED, b"1\r\nx\r\n" * 2**12),
    "endless chunk line": send_endlessly(CHUNKED, b"0" * 2**16),
    "endless 1xx": send_endlessly(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2**10),
    "endless events": send_endlessly(STREAM, b"%x\r\n%b\r\n" % (len(_EVENT * 999), _EVENT * 999)),
    "endless comments": send_endlessly(STREAM, b"10000\r\n" + b":" * (2**16 - 1) + b"\n\r\n"),
    "gzip bomb": send_bomb("gzip"),
    "deflate bomb": send_bomb("deflate"),
    "broken gzip": send(write_reply(b"\x1f\x8b\x08\0broken", Content_Encoding="gzip")),
    "truncated gzip": send(write_reply(gzip.compress(b"{}" * 999)[:-9], Content_Encoding="gzip")),
    "unasked brotli": send(write_reply(b"\x0b\x02\x80{}\x03", Content_Encoding="br")),
    "twice compressed": send(write_reply(gzip.compress(gzip.compress(b"{}")), Content_Encoding="gzip, gzip")),
    "not HTTP": send(b"SSH-2.0-OpenSSH_9.9\r\n"),
    "HTTP/0.9": send(b"<html>hello</html>"),
    "TLS alert": send(b"\x15\x03\x01\x00\x02\x02\x28"),
    "no status": send(b"HTTP/1.1\r\n\r\n"),
    "status 999": send(write_reply(b"{}", "999 Odd")),
    "status -1": send(write_reply(b"{}", "-1 Odd")),
    "negative length": send(write_head(Content_Length="-5") + b"{}"),
    "two lengths": send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 50\r\n\r\n{}"),
    "length and chunks": send(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "bad chunk": send(CHUNKED + b"zz\r\nxx\r\n"),
    "header with NUL": send(b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\n{}"),
    "switches protocols": send(write_head("101 Switching Protocols", Upgrade="x", Connection="upgrade")),
    "no content": send(write_head("204 No Content")),
    "redirects to itself": send(write_head("307 Temporary Redirect", Location="/v1/chat/completions")),
    "redirects nowhere": send(write_head("302 Found", Location="", Content_Length="0")),
    "redirects to a file": send(write_head("307 Temporary Redirect", Location="file:///etc/passwd")),
    "pause of ages": send(write_reply(b"{}", "429 Too Many Requests", Retry_After="9" * 9)),
    "pause until 9999": send(write_reply(b"{}", "503 Busy", Retry_After="Fri, 31 Dec 9999 23:59:59 GMT")),
    "pause that is none": send(write_reply(b"{}", "429 Too Many Requests", Retry_After="soon" * 99)),
    "negative pause": send(write_reply(b"{}", "429 Too Many Requests", Retry_After="-99")),
    "server error": send(write_reply(b"x" * MIB, "500 Internal Server Error", kind="text/html")),
    "no permission": send(write_reply(b"{}", "403 Forbidden")),
    "deep error": send(write_reply(b"[" * 60_000, "500 Internal Server Error")),
    "long body": send(write_reply(b" " * (9 * MIB) + b"{}")),
    "not JSON": send(write_reply(b"<html>", kind="text/html")),
    "empty": send(write_reply(b"")),
    "null": send(write_json(None)),
    "number": send(write_json(1)),
    "empty object": send(write_json({})),
    "empty list": send(write_json([])),
    "choices null": send(write_json({"choices": None})),
    "choices object": send(write_json({"choices": {"0": {}}})),
    "choice null": send(write_json({"choices": [None]})),
    "message null": send(write_message(None)),
    "message text": send(write_message("hello")),
    "deep JSON": send(write_reply(b"[" * MIB)),
    "many lists": send(write_reply(b"[" + b"[]," * MIB + b"0]")),
    "long number": send(write_reply(b'{"choices":' + b"9" * 5000 + b"}")),
    "UTF-16": send(write_reply('{"choices": []}'.encode("utf-16"))),
    "event that is no JSON": send(write_reply(b"data: {half\n\n", kind="text/event-stream")),
}
"""Replies that bring no answer: the entry is not scored."""

ANSWERS: Mapping[str, EvilReply] = {
    "call null": send(write_message({"tool_calls": [None]})),
    "call without function": send(write_message({"tool_calls": [{"id": 1}]})),
    "content number": send(write_message({"content": 7})),
    "content object": send(write_message({"content": {"text": "x"}})),
    "content parts": send(write_message({"content": [None, 1, {"text": None}, {"text": "x"}]})),
    "nothing": send(write_message({})),
    "odd role": send(write_message({"role": ["x"], "content": "hello"})),
    "calls text": send(write_message({"tool_calls": "f()"})),
    "name null": send(write_call(None, "{}")),
    "name object": send(write_call({"a": 1}, "{}")),
    "name of controls": send(write_call("\x00\x1b[31m\u202e\ud800", "{}")),
    "name of 100,000": send(write_call("f" * 100_000, "{}")),
    "arguments null": send(write_call("f", None)),
    "arguments list": send(write_call("f", [1])),
    "arguments number": send(write_call("f", 1)),
    "arguments not JSON": send(write_call("f", "{half")),
    "arguments deep": send(write_call("f", "[" * 400_000)),
    "arguments nested": send(write_call("f", {"a": nest(200)})),
    "arguments not finite": send(
        write_reply(
            b'{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":'
            b'{"a":NaN,"b":-Infinity,"c":1e999}}}]}}]}'
        )
    ),
    "arguments long": send(write_call("f", json.dumps({"a": "x" * 900_000}))),
    "arguments too long": send(write_call("f", json.dumps({"a": "x" * 2_000_000}))),
    "arguments many": send(write_call("f", json.dumps({f"a{n}": n for n in range(60_000)}))),
    "calls many": send(
        write_message({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}] * 20_000})
    ),
    "text long": send(write_text("x" * 900_000)),
    "text too long": send(write_text("x" * 2_000_000)),
    "text of brackets": send(write_text("[" * 400_000)),
    "text of calls": send(write_text(f"[{'f(a=1),' * 50_000}]")),
    "text that repeats": send(write_text(f"[f(a=[{chr(34)}x{chr(34)}*99999{', [0]*99999' * 2_000}])]")),
    "text of a power": send(write_text("[f(a=9**9**9**9)]")),
    "text of sums": send(write_text(f"[f(a={'1+' * 100_000}1)]")),
    "text of comments": send(write_text("<!--" * 5_000)),
    "text of objects": send(write_text(f"f({'{a:' * 20_000})")),
    "text of tags": send(write_text("<tool_call>" * 20_000)),
    "text of thoughts": send(write_text("<think>" * 50_000)),
    "text of fences": send(write_text("```python\n" * 30_000)),
    "text of surrogates": send(write_text("\ud800\udfff" * 1_000)),
    "text of controls": send(write_text("".join(map(chr, range(32))) * 1_000)),
    "reasoning long": send(write_message({"content": "x", "reasoning_content": "y" * 900_000})),
    "odd finish": send(write_message({"content": "x"}, finish_reason={"a": [1]})),
    "odd usage": send(
        write_json(
            {
                "choices": [{"message": {"content": "x"}}],
                "usage": {"prompt_tokens": -5, "completion_tokens": "many", "total_tokens": 1e300},
            }
        )
    ),
    "keys twice": send(write_reply(b'{"choices":[],"choices":[{"message":{"content":"x"}}]}')),
    "not UTF-8": send(write_reply(b'{"choices":[{"message":{"content":"\xff\xfe"}}]}')),
    "wrong content type": send(write_reply(b'{"choices":[{"message":{"content":"x"}}]}', kind="image/png")),
    "events of nulls": send(write_events(None, {"choices": None}, {"choices": [{"delta": None}]})),
    "events out of order": send(
        write_events(
            {"choices": [{"delta": {"tool_calls": [{"index": 10**9, "function": {"name": "f"}}]}}]},
            {"choices": [{"delta": {"tool_calls": [{"index": -1, "function": {"arguments": "{}"}}]}}]},
        )
    ),
    "second reply": send(write_text("I cannot help.") + _SMUGGLED),
    "more than its length": send(write_text("I cannot help.") + b"x" * 1000),
}
"""Replies that are answers of a kind: the entry is judged, or not scored where the reply is garbled."""

EVIL_REPLIES: Mapping[str, EvilReply] = {**TRANSPORT, **ANSWERS}
