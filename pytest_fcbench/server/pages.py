"""Pages served on loopback to the browser of this machine, and to nothing else.

Only GET is answered, and only where the request names this server: a page of another site that has its name
resolved to 127.0.0.1 (DNS rebinding) sends its own name and is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import fstat
from pathlib import Path
from shutil import copyfileobj
from urllib.parse import parse_qs, unquote, urlsplit

from pytest_fcbench.domain.errors import FcbenchError
from pytest_fcbench.domain.text import make_printable

HOST = "127.0.0.1"
HTML, JSON = "text/html; charset=utf-8", "application/json"
_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every page; the page itself states what it may load."""


@dataclass(frozen=True, slots=True)
class ServedPage:
    """An answer to a request: a text, or a file with one."""

    content: str | Path
    kind: str = HTML


FindPage = Callable[[str, Mapping[str, Sequence[str]]], ServedPage | None]
"""Returns the page of a path and its query, None for an unknown path. Raises ``FcbenchError``."""


class PageServer(ThreadingHTTPServer):
    """Serves the pages that a function finds."""

    def __init__(self, port: int, find_page: FindPage) -> None:
        self.find_page = find_page
        super().__init__((HOST, port), _PageHandler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print the traceback of an error, but for a client that left before it had its page."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"http://{HOST}:{self.server_address[1]}/"


class _PageHandler(BaseHTTPRequestHandler):
    """Answers GET; http.server refuses every other method by 501."""

    server_version, sys_version = "fcbench", ""

    def do_GET(self) -> None:
        """Answer a request."""
        assert isinstance(self.server, PageServer)
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            self._send_text(403, "this server answers requests to 127.0.0.1 only")
            return
        # A page is looked for by its decoded path; no file is.
        try:
            address = urlsplit(self.path)
            page = self.server.find_page(unquote(address.path), parse_qs(address.query))
            file = page.content.open("rb") if page and isinstance(page.content, Path) else None
        except ValueError:
            self._send_text(400, "not an address")
        except FcbenchError as error:
            self._send_text(400, make_printable(str(error)))
        except OSError as error:
            # A run may be deleted while its page is shown.
            self._send_text(404, make_printable(str(error)))
        else:
            if page is None:
                self._send_text(404, "no such page")
            elif file:
                with file:
                    self._send_head(200, page.kind, fstat(file.fileno()).st_size)
                    copyfileobj(file, self.wfile)
            else:
                self._send_text(200, str(page.content), page.kind)

    def _send_text(self, status: int, text: str, kind: str = "text/plain; charset=utf-8") -> None:
        data = text.encode(errors="backslashreplace")
        self._send_head(status, kind, len(data))
        self.wfile.write(data)

    def _send_head(self, status: int, kind: str, length: int) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(length), **_HEADERS}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server gives
        """Print nothing for a request."""
