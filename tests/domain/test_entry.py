"""Entries, as reports and tools show them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import Shard, find_stratum, name_cluster
from pytest_fcbench.domain.prompting import PLAIN
from pytest_fcbench.suites import core
from tests.cases import each_case
from tests.factories import make_entry


def test_an_entry_is_shown_by_its_name_without_its_truth() -> None:
    entry = make_entry(entry_id="simple_python_3")
    assert repr(entry) == f"<Entry {entry.suite}:simple_python_3>"
    assert repr(replace(entry, trial=2)) == f"<Entry {entry.suite}:simple_python_3-t2>"


@each_case(("number", "stratum"), [(0, "easy"), (1, "easy"), (2, "medium"), (3, "hard"), (9, "hard")])
def test_more_features_make_an_entry_harder(number: int, stratum: str) -> None:
    assert find_stratum(["near miss"] * number) == stratum


@each_case(
    ("suite", "ids", "cluster"),
    [
        (
            "bfcl",
            [f"multi_turn_{kind}_7" for kind in ("base", "miss_func", "miss_param", "long_context")],
            "multi_turn_base_7",
        ),
        ("core", ["multi_turn_base_7", "multi_turn_long_context_7"], "multi_turn_base_7"),
        ("core", ["multi_turn_miss_param_7", "multi_turn_composite_7"], "multi_turn_miss_param_7"),
        ("bfcl", ["memory_kv_0-customer-0", "memory_rec_sum_3-customer-3"], "memory_customer"),
        ("core", ["memory_kv_allotment_4", "memory_vector_allotment_0"], "memory_allotment"),
        ("bfcl", ["web_search_base_3", "web_search_no_snippet_3"], "web_search_3"),
        ("bfcl", ["live_multiple_862-181-3", "live_multiple_860-181-1"], "live_multiple_181"),
        ("bfcl", [f"format_sensitivity_0:{PLAIN.name}:simple_python_58"], "simple_python_58"),
        ("bfcl", ["simple_python_58"], "simple_python_58"),
    ],
)
def test_entries_that_share_a_subject_are_one_cluster(suite: str, ids: list[str], cluster: str) -> None:
    assert {name_cluster(suite, each) for each in ids} == {cluster}


def test_other_subjects_are_other_clusters() -> None:
    others = ("live_multiple_862-181-3", "live_multiple_862-182-3", "live_simple_862-181-3", "live_simple_1")
    assert len({name_cluster("bfcl", each) for each in others}) == 4


def test_a_named_cluster_counts_and_may_be_an_entry() -> None:
    assert name_cluster("mine", "parallel_4", "rain") == "rain"
    assert name_cluster("bfcl", "own", "multi_turn_miss_param_7") == "multi_turn_base_7"


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


@each_case("text", ["", "3", "0/10", "11/10", "3/0", "-1/10", "3/10 ", "3 / 10", "a/b", "٣/١٠"])
def test_what_names_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be K/N with K from 1 to N, such as 3/10"):
        Shard.parse(text)
