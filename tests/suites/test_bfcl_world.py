"""The tables of the official API classes: read from their sources, and as they are in the pack."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group
from pytest_fcbench.domain.errors import PackError
from pytest_fcbench.environments.environment import document_domain
from pytest_fcbench.environments.execution import DOMAINS, open_environments
from pytest_fcbench.environments.world import Filler, World, world_from_json
from pytest_fcbench.kinds.state.verdict import Trajectory
from pytest_fcbench.suites.bfcl.official_sources import CLASSES, TABLE_SOURCES, read_world
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from tests.cases import each_case
from tests.suites.world_sources import WORLD_TEXTS

MESSAGES, POSTING, TICKETS, TRADING, TRAVEL, VEHICLE, FILLER = TABLE_SOURCES


def read_sources(path: str = "", old: str = "", new: str = "") -> Mapping[str, object]:
    """Read the world of the sources, in one of which ``old`` is replaced."""
    texts = dict(WORLD_TEXTS)
    if path:
        assert old in texts[path]
        texts[path] = texts[path].replace(old, new)
    return read_world({name: ast.parse(text) for name, text in texts.items()})


EXPECTED = World(
    defaults={
        "messages": {"random_seed": 200191, "generated_ids": [], "user_map": {"Ada": "U1"}},
        "posting": {"username": "ada", "tweets": {}},
        "tickets": {"ticket_queue": [], "ticket_counter": 3},
        "trading": {"orders": {"7": {"id": 7, "status": "Open"}}, "random_seed": 5},
        "travel": {"access_token": None, "random_seed": 6},
        "vehicle": {"fuelLevel": 0.0, "random_seed": 7},
    },
    fares={"AAA|BBB": 90},
    airports=["AAA", "BBB"],
    nearest_airports={"Aton": "AAA"},
    exchange_rates={"USD|EUR": 0.5},
    symbols={"Acorn": "ACN"},
    sectors={"Technology": ["ACN"], "Automobile": []},
    distances=[["00001", "00002", 12.5], ["00002", "00003", 8.0]],
    zip_codes={"Aton": "00001", "Beton": "00002"},
    tire_shop="1 Wheel Lane",
    support_reply="We heard you.",
    foreign_passport="Not from here.",
    filler=Filler(
        file_text="More.",
        spared_files=["a.txt"],
        file_names=["x.jpg"],
        watch_list=["ABCD", ...],
        transactions=[{"type": "deposit", "amount": 1.5, "timestamp": "2024-01-01 00:00:00"}],
        ma_5=[1.0],
        ma_20=[2.0],
        sectors={"Technology": ["ZZZ"], "Automobile": ["YYY"]},
        order_details={"risks": "{symbol} may fall."},
        car_status="Four wheels.",
        weather={"-1_day": {"humidity": 80}},
        parking_brake="Pull.",
        cities=["Ceton"],
        credit_cards={"1": {"balance": 5.0}},
        bookings={"booking_1": {"travel_cost": 10.0}},
    ),
)


@each_case("name", [field.name for field in fields(World) if field.name != "filler"])
def test_a_table_of_the_world_is_read(name: str) -> None:
    assert getattr(world_from_json(read_sources()), name) == getattr(EXPECTED, name)


@each_case("name", [field.name for field in fields(Filler)])
def test_a_table_of_filler(name: str) -> None:
    assert getattr(world_from_json(read_sources()).filler, name) == getattr(EXPECTED.filler, name)


FORMS: Mapping[str, tuple[str, str, str, str, object]] = {
    # id: (file, what is replaced, by what, name of the table, the table)
    "annotated": (TRADING, "symbol_map =", "symbol_map: dict[str, str] =", "symbols", {"Acorn": "ACN"}),
    "tuple": (TRAVEL, '["AAA", "BBB"]', '("AAA", "BBB")', "airports", ["AAA", "BBB"]),
    "set": (TRAVEL, '["AAA", "BBB"]', '{"AAA"}', "airports", ["AAA"]),
    "assigned twice": (
        TRADING,
        "        return {",
        '        symbol_map = {"B": 1}\n        return {',
        "symbols",
        {"Acorn": "ACN"},
    ),
    "another name before": (
        TRADING,
        "symbol_map = {",
        "symbols = 3\n        symbol_map = {",
        "symbols",
        {"Acorn": "ACN"},
    ),
    "elsewhere in the file": (TRAVEL, "class TravelAPI:", "class Api:", "fares", {"AAA|BBB": 90}),
    "not run": (
        TRAVEL,
        "class TravelAPI:",
        "import nothing.like.this\nclass TravelAPI(1 / 0):",
        "fares",
        {"AAA|BBB": 90},
    ),
    "a sentence of two parts": (VEHICLE, '"1 Wheel Lane"', '"1 " "Wheel Lane"', "tire_shop", "1 Wheel Lane"),
    "a branch with more in its test": (
        VEHICLE,
        'city == "Aton"',
        'known and city == "Aton"',
        "zip_codes",
        EXPECTED.zip_codes,
    ),
}


@each_case(("path", "old", "new", "name", "table"), FORMS.values(), ids=FORMS)
def test_other_forms_that_are_read(path: str, old: str, new: str, name: str, table: object) -> None:
    assert read_sources(path, old, new)[name] == table


def test_a_seed_of_the_default_state_goes_before_ours() -> None:
    changed = read_sources(
        MESSAGES,
        "{",
        '{"random_seed": 3, ',
    )
    assert world_from_json(changed).defaults["messages"]["random_seed"] == 3


def test_a_world_goes_through_json() -> None:
    assert json.loads(json.dumps(read_sources())) == read_sources()


@pytest.mark.parametrize("value", [{"towns": {}}, {"filler": {"file": ""}}], ids=["world", "filler"])
def test_a_world_of_unknown_names_is_refused(value: Mapping[str, object]) -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        world_from_json(value)


# How the package could have changed: file, what is replaced, by what, words of the error
FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    TRAVEL: (
        "get_flight_cost",
        "list_all_airports",
        "get_nearest_airport_by_city",
        "compute_exchange_rate",
        "contact_customer_support",
        "verify_traveler_information",
    ),
    TRADING: ("get_symbol_by_name", "get_available_stocks"),
    VEHICLE: ("estimate_distance", "get_zipcode_based_on_city", "find_nearest_tire_shop"),
}
TABLES: Mapping[str, tuple[str, ...]] = {
    TRAVEL: ("base_costs", "airport_map", "exchange_rates"),
    TRADING: ("symbol_map", "sector_map"),
    FILLER: tuple(line.partition(" ")[0] for line in WORLD_TEXTS[FILLER].split("\n") if line),
}
SENTENCES: Mapping[str, str] = {
    "customer_support_message": TRAVEL,
    "verification_failure": TRAVEL,
    "shopLocation": VEHICLE,
}
SHOP = '{"shopLocation": "1 Wheel Lane"}'
CHANGED: Mapping[str, tuple[str, str, str, str]] = {
    **{
        f"no default state: {path.rpartition('/')[2]}": (path, "DEFAULT_STATE", "STATE", "DEFAULT_STATE")
        for path in TABLE_SOURCES
        if path != FILLER
    },
    **{
        f"no function {name}": (path, f"def {name}(", f"def new_{name}(", f"the function {name}")
        for path, names in FUNCTIONS.items()
        for name in names
    },
    **{
        f"no table {name}": (path, name, f"NEW_{name}", name)
        for path, names in TABLES.items()
        for name in names
    },
    **{f"no sentence {key}": (path, f'"{key}"', '"text"', f"{key} in ") for key, path in SENTENCES.items()},
    "default state is a list": (TICKETS, '{"ticket_queue": [], "ticket_counter": 3}', "[3]", "DEFAULT_STATE"),
    "default state is only declared": (
        TICKETS,
        '= {"ticket_queue": [], "ticket_counter": 3}',
        ": dict",
        "DEFAULT_STATE",
    ),
    "default state is computed": (TICKETS, '{"ticket_queue"', '{**STATE, "ticket_queue"', "a literal"),
    "default state has a name in it": (TICKETS, "3}", "COUNT}", "a literal"),
    "default state cannot be": (TICKETS, "{", "{[]: 1, ", "a literal"),
    "a key of numbers": (TRAVEL, '("USD", "EUR")', "(1, 2)", "a literal"),
    "a table is loaded": (TRADING, '{"Acorn": "ACN"}', "load()", "a literal"),
    "airports are computed": (TRAVEL, '["AAA", "BBB"]', "sorted(self.airports)", "a literal"),
    "airports are yielded": (
        TRAVEL,
        'return ["AAA", "BBB"]',
        'yield "AAA"',
        "what list_all_airports returns",
    ),
    "airports are not returned": (TRAVEL, '["AAA", "BBB"]', "", "what list_all_airports returns"),
    "a sentence is computed": (VEHICLE, SHOP, '{"shopLocation": f"{self.shop}"}', "shopLocation in "),
    "a sentence is not in a dict": (VEHICLE, SHOP, 'dict(shopLocation="1 Wheel Lane")', "shopLocation in "),
    "distances are looked up": (
        VEHICLE,
        "distance = {",
        "distance = known or {",
        "a branch of estimate_distance",
    ),
    "a distance is computed": (VEHICLE, "12.5", "miles(7)", "a literal"),
    "zip codes have two values": (
        VEHICLE,
        '{"zipcode": ',
        '{"state": "", "zipcode": ',
        "a branch of get_zipcode_based_on_city",
    ),
    "filler is computed": (FILLER, '["ZZZ"]', '["ZZZ"] * COUNT', "a literal"),
}


@each_case(("path", "old", "new", "words"), CHANGED.values(), ids=CHANGED)
def test_a_changed_package_is_refused(path: str, old: str, new: str, words: str) -> None:
    told = rf"^{words}.* is not where it was; the package has changed, so pull the pinned version$"
    with pytest.raises(PackError, match=told):
        read_sources(path, old, new)


BRANCHES: Mapping[str, tuple[str, str, str]] = {
    # what: (function, text of its source, text in its place)
    "a city is compared with a name": ("get_zipcode_based_on_city", 'city == "Aton"', "city == CAPITAL"),
    "a distance is compared with a name": ("estimate_distance", '"00003"', "CAPITAL"),
    "one branch has another form": (
        "estimate_distance",
        'distance = {"distance": 12.5}',
        "distance = dict(distance=12.5)",
    ),
}


@pytest.mark.parametrize(("function", "old", "new"), BRANCHES.values(), ids=BRANCHES)
def test_a_changed_branch_is_refused(function: str, old: str, new: str) -> None:
    with pytest.raises(PackError, match=f"a branch of {function} "):
        read_sources(VEHICLE, old, new)


# The pack


@pytest.fixture(scope="module")
def bfcl(pack_cache: Path) -> Suite:
    return open_suite("bfcl", pack_cache)


@pytest.fixture(scope="module")
def entries(bfcl: Suite) -> Mapping[str, tuple[Entry, ...]]:
    """Load the multi-turn entries by category."""
    return {
        name: bfcl.load(category)
        for name, category in CATEGORIES.items()
        if category.group is Group.MULTI_TURN
    }


def read_truth(entry: Entry) -> tuple[tuple[str, ...], ...]:
    assert isinstance(entry.expectation, Trajectory)
    return entry.expectation.turns


COUNTS: Mapping[str, tuple[int, int, int, int]] = {
    # category: (entries, turns, of which empty, calls of the truth)
    "multi_turn_base": (200, 734, 3, 1142),
    "multi_turn_miss_func": (200, 934, 203, 1140),
    "multi_turn_miss_param": (200, 934, 203, 1140),
    "multi_turn_long_context": (200, 734, 3, 1203),
    "multi_turn_composite": (200, 1148, 397, 1262),
}


SCORED = [name for name in COUNTS if CATEGORIES[name].scored]


def test_turns_and_calls_are_as_many_as_published(entries: Mapping[str, tuple[Entry, ...]]) -> None:
    found = {}
    for name, those in entries.items():
        turns = [turn for entry in those for turn in read_truth(entry)]
        found[name] = (len(those), len(turns), sum(not turn for turn in turns), sum(map(len, turns)))
    assert found == COUNTS
    assert sum(len(entries[name]) for name in SCORED) == 800


@pytest.mark.nightly
@pytest.mark.parametrize("category", COUNTS)
def test_each_entry_fits_together(entries: Mapping[str, tuple[Entry, ...]], category: str) -> None:
    for entry in entries[category]:
        assert entry.id.startswith(f"{category}_")
        assert entry.scene is not None
        assert len(entry.turns) == len(read_truth(entry))
        assert set(entry.scene.domains) <= set(DOMAINS)
        assert set(entry.scene.config) <= set(DOMAINS)
        offered = {doc.name for doc in entry.functions}
        late = [doc.name for docs in entry.scene.withheld.values() for doc in docs]
        assert offered.isdisjoint(late)
        assert offered | {*late} == {
            doc.name for name in entry.scene.domains for doc in document_domain(DOMAINS[name])
        }
        for number, said in enumerate(entry.turns):
            assert (said == ()) == (number in entry.scene.withheld)


def test_entries_have_one_or_two_domains(entries: Mapping[str, tuple[Entry, ...]]) -> None:
    for those in entries.values():
        scenes = [entry.scene for entry in those if entry.scene]
        assert Counter(len(scene.domains) for scene in scenes) == {1: 65, 2: 135}
        assert Counter(name for scene in scenes for name in scene.domains) == {
            **dict.fromkeys(("file_system", "vehicle", "trading", "travel"), 50),
            "messages": 40,
            "posting": 39,
            "tickets": 31,
            "math": 25,
        }


def test_functions_are_withheld_only_where_they_are_missing(entries: Mapping[str, tuple[Entry, ...]]) -> None:
    def count_withheld(name: str) -> Counter[tuple[int, ...]]:
        scenes = [entry.scene for entry in entries[name] if entry.scene]
        return Counter(tuple(map(len, scene.withheld.values())) for scene in scenes)

    assert count_withheld("multi_turn_base") == count_withheld("multi_turn_long_context") == {(): 200}
    assert count_withheld("multi_turn_miss_param") == {(): 200}
    assert count_withheld("multi_turn_miss_func") == {(1,): 182, (2,): 14, (3,): 4}
    # Two entries withhold what no domain has any more.
    assert count_withheld("multi_turn_composite") == {(1,): 198, (0,): 2}


def test_which_entries_are_set_aside(entries: Mapping[str, tuple[Entry, ...]]) -> None:
    found = {name: sum(entry.set_aside is not None for entry in those) for name, those in entries.items()}
    assert found == {
        "multi_turn_base": 12,
        "multi_turn_miss_func": 15,
        "multi_turn_miss_param": 15,
        "multi_turn_long_context": 14,
        "multi_turn_composite": 41,
    }


def list_early_calls(entry: Entry) -> list[str]:
    """List the calls of the truth that name a function before it is offered."""
    assert entry.scene is not None
    return [
        call
        for turn, docs in entry.scene.withheld.items()
        for calls in read_truth(entry)[:turn]
        for call in calls
        if call.partition("(")[0] in {doc.name for doc in docs}
    ]


def test_a_truth_calls_what_is_offered_by_then(entries: Mapping[str, tuple[Entry, ...]]) -> None:
    found = {
        entry.id: list_early_calls(entry)
        for name in SCORED
        for entry in entries[name]
        if list_early_calls(entry)
    }
    assert found == {"multi_turn_miss_func_49": ["tail(file_name='file3.txt')"]}


def test_what_cannot_be_called_in_time_is_set_aside(entries: Mapping[str, tuple[Entry, ...]]) -> None:
    assert [
        entry.id
        for name in SCORED
        for entry in entries[name]
        if list_early_calls(entry) and not entry.set_aside
    ] == []


def test_every_call_of_a_scored_truth_can_be_carried_out(
    bfcl: Suite, entries: Mapping[str, tuple[Entry, ...]]
) -> None:
    failed = []
    for name in SCORED:
        for entry in entries[name]:
            environments = open_environments(entry, bfcl.world)
            for calls in read_truth(entry):
                failed += [text for text in environments.perform_calls(calls) if text.startswith("Error")]
    assert failed == []


SIZES: Mapping[str, int] = {
    "defaults": 6,
    "fares": 153,
    "airports": 23,
    "nearest_airports": 23,
    "exchange_rates": 10,
    "symbols": 13,
    "sectors": 2,
    "distances": 12,
    "zip_codes": 11,
}
FILLER_SIZES: Mapping[str, int] = {
    "file_text": 3251,
    "spared_files": 9,
    "file_names": 30,
    "watch_list": 1001,
    "transactions": 1000,
    "ma_5": 2000,
    "ma_20": 2000,
    "sectors": 2,
    "order_details": 8,
    "car_status": 6503,
    "weather": 15,
    "parking_brake": 9710,
    "cities": 826,
    "credit_cards": 22,
    "bookings": 16,
}


def test_the_world_of_the_pack(bfcl: Suite) -> None:
    world = bfcl.world
    assert {name: len(getattr(world, name)) for name in SIZES} == SIZES
    assert {name: len(getattr(world.filler, name)) for name in FILLER_SIZES} == FILLER_SIZES
    assert world.today == "2024-09-01"
    assert world.filler.watch_list[-1] is ...
    assert {sector: len(symbols) for sector, symbols in world.filler.sectors.items()} == {
        "Technology": 1000,
        "Automobile": 1000,
    }
    assert all(world.support_reply and text for text in (world.tire_shop, world.foreign_passport))
    assert {tuple(map(type, known)) for known in world.distances} == {(str, str, float)}


@each_case(("official", "name"), CLASSES.items(), ids=CLASSES.values())
def test_our_functions_are_the_official_ones(
    entries: Mapping[str, tuple[Entry, ...]], official: str, name: str
) -> None:
    assert official
    of_pack = {doc.name: doc for entry in entries["multi_turn_base"] for doc in entry.functions}
    for doc in document_domain(DOMAINS[name]):
        theirs = of_pack[doc.name]
        assert {key: schema["type"] for key, schema in doc.properties.items()} == {
            key: schema["type"] for key, schema in theirs.properties.items()
        }
        assert set(doc.required) == set(theirs.required)


@each_case("category", COUNTS)
def test_every_environment_opens(
    bfcl: Suite, entries: Mapping[str, tuple[Entry, ...]], category: str
) -> None:
    for entry in entries[category]:
        assert entry.scene is not None
        assert tuple(open_environments(entry, bfcl.world).by_domain) == entry.scene.domains
