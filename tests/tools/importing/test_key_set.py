"""A set of hashes answers as a set of Python does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.tools.importing.key_set import KeySet


@given(st.lists(st.integers(-(1 << 63), (1 << 64) - 1) | st.integers(0, 9)))
def test_each_hash_is_new_once(keys: list[int]) -> None:
    found = KeySet()
    seen: set[int] = set()
    for key in keys:
        # 0 marks a free place, so it counts as 1.
        same = key % (1 << 64) or 1
        assert found.add_key(key) == (same in seen)
        seen.add(same)


def test_a_set_that_has_grown_still_knows_what_it_had() -> None:
    found = KeySet()
    # Multiples of a power of two, which have their lowest bits in common.
    keys = [number << 20 for number in range(1, 20_000)]
    assert not any(map(found.add_key, keys))
    assert all(map(found.add_key, keys))
    assert not found.add_key(3)
