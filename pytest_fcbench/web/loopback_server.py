"""A server on a free port of 127.0.0.1, in threads of this process, in the place of other hosts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from pytest_fcbench.web.client import LOOPBACK


@dataclass(frozen=True, slots=True)
class LoopbackReply:
    """The reply to a request."""

    status: int
    type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


Answer: TypeAlias = Callable[[str, str, Mapping[str, str]], LoopbackReply]
"""A function from host (lower case, no port), target and headers of a request to the reply.

It raises ``ValueError`` for an invalid request.
"""


class LoopbackServer:
    """A server that runs until it is closed. Raises ``OSError`` if it cannot start."""

    def __init__(self, answer: Answer) -> None:
        self._server = ThreadingHTTPServer((LOOPBACK, 0), partial(_ReplyHandler, answer))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="fcbench-loopback", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _ReplyHandler(BaseHTTPRequestHandler):
    timeout = 30

    def __init__(self, answer: Answer, *connection: Any) -> None:
        # Set first, because the base class handles the request before it returns.
        self._answer = answer
        super().__init__(*connection)

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").partition(":")[0].lower()
        try:
            reply = self._answer(host, self.path, dict(self.headers.items()))
        except ValueError:
            reply = LoopbackReply(400, "text/plain", b"not a request")
        self.send_response(reply.status)
        headers = {"Content-Type": reply.type, "Content-Length": str(len(reply.body)), **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *parts: object) -> None:
        """Log nothing: requests are in the Record."""
