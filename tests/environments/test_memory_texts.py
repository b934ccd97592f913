"""The memory of named texts: limits, and what it tells. ``tests/parity`` has the official one beside it."""

from __future__ import annotations

import pytest

from pytest_fcbench.environments.memory_texts import (
    ARCHIVE_LENGTH,
    ARCHIVE_SIZE,
    CORE_LENGTH,
    CORE_SIZE,
    MemoryKv,
    rank_texts,
)
from pytest_fcbench.environments.world import World


@pytest.fixture
def memory() -> MemoryKv:
    return MemoryKv({}, World())


@pytest.mark.parametrize(
    ("part", "size", "length"), [("core", CORE_SIZE, CORE_LENGTH), ("archival", ARCHIVE_SIZE, ARCHIVE_LENGTH)]
)
def test_what_passes_a_limit_is_refused(memory: MemoryKv, part: str, size: int, length: int) -> None:
    add, replace = (getattr(memory, f"{part}_memory_{name}") for name in ("add", "replace"))
    assert "error" in add("long", "x" * (length + 1))
    for number in range(size):
        assert "status" in add(f"key_{number}", "x" * length)
    assert "full" in str(add("one_more", "x"))
    assert "error" in replace("key_0", "x" * (length + 1))
    assert "status" in replace("key_0", "y")


@pytest.mark.parametrize("key", ["Name", "two words", "", "_a", "a__b", "1a", "a-b"])
def test_keys_that_are_none(memory: MemoryKv, key: str) -> None:
    assert "snake_case" in str(memory.core_memory_add(key, "x"))


def test_what_was_kept_is_found_until_it_is_removed(memory: MemoryKv) -> None:
    memory.archival_memory_add("home_city", "Bergen")
    assert memory.archival_memory_retrieve("home_city") == {"value": "Bergen"}
    assert memory.archival_memory_list_keys() == {"keys": ["home_city"]}
    assert "home_city" in str(memory.archival_memory_key_search("city"))
    assert "in use" in str(memory.archival_memory_add("home_city", "Oslo"))
    memory.archival_memory_remove("home_city")
    assert "error" in memory.archival_memory_retrieve("home_city")
    assert memory.core_memory_retrieve_all() == {}


def test_the_core_is_shown(memory: MemoryKv) -> None:
    assert memory.recall_memory() == ""
    memory.core_memory_add("name", "Ada")
    assert memory.recall_memory() == '{\n    "name": "Ada"\n}'
    memory.core_memory_clear()
    assert memory.recall_memory() == ""


def test_it_goes_on_from_what_it_showed(memory: MemoryKv) -> None:
    memory.core_memory_add("name", "Ada")
    memory.archival_memory_add("city", "Bergen")
    again = MemoryKv(memory.get_full_state(), World())
    again.core_memory_replace("name", "Eve")
    assert memory.core_memory == {"name": "Ada"}, "and changes nothing there"
    assert again.archival_memory == {"city": "Bergen"}


def test_scores_are_those_of_the_formula() -> None:
    """By hand, for two words: ln(4/2) x (1 + 2.5 / (1.5 x (0.25 + 0.75 x 2 / (5/3)) + 1)) = 1.3291."""
    found = rank_texts("city nowhere", ["home_city", "city", "work_place"])
    assert [text for _, text in found] == ["city", "home_city", "work_place"]
    assert [score for score, _ in found] == pytest.approx([1.5384, 1.3291, 0.6931], abs=1e-4)


def test_a_word_of_the_query_counts_as_often_as_it_stands_there() -> None:
    (once, _), (twice, _) = rank_texts("city", ["city"])[0], rank_texts("city city", ["city"])[0]
    assert twice == pytest.approx(2 * once)


def test_what_scores_alike_keeps_its_order() -> None:
    assert rank_texts("nothing", ["b", "a", "c"]) == [(0.0, "b"), (0.0, "a"), (0.0, "c")]


def test_nothing_cannot_be_ranked() -> None:
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        rank_texts("a", [])


def test_nothing_is_found_in_an_empty_memory(memory: MemoryKv) -> None:
    assert memory.core_memory_key_search("a") == {"ranked_results": []}
    official = World(sentences={"memory_kv": {"core_memory_add": ["full"]}})
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        MemoryKv({}, official).archival_memory_key_search("a")
