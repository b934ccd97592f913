"""A server on a free port of 127.0.0.1, in threads of this process, in the place of other hosts.

The small web is one: its pages, and a search engine that ranks them by BM25 (Robertson and Zaragoza 2009).
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

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


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a URL, and its text for a search engine."""

    url: str
    title: str
    text: str
    """The text that is indexed, without markup; empty for pages that a search must not find."""
    type: str
    body: bytes
    location: str | None = None
    """The target of a redirect."""


_K = 1.5
"""BM25's k1: the saturation of repeated words."""
_B = 0.75
"""BM25's b: the weight of a page's length."""
_TITLE = 3
"""The number of times that a word of the title counts."""
_SNIPPET = 80
"""Characters of a snippet."""

_WORD = re.compile(r"\w+")


class Index:
    """An index of the pages that have text."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages = [page for page in pages if page.text]
        self._counts = [
            Counter(_split_words(page.title) * _TITLE + _split_words(page.text)) for page in self._pages
        ]
        self._lengths = [counts.total() for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(self._lengths))
        holding = Counter(word for counts in self._counts for word in counts)
        # A word weighs more, the fewer pages have it.
        self._weights = {
            word: math.log(1 + (len(self._pages) - n + 0.5) / (n + 0.5)) for word, n in holding.items()
        }

    def find_pages(self, query: str, most: int) -> Sequence[tuple[Page, str]]:
        """Return at most ``most`` pages, the best first, each with its beginning."""
        words = dict.fromkeys(_split_words(query))
        scores = []
        for counts, length in zip(self._counts, self._lengths, strict=True):
            relative = length / self._mean
            terms = (
                self._weights[word] * n * (_K + 1) / (n + _K * (1 - _B + _B * relative))
                for word in words
                if (n := counts[word])
            )
            # ``fsum`` gives the same sum on every Python, so that equal pages keep their order.
            scores.append(math.fsum(terms))
        best = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
        pages = []
        for number in best[: max(0, most)]:
            if scores[number] > 0:
                text = " ".join(self._pages[number].text.split())
                if len(text) > _SNIPPET:
                    text = f"{text[: _SNIPPET - 1].rpartition(' ')[0]}…"
                pages.append((self._pages[number], text))
        return pages


def _split_words(text: str) -> list[str]:
    """Split a text into words without case and without a plural s."""
    return [word.removesuffix("s") if len(word) > 3 else word for word in _WORD.findall(text.casefold())]
