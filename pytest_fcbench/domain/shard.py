"""Split a run into parts for several machines that need not know of each other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from pytest_fcbench.domain.entry import Entry


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a run that has ``of`` parts of about the same size; ``number`` begins with 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a shard such as ``3/10``. Raises ``ValueError``."""
        match = re.fullmatch(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", text)
        if match is None or int(match[1]) > int(match[2]):
            raise ValueError("must be K/N with K from 1 to N, such as 3/10")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def holds(self, entry: Entry) -> bool:
        """Tell whether an entry belongs to this shard, by its id alone, so that added entries move no other.

        All trials of an entry stay together, and so do all questions about one memory, because the
        conversations that filled it are held once by whoever asks.
        """
        return self.holds_key((*entry.earlier, entry)[0].key)

    def holds_key(self, key: str) -> bool:
        """Tell whether an entry that continues no other is in this shard, by its key."""
        # Python's own ``hash`` of a text differs from process to process.
        digest = sha256(key.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1
