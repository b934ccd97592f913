"""A server on loopback in the place of web APIs: it plays what they answered, and the services of ``core``.

It is asked by real HTTP, by each host's name. A request for which nobody recorded an answer gets one by which
that is known (``NOT_RECORDED``); one without the key that an API wants is turned away (401), as by the API.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pytest_fcbench.executables.apis import APIS, Asked, asked, has_key, identity
from pytest_fcbench.executables.sending import NOT_RECORDED
from pytest_fcbench.executables.services import SERVICES


@dataclass(frozen=True, slots=True)
class Played:
    """What is answered."""

    status: int
    body: str
    recorded: bool = True


def played(request: Asked, recorded: Mapping[str, str]) -> Played:
    """The answer to a request; ``recorded`` has those of web APIs by ``apis.identity``."""
    if service := SERVICES.get(request.host):
        if not has_key(request, service.api):
            return Played(401, '{"error": "the key is missing"}')
        status, reply = service.answer(request.path, dict(request.params))
        return Played(status, json.dumps(reply, ensure_ascii=False))
    api = APIS.get(request.host)
    if api is None:
        return Played(404, "{}", recorded=False)
    if not has_key(request, api):
        return Played(401, '{"message": "the API key is missing"}')
    body = recorded.get(identity(request, api))
    return Played(404, "{}", recorded=False) if body is None else Played(200, body)


class Player:
    """The server. It starts when its port is first asked for."""

    def __init__(self, recorded: Mapping[str, str]) -> None:
        self._recorded = recorded

    @cached_property
    def _server(self) -> ThreadingHTTPServer:
        recorded = self._recorded

        class Handler(BaseHTTPRequestHandler):
            timeout = 30

            def do_GET(self) -> None:
                host = self.headers.get("Host", "").partition(":")[0].lower()
                answer = played(asked(host, self.path, headers=dict(self.headers.items())), recorded)
                body = answer.body.encode("utf-8", "backslashreplace")
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                if not answer.recorded:
                    self.send_header(NOT_RECORDED, "1")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *told: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="fcbench-player", daemon=True
        ).start()
        return server

    @property
    def port(self) -> int:
        """Of 127.0.0.1."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop serving, where it was begun."""
        if "_server" in self.__dict__:
            self._server.shutdown()
            self._server.server_close()
            del self._server
