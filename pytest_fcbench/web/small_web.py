"""The small web on loopback: its pages, a server for all of its hosts, and its search engine.

The engine ranks pages by BM25 (Robertson and Zaragoza 2009).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from pytest_fcbench.web.loopback_server import LoopbackReply, LoopbackServer

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
