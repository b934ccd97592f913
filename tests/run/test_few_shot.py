"""The examples of a category: the same in every run, and never scored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, name_cluster
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.run.few_shot import Shots
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from tests.factories import make_entry, make_record

CORE = open_suite("core", Path())


def make_shots(most: int = 3, suite: Suite = CORE) -> Shots:
    return Shots({suite.name: suite}, most, Prompting.make_default(Mode.COMPLETION))


def test_examples_are_the_same_each_time_and_fewer_are_a_part_of_more() -> None:
    three, two = (make_shots(most).choose_entries("core", "parallel") for most in (3, 2))
    assert three == make_shots().choose_entries("core", "parallel")
    assert two == three[:2]
    assert len({name_cluster(each.suite, each.id, each.cluster) for each in three}) == 3


def test_an_example_is_not_scored_nor_is_an_entry_like_it() -> None:
    shots = make_shots()
    examples = shots.choose_entries("core", "simple_python")
    clusters = {name_cluster(each.suite, each.id, each.cluster) for each in examples}
    for entry in CORE.load(CATEGORIES["simple_python"]):
        if name_cluster(entry.suite, entry.id, entry.cluster) in clusters:
            with pytest.raises(NotScoredError, match=r"it is .*an example in the prompts of simple_python"):
                shots.write_texts(entry)
        else:
            assert len(shots.write_texts(entry)) == 3


def test_an_example_of_another_trial_is_an_example() -> None:
    shots = make_shots()
    example = replace(shots.choose_entries("core", "parallel")[0], trial=2)
    with pytest.raises(NotScoredError, match="it is an example in the prompts of parallel"):
        shots.write_texts(example)


def test_half_of_a_small_category_stays_to_be_scored() -> None:
    entries = tuple(make_entry(entry_id=f"simple_python_{number}", suite="own") for number in range(4))
    own = replace(CORE, name="own", load=lambda category: entries)
    assert len(make_shots(3, own).choose_entries("own", "simple_python")) == 2
    like_first = tuple(replace(each, cluster="own:simple_python_0") for each in entries)
    assert make_shots(3, replace(own, load=lambda category: like_first)).write_texts(entries[0]) == ()


def test_an_entry_like_an_example_is_not_scored() -> None:
    entries = tuple(
        replace(make_entry(entry_id=f"simple_python_{number}", suite="own"), cluster=f"own:{number // 2}")
        for number in range(6)
    )
    shots = make_shots(3, replace(CORE, name="own", load=lambda category: entries))
    [example] = shots.choose_entries("own", "simple_python")
    [twin] = [each for each in entries if each.cluster == example.cluster and each != example]
    with pytest.raises(NotScoredError, match=f"it is like {example.key}, which is an example"):
        shots.write_texts(twin)


def test_the_examples_of_what_was_run_are_listed() -> None:
    records = [make_record(category=name) for name in ("parallel", "irrelevance")]
    keys = make_shots(2).list_keys(records)
    assert list(keys) == ["core:parallel"]
    assert len(keys["core:parallel"]) == 2
