"""A memory of texts that are found by their meaning: a small core that is always shown, and an archive.

Official: ``MemoryAPI_vector``, where all-MiniLM-L6-v2 makes the vectors. Here the world provides
the maker of vectors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.memory.kv import ARCHIVE_LENGTH, ARCHIVE_SIZE, CORE_LENGTH, CORE_SIZE
from pytest_fcbench.environments.memory.vectors import Embed, Vector, measure_likeness
from pytest_fcbench.environments.world import World


class MemoryVector(Environment):
    """A memory that lasts from one conversation to the next, in which texts are found by what they mean."""

    def __init__(self, config: Mapping[str, object], world: World, *, long_context: bool = False) -> None:
        state: Mapping[str, Any] = config
        self.core_memory = Texts(CORE_SIZE, CORE_LENGTH, world.embed, state.get("core_memory", {}))
        archive = state.get("archival_memory", {})
        self.archival_memory = Texts(ARCHIVE_SIZE, ARCHIVE_LENGTH, world.embed, archive)

    def get_full_state(self) -> Mapping[str, object]:
        """Return texts by id, and the next id."""
        return {"core_memory": self.core_memory.state(), "archival_memory": self.archival_memory.state()}

    def recall_memory(self) -> str:
        """Return the core as JSON, which an empty one is too (official)."""
        return json.dumps(self.core_memory.texts, indent=4)

    def core_memory_add(self, text: str) -> dict[str, object]:
        """Keep a text in the core memory.

        Args:
            text: What to keep, of 300 characters at the most.

        Returns:
            id: the number by which it can be changed or removed.
        """
        return self.core_memory.add(text)

    def core_memory_remove(self, vec_id: int) -> dict[str, object]:
        """Delete a text from the core memory.

        Args:
            vec_id: Its number.

        Returns:
            status: that it is gone.
        """
        return self.core_memory.remove(vec_id)

    def core_memory_update(self, vec_id: int, new_text: str) -> dict[str, object]:
        """Put another text in the place of one in the core memory.

        Args:
            vec_id: Number of the text that is there.
            new_text: The new one, of 300 characters at the most.

        Returns:
            status: that it is replaced.
        """
        return self.core_memory.update(vec_id, new_text)

    def core_memory_clear(self) -> dict[str, object]:
        """Delete everything from the core memory, for good.

        Returns:
            status: that it is empty.
        """
        return self.core_memory.clear()

    def core_memory_retrieve(self, query: str, top_k: int = 5) -> dict[str, object]:
        """Find the texts of the core memory that mean something like a query.

        Args:
            query: What to look for.
            top_k: How many texts to return.

        Returns:
            result: of each text its id, its similarity_score and the text, the most similar first.
        """
        return {"result": self.core_memory.retrieve(query, top_k)}

    def core_memory_retrieve_all(self) -> dict[str, object]:
        """Look up everything in the core memory.

        Returns:
            result: of each text its id and the text.
        """
        return {"result": self.core_memory.retrieve_all()}

    def archival_memory_add(self, text: str) -> dict[str, object]:
        """Keep a text in the archival memory.

        Args:
            text: What to keep, of 2000 characters at the most.

        Returns:
            id: the number by which it can be changed or removed.
        """
        return self.archival_memory.add(text)

    def archival_memory_remove(self, vec_id: int) -> dict[str, object]:
        """Delete a text from the archival memory.

        Args:
            vec_id: Its number.

        Returns:
            status: that it is gone.
        """
        return self.archival_memory.remove(vec_id)

    def archival_memory_update(self, vec_id: int, new_text: str) -> dict[str, object]:
        """Put another text in the place of one in the archival memory.

        Args:
            vec_id: Number of the text that is there.
            new_text: The new one, of 2000 characters at the most.

        Returns:
            status: that it is replaced.
        """
        return self.archival_memory.update(vec_id, new_text)

    def archival_memory_clear(self) -> dict[str, object]:
        """Delete everything from the archival memory, for good.

        Returns:
            status: that it is empty.
        """
        return self.archival_memory.clear()

    def archival_memory_retrieve(self, query: str, top_k: int = 5) -> dict[str, object]:
        """Find the texts of the archival memory that mean something like a query.

        Args:
            query: What to look for.
            top_k: How many texts to return.

        Returns:
            result: of each text its id, its similarity_score and the text, the most similar first.
        """
        return {"result": self.archival_memory.retrieve(query, top_k)}

    def archival_memory_retrieve_all(self) -> dict[str, object]:
        """Look up everything in the archival memory.

        Returns:
            result: of each text its id and the text.
        """
        return {"result": self.archival_memory.retrieve_all()}


class Texts:
    """Texts by number, with vectors made at the first search; equal where the texts are equal."""

    def __init__(self, size: int, length: int, embed: Embed, state: Mapping[str, Any]) -> None:
        self._size = size
        self._length = length
        self._embed = embed
        self._next_id: int = state.get("next_id", 0)
        # Numbers that went through JSON are texts.
        self.texts: dict[int, str] = {int(number): text for number, text in state.get("texts", {}).items()}
        self._vectors: dict[str, Vector] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texts) and self.state() == other.state()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Texts({self.state()})"

    def state(self) -> dict[str, object]:
        """Return the whole store as plain values."""
        return {"next_id": self._next_id, "texts": dict(self.texts)}

    def add(self, text: str) -> dict[str, object]:
        """Store a text."""
        if error := self._check_text(text):
            return error
        if len(self.texts) >= self._size:
            return {"error": f"this memory is full: it holds {self._size} texts"}
        number = self._next_id
        self._next_id += 1
        self.texts[number] = text
        return {"id": number}

    def remove(self, number: int) -> dict[str, object]:
        """Delete a text; its number is not used again."""
        if number not in self.texts:
            return _make_id_error(number)
        del self.texts[number]
        return {"status": f"text {number} is gone"}

    def update(self, number: int, text: str) -> dict[str, object]:
        """Replace the text of a number."""
        if number not in self.texts:
            return _make_id_error(number)
        if error := self._check_text(text):
            return error
        self.texts[number] = text
        return {"status": f"text {number} is replaced"}

    def clear(self) -> dict[str, object]:
        """Delete all; numbers begin at 0 again."""
        self.texts.clear()
        self._next_id = 0
        return {"status": "this memory is empty now"}

    def retrieve(self, query: str, top_k: int) -> list[dict[str, object]]:
        """Return the texts that are most similar to a query; among equally similar ones the oldest first."""
        if not self.texts:
            return []
        if top_k < 1:
            raise ValueError("top_k must be 1 or more")
        asked = self._get_vector(str(query))
        scored = [
            (-measure_likeness(asked, self._get_vector(text)), number) for number, text in self.texts.items()
        ]
        return [
            {"id": number, "similarity_score": -score, "text": self.texts[number]}
            for score, number in sorted(scored)[:top_k]
        ]

    def retrieve_all(self) -> list[dict[str, object]]:
        """Return all texts with their numbers."""
        return [{"id": number, "text": text} for number, text in self.texts.items()]

    def _get_vector(self, text: str) -> Vector:
        if text not in self._vectors:
            wanted = [text, *(held for held in self.texts.values() if held not in self._vectors)]
            self._vectors |= zip(wanted, self._embed(wanted), strict=True)
        return self._vectors[text]

    def _check_text(self, text: object) -> dict[str, object] | None:
        if not isinstance(text, str):
            raise TypeError(f"a text is needed, not {type(text).__name__}")
        if len(text) > self._length:
            return {"error": f"a text of this memory has {self._length} characters at the most"}
        return None


def _make_id_error(number: object) -> dict[str, object]:
    return {"error": f"there is no text {number!r:.100}"}
