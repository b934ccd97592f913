"""The small web on loopback: a server for all of its hosts and its search engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from pytest_fcbench.web.loopback_server import LoopbackReply, LoopbackServer
from pytest_fcbench.web.page import Page
from pytest_fcbench.web.search_index import Index

ENGINE = "search.example"
"""The host of the search engine: ``/?q=WORDS&n=10`` gives a JSON list of title, url and snippet."""


class SmallWeb:
    """A server of pages that runs until it is closed. Raises ``OSError`` if it cannot start."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = pages
        self._index = Index(pages.values())
        self._server = LoopbackServer(self._answer)

    @property
    def local(self) -> Mapping[str, int]:
        """The port of each host."""
        hosts = {urlsplit(url).netloc for url in self.pages} | {ENGINE}
        return dict.fromkeys(hosts, self._server.port)

    def close(self) -> None:
        """End the server."""
        self._server.close()

    def _answer(self, host: str, target: str, headers: Mapping[str, str]) -> LoopbackReply:
        parts = urlsplit(target)
        if host == ENGINE:
            parameters = parse_qs(parts.query)
            words, most = parameters.get("q", [""])[0], int(parameters.get("n", ["10"])[0])
            results = [
                {"title": page.title, "url": page.url, "snippet": snippet}
                for page, snippet in self._index.find_pages(words, most)
            ]
            return LoopbackReply(200, "application/json", json.dumps(results).encode())
        page = self.pages.get(f"http://{host}{parts.path}")
        if page is None:
            return LoopbackReply(404, "text/html; charset=utf-8", b"<h1>There is no such page</h1>")
        if page.location is None:
            return LoopbackReply(200, page.type, page.body)
        return LoopbackReply(301, page.type, page.body, {"Location": page.location})
