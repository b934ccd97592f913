"""A set of hashes that takes some twelve bytes for each, where a set of Python takes seventy."""

from __future__ import annotations

from array import array

_SMALLEST = 1 << 10
_MASK = (1 << 64) - 1
_FACTOR = 0x9E3779B97F4A7C15


class KeySet:
    """Hashes of 64 bits in a table with open addressing; 0 marks a free place."""

    def __init__(self) -> None:
        self._places = array("Q", bytes(8 * _SMALLEST))
        self._count = 0

    def add_key(self, key: int) -> bool:
        """Add a hash, and tell whether it was there."""
        key = key & _MASK or 1
        place = self._find_place(key)
        if self._places[place]:
            return True
        self._places[place] = key
        self._count += 1
        if 3 * self._count > 2 * len(self._places):
            old, self._places = self._places, array("Q", bytes(16 * len(self._places)))
            for each in filter(None, old):
                self._places[self._find_place(each)] = each
        return False

    def _find_place(self, key: int) -> int:
        """Return the place of a hash, or the free one that it would have."""
        places, last = self._places, len(self._places) - 1
        # Hashes may have their lowest bits in common; of a product (Knuth) those in the middle differ.
        place = (key * _FACTOR >> 32) & last
        while places[place] and places[place] != key:
            place = place + 1 & last
        return place
