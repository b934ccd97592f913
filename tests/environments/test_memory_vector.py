"""The memory of texts that are found by what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pytest_fcbench.environments.memory_texts import ARCHIVE_LENGTH, ARCHIVE_SIZE, CORE_LENGTH, CORE_SIZE
from pytest_fcbench.environments.memory_vector import MemoryVector
from pytest_fcbench.environments.world import Vector, World


@pytest.fixture
def memory() -> MemoryVector:
    return MemoryVector({}, World())


@pytest.mark.parametrize(
    ("part", "size", "length"), [("core", CORE_SIZE, CORE_LENGTH), ("archival", ARCHIVE_SIZE, ARCHIVE_LENGTH)]
)
def test_what_passes_a_limit_is_refused(memory: MemoryVector, part: str, size: int, length: int) -> None:
    add, update = (getattr(memory, f"{part}_memory_{name}") for name in ("add", "update"))
    assert "error" in add("x" * (length + 1))
    for number in range(size):
        assert add("x" * length) == {"id": number}
    assert "full" in str(add("x"))
    assert "error" in update(0, "x" * (length + 1))
    assert "status" in update(0, "y")


def test_the_most_similar_come_first(memory: MemoryVector) -> None:
    for text in ("I rehearse on Tuesdays.", "The gate has the code 5120.", "My sister is Ilka."):
        memory.archival_memory_add(text)
    found = memory.archival_memory_retrieve("What is the code of the gate?", top_k=2)["result"]
    assert isinstance(found, list)
    assert (found[0]["id"], found[0]["text"]) == (1, "The gate has the code 5120.")
    assert len(found) == 2
    assert found[0]["similarity_score"] > found[1]["similarity_score"] >= 0
    assert memory.core_memory_retrieve("gate") == {"result": []}


def test_ids_are_not_given_again_until_all_is_cleared(memory: MemoryVector) -> None:
    memory.core_memory_add("a")
    memory.core_memory_add("b")
    assert "status" in memory.core_memory_remove(0)
    assert "error" in memory.core_memory_remove(0)
    assert "error" in memory.core_memory_update(0, "c")
    assert memory.core_memory_add("c") == {"id": 2}
    assert memory.core_memory_retrieve_all() == {"result": [{"id": 1, "text": "b"}, {"id": 2, "text": "c"}]}
    memory.core_memory_clear()
    assert memory.core_memory_add("d") == {"id": 0}


def test_the_core_is_shown_also_where_it_is_empty(memory: MemoryVector) -> None:
    assert memory.recall_memory() == "{}"
    memory.core_memory_add("Ada")
    assert json.loads(memory.recall_memory()) == {"0": "Ada"}


def test_it_goes_on_from_what_it_showed_also_through_json(memory: MemoryVector) -> None:
    memory.core_memory_add("a")
    memory.core_memory_remove(0)
    memory.core_memory_add("b")
    again = MemoryVector(json.loads(json.dumps(memory.get_full_state())), World())
    assert again.get_full_state() == memory.get_full_state()
    assert again.core_memory == memory.core_memory
    assert again.core_memory_add("c") == {"id": 2}
    assert again.core_memory != memory.core_memory


@pytest.mark.parametrize("call", ["add", "update"])
def test_only_texts_are_kept(memory: MemoryVector, call: str) -> None:
    memory.core_memory_add("a")
    with pytest.raises(TypeError, match="a text is needed, not int"):
        memory.core_memory_add(7) if call == "add" else memory.core_memory_update(0, 7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="top_k must be 0 or more"):
        memory.core_memory_retrieve("a", top_k=-1)
    assert memory.core_memory_retrieve("a", top_k=0) == {"result": []}


def test_the_world_says_what_makes_the_vectors() -> None:
    asked: list[str] = []

    def embed_texts(texts: Sequence[str]) -> Sequence[Vector]:
        asked.extend(texts)
        return [(1.0, 0.0) if "a" in text else (0.0, 1.0) for text in texts]

    memory = MemoryVector({}, World(embed=embed_texts))
    for text in ("b", "a", "aa"):
        memory.core_memory_add(text)
    assert asked == [], "not before something is looked for"
    found = memory.core_memory_retrieve("a?")["result"]
    assert [row["id"] for row in found] == [1, 2, 0]  # type: ignore[attr-defined]
    memory.core_memory_retrieve("a?")
    assert asked == ["a?", "b", "a", "aa"], "each once"
