"""The oracle knows every answer; what it misses is a broken entry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_fcbench import suites
from pytest_fcbench.answers import Completion, Mode, Names
from pytest_fcbench.codecs.syntaxes import DEFAULT_SYNTAX
from pytest_fcbench.conversation import Manner, single_turn
from pytest_fcbench.dispatch.dispatcher import Dispatcher
from pytest_fcbench.entries import Entry
from pytest_fcbench.matchers import ast, relevance
from pytest_fcbench.models.oracle import ABSTENTION, OracleModel
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.fields import yaml_value
from pytest_fcbench.verdicts import SET_ASIDE, Failed, Judgement, NotScored
from tests.factories import answer_of, make_doc, make_entry

# One answer

DOC = make_doc(
    "parcel.send",
    {
        "to": {"type": "string"},
        "weight": {"type": "float"},
        "size": {"type": "dict", "properties": {"width": {"type": "integer"}, "depth": {"type": "integer"}}},
        "stops": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
    },
    ["to"],
)


def _call(entry: Entry) -> tuple[str, object]:
    """Name and arguments of the oracle's only call."""
    answer = answer_of(OracleModel(Mode.FC, Names.UNDERSCORED), entry)
    assert answer.text is None
    assert answer.tool_calls is not None
    (call,) = answer.tool_calls
    assert not isinstance(call, str)
    return call.name, json.loads(str(call.arguments))


@pytest.mark.parametrize(
    ("accepted", "given"),
    [
        pytest.param({"to": ["Ghent", "Gent"]}, {"to": "Ghent"}, id="the first of several"),
        pytest.param({"to": ["Ghent"], "note": ["fragile", ""]}, {"to": "Ghent"}, id="optional is left out"),
        pytest.param({"to": ["", "Ghent"]}, {"to": "Ghent"}, id="required is never empty"),
        pytest.param({"to": [""]}, {"to": ""}, id="unless nothing else is accepted"),
        pytest.param(
            {"to": ["Ghent"], "size": [{"width": [2, 3], "depth": [4, ""]}]},
            {"to": "Ghent", "size": {"width": 2}},
            id="a dict from its alternatives",
        ),
        pytest.param(
            {"to": ["Ghent"], "stops": [["Lille", "Bruges"], ["Bruges", "Lille"]]},
            {"to": "Ghent", "stops": ["Lille", "Bruges"]},
            id="a list",
        ),
        pytest.param({"to": ["Ghent"], "stops": [[]]}, {"to": "Ghent", "stops": []}, id="an empty list"),
    ],
)
def test_values_of_the_call(accepted: Mapping[str, object], given: object) -> None:
    entry = make_entry(functions=[DOC], expect=[{"parcel.send": accepted}])
    assert _call(entry) == ("parcel_send", given)


def test_in_prompting_mode_the_calls_are_text() -> None:
    calls: list[dict[str, object]] = [{"to": ["Ghent"], "weight": [2.5]}, {"to": ["Lille"]}]
    entry = make_entry("parallel", functions=[DOC], expect=[{"parcel.send": call} for call in calls])
    assert answer_of(OracleModel(Mode.PROMPT, Names.DOTTED), entry) == Completion(
        text="[parcel.send(to='Ghent', weight=2.5), parcel.send(to='Lille')]"
    )


@pytest.mark.parametrize("mode", Mode)
def test_it_abstains_where_no_function_fits(mode: Mode) -> None:
    assert answer_of(OracleModel(mode, Names.DOTTED), make_entry("irrelevance")) == Completion(
        text=ABSTENTION
    )


def test_for_relevance_it_fills_the_first_function_with_values_of_the_declared_types() -> None:
    kinds = ["string", "integer", "float", "boolean", "array", "tuple", "dict", "any"]
    properties: dict[str, dict[str, object]] = {kind: {"type": kind} for kind in kinds}
    properties["size"] = {"type": "string", "enum": ["small", "large"]}
    doc = make_doc("parcel.list", {**properties, "optional": {"type": "string"}}, [*kinds, "size"])
    entry = make_entry("live_relevance", functions=[doc, DOC])
    arguments = {
        "string": "text",
        "integer": 1,
        "float": 1.0,
        "boolean": True,
        "array": [],
        "tuple": [],
        "dict": {},
        "any": "text",
        "size": "small",
    }
    assert _call(entry) == ("parcel_list", arguments)


# All entries

MISJUDGED = {
    "simple_java_36",
    "simple_java_65",
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
}
"""Entries of the official suite that no answer passes under its own rules."""


class Outcome(NamedTuple):
    id: str
    judgement: Judgement


def _outcomes(suite_name: str, cache: Path, mode: Mode) -> Iterator[Outcome]:
    """Every entry of a suite put to the oracle and judged."""
    suite = suites.open_suite(suite_name, cache)
    names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    manner = Manner("oracle", mode, names, DEFAULT_SYNTAX[mode])
    dispatcher = Dispatcher(OracleModel(mode, names), lambda entry: single_turn(entry, manner, suite.wording))
    for category in suite.categories:
        matcher = ast if category.expects_calls else relevance
        for entry in suite.load(category):
            yield Outcome(entry.id, matcher.judge(entry, dispatcher.transcript(entry)))
    dispatcher.close()


@pytest.mark.parametrize("mode", Mode)
def test_it_passes_all_of_core_in_both_profiles(mode: Mode, tmp_path: Path) -> None:
    outcomes = list(_outcomes("core", tmp_path, mode))
    missed = {o.id: o.judgement for o in outcomes if o.judgement.official.status != "passed"}
    missed |= {o.id: o.judgement for o in outcomes if o.judgement.corrected.status != "passed"}
    assert outcomes
    assert not missed


@pytest.fixture(scope="module", params=Mode)
def official(request: pytest.FixtureRequest, pack_cache: Path) -> list[Outcome]:
    """The outcomes of the official suite in one mode."""
    return list(_outcomes("bfcl", pack_cache, request.param))


def test_corrected_it_fails_nothing_of_bfcl(official: list[Outcome]) -> None:
    assert len(official) == 3641
    assert not {o.id: o.judgement.corrected for o in official if isinstance(o.judgement.corrected, Failed)}


def test_corrected_exactly_the_ledger_is_not_scored(official: list[Outcome]) -> None:
    unscored = {o.id: v for o in official if isinstance(v := o.judgement.corrected, NotScored)}
    assert {v.cause for v in unscored.values()} == {SET_ASIDE}
    ledger = yaml_value(Path(bfcl.__file__).with_name("ledger.yaml"))
    assert {entry_id: v.reason for entry_id, v in unscored.items()} == ledger


def test_official_exactly_the_entries_that_nothing_passes_are_failed(official: list[Outcome]) -> None:
    assert {o.id for o in official if isinstance(o.judgement.official, Failed)} == MISJUDGED
    assert not [o.id for o in official if isinstance(o.judgement.official, NotScored)]
