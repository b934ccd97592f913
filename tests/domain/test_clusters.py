"""Names of clusters, by ids of the official kinds and of our own."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.clusters import name_cluster
from pytest_fcbench.domain.prompt_format import PLAIN


@pytest.mark.parametrize(
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
