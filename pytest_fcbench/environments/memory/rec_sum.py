"""A memory of one text, which the model rewrites and is always shown as a whole.

Official: ``MemoryAPI_rec_sum``. It checks the length of the whole memory when text is added, and only the
length of the new part when text is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.environments.environment import Environment
from pytest_fcbench.environments.world import World

MOST_ADDED = 10_000
"""The most characters of the memory when text is added, and of a new text."""

MOST_REPLACED = 1_000_000
"""The most characters after a replacement, which can make a text ten thousand times as long. Officially there
is no limit."""


class MemoryRecSum(Environment):
    """A memory that lasts from one conversation to the next: a text that you keep short and up to date."""

    _domain = "memory_rec_sum"

    def __init__(self, config: Mapping[str, object], world: World, *, long_context: bool = False) -> None:
        super().__init__(config, world, long_context=long_context)
        self.memory = str(config.get("memory", ""))

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
