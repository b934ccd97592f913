"""The memories that find texts by their words: texts under keys, or one text that is always shown whole.

Official: ``MemoryAPI_kv``, a small core that is always shown and an archive that is searched by name; its
limits are checked only when a text is added. ``MemoryAPI_rec_sum`` checks the length of the whole memory when
text is added, and only the length of the new part when text is replaced.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pytest_fcbench.environments.environment import Environment

CORE_SIZE, CORE_LENGTH = 7, 300
"""Most texts of the core, and characters of each."""
ARCHIVE_SIZE, ARCHIVE_LENGTH = 50, 2000
"""Most texts of the archive, and characters of each."""

# Official: a line break at the end is overlooked, as $ matches before it.
_KEY = re.compile(r"^[a-z]+(_[a-z0-9]+)*$")


class MemoryKv(Environment):
    """A memory that lasts from one conversation to the next, in which texts are kept under keys."""

    _domain = "memory_kv"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.core_memory: dict[str, str] = state.get("core_memory", {})
        self.archival_memory: dict[str, str] = state.get("archival_memory", {})

    def recall_memory(self) -> str:
        """Return the core as JSON."""
        return json.dumps(self.core_memory, indent=4) if self.core_memory else ""

    def core_memory_add(self, key: str, value: str) -> dict[str, object]:
        """Keep a text in the core memory under a new key.

        Args:
            key: Name that says what the text is about, in snake_case and not in use yet.
            value: The text, of 300 characters at the most.

        Returns:
            status: that it is kept.
        """
        return self._add_text("core_memory_add", self.core_memory, key, value, CORE_SIZE, CORE_LENGTH)

    def core_memory_remove(self, key: str) -> dict[str, object]:
        """Delete a text from the core memory.

        Args:
            key: Its key, exactly.

        Returns:
            status: that it is gone.
        """
        return self._remove_text("core_memory_remove", self.core_memory, key)

    def core_memory_replace(self, key: str, value: str) -> dict[str, object]:
        """Put another text in the place of one in the core memory.

        Args:
            key: The key of the text that is there, exactly.
            value: The new text, of 300 characters at the most.

        Returns:
            status: that it is replaced.
        """
        return self._replace_text("core_memory_replace", self.core_memory, key, value, CORE_LENGTH)

    def core_memory_clear(self) -> dict[str, object]:
        """Delete everything from the core memory, for good.

        Returns:
            status: that it is empty.
        """
        self.core_memory = {}
        return {"status": self._write_text("the core memory is empty now", "core_memory_clear", 0)}

    def core_memory_retrieve(self, key: str) -> dict[str, object]:
        """Look up a text in the core memory.

        Args:
            key: Its key, exactly; nothing alike is found.

        Returns:
            value: the text.
        """
        return self._retrieve_text("core_memory_retrieve", self.core_memory, key)

    def core_memory_list_keys(self) -> dict[str, object]:
        """List the keys of the core memory.

        Returns:
            keys: all of them, the oldest first.
        """
        return {"keys": list(self.core_memory)}

    def core_memory_key_search(self, query: str, k: int = 5) -> dict[str, object]:
        """Find keys of the core memory that share words with a query (BM25+).

        Args:
            query: What to look for.
            k: How many keys to return.

        Returns:
            ranked_results: pairs of a score and a key, the best first.
        """
        return self._search_keys(self.core_memory, query, k)

    def core_memory_retrieve_all(self) -> dict[str, str]:
        """Look up everything in the core memory.

        Returns:
            The texts by their keys.
        """
        return self.core_memory

    def archival_memory_add(self, key: str, value: str) -> dict[str, object]:
        """Keep a text in the archival memory under a new key.

        Args:
            key: Name that says what the text is about, in snake_case and not in use yet.
            value: The text, of 2000 characters at the most.

        Returns:
            status: that it is kept.
        """
        return self._add_text(
            "archival_memory_add", self.archival_memory, key, value, ARCHIVE_SIZE, ARCHIVE_LENGTH
        )

    def archival_memory_remove(self, key: str) -> dict[str, object]:
        """Delete a text from the archival memory.

        Args:
            key: Its key, exactly.

        Returns:
            status: that it is gone.
        """
        return self._remove_text("archival_memory_remove", self.archival_memory, key)

    def archival_memory_replace(self, key: str, value: str) -> dict[str, object]:
        """Put another text in the place of one in the archival memory.

        Args:
            key: The key of the text that is there, exactly.
            value: The new text, of 2000 characters at the most.

        Returns:
            status: that it is replaced.
        """
        return self._replace_text("archival_memory_replace", self.archival_memory, key, value, ARCHIVE_LENGTH)

    def archival_memory_clear(self) -> dict[str, object]:
        """Delete everything from the archival memory, for good.

        Returns:
            status: that it is empty.
        """
        self.archival_memory = {}
        ours = "the archival memory is empty now"
        return {"status": self._write_text(ours, "archival_memory_clear", 0)}

    def archival_memory_retrieve(self, key: str) -> dict[str, object]:
        """Look up a text in the archival memory.

        Args:
            key: Its key, exactly; nothing alike is found.

        Returns:
            value: the text.
        """
        return self._retrieve_text("archival_memory_retrieve", self.archival_memory, key)

    def archival_memory_list_keys(self) -> dict[str, object]:
        """List the keys of the archival memory.

        Returns:
            keys: all of them, the oldest first.
        """
        return {"keys": list(self.archival_memory)}

    def archival_memory_key_search(self, query: str, k: int = 5) -> dict[str, object]:
        """Find keys of the archival memory that share words with a query (BM25+).

        Args:
            query: What to look for.
            k: How many keys to return.

        Returns:
            ranked_results: pairs of a score and a key, the best first.
        """
        return self._search_keys(self.archival_memory, query, k)

    def _add_text(
        self, function: str, texts: dict[str, str], key: str, value: str, size: int, length: int
    ) -> dict[str, object]:
        key, value = str(key), str(value)
        if len(texts) >= size:
            return self._make_error(f"this memory is full: it holds {size} texts", function, 0)
        if len(value) > length:
            return self._make_length_error(function, length)
        if not _KEY.match(key):
            return self._make_error("a key is written in snake_case, without spaces", function, 2)
        if key in texts:
            return self._make_error("this key is in use already", function, 3)
        texts[key] = value
        return {"status": self._write_text("the text is kept", function, 4)}

    def _replace_text(
        self, function: str, texts: dict[str, str], key: str, value: str, length: int
    ) -> dict[str, object]:
        key, value = str(key), str(value)
        if key not in texts:
            return self._make_key_error(function, 0)
        if len(value) > length:
            return self._make_length_error(function, length)
        texts[key] = value
        return {"status": self._write_text("the text is replaced", function, 2)}

    def _remove_text(self, function: str, texts: dict[str, str], key: str) -> dict[str, object]:
        if key not in texts:
            return self._make_key_error(function, 1)
        del texts[key]
        return {"status": self._write_text("the text is gone", function, 0)}

    def _retrieve_text(self, function: str, texts: dict[str, str], key: str) -> dict[str, object]:
        return {"value": texts[key]} if key in texts else self._make_key_error(function, 0)

    def _search_keys(self, texts: dict[str, str], query: str, k: int) -> dict[str, object]:
        # Official: an empty memory cannot be searched, and Python says so.
        keys = rank_texts(query, list(texts)) if texts or self._sentences else []
        return {"ranked_results": keys[:k]}

    def _make_key_error(self, function: str, number: int) -> dict[str, object]:
        return self._make_error("there is no such key", function, number)

    def _make_length_error(self, function: str, length: int) -> dict[str, object]:
        ours = f"a text of this memory has {length} characters at the most"
        limits = {"MAX_CORE_MEMORY_ENTRY_LENGTH": length, "MAX_ARCHIVAL_MEMORY_ENTRY_LENGTH": length}
        return self._make_error(ours, function, 1, **limits)


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


MOST_ADDED = 10_000
"""The most characters of the memory when text is added, and of a new text."""

MOST_REPLACED = 1_000_000
"""The most characters after a replacement, which can make a text ten thousand times as long. Officially there
is no limit."""


class MemoryRecSum(Environment):
    """A memory that lasts from one conversation to the next: a text that you keep short and up to date."""

    _domain = "memory_rec_sum"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        self.memory = str(state.get("memory", ""))

    def recall_memory(self) -> str:
        """Return all of it."""
        return self.memory

    def memory_append(self, text: str) -> dict[str, object]:
        """Add to the end of the memory.

        Args:
            text: What to add; with it the memory has 10,000 characters at the most.

        Returns:
            status: that it is added.
        """
        text = str(text)
        if len(self.memory) + len(text) > MOST_ADDED:
            ours = "with this the memory has more than {MAX_MEMORY_ENTRY_LENGTH} characters"
            return self._make_error(ours, "memory_append", 0, MAX_MEMORY_ENTRY_LENGTH=MOST_ADDED)
        self.memory += text
        return {"status": self._write_text("the text is added", "memory_append", 1)}

    def memory_update(self, text: str) -> dict[str, object]:
        """Put a new text in the place of all that the memory holds.

        Args:
            text: The new memory, of 10,000 characters at the most.

        Returns:
            status: that it is written.
        """
        text = str(text)
        if len(text) > MOST_ADDED:
            return self._make_length_error("memory_update", 0)
        self.memory = text
        return {"status": self._write_text("the memory is written", "memory_update", 1)}

    def memory_clear(self) -> dict[str, object]:
        """Delete everything from the memory, for good.

        Returns:
            status: that it is empty.
        """
        self.memory = ""
        return {"status": self._write_text("the memory is empty now", "memory_clear", 0)}

    def memory_replace(self, old_text: str, new_text: str) -> dict[str, object]:
        """Put another text in the place of a part of the memory, wherever that stands.

        Args:
            old_text: What stands in the memory, exactly.
            new_text: What is to stand there.

        Returns:
            status: that it is written.
        """
        old_text, new_text = str(old_text), str(new_text)
        if old_text not in self.memory:
            ours = "the memory does not say '{old_text}'"
            return self._make_error(ours, "memory_replace", 0, old_text=old_text)
        length = len(self.memory) + self.memory.count(old_text) * (len(new_text) - len(old_text))
        if len(new_text) > MOST_ADDED or length > MOST_REPLACED:
            return self._make_length_error("memory_replace", 1)
        self.memory = self.memory.replace(old_text, new_text)
        return {"status": self._write_text("the memory is written", "memory_replace", 2)}

    def memory_retrieve(self) -> dict[str, object]:
        """Look at the whole memory.

        Returns:
            memory_content: the text.
        """
        if not self.memory:
            return self._make_error("the memory is empty", "memory_retrieve", 0)
        return {"memory_content": self.memory}

    def _make_length_error(self, function: str, number: int) -> dict[str, object]:
        ours = "this is more than {MAX_MEMORY_ENTRY_LENGTH} characters"
        return self._make_error(ours, function, number, MAX_MEMORY_ENTRY_LENGTH=MOST_ADDED)
