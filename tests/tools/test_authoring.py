"""Entries made from entries by code, and the material that makes contexts long."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields, replace

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message, Scene
from pytest_fcbench.environments.environment import document_domain
from pytest_fcbench.environments.execution import DOMAINS
from pytest_fcbench.environments.world import Filler
from pytest_fcbench.kinds.state.derived_entries import move_to_category, withhold_functions
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.suites.core import filler
from tests.cases import each_case
from tests.conftest import ROOT
from tests.factories import make_entry

FILES = {"root": {"home": {"type": "directory", "contents": {}}}}
TRUTH = (("mkdir('box')",), ("mv ('box', 'chest')", "mkdir('box')"), ("ls()", "mkdir(dir_name='end')"))
PLAIN = Entry(
    suite="core",
    id="multi_turn_base_7",
    category=CATEGORIES["multi_turn_base"],
    turns=tuple(
        (Message("user", text),) for text in ("Make a box.", "Rename it, and one more.", "What is here?")
    ),
    functions=document_domain(DOMAINS["file_system"]),
    expectation=Trajectory(TRUTH),
    scene=Scene(("file_system",), {"file_system": FILES}),
    set_aside="two truths",
)


def list_names(entry: Entry) -> list[str]:
    return [doc.name for doc in entry.functions]


@each_case(
    ("turn", "names", "truth"),
    [
        (0, ["mkdir"], [[], TRUTH[0], TRUTH[1], TRUTH[2]]),
        (1, ["mv"], [TRUTH[0], [], TRUTH[1], TRUTH[2]]),
        (2, ["ls"], [TRUTH[0], TRUTH[1], [], TRUTH[2]]),
        (1, ["mv", "rm"], [TRUTH[0], [], TRUTH[1], TRUTH[2]]),
    ],
    ids=["first turn", "second turn", "last turn", "one that is not called"],
)
def test_a_withheld_function_adds_an_empty_turn(
    turn: int, names: list[str], truth: Sequence[Sequence[str]]
) -> None:
    made = withhold_functions(PLAIN, turn, names)
    assert isinstance(made.expectation, Trajectory)
    assert [list(calls) for calls in made.expectation.turns] == [list(calls) for calls in truth]
    said = [[message.content for message in turn] for turn in made.turns]
    assert said.pop(turn + 1) == []
    assert said == [[message.content for message in turn] for turn in PLAIN.turns]
    assert list_names(made) == [name for name in list_names(PLAIN) if name not in names]
    assert made.scene is not None
    assert made.scene.withheld == {turn + 1: tuple(doc for doc in PLAIN.functions if doc.name in names)}


def test_withholding_a_function_changes_nothing_else() -> None:
    made = withhold_functions(PLAIN, 1, ["mv"])
    same = {"turns": PLAIN.turns, "functions": PLAIN.functions, "expectation": PLAIN.expectation}
    assert replace(made, scene=PLAIN.scene, **same) == PLAIN  # type: ignore[arg-type]
    assert made.scene is not None
    assert (made.scene.domains, made.scene.config) == (("file_system",), {"file_system": FILES})


def test_an_empty_turn_before_stays_empty() -> None:
    late = replace(PLAIN, expectation=Trajectory(((), *TRUTH[1:])))
    made = withhold_functions(late, 1, ["mv"])
    assert made.expectation == Trajectory(((), (), *TRUTH[1:]))


@each_case(
    ("turn", "names"),
    [
        (1, ["mkdir"]),
        (2, ["mkdir"]),
        (0, ["mv"]),
        (2, ["mv"]),
        (1, ["mv", "mkdir"]),
        (0, ["pwd"]),
        (1, []),
        (1, ["m"]),
    ],
    ids=[
        "called before",
        "long before",
        "after",
        "only before",
        "one before",
        "never",
        "none",
        "part of a name",
    ],
)
def test_a_function_that_the_turn_is_not_the_first_to_call(turn: int, names: list[str]) -> None:
    with pytest.raises(ValueError, match=f"core:multi_turn_base_7: turn {turn} is not the first that calls"):
        withhold_functions(PLAIN, turn, names)


@pytest.mark.parametrize(
    "entry",
    [make_entry(), replace(PLAIN, scene=None), replace(PLAIN, expectation=make_entry().expectation)],
    ids=["single turn", "no scene", "no trajectory"],
)
def test_only_multi_turn_entries_can_miss_a_function(entry: Entry) -> None:
    with pytest.raises(ValueError, match=f"{entry.key} is not a multi-turn entry"):
        withhold_functions(entry, 0, ["mkdir"])


def test_a_function_whose_result_is_needed_before_is_refused() -> None:
    truth = Trajectory((("mkdir(ls()['current_directory_content'][0])",), ("ls()",)))
    with pytest.raises(ValueError, match="turn 1"):
        withhold_functions(replace(PLAIN, turns=PLAIN.turns[:2], expectation=truth), 1, ["ls"])


@pytest.mark.parametrize(("turn", "name"), [(3, "pwd"), (-1, "ls")])
def test_a_turn_that_is_not_there_is_refused(turn: int, name: str) -> None:
    with pytest.raises(ValueError, match="turn"):
        withhold_functions(PLAIN, turn, [name])


@pytest.mark.parametrize("name", ["multi_turn_long_context", "multi_turn_miss_func", "multi_turn_composite"])
def test_an_entry_of_another_category(name: str) -> None:
    made = move_to_category(PLAIN, name)
    assert (made.id, made.category) == (f"{name}_7", CATEGORIES[name])
    assert made.cluster == PLAIN.id
    assert replace(made, id=PLAIN.id, category=PLAIN.category, cluster=None) == PLAIN


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(KeyError, match="multi_turn_longer"):
        move_to_category(PLAIN, "multi_turn_longer")


# Filler


def test_filler_is_the_same_twice() -> None:
    first = filler()
    assert filler() is first
    filler.cache_clear()
    assert filler() == first


def test_filler_is_the_same_in_another_process() -> None:
    code = "from pytest_fcbench.suites.core import filler; print(ascii(filler()))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ascii(filler())


def test_filler_has_something_for_every_use() -> None:
    names = [field.name for field in fields(Filler) if field.name != "spared_files"]
    assert {name: len(getattr(filler(), name)) for name in names} == {
        "file_text": 2068,
        "accompanying": 12,
        "file_names": 30,
        "watch_list": 400,
        "transactions": 300,
        "ma_5": 500,
        "ma_20": 500,
        "sectors": 2,
        "order_details": 8,
        "car_status": 3533,
        "weather": 14,
        "parking_brake": 4422,
        "cities": 400,
        "credit_cards": 20,
        "bookings": 15,
    }


def test_filler_is_long() -> None:
    found = filler()
    assert len(found.file_text) > 1_500
    assert min(len(found.car_status), len(found.parking_brake)) > 2_500
    assert min(map(len, (found.watch_list, found.transactions, found.ma_5, found.ma_20, found.cities))) >= 300
    assert {sector: len(symbols) for sector, symbols in found.sectors.items()} == {
        "Technology": 100,
        "Automobile": 100,
    }


def test_filler_is_json_and_its_names_are_its_own() -> None:
    found = filler()
    for field in fields(Filler):
        value = getattr(found, field.name)
        assert json.loads(json.dumps(value)) == (list(value) if isinstance(value, tuple) else value)
    symbols = [*found.watch_list, *(symbol for sector in found.sectors.values() for symbol in sector)]
    assert len(set(found.file_names)) == len(found.file_names) == 30
    assert all(isinstance(symbol, str) and len(symbol) == 4 for symbol in symbols)
    assert (len(found.credit_cards), len(found.bookings), len(found.weather)) == (20, 15, 14)


def test_filler_has_the_fields_that_domains_ask_for() -> None:
    found = filler()
    assert {tuple(card) for card in found.credit_cards.values()} == {
        ("card_number", "expiration_date", "cardholder_name", "card_verification_number", "balance")
    }
    assert {tuple(booking) for booking in found.bookings.values()} == {
        (
            "card_id",
            "travel_date",
            "travel_from",
            "travel_to",
            "travel_class",
            "travel_cost",
            "transaction_id",
        )
    }
    assert {tuple(one) for one in found.transactions} == {("type", "amount", "timestamp")}
    assert all(text.count("{symbol}") == 1 for text in found.order_details.values())
