"""The part of a hub's HTTP interface that a download uses, on loopback; and a watch over connections."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

from tests.loopback import listen_on_loopback

REPO, FILE = "acme/rides", "rides.jsonl"


@dataclass(frozen=True)
class Request:
    """What was asked."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""

    @property
    def range(self) -> str | None:
        return self.headers.get("range")


@dataclass
class Hub:
    """One dataset of one file, and how it misbehaves; changed by a test while it is served."""

    revisions: dict[str, bytes]
    """The file at each commit; the branch is at the last."""
    endpoint: str = ""
    requests: list[Request] = field(default_factory=list)
    errors: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Status and error code by method."""
    states: dict[str, str] = field(default_factory=dict)
    """Headers of answers to HEAD that are not as they should be; "" for none."""
    sends: bytes | None = None
    """Instead of what it states."""
    cut: int | None = None
    """After how many bytes the connection is closed."""
    goes_on: threading.Event = field(default_factory=threading.Event)
    """Set, unless a download is to hang where it is cut."""
    cdn: bool = False
    """Whether the content is on another host."""
    ranges: bool = True
    """Whether a range is answered with a part."""

    @property
    def gets(self) -> list[Request]:
        """Requests for content."""
        return [request for request in self.requests if request.method == "GET"]


def hash_commit(number: int) -> str:
    """Return the hash of a commit."""
    return hashlib.sha1(f"commit {number}".encode()).hexdigest()


_RESOLVE = re.compile(rf"/datasets/{REPO}/resolve/([^/]+)/{re.escape(FILE)}")


@dataclass(frozen=True)
class _Reply:
    status: int
    headers: Mapping[str, str]
    content: bytes = b""


def _answer_request(hub: Hub, request: Request, port: int) -> _Reply:
    if request.method in hub.errors:
        return _make_error(request, *hub.errors[request.method])
    if request.path.startswith("/cdn/"):
        return _send_content(hub, request, hub.revisions[request.path.removeprefix("/cdn/")], {})
    found = _RESOLVE.fullmatch(unquote(request.path))
    if not found:
        return _make_error(request, 404, "RepoNotFound")
    revision = [*hub.revisions][-1] if found[1] == "main" else found[1]
    if revision not in hub.revisions:
        return _make_error(request, 404, "RevisionNotFound")
    content = hub.revisions[revision]
    sha256 = hashlib.sha256(content).hexdigest()
    states = {
        "X-Repo-Commit": revision,
        "X-Linked-Etag": f'"{sha256}"',
        "X-Linked-Size": str(len(content)),
        "ETag": f'"{sha256}"',
        "Accept-Ranges": "bytes",
        **hub.states,
    }
    if hub.cdn:
        return _Reply(302, {**states, "Location": f"http://localhost:{port}/cdn/{revision}"})
    return _send_content(hub, request, content, {name: value for name, value in states.items() if value})


def _make_error(request: Request, status: int, code: str) -> _Reply:
    """Refuse a request with a message that repeats the token, which nobody should show."""
    return _Reply(
        status, {"X-Error-Code": code, "X-Error-Message": f"no: {request.headers.get('authorization')}"}
    )


def _send_content(hub: Hub, request: Request, content: bytes, headers: Mapping[str, str]) -> _Reply:
    if request.method == "GET" and hub.sends is not None:
        content = hub.sends
    asked = re.fullmatch(r"bytes=(\d+)-", request.range or "")
    if not asked or not hub.ranges:
        return _Reply(200, headers, content)
    start = int(asked[1])
    part = f"bytes {start}-{len(content) - 1}/{len(content)}"
    return _Reply(206, {**headers, "Content-Range": part}, content[start:])


@contextmanager
def serve_hub(hub: Hub) -> Iterator[Hub]:
    """Serve the dataset on a free port of 127.0.0.1 until the block ends; the CDN is ``localhost`` there."""
    hub.goes_on.set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers)
            hub.requests.append(request)
            reply = _answer_request(hub, request, int(hub.endpoint.rpartition(":")[2]))
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(reply.content)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(reply.content[: hub.cut])
                hub.goes_on.wait(60)
                self.close_connection = hub.cut is not None

        do_HEAD = do_GET  # noqa: N815 - http.server's name

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
            """Say nothing."""

    with listen_on_loopback(Handler) as port:
        hub.endpoint = f"http://127.0.0.1:{port}"
        yield hub


_watchers: list[list[str]] = []


@cache
def _install_watch() -> None:
    """Install the audit hook, once for all watchers because a hook cannot be removed."""

    def note_host(event: str, arguments: tuple[object, ...]) -> None:
        if event == "socket.getaddrinfo":
            host = arguments[0]
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            host = arguments[1][0]
        else:
            return
        for hosts in _watchers:
            hosts.append(str(host))

    sys.addaudithook(note_host)


@contextmanager
def watch_connections() -> Iterator[list[str]]:
    """Collect every host that this process looks up or connects to in the block."""
    _install_watch()
    hosts: list[str] = []
    _watchers.append(hosts)
    try:
        yield hosts
    finally:
        _watchers.remove(hosts)
