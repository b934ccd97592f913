"""The oracle knows every answer; what it misses is a broken entry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.codecs.decoders.syntax import Calls
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Entry
from pytest_fcbench.domain.prompting import (
    DEFAULT_SYNTAX,
    FORMATS,
    AnswerNotation,
    Mode,
    ModelPresentation,
    Names,
    Prompting,
    parse_format_id,
)
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, ToolCall
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, NotScored, Passed
from pytest_fcbench.execution.sandbox.pool import Pool
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.kind import ABSTENTION, DONE
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.protocol import run_through
from pytest_fcbench.suites import bfcl
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from tests.cases import each_case
from tests.factories import ask_model, make_doc, make_entry, make_golden_path, make_multi_turn
from tests.models.outcomes import Outcome, judge_entries

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


def _ask_oracle(entry: Entry) -> tuple[str, object]:
    """Return name and arguments of the oracle's only call."""
    answer = ask_model(OracleModel(Prompting.make_default(Mode.FC)), entry)
    assert answer.text is None
    assert answer.tool_calls is not None
    (call,) = answer.tool_calls
    assert not isinstance(call, str)
    return call.name, json.loads(str(call.arguments))


@each_case(
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
    assert _ask_oracle(entry) == ("parcel_send", given)


def test_in_prompting_mode_the_calls_are_text() -> None:
    calls: list[dict[str, object]] = [{"to": ["Ghent"], "weight": [2.5]}, {"to": ["Lille"]}]
    entry = make_entry("parallel", functions=[DOC], expect=[{"parcel.send": call} for call in calls])
    assert ask_model(OracleModel(Prompting.make_default(Mode.PROMPT)), entry) == Completion(
        text="[parcel.send(to='Ghent', weight=2.5), parcel.send(to='Lille')]"
    )


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_it_abstains_where_no_function_fits(mode: Mode) -> None:
    assert ask_model(
        OracleModel(Prompting.make_default(mode, Names.DOTTED)), make_entry("irrelevance")
    ) == Completion(text=ABSTENTION)


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
    assert _ask_oracle(entry) == ("parcel_list", arguments)


# Several turns

TALK = make_multi_turn(
    ("Send two.", ["parcel.send('Ghent', 2.5)", "parcel.send(weight=1, to='Lille')"]),
    ("And the stamps?", []),
    ("", ["stamp(value=0.8)"]),
    category="multi_turn_miss_func",
    functions=[DOC],
    withheld={2: [make_doc("stamp", {"value": {"type": "float"}}, ["value"])]},
)


def test_all_calls_of_a_turn_are_made_at_once_under_the_names_of_their_parameters() -> None:
    model = OracleModel(Prompting.make_default(Mode.FC))
    assert ask_model(model, TALK) == Completion(
        tool_calls=(
            ToolCall("parcel_send", '{"to": "Ghent", "weight": 2.5}', "call_0"),
            ToolCall("parcel_send", '{"weight": 1, "to": "Lille"}', "call_1"),
        )
    )


def test_in_prompting_mode_the_calls_of_a_turn_are_text() -> None:
    assert ask_model(OracleModel(Prompting.make_default(Mode.PROMPT)), TALK) == Completion(
        text="[parcel.send(to='Ghent', weight=2.5), parcel.send(weight=1, to='Lille')]"
    )


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_after_the_calls_of_a_turn_it_says_that_it_is_done(mode: Mode) -> None:
    for step in (1, 2):
        assert ask_model(
            OracleModel(Prompting.make_default(mode, Names.DOTTED)), TALK, step=step
        ) == Completion(text=DONE)


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_in_a_turn_in_which_nothing_can_be_called_it_abstains(mode: Mode) -> None:
    assert ask_model(OracleModel(Prompting.make_default(mode, Names.DOTTED)), TALK, turn=1) == Completion(
        text=ABSTENTION
    )


@pytest.mark.parametrize("call", ["stamp(value=0.8)", "stamp(0.8)"])
def test_functions_that_come_late_are_called_like_others(call: str) -> None:
    talk = replace(TALK, expectation=Trajectory(((), (), (call,))))
    assert (
        ask_model(OracleModel(Prompting.make_default(Mode.PROMPT)), talk, turn=2).text == "[stamp(value=0.8)]"
    )


# A golden path

PATH = make_golden_path(
    [
        ("Get_Parcels(Sent)", {"to": "Ghent"}, []),
        ("Get_Parcels(Sent)", {"to": "Lille", "late": True, "note": None}, []),
    ],
    [("open", {"id": 7}, {})],
)


def test_the_calls_of_a_step_are_made_at_once_under_names_that_interfaces_take() -> None:
    assert ask_model(OracleModel(Prompting.make_default(Mode.FC)), PATH) == Completion(
        tool_calls=(
            ToolCall("Get_Parcels-Sent-", '{"to": "Ghent"}', "call_0"),
            ToolCall("Get_Parcels-Sent-", '{"to": "Lille", "late": true, "note": null}', "call_1"),
        )
    )


def test_functions_are_called_as_the_request_names_them() -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("open", "Get_Parcels(Sent)")]
    model = OracleModel(Prompting.make_default(Mode.FC))
    made = run_through(model.complete(PATH, AskModel((), tuple(tools)))).tool_calls
    assert [call.name for call in made or () if isinstance(call, ToolCall)] == ["Get_Parcels(Sent)"] * 2


