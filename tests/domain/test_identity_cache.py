"""What was made from an object is made once, and never given for an equal one."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcbench.domain.identity_cache import IdentityCache


def test_a_value_is_made_once_for_an_object() -> None:
    cache, source = IdentityCache[Sequence[object], str](2), [1]
    assert cache.find_or_make(source, repr) is cache.find_or_make(source, repr)


def test_equal_objects_have_values_of_their_own() -> None:
    cache = IdentityCache[Sequence[object], str](9)
    assert [cache.find_or_make(source, repr) for source in ([1], [1.0], [True])] == ["[1]", "[1.0]", "[True]"]


def test_what_counts_beside_the_object_tells_values_apart() -> None:
    cache, source = IdentityCache[Sequence[object], str](9), [1]
    assert cache.find_or_make(source, repr, "a") == "[1]"
    assert cache.find_or_make(source, lambda _: "other", "b") == "other"
    assert cache.find_or_make(source, lambda _: "third", "a") == "[1]"


def test_no_more_values_than_the_limit_are_kept() -> None:
    cache = IdentityCache[Sequence[object], int](2)
    made: list[object] = []
    sources: list[list[object]] = [[1], [2], [3]]

    def make(source: Sequence[object]) -> int:
        made.append(source[0])
        return len(made)

    for source in (*sources, sources[2], sources[0]):
        cache.find_or_make(source, make)
    assert made == [1, 2, 3, 1]


def test_an_object_at_the_address_of_a_dead_one_is_another() -> None:
    """The cache keeps its sources alive, so that no other object takes their place."""
    cache = IdentityCache[Sequence[object], str](999)
    found = [cache.find_or_make([number], repr) for number in range(500)]
    assert found == [f"[{number}]" for number in range(500)]
