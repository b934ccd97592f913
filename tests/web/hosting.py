"""A server on loopback that answers a GET with whatever bytes a test wants."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import TypeAlias


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""


@dataclass
class Hosted:
    """A running server and what it was asked."""

    port: int
    seen: list[Seen] = field(default_factory=list)


Answer: TypeAlias = Callable[[Seen, BufferedIOBase], None]
"""Writes the whole reply, from the status line on."""


def make_reply(body: bytes = b"{}", status: int = 200, **headers: str) -> bytes:
    """Make a whole reply; ``_`` in the name of a header is ``-``."""
    told = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    told |= {name.replace("_", "-"): text for name, text in headers.items()}
    lines = [f"HTTP/1.1 {status} -", *(f"{name}: {text}" for name, text in told.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def always_send(written: bytes) -> Answer:
    """Make an answer that sends the same reply to everything."""
    return lambda seen, out: discard(out.write(written))


def discard(value: object) -> None:
    """Drop a value, for a lambda that has to return None."""


@contextmanager
def serve_locally(answer: Answer) -> Iterator[Hosted]:
    """Serve on a free port of 127.0.0.1 until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen = Seen(self.path, {name.lower(): text for name, text in self.headers.items()})
            hosted.seen.append(seen)
            with suppress(BrokenPipeError, ConnectionResetError):  # the client had enough
                answer(seen, self.wfile)

        def log_message(self, *told: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hosted = Hosted(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hosted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