def test_in_prompting_mode_the_calls_of_a_step_are_text() -> None:
    model = OracleModel(Prompting.make_default(Mode.PROMPT))
    assert ask_model(model, PATH).text == (
        "[Get_Parcels_Sent_(to='Ghent'), Get_Parcels_Sent_(to='Lille', late=True, note=None)]"
    )
    assert ask_model(model, PATH, step=1).text == "[open(id=7)]"


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_after_the_last_step_it_says_that_it_is_done(mode: Mode) -> None:
    for step in (2, 3):
        assert ask_model(
            OracleModel(Prompting.make_default(mode, Names.DOTTED)), PATH, step=step
        ) == Completion(text=DONE)


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_it_makes_the_calls_of_every_step_of_core(mode: Mode, tmp_path: Path) -> None:
    suite = open_suite("core", tmp_path)
    entries = [entry for name in SELECTIONS["complex"] for entry in suite.load(CATEGORIES[name])]
    assert len(entries) > 30
    for entry in entries:
        assert isinstance(entry.expectation, GoldenPath)
        for number, step in enumerate(entry.expectation.steps):
            answer = ask_model(
                OracleModel(Prompting.make_default(mode, Names.UNDERSCORED)), entry, step=number
            )
            made = read_official(answer, DEFAULT_SYNTAX[mode], entry.category.language)
            assert made == Calls(tuple(Call(call.name, call.arguments) for call in step))
        last = ask_model(
            OracleModel(Prompting.make_default(mode, Names.UNDERSCORED)),
            entry,
            step=len(entry.expectation.steps),
        )
        assert last == Completion(text=DONE)


# All entries

MISJUDGED = {
    "simple_java_36",
    "simple_java_65",
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
    *(f"sql_{number}" for number in (18, 19, 28, 29, 38, 39, 49, 68, 69)),
}
"""Single-turn entries of the official suite that no answer passes under its own rules; of those of SQL, with
an accepted list in which texts and numbers stand beside each other."""


