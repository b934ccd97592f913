"""Values of options that are more than one word: entries, labels, gates, shards."""

from __future__ import annotations

import re

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.domain.errors import UsageError
from tests.cases import each_case


def test_an_entry_names_its_suite_and_its_category() -> None:
    settings = build_settings({"entry": ["core:parallel_3", "bfcl:simple_java_1"]}, None)
    assert settings.suites == ("core", "bfcl")
    assert settings.entries == ("core:parallel_3", "bfcl:simple_java_1")
    assert [category.name for category in settings.categories] == ["simple_java", "parallel"]


def test_an_entry_without_the_name_of_a_category_may_be_of_any() -> None:
    settings = build_settings({"entry": ["core:parallel_3", "core:my_entry"]}, None)
    every = [c for c in CATEGORIES.values() if not c.varies_others]
    assert list(settings.categories) == every


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("core:parallel_*", ["parallel", "parallel_multiple"]),
        ("core:parallel_m*", ["parallel", "parallel_multiple"]),
        ("core:parallel_1*", ["parallel"]),
        ("core:par*", [c.name for c in CATEGORIES.values() if not c.varies_others]),
    ],
)
def test_a_pattern_is_of_all_categories_that_begin_so(pattern: str, names: list[str]) -> None:
    settings = build_settings({"entry": [pattern]}, None)
    assert [category.name for category in settings.categories] == names


def test_a_seed_of_64_bits_is_not_rounded() -> None:
    assert build_settings({"seed": "9007199254740993"}, None).seed == 9007199254740993


@each_case(
    ("option", "text", "why"),
    [
        ("entry", "parallel_3", "must be a suite and an id such as core:parallel_3"),
        ("entry", "cor:parallel_3", "unknown suite 'cor'. Did you mean 'core'?"),
        ("label", "branch", "must be KEY=VALUE, for example branch=main"),
        ("label", "branch=", "must be KEY=VALUE, for example branch=main"),
        ("label", " =main", "must be KEY=VALUE, for example branch=main"),
        ("gate", "overall>=much", "overall>=much"),
        ("gate", "not-worse(95%)", "compares with a baseline; give one with --fcbench-baseline=FILE"),
        ("shard", "3/2", "3/2"),
        ("shard", "first", "first"),
        ("search", "recorded:", "unknown search 'recorded:'"),
    ],
)
def test_another_value_is_refused_with_the_rule(option: str, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        build_settings({option: [text] if option in ("entry", "label", "gate") else text}, None)


def test_labels_are_keys_with_values_and_the_last_of_a_key_counts() -> None:
    settings = build_settings({"label": ["branch = main", "run=1=2", "branch=other"]}, None)
    assert settings.labels == {"branch": "other", "run": "1=2"}


def test_a_shard_and_a_search_are_read() -> None:
    settings = build_settings({"shard": "2/3", "search": "recorded:web.json"}, None)
    assert str(settings.shard) == "2/3"
    assert settings.search == "recorded:web.json"


def test_a_suite_of_its_own_runs_every_category() -> None:
    settings = build_settings({"suite": ["core"], "category": ["live"]}, None)
    assert {category.group.value for category in settings.categories} == {"live"}
