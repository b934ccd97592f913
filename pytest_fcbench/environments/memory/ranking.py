"""Rank texts by the words that they share with a query: BM25+.

The formula and its parameters are those of rank_bm25's ``BM25Plus`` (Trotman et al. 2014), which the official
key-value memory ranks with, number by number. Words go through their own frequencies only, so nothing is
random, and texts of equal score keep their order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

_K1, _B, _DELTA = 1.5, 0.75, 1


def rank_texts(query: str, texts: Sequence[str]) -> list[tuple[float, str]]:
    """Return score and text, the best first; ``_`` parts words. Raises ZeroDivisionError without texts."""
    words = [_split_words(text) for text in texts]
    mean = sum(map(len, words)) / len(words)
    counts = [Counter(text_words) for text_words in words]
    holding = Counter(word for text_words in words for word in set(text_words))
    scores = [0.0] * len(texts)
    for word in _split_words(query):
        if not holding[word]:
            continue
        weight = math.log((len(texts) + 1) / holding[word])
        for place, count in enumerate(counts):
            length = _K1 * (1 - _B + _B * len(words[place]) / mean)
            scores[place] += weight * (_DELTA + count[word] * (_K1 + 1) / (length + count[word]))
    return sorted(zip(scores, texts, strict=True), key=lambda scored: scored[0], reverse=True)


def _split_words(text: str) -> list[str]:
    return text.replace("_", " ").lower().split()
