"""Shards: each entry in exactly one, the same one wherever and beside whatever it is run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.shard import Shard
from pytest_fcbench.suites import core
from tests.factories import make_entry

CORE = core.open_suite(Path())
ENTRIES = [
    entry for category in CORE.categories if not category.varies_others for entry in CORE.load(category)
]


@given(entry_id=st.text(min_size=1), of=st.integers(1, 50))
def test_an_entry_is_in_exactly_one_shard(entry_id: str, of: int) -> None:
    entry = make_entry(entry_id=entry_id)
    assert sum(Shard(number, of).holds(entry) for number in range(1, of + 1)) == 1


def test_the_shard_of_an_entry_never_changes() -> None:
    """Numbers that were once published: a release that moved entries would take scorecards apart."""
    entries = [make_entry(entry_id=f"simple_python_{n}") for n in range(12)]
    found = [next(n for n in range(1, 11) if Shard(n, 10).holds(entry)) for entry in entries]
    assert found == [9, 9, 1, 9, 5, 3, 7, 4, 5, 9, 6, 4]


def test_shards_are_of_about_the_same_size() -> None:
    entries = [make_entry(entry_id=f"simple_python_{n}") for n in range(2_000)]
    sizes = [sum(map(Shard(number, 10).holds, entries)) for number in range(1, 11)]
    assert sum(sizes) == 2_000
    assert 150 < min(sizes) < max(sizes) < 250


def test_questions_about_one_memory_stay_together() -> None:
    asking = [entry for entry in ENTRIES if entry.after]
    assert asking
    places = {(entry.earlier[0].key, n) for entry in asking for n in range(1, 8) if Shard(n, 7).holds(entry)}
    assert set(Counter(first for first, _ in places).values()) == {1}
    assert len({n for _, n in places}) > 1


@pytest.mark.parametrize("text", ["1/1", "3/10", "10/10"])
def test_it_is_read_as_it_is_written(text: str) -> None:
    assert str(Shard.parse(text)) == text


@pytest.mark.parametrize("text", ["", "3", "0/10", "11/10", "3/0", "-1/10", "3/10 ", "3 / 10", "a/b", "٣/١٠"])
def test_what_names_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be K/N with K from 1 to N, such as 3/10"):
        Shard.parse(text)
