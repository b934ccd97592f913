"""A memory of texts that are found by their meaning: a small core that is always shown, and an archive.

Official: ``MemoryAPI_vector``, where all-MiniLM-L6-v2 makes the vectors. Here the world provides
the maker of vectors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.memory_texts import ARCHIVE_LENGTH, ARCHIVE_SIZE, CORE_LENGTH, CORE_SIZE
from pytest_fcbench.environments.world import (
    Embed,
    Sentences,
    Vector,
    measure_likeness,
    write_sentence,
)


class MemoryVector(Environment):
    """A memory that lasts from one conversation to the next, in which texts are found by what they mean."""

    _domain = "memory_vector"

    def _set_up_domain(self, state: dict[str, Any], *, long_context: bool) -> None:
        shared_arguments = self._world.embed, self._sentences
        self.core_memory = Texts(CORE_SIZE, CORE_LENGTH, *shared_arguments, state.get("core_memory", {}))
        self.archival_memory = Texts(
            ARCHIVE_SIZE, ARCHIVE_LENGTH, *shared_arguments, state.get("archival_memory", {})
        )

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

    def __init__(
        self, size: int, length: int, embed: Embed, sentences: Sentences, state: Mapping[str, Any]
    ) -> None:
        self._sentences = sentences
        self._size = size
        self._length = length
        self._embed = embed
        self._next_id: int = state.get("next_id", 0)
        # Numbers that went through JSON are texts.
        self.texts: dict[int, str] = {int(number): text for number, text in state.get("texts", {}).items()}
        self._vectors: dict[str, Vector] = {}
        # Officially an updated text goes to the end of the index, and what was left behind is sorted.
        self._order = dict.fromkeys(sorted(self.texts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texts) and self.state() == other.state()

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
            ours = "this memory is full: it holds {max_size} texts"
            return {"error": self._write_text(ours, "add", 1, max_size=self._size)}
        number = self._next_id
        self._next_id += 1
        self.texts[number] = text
        self._order[number] = None
        return {"id": number}

    def remove(self, number: int) -> dict[str, object]:
        """Delete a text; its number is not used again."""
        if number not in self.texts:
            return self._make_id_error("remove", number)
        del self.texts[number], self._order[number]
        return {"status": self._write_text("text {vec_id} is gone", "remove", 1, vec_id=number)}

    def update(self, number: int, text: str) -> dict[str, object]:
        """Replace the text of a number."""
        if number not in self.texts:
            return self._make_id_error("update", number)
        if error := self._check_text(text):
            return error
        self.texts[number] = text
        self._order[number] = self._order.pop(number)
        return {"status": self._write_text("text {vec_id} is replaced", "update", 2, vec_id=number)}

    def clear(self) -> dict[str, object]:
        """Delete all; numbers begin at 0 again."""
        self.texts.clear()
        self._order.clear()
        self._next_id = 0
        return {"status": self._write_text("this memory is empty now", "clear", 0)}

    def retrieve(self, query: str, top_k: int) -> list[dict[str, object]]:
        """Return the texts that are most similar to a query; among equally similar ones the oldest first."""
        if not self.texts or top_k == 0:
            return []
        if top_k < 0:
            raise ValueError("top_k must be 0 or more")
        query_vector = self._get_vector(str(query))
        scores = {
            number: measure_likeness(query_vector, self._get_vector(self.texts[number]))
            for number in self._order
        }
        return [
            {"id": number, "similarity_score": scores[number], "text": self.texts[number]}
            for number in sorted(scores, key=lambda number: -scores[number])[:top_k]
        ]

    def retrieve_all(self) -> list[dict[str, object]]:
        """Return all texts with their numbers."""
        return [{"id": number, "text": text} for number, text in self.texts.items()]

    def _get_vector(self, text: str) -> Vector:
        if text not in self._vectors:
            missing_texts = [text, *(each for each in self.texts.values() if each not in self._vectors)]
            self._vectors |= zip(missing_texts, self._embed(missing_texts), strict=True)
        return self._vectors[text]

    def _check_text(self, text: object) -> dict[str, object] | None:
        if not isinstance(text, str):
            raise TypeError(f"a text is needed, not {type(text).__name__}")
        if len(text) > self._length:
            ours = "a text of this memory has {max_entry_length} characters at the most"
            return {"error": self._write_text(ours, "add", 0, max_entry_length=self._length)}
        return None

    def _make_id_error(self, function: str, number: object) -> dict[str, object]:
        return {"error": self._write_text("there is no text {vec_id}", function, 0, vec_id=number)}

    def _write_text(self, ours: str, function: str, number: int, **values: object) -> str:
        return write_sentence(self._sentences, ours, function, number, values)
