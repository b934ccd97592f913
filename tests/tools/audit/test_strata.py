"""Strata of difficulty, and what the floor reaches in the hard one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.strata import Stratum, find_stratum
from pytest_fcbench.domain.verdict import Passed, Profile
from pytest_fcbench.matchers import ast, relevance
from pytest_fcbench.models.baselines import lexical
from pytest_fcbench.models.baselines.lexical import LexicalModel
from pytest_fcbench.suites import core
from pytest_fcbench.tools.audit.strata import list_features
from tests.factories import ask_model, make_doc, make_entry, make_multi_turn, make_transcript

_CORE = core.open_suite(Path())
_SINGLE = [
    entry
    for category in _CORE.categories
    if category.rule.matcher in ("ast", "relevance")
    for entry in _CORE.load(category)
]
_HARD = [entry for entry in _SINGLE if entry.stratum is Stratum.HARD]


def test_an_entry_without_features_is_easy() -> None:
    entry = make_entry(query="Set x to 7", functions=[make_doc("f", {"x": {"type": "integer"}})], expect=[])
    assert list_features(entry) == []
    assert find_stratum([]) is Stratum.EASY


def test_a_conversation_needs_earlier_results() -> None:
    entry = make_multi_turn(("Go", ["f()", "f()"]), ("On", ["f()"]))
    assert {"results of earlier calls", "three calls or more"} <= set(list_features(entry))


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
    entries = [e for c in _CORE.categories if not c.rule.varies_others for e in _CORE.load(c)]
    counts = [sum(entry.stratum is stratum for entry in entries) for stratum in Stratum]
    assert min(counts) >= 150


def _passes(entry: Entry, profile: Profile) -> bool:
    prompting = Prompting.make_default(Mode.FC, Names.UNDERSCORED)
    transcript = make_transcript(
        ask_model(LexicalModel(prompting), entry), mode=Mode.FC, names=Names.UNDERSCORED
    )
    room = ast if entry.rule.matcher == "ast" else relevance
    return isinstance(room.judge(entry, transcript).select_profile(profile), Passed)


_MOST = 0.15
"""The largest share of hard questions that a simple model may pass."""
# Below the first of them a model always calls a function, above the last one none that these questions offer.
_THRESHOLDS = (0.25, 1.0, 2.0, 3.0, 5.0, 1000.0)


@pytest.mark.parametrize("threshold", _THRESHOLDS)
@pytest.mark.parametrize("profile", Profile)
def test_matching_words_passes_few_of_the_hard_questions(
    profile: Profile, threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_THRESHOLD", threshold)
    passed = [entry.id for entry in _HARD if _passes(entry, profile)]
    assert len(_HARD) >= 500
    assert len(passed) <= _MOST * len(_HARD), passed


def test_matching_words_passes_few_of_the_hard_questions_of_each_category() -> None:
    categories = Counter(entry.category.name for entry in _HARD)
    passed = Counter(entry.category.name for entry in _HARD if _passes(entry, Profile.OFFICIAL))
    shares = {name: passed[name] / count for name, count in categories.items()}
    assert {name: share for name, share in shares.items() if share > _MOST} == {}
