"""Strata of difficulty, and what the floor reaches in the hard one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Entry, Stratum, find_stratum
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.verdict import Passed, Profile
from pytest_fcbench.kinds import relevance
from pytest_fcbench.kinds.calls import verdict as ast
from pytest_fcbench.kinds.execution.verdict import ExpectedResults, ResultRule
from pytest_fcbench.models.baselines import lexical
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit import strata
from pytest_fcbench.tools.audit import strata as distributions
from pytest_fcbench.tools.audit.strata import count_results, has_many_calls, list_features
from tests.cases import each_case
from tests.factories import (
    ask_model,
    make_doc,
    make_entry,
    make_golden_path,
    make_multi_turn,
    make_transcript,
)

_CORE = core.open_suite(Path())
AST = {"simple", "multiple", "parallel", "next_call"}
_SINGLE = [
    entry
    for category in _CORE.categories
    if category.kind in AST | {"relevance", "irrelevance", "next_reply"}
    for entry in _CORE.load(category)
]
_HARD = [entry for entry in _SINGLE if entry.stratum is Stratum.HARD]


def test_an_entry_without_features_is_easy() -> None:
    entry = make_entry(query="Set x to 7", functions=[make_doc("f", {"x": {"type": "integer"}})], expect=[])
    assert list_features(entry) == []
    assert find_stratum([]) is Stratum.EASY


@each_case(
    ("calls", "features"),
    [
        (["f(x=7)"], []),
        (["f(7)", "f(x=[7, True])"], []),
        (["f(x=31)"], ["results of earlier calls"]),
        (["f(x='ten')"], []),  # an enum of the doc
        (["f(x={'to': 31})", "f(x=31)"], ["results of earlier calls"]),
        (["f(x='2026-05-07')"], []),
        (["f(x=31)", "f(x=32)", "f(x=33)"], ["three results or more", "results of earlier calls"]),
    ],
)
def test_a_value_that_nobody_says_is_a_result(calls: Sequence[str], features: Sequence[str]) -> None:
    doc = make_doc("f", {"x": {"type": "any", "enum": ["ten", "two"]}})
    entry = make_multi_turn(("Put it to 7", calls), functions=[doc])
    assert set(features) == {name for name in list_features(entry) if "result" in name}


def test_what_the_user_says_later_is_a_result_before() -> None:
    doc = make_doc("f", {"x": {"type": "integer"}})
    turns = [("Put it to the first", ["f(x=31)"]), ("And to 31", ["f(x=31)"])]
    assert count_results(make_multi_turn(*turns, functions=[doc]))
    assert not count_results(make_multi_turn(*turns[1:], functions=[doc]))


def test_calls_are_counted_by_turn() -> None:
    turns = [("Go", ["f()", "f()"]), ("On", ["f()"])]
    assert not has_many_calls(make_multi_turn(*turns))
    assert has_many_calls(make_multi_turn(("Go", ["f()"] * 3), *turns))


def test_a_turn_in_which_nothing_can_be_called_is_one_to_wait_in() -> None:
    turns = [("Go", ["f()"]), ("On", ["f()"])]
    assert "a turn to wait" not in list_features(make_multi_turn(*turns))
    assert "a turn to wait" in list_features(make_multi_turn(("Do it", []), *turns))


@pytest.mark.parametrize(
    ("query", "value", "implied"),
    [
        ("Set it to 20 please", 20, False),
        ("Set it to 20 please", 20.0, False),
        ("Set it to a fifth please", 20, True),
    ],
)
def test_a_value_that_is_not_in_the_question_is_implied(query: str, value: float, implied: bool) -> None:
    entry = make_entry(
        query=query,
        functions=[make_doc("f", {"x": {"type": "float"}})],
        expect=[{"f": {"x": [value]}}],
    )
    assert ("values only implied" in list_features(entry)) is implied


def test_each_stratum_of_core_has_many_entries() -> None:
    entries = [e for c in _CORE.categories if not c.varies_others for e in _CORE.load(c)]
    counts = [sum(entry.stratum is stratum for entry in entries) for stratum in Stratum]
    assert min(counts) >= 150


def _passes(entry: Entry, profile: Profile) -> bool:
    prompting = Prompting.make_default(Mode.FC, Names.UNDERSCORED)
    transcript = make_transcript(
        ask_model(LexicalModel(prompting), entry), mode=Mode.FC, names=Names.UNDERSCORED
    )
    room = ast if entry.kind in AST else relevance
    return isinstance(room.judge(entry, transcript).select_profile(profile), Passed)


_MOST = 0.15
"""The largest share of hard questions that a simple model may pass."""
# Below the first of them a model always calls a function, above the last one none that these questions offer.
_THRESHOLDS = (0.25, 1.0, 2.0, 3.0, 5.0, 1000.0)


@pytest.mark.nightly
@each_case("threshold", _THRESHOLDS)
@each_case("profile", Profile)
def test_matching_words_passes_few_of_the_hard_questions(
    profile: Profile, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_THRESHOLD", threshold)
    passed = [entry.id for entry in _HARD if _passes(entry, profile)]
    assert len(_HARD) >= 500
    assert len(passed) <= _MOST * len(_HARD), passed


@pytest.mark.nightly
def test_matching_words_passes_few_of_the_hard_questions_of_each_category() -> None:
    categories = Counter(entry.category.name for entry in _HARD)
    passed = Counter(entry.category.name for entry in _HARD if _passes(entry, Profile.OFFICIAL))
    shares = {name: passed[name] / count for name, count in categories.items()}
    assert {name: share for name, share in shares.items() if share > _MOST} == {}


def test_measures_types_and_languages_are_counted_by_category() -> None:
    doc = make_doc("f", {"x": {"type": "float"}})
    found = distributions.count_by_category(
        [
            make_entry(),
            make_entry(functions=[doc], entry_id="b", query="Wie ist das Wetter?"),
            make_multi_turn(("Go", ["f()", "f()"]), ("", ["f()"]), withheld={1: [doc]}),
        ]
    )
    assert list(found) == ["simple_python", "multi_turn_base"]
    simple, multi = found.values()
    assert simple.entries == 2
    assert simple.measures["functions"] == Counter({1: 2})
    assert simple.measures["parameters"] == Counter({2: 1, 1: 1})
    assert simple.types == Counter({"string": 1, "integer": 1, "float": 1})
    assert simple.languages == Counter({"English": 1, "German": 1})
    assert (multi.measures["functions"], multi.measures["calls"], multi.measures["turns"]) == (
        Counter({2: 1}),
        Counter({3: 1}),
        Counter({2: 1}),
    )


def test_calls_of_a_right_answer() -> None:
    results = replace(
        make_entry("exec_simple", expect=[]), expectation=ExpectedResults(("f()",), (ResultRule.EXACT,))
    )
    path = make_golden_path([("f", {}, 1), ("g", {}, 2)], [("f", {}, 3)])
    entries = [make_entry(), make_entry("irrelevance"), make_entry("live_relevance"), results, path]
    assert list(map(strata.count_expected_calls, entries)) == [1, 0, 1, 1, 3]


@pytest.mark.parametrize(("counts", "text"), [({}, "-"), ({3: 5}, "3"), ({1: 3, 5: 1}, "2.0 (1-5)")])
def test_counts_are_summed_up_as_mean_and_range(counts: dict[int, int], text: str) -> None:
    assert distributions.summarize_counts(Counter(counts)) == text
