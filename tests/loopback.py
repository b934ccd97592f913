"""An OpenAI-compatible chat endpoint on loopback, for tests that must go over real HTTP."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

Body: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Reply:
    """What the endpoint answers."""

    body: Body | str | bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Answer: TypeAlias = Callable[[Body], Reply]


@dataclass
class Endpoint:
    """A running endpoint: its address and the requests it was sent, of a GET the query."""

    api_base: str
    requests: list[Body]
    keys: list[str]
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each request, names in lower case."""
    paths: list[str] = field(default_factory=list)
    most_at_once: int = 0


def make_message_reply(
    text: str | None = None, calls: list[tuple[str, str]] | None = None, **extra: object
) -> Reply:
    """Make a chat completion with text, or with tool calls given as name and JSON text."""
    content: Body = {"role": "assistant", "content": text, **extra}
    if calls is not None:
        content["tool_calls"] = [
            {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i, (name, arguments) in enumerate(calls)
        ]
    return Reply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "loopback",
            "choices": [{"index": 0, "finish_reason": "stop", "message": content}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    )


def make_error_reply(status: int, text: str, code: str = "error") -> Reply:
    """Make an error in OpenAI's form."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return Reply({"error": {"message": text, "type": kind, "code": code}}, status)


@contextmanager
def serve_answers(answer: Answer, tls: SSLContext | None = None, port: int = 0) -> Iterator[Endpoint]:
    """Serve ``answer`` on a port of 127.0.0.1 until the block ends, over TLS if a context is given.

    Port 0 is any free one.
    """
    endpoint = Endpoint("", [], [])
    requests, keys = endpoint.requests, endpoint.keys
    in_flight = 0
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer_request(dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True)))

        def do_POST(self) -> None:
            self.answer_request(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def answer_request(self, asked: Body) -> None:
            requests.append(asked)
            endpoint.paths.append(self.path)
            keys.append(self.headers.get("Authorization", ""))
            endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
            nonlocal in_flight
            with lock:
                in_flight += 1
                endpoint.most_at_once = max(endpoint.most_at_once, in_flight)
            reply = answer(asked)
            with lock:
                in_flight -= 1
            body = json.dumps(reply.body) if isinstance(reply.body, dict) else reply.body
            content = body.encode() if isinstance(body, str) else body
            with suppress(ConnectionError):  # whoever asked may have given up
                self.send_response(reply.status)
                self.send_header("Content-Length", str(len(content)))
                for name, value in ({"Content-Type": "application/json"} | dict(reply.headers)).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
            """Say nothing."""

    with listen_on_loopback(Handler, tls, port) as bound:
        endpoint.api_base = f"http{'s' if tls else ''}://127.0.0.1:{bound}/v1"
        yield endpoint


class QuietServer(ThreadingHTTPServer):
    """A server that says nothing where a client is gone, which is what tests of kills and signals do."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print the traceback of other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def listen_on_loopback(
    handler: type[BaseHTTPRequestHandler], tls: SSLContext | None = None, port: int = 0
) -> Iterator[int]:
    """Handle requests to a port of 127.0.0.1, any free one for 0, until the block ends."""
    server = QuietServer(("127.0.0.1", port), handler)
    if tls:
        # The handshake happens in the thread of the request, so that a bad one stops no other.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
