"""The memory of one text."""

from __future__ import annotations

import pytest

from pytest_fcbench.environments.memory_texts import MOST_ADDED, MOST_REPLACED, MemoryRecSum
from pytest_fcbench.environments.world import World


@pytest.fixture
def memory() -> MemoryRecSum:
    return MemoryRecSum({}, World())


def test_it_is_written_added_to_and_shown(memory: MemoryRecSum) -> None:
    assert memory.recall_memory() == ""
    assert "error" in memory.memory_retrieve()
    memory.memory_append("a")
    memory.memory_append("b")
    assert memory.memory_retrieve() == {"memory_content": "ab"}
    memory.memory_update("c c")
    memory.memory_replace("c", "d")
    assert memory.recall_memory() == "d d"
    assert "does not say 'c'" in str(memory.memory_replace("c", "d"))
    memory.memory_clear()
    assert memory.recall_memory() == ""


def test_what_passes_a_limit_is_refused(memory: MemoryRecSum) -> None:
    assert "error" in memory.memory_update("x" * (MOST_ADDED + 1))
    assert "status" in memory.memory_update("x" * MOST_ADDED)
    assert "error" in memory.memory_append("x")
    assert "error" in memory.memory_replace("x", "y" * (MOST_ADDED + 1))


def test_a_replacement_can_make_it_longer_but_not_without_end(memory: MemoryRecSum) -> None:
    """Officially there is no limit to it."""
    memory.memory_update("x" * 50)
    assert "status" in memory.memory_replace("x", "y" * 400)
    assert len(memory.memory) == 20_000
    assert "error" in memory.memory_replace("y", "z" * MOST_ADDED)
    assert len(memory.memory) < MOST_REPLACED


def test_it_goes_on_from_what_it_showed(memory: MemoryRecSum) -> None:
    memory.memory_update("a")
    assert MemoryRecSum(memory.get_full_state(), World()).memory == "a"
