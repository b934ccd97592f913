"""A text index that ranks pages for some words by BM25 (Robertson and Zaragoza 2009)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pytest_fcbench.web.page import Page

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
