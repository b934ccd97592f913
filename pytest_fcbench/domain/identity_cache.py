"""A cache of values by the object that they were made from, not by an equal one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Source = TypeVar("Source")
Value = TypeVar("Value")


class IdentityCache(Generic[Source, Value]):
    """Remembers values made from objects that have no hash and do not change, such as schemas.

    Equal objects are told apart, because 1, 1.0 and True are equal, but not the same JSON.
    """

    def __init__(self, most: int) -> None:
        """Keep at most ``most`` values; with one more, all before it are forgotten."""
        self._most = most
        self._pairs: dict[tuple[int, Hashable], tuple[Source, Value]] = {}
        """By the address of the source, which stays its own while it is kept here, and what else counts."""

    def find_or_make(self, source: Source, make: Callable[[Source], Value], beside: Hashable = None) -> Value:
        """Return the value made from a source and from what counts beside it, making it the first time."""
        key = id(source), beside
        pair = self._pairs.get(key)
        if pair is None:
            if len(self._pairs) >= self._most:
                self._pairs.clear()
            pair = self._pairs[key] = source, make(source)
        return pair[1]
