"""The small web on loopback: a server for all of its hosts and its search engine."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pytest_fcbench.web.client import LOOPBACK
from pytest_fcbench.web.index import Index
from pytest_fcbench.web.page import Page

ENGINE = "search.example"
"""The host of the search engine: ``/?q=WORDS&n=10`` gives a JSON list of title, url and snippet."""


class SmallWeb:
    """Pages served from threads of this process, on a free port of 127.0.0.1, until it is closed."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = pages
        self._server = ThreadingHTTPServer((LOOPBACK, 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def local(self) -> Mapping[str, int]:
        """The port of each host."""
        hosts = {urlsplit(url).netloc for url in self.pages} | {ENGINE}
        return dict.fromkeys(hosts, self._server.server_address[1])

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @cached_property
    def _index(self) -> Index:
        return Index(self.pages.values())

    def _found(self, query: str) -> Page:
        asked = parse_qs(query)
        most = int(asked.get("n", ["10"])[0])
        found = [
            {"title": page.title, "url": page.url, "snippet": snippet}
            for page, snippet in self._index.found(asked.get("q", [""])[0], most)
        ]
        return Page("", "", "", "application/json", json.dumps(found).encode())

    def _answer(self, host: str, target: str) -> tuple[int, Page]:
        parts = urlsplit(target)
        if host == ENGINE:
            return 200, self._found(parts.query)
        page = self.pages.get(f"http://{host}{parts.path}")
        if page is None:
            return 404, Page("", "", "", "text/html; charset=utf-8", b"<h1>There is no such page</h1>")
        return (200 if page.location is None else 301), page

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer = self._answer

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                try:
                    status, page = answer(self.headers.get("Host", "").partition(":")[0], self.path)
                except ValueError:
                    status, page = 400, Page("", "", "", "text/plain", b"not a request")
                self.send_response(status)
                self.send_header("Content-Type", page.type)
                self.send_header("Content-Length", str(len(page.body)))
                if page.location is not None:
                    self.send_header("Location", page.location)
                self.end_headers()
                self.wfile.write(page.body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base
                """Nothing: what was asked stands in the Record."""

        return Handler
