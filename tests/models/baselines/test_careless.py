"""The careless model knows the answers and makes mistakes, which the judges see."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcbench.config import loading
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.models.baselines.careless import ASKS_BACK, MISTAKES, CarelessModel, draw_chance
from pytest_fcbench.models.registry import choose_model
from pytest_fcbench.suites.registry import open_suite
from tests.cases import each_case
from tests.factories import ask_model, make_doc, make_entry
from tests.models.outcomes import judge_entries

RIDE = make_doc(
    "ride.book",
    {
        "start": {"type": "string"},
        "goal": {"type": "string"},
        "seats": {"type": "integer"},
        "note": {"type": "string"},
    },
    ["start", "seats"],
)
STOP = make_doc("stop.find", {"start": {"type": "string"}}, ["start"])
RIGHT = {"start": "Ghent South", "goal": "Bruges", "seats": 2}


@each_case(
    ("mistake", "name", "arguments"),
    [
        ("calls another function", "stop.find", {"start": "Ghent South"}),
        ("writes a number as text", "ride.book", {**RIGHT, "seats": "2"}),
        ("miscounts", "ride.book", {**RIGHT, "seats": 3}),
        ("cuts a value", "ride.book", {**RIGHT, "start": "Ghent"}),
        ("swaps two values", "ride.book", {**RIGHT, "start": "Bruges", "goal": "Ghent South"}),
        ("leaves a required argument out", "ride.book", {"start": "Ghent South", "goal": "Bruges"}),
        ("leaves an optional argument out", "ride.book", {"start": "Ghent South", "seats": 2}),
        ("invents an argument", "ride.book", {**RIGHT, "note": "text"}),
    ],
)
def test_a_mistake_changes_one_thing(mistake: str, name: str, arguments: Mapping[str, object]) -> None:
    entry = make_entry("multiple", functions=[RIDE, STOP], expect=[])
    assert MISTAKES[mistake](entry, [Call("ride.book", RIGHT)]) == [Call(name, arguments)]


def test_a_call_is_forgotten_only_where_there_are_several_or_a_conversation() -> None:
    calls = [Call("ride.book", RIGHT), Call("stop.find", {"start": "Bruges"})]
    forget, entry = MISTAKES["forgets a call"], make_entry("parallel", functions=[RIDE, STOP], expect=[])
    assert forget(entry, calls) == calls[:1]
    assert forget(entry, calls[:1]) is None
    assert forget(make_entry("multi_turn_base", expect=[]), calls[:1])


@pytest.mark.few(1)
@pytest.mark.parametrize(("percent", "mode"), [(6, Mode.PROMPT), (100, Mode.FC)])
def test_in_core_nearly_every_mistake_fails_and_nothing_else(
    percent: float, mode: Mode, tmp_path: Path, pool: Pool
) -> None:
    """Some arguments that nobody asked for are what the function does anyway."""
    suite, prompting = open_suite("core", tmp_path), Prompting.make_default(mode)
    categories = [category for category in suite.categories if category.scored]
    entries = {entry.id: entry for category in categories for entry in suite.load(category)}
    drawn = {each for each, entry in entries.items() if draw_chance(entry.key, "careless") * 100 < percent}
    manner = ModelPresentation("careless", prompting)
    outcomes = list(judge_entries(CarelessModel(percent, prompting), manner, suite, categories, pool))
    for is_official in (True, False):
        passed = {
            each.id
            for each in outcomes
            if (each.judgement.official if is_official else each.judgement.corrected).status == "passed"
        }
        assert entries.keys() - passed <= drawn
        assert len(drawn & passed) <= 0.02 * len(drawn)
    assert percent == 100 or 60 <= len(drawn) <= 100


def test_a_larger_share_only_adds_mistakes() -> None:
    entries = [make_entry("irrelevance", entry_id=f"irrelevance_{number}") for number in range(200)]
    prompting = Prompting.make_default(Mode.FC)
    few, many = (
        {each.id for each in entries if ask_model(CarelessModel(percent, prompting), each).tool_calls}
        for percent in (5, 30)
    )
    assert 2 < len(few) < 20 < len(many) < 100
    assert few < many
    assert ask_model(CarelessModel(100, prompting), make_entry("live_relevance")).text == ASKS_BACK


@each_case(("name", "share"), [("careless", "6 %"), ("careless:20", "20 %"), ("careless:0.5", "0.5 %")])
def test_it_says_that_it_is_simulated(name: str, share: str) -> None:
    (note,) = choose_model(loading.build_settings({"model": name}, None)).model.notes
    assert note == f"careless is simulated: right answers, with mistakes made in {share} of entries"


@pytest.mark.parametrize("percent", ["x", "101", "-1", "1e1"])
def test_a_share_that_is_no_percentage_is_refused(percent: str) -> None:
    with pytest.raises(UsageError, match=f"--fcbench-model=careless:{percent}: must have a percentage"):
        choose_model(loading.build_settings({"model": f"careless:{percent}"}, None))
