"""A server on loopback that answers some entries as an evil one would, and all others in order."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.chaos.evil_replies import EvilReply

_LONGEST_REQUEST_S = 30.0


@dataclass
class EvilServer:
    """A running server: its address, and how often each entry was asked about."""

    api_base: str = ""
    asked: Counter[str] = field(default_factory=Counter)


@contextmanager
def serve_evil(choose_reply: Callable[[str], EvilReply]) -> Iterator[EvilServer]:
    """Answer each request as ``choose_reply`` says for its entry, until the block ends.

    A run names its entries with ``--fcbench-tag``.
    """
    server = EvilServer()

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            connection: socket.socket = self.request
            connection.settimeout(_LONGEST_REQUEST_S)
            with suppress(OSError):
                entry = read_entry(connection)
                server.asked[entry] += 1
                choose_reply(entry)(connection)
                connection.shutdown(socket.SHUT_WR)
                # Closed with unread data, the kernel would reset the connection and take the reply back.
                connection.settimeout(1.0)
                while connection.recv(2**16):
                    pass

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Connection) as listening:
        host, port = listening.server_address[:2]
        server.api_base = f"http://{host!s}:{port}/v1"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join(5)


def read_entry(connection: socket.socket) -> str:
    """Read one request and return the entry that it names; empty where it names none."""
    received = b""
    while b"\r\n\r\n" not in received and (part := connection.recv(2**16)):
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
    }
    left = int(headers.get(b"content-length", b"0")) - len(body)
    while left > 0 and (part := connection.recv(2**16)):
        left -= len(part)
    return headers.get(b"x-fcbench-entry", b"").decode()
