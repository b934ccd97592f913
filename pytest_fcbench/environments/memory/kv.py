"""A memory of named texts: a small core that is always shown, and an archive that is searched by name.

Official: ``MemoryAPI_kv``. Its limits are checked only when a text is added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.memory.ranking import rank_texts
from pytest_fcbench.environments.world import World

CORE_SIZE, CORE_LENGTH = 7, 300
"""Most texts of the core, and characters of each."""
ARCHIVE_SIZE, ARCHIVE_LENGTH = 50, 2000
"""Most texts of the archive, and characters of each."""

# Official: a line break at the end is overlooked, as $ matches before it.
_KEY = re.compile(r"^[a-z]+(_[a-z0-9]+)*$")


class MemoryKv(Environment):
    """A memory that lasts from one conversation to the next, in which texts are kept under keys."""

    def __init__(self, config: Mapping[str, object], world: World, *, long_context: bool = False) -> None:
        state: dict[str, Any] = deepcopy({"core_memory": {}, "archival_memory": {}, **config})
        self.core_memory: dict[str, str] = state["core_memory"]
        self.archival_memory: dict[str, str] = state["archival_memory"]

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
        return _add_text(self.core_memory, key, value, CORE_SIZE, CORE_LENGTH)

    def core_memory_remove(self, key: str) -> dict[str, object]:
        """Delete a text from the core memory.

        Args:
            key: Its key, exactly.

        Returns:
            status: that it is gone.
        """
        return _remove_text(self.core_memory, key)

    def core_memory_replace(self, key: str, value: str) -> dict[str, object]:
        """Put another text in the place of one in the core memory.

        Args:
            key: The key of the text that is there, exactly.
            value: The new text, of 300 characters at the most.

        Returns:
            status: that it is replaced.
        """
        return _replace_text(self.core_memory, key, value, CORE_LENGTH)

    def core_memory_clear(self) -> dict[str, object]:
        """Delete everything from the core memory, for good.

        Returns:
            status: that it is empty.
        """
        self.core_memory = {}
        return {"status": "the core memory is empty now"}

    def core_memory_retrieve(self, key: str) -> dict[str, object]:
        """Look up a text in the core memory.

        Args:
            key: Its key, exactly; nothing alike is found.

        Returns:
            value: the text.
        """
        return _retrieve_text(self.core_memory, key)

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
        return {"ranked_results": rank_texts(query, list(self.core_memory))[:k]}

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
        return _add_text(self.archival_memory, key, value, ARCHIVE_SIZE, ARCHIVE_LENGTH)

    def archival_memory_remove(self, key: str) -> dict[str, object]:
        """Delete a text from the archival memory.

        Args:
            key: Its key, exactly.

        Returns:
            status: that it is gone.
        """
        return _remove_text(self.archival_memory, key)

    def archival_memory_replace(self, key: str, value: str) -> dict[str, object]:
        """Put another text in the place of one in the archival memory.

        Args:
            key: The key of the text that is there, exactly.
            value: The new text, of 2000 characters at the most.

        Returns:
            status: that it is replaced.
        """
        return _replace_text(self.archival_memory, key, value, ARCHIVE_LENGTH)

    def archival_memory_clear(self) -> dict[str, object]:
        """Delete everything from the archival memory, for good.

        Returns:
            status: that it is empty.
        """
        self.archival_memory = {}
        return {"status": "the archival memory is empty now"}

    def archival_memory_retrieve(self, key: str) -> dict[str, object]:
        """Look up a text in the archival memory.

        Args:
            key: Its key, exactly; nothing alike is found.

        Returns:
            value: the text.
        """
        return _retrieve_text(self.archival_memory, key)

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
        return {"ranked_results": rank_texts(query, list(self.archival_memory))[:k]}


def _add_text(texts: dict[str, str], key: str, value: str, size: int, length: int) -> dict[str, object]:
    key, value = str(key), str(value)
    if len(texts) >= size:
        return {"error": f"this memory is full: it holds {size} texts"}
    if len(value) > length:
        return _make_length_error(length)
    if not _KEY.match(key):
        return {"error": "a key is written in snake_case, without spaces"}
    if key in texts:
        return {"error": "this key is in use already"}
    texts[key] = value
    return {"status": "the text is kept"}


def _replace_text(texts: dict[str, str], key: str, value: str, length: int) -> dict[str, object]:
    key, value = str(key), str(value)
    if key not in texts:
        return _make_key_error()
    if len(value) > length:
        return _make_length_error(length)
    texts[key] = value
    return {"status": "the text is replaced"}


def _remove_text(texts: dict[str, str], key: str) -> dict[str, object]:
    if key not in texts:
        return _make_key_error()
    del texts[key]
    return {"status": "the text is gone"}


def _retrieve_text(texts: dict[str, str], key: str) -> dict[str, object]:
    return {"value": texts[key]} if key in texts else _make_key_error()


def _make_key_error() -> dict[str, object]:
    return {"error": "there is no such key"}


def _make_length_error(length: int) -> dict[str, object]:
    return {"error": f"a text of this memory has {length} characters at the most"}