def _judge_oracle(suite: Suite, categories: Iterable[Category], mode: Mode, pool: Pool) -> Iterator[Outcome]:
    """Put every entry of these categories to the oracle and judge it."""
    names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
    return judge_entries(
        OracleModel(Prompting.make_default(mode, names)),
        ModelPresentation("oracle", Prompting.make_default(mode, names)),
        suite,
        categories,
        pool,
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
@pytest.mark.parametrize("single_turn", [True, False], ids=["single turn", "multi turn"])
def test_it_passes_all_of_core_in_both_profiles(
    mode: Mode, tmp_path: Path, pool: Pool, *, single_turn: bool
) -> None:
    suite = open_suite("core", tmp_path)
    others = {"path", "variation"} if mode is Mode.FC else {"path"}
    categories = [c for c in suite.categories if c.single_turn is single_turn and c.kind not in others]
    found = list(_judge_oracle(suite, categories, mode, pool))
    missed = {o.id: o.judgement for o in found if o.judgement.official.status != "passed"}
    missed |= {o.id: o.judgement for o in found if o.judgement.corrected.status != "passed"}
    assert found
    assert not missed


# Entries are set aside alike in both modes, and core tells the answers of the modes apart.
@pytest.fixture(scope="module", params=[Mode.FC, pytest.param(Mode.PROMPT, marks=pytest.mark.nightly)])
def official(request: pytest.FixtureRequest, pack_cache: Path, pool: Pool) -> list[Outcome]:
    """Return the outcomes of the official suite in one mode."""
    suite = open_suite("bfcl", pack_cache)
    categories = [category for category in suite.categories if not category.varies_others]
    return list(_judge_oracle(suite, categories, request.param, pool))


def _read_ledger() -> Mapping[str, str]:
    ledger = read_yaml(Path(bfcl.__file__).with_name("ledger.yaml"))
    assert isinstance(ledger, dict)
    return ledger


@pytest.mark.nightly
def test_corrected_it_fails_nothing_of_bfcl(official: list[Outcome]) -> None:
    assert len(official) == 4941 + 310 + 3 * 155 + 2 * 100
    assert not {o.id: o.judgement.corrected for o in official if isinstance(o.judgement.corrected, Failed)}


@pytest.mark.nightly
def test_corrected_exactly_the_ledger_is_not_scored(official: list[Outcome]) -> None:
    unscored = {o.id: v for o in official if isinstance(v := o.judgement.corrected, NotScored)}
    assert {v.cause for v in unscored.values()} == {SET_ASIDE}
    live_only = {entry_id for entry_id, v in unscored.items() if v.reason.startswith("live_only: ")}
    assert len(live_only) == 54
    told = {entry_id: v.reason for entry_id, v in unscored.items() if entry_id not in live_only}
    assert told == _read_ledger()


@pytest.mark.nightly
def test_official_exactly_the_entries_that_nothing_passes_are_failed(official: list[Outcome]) -> None:
    """Of the composite entries, those whose truth is not valid Python."""
    unplayable = {entry_id for entry_id, reason in _read_ledger().items() if "not valid Python" in reason}
    assert len(unplayable) == 16
    assert {o.id for o in official if isinstance(o.judgement.official, Failed)} == MISJUDGED | unplayable
    unscored = [o.judgement for o in official if isinstance(o.judgement.official, NotScored)]
    assert len(unscored) == 54
    assert all(judgement.official == judgement.corrected for judgement in unscored)


@pytest.mark.nightly
def test_in_every_prompt_format_only_a_list_of_objects_is_misread(pack_cache: Path, pool: Pool) -> None:
    """As JSON it ends, officially, the search for the calls."""
    suite = open_suite("bfcl", pack_cache)
    outcomes = list(_judge_oracle(suite, [CATEGORIES["format_sensitivity"]], Mode.PROMPT, pool))
    assert len(outcomes) == 5_200
    # Four of the 200 entries that are varied are set aside.
    refused = [o.judgement.corrected for o in outcomes if not isinstance(o.judgement.corrected, Passed)]
    assert len(refused) == 4 * 26
    assert {verdict.cause for verdict in refused if isinstance(verdict, NotScored)} == {"set_aside"}
    failed = [parse_format_id(o.id) for o in outcomes if isinstance(o.judgement.official, Failed)]
    as_json = [chosen for chosen in FORMATS if chosen.returned is AnswerNotation.JSON]
    assert failed == [(chosen, "simple_python_96") for chosen in as_json]
