"""Find texts that were seen before, word for word or nearly so, with a few numbers of memory for each.

MinHash (Broder 1997) over runs of three words, in bands: two texts are alike where one of five bands of
twelve smallest hashes is the same. That is likely where nine of ten runs are the same, and unlikely below
seven.
"""

from __future__ import annotations

import re
import zlib

from pytest_fcbench.tools.importing.key_set import KeySet

_BANDS, _ROWS = 5, 12
_RUN = 3
_WORD = re.compile(r"\w+")
_MOST_WORDS = 2000
"""Longer texts are compared by their beginnings."""


class SeenTexts:
    """The texts that were seen so far, each as the hashes of its bands."""

    def __init__(self) -> None:
        import numpy as np

        chance = np.random.default_rng(0)
        # Multiplied by odd factors modulo 2**64, of which the upper half is kept: a family of hash functions.
        factors, self._terms = chance.integers(1 << 63, size=(2, _BANDS * _ROWS), dtype=np.uint64)
        self._factors = 2 * factors + 1
        self._keys = KeySet()

    def add_text(self, text: str, kind: tuple[str, int] = ("", 0)) -> bool:
        """Add a text, and tell whether one like it was there among those of its kind."""
        import numpy as np

        words = _WORD.findall(text.lower())[:_MOST_WORDS]
        runs = {" ".join(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))}
        hashes = np.fromiter((zlib.crc32(run.encode(errors="replace")) for run in runs), dtype=np.uint64)
        smallest = ((hashes[:, None] * self._factors + self._terms) >> np.uint64(32)).min(axis=0)
        was_there = False
        for band, rows in enumerate(smallest.reshape(_BANDS, _ROWS)):
            # All bands are added, whether or not one was there.
            was_there = self._keys.add_key(hash((band, kind, rows.tobytes()))) or was_there
        return was_there
