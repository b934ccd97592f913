"""Laws of all domains: nothing crashes, chance is repeated, and nothing outside is touched or changed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.environments.environment import Environment, document_domain
from pytest_fcbench.environments.execution import DOMAINS, Environments, open_environments
from pytest_fcbench.environments.world import Filler, World
from pytest_fcbench.kinds.state.verdict import Trajectory
from tests.cases import each_case
from tests.conftest import ROOT

DOORS = ("driver", "passenger", "rear_left", "rear_right")
TIRES = ("frontLeft", "frontRight", "rearLeft", "rearRight")
CARD = {
    "card_number": "5500",
    "expiration_date": "04/2030",
    "cardholder_name": "Ida Moe",
    "card_verification_number": 321,
    "balance": 900.0,
}
TRIP = {
    "card_id": "c1",
    "travel_date": "2031-05-02",
    "travel_from": "OSL",
    "travel_to": "BGO",
    "travel_class": "first",
    "travel_cost": 250.0,
    "transaction_id": "99",
}
ACME = {"price": 12.5, "percent_change": -3.0, "volume": 4.0, "MA(5)": 12.0, "MA(20)": 11.0}
SOLD = {"id": 2, "order_type": "Sell", "symbol": "ACME", "price": 13.0, "amount": 2, "status": "Completed"}
PAID = {"type": "deposit", "amount": 40.0, "timestamp": "2031-03-01 09:00:00"}


@dataclass(frozen=True)
class Echo:
    """A web in which every page says where it is."""

    def search(self, keywords: str, max_results: int, region: str) -> Sequence[Mapping[str, object]]:
        return [{"title": keywords, "href": "http://a.example/"}]

    def fetch(self, url: str, mode: str, *, official: bool = False) -> str:
        return url


WORLD = World(
    web=Echo(),
    defaults={
        "messages": {
            "random_seed": 5,
            "generated_ids": [],
            "user_count": 2,
            "user_map": {"Ida": "USR001", "Jon": "USR002"},
            "inbox": [{"USR002": "Coffee?"}],
            "message_count": 1,
            "current_user": None,
        },
        "posting": {
            "username": "ida",
            "password": "pw",
            "authenticated": False,
            "tweets": {
                "1": {"id": 1, "username": "jon", "content": "Snow", "tags": ["#snow"], "mentions": []}
            },
            "comments": {"1": [{"username": "ida", "content": "Cold"}]},
            "retweets": {"jon": [1]},
            "following_list": ["jon"],
            "tweet_counter": 2,
        },
        "tickets": {
            "ticket_queue": [
                {
                    "id": 1,
                    "title": "Leak",
                    "description": "",
                    "status": "Open",
                    "priority": 2,
                    "created_by": "Ida",
                }
            ],
            "ticket_counter": 2,
            "current_user": None,
        },
        "trading": {
            "random_seed": 6,
            "orders": {"2": SOLD, "3": {**SOLD, "id": 3, "status": "Open"}},
            "account_info": {"account_id": 1, "balance": 500.0, "binding_card": 77},
            "authenticated": False,
            "market_status": "Open",
            "order_counter": 4,
            "stocks": {"ACME": ACME, "BOLT": {**ACME, "price": 90.0}},
            "watch_list": ["BOLT"],
            "transaction_history": [PAID],
        },
        "travel": {
            "random_seed": 7,
            "credit_card_list": {"c1": CARD},
            "booking_record": {"b1": TRIP},
            "access_token": "tok",
            "token_type": "Bearer",
            "token_expires_in": 9,
            "token_scope": "read",
            "user_first_name": "Ida",
            "user_last_name": "Moe",
            "budget_limit": 300.0,
        },
        "vehicle": {
            "random_seed": 8,
            "fuelLevel": 12.0,
            "batteryVoltage": 12.6,
            "engine_state": "stopped",
            "remainingUnlockedDoors": 0,
            "doorStatus": dict.fromkeys(DOORS, "locked"),
            "acTemperature": 20.0,
            "fanSpeed": 50,
            "acMode": "auto",
            "humidityLevel": 45.0,
            "headLightStatus": "off",
            "parkingBrakeStatus": "released",
            "_parkingBrakeForce": 0.0,
            "_slopeAngle": 0.0,
            "brakePedalStatus": "pressed",
            "brakePedalForce": 1000.0,
            "distanceToNextVehicle": 30.0,
            "cruiseStatus": "inactive",
            "destination": "None",
            **{f"{tire}TirePressure": 32.0 for tire in TIRES},
        },
    },
    fares={"OSL|BGO": 50.0, "BGO|OSL": 60.0},
    airports=("OSL", "BGO"),
    nearest_airports={"Oslo": "OSL"},
    exchange_rates={"USD|EUR": 0.9},
    symbols={"Acme Works": "ACME"},
    sectors={"Technology": ["ACME"]},
    distances=[["10001", "20002", 463.5]],
    zip_codes={"Oslo": "10001", "Bergen": "20002"},
    today="2031-04-02",
    filler=Filler(
        file_text=" and much more",
        spared_files=("notes.txt",),
        file_names=("scan_1.tif", "scan_2.tif"),
        watch_list=("ZZZ", ...),
        transactions=[PAID],
        ma_5=(1.0, 2.0),
        ma_20=(3.0,),
        sectors={"Technology": ["ZZZ"]},
        order_details={"outlook": "{symbol} will do."},
        car_status="A red car.",
        weather={"1_day": {"rain": 2}},
        parking_brake="Pull the lever.",
        cities=("Lom",),
        credit_cards={"c9": {**CARD, "balance": 1.0}},
        bookings={"b9": {**TRIP, "card_id": "c9"}},
    ),
)
CONFIG: Mapping[str, Mapping[str, object]] = {
    "file_system": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {
                    "notes.txt": {"type": "file", "content": "one\ntwo\none"},
                    ".hidden": {"type": "file", "content": "x"},
                    "docs": {
                        "type": "directory",
                        "contents": {"plan.txt": {"type": "file", "content": "plän"}},
                    },
                    "empty": {"type": "directory", "contents": {}},
                },
            }
        }
    },
    "messages": {"current_user": "USR001"},
    "posting": {"authenticated": True},
    "tickets": {"current_user": "Ida"},
    "trading": {"authenticated": True},
    "vehicle": {"engineState": "running"},
    "memory_kv": {"core_memory": {"held": "x"}, "archival_memory": {"held": "y"}},
    "memory_vector": {
        "core_memory": {"next_id": 1, "texts": {"0": "held"}},
        "archival_memory": {"next_id": 1, "texts": {"0": "held"}},
    },
    "memory_rec_sum": {"memory": "old and older"},
}

DOCS = {name: document_domain(domain) for name, domain in DOMAINS.items()}

KNOWN: Mapping[str, Sequence[object]] = {
    "folder": ("docs", "..", "empty", "/", "new"),
    "dir_name": ("new", "empty", "docs"),
    "file_name": ("notes.txt", "new.txt", "empty"),
    "path": (".", "docs", "/"),
    "source": ("notes.txt", "docs", "empty", "new"),
    "destination": ("empty", "docs", "new", "here"),
    "unit_in": ("km", "cm"),
    "unit_out": ("cm", "in", "miles"),
    "user": ("Ida", "Jon"),
    "user_id": ("USR001",),
    "receiver_id": ("USR002", "USR001"),
    "tweet_id": (1, 2, 3),
    "ticket_id": (1, 2, 3),
    "order_id": (2, 3, 4),
    "updates": ({"priority": 3}, {"status": "Closed", "title": None}, {"owner": "x"}),
    "username": ("ida", "Ida"),
    "password": ("pw",),
    "name": ("Acme Works", "notes", "plan"),
    "symbol": ("ACME", "BOLT"),
    "stock": ("ACME",),
    "stocks": (["ACME", "BOLT"],),
    "sector": ("Technology",),
    "start_date": ("2031-03-01",),
    "end_date": ("2031-05-01",),
    "access_token": ("tok",),
    "card_id": ("c1", "c9"),
    "booking_id": ("b1", "b9"),
    "travel_from": ("OSL", "BGO"),
    "travel_to": ("BGO", "OSL"),
    "travel_date": ("2031-05-02", "2031-05-03"),
    "date_of_birth": ("1990-01-01", "2030-01-01"),
    "passport_number": ("US12",),
    "first_name": ("Ida",),
    "last_name": ("Moe",),
    "base_currency": ("USD", "EUR"),
    "target_currency": ("EUR", "USD"),
    "location": ("Oslo",),
    "door": ([*DOORS], ["driver"]),
    "pedalPosition": (1, 0.5, 0),
    "speed": (60, 62),
    "cityA": ("10001", "20002"),
    "cityB": ("20002", "10001"),
    "city": ("Oslo",),
    "numbers": ([1, 2.5, 3], []),
    "precision": (5, 20),
    "keywords": ("a",),
    "url": ("http://a.example/",),
    "region": ("us-en",),
    "file_name1": ("notes.txt",),
    "file_name2": ("notes.txt", "new.txt"),
    "key": ("new", "held"),
    "query": ("held", "new"),
    "old_text": ("old",),
    "vec_id": (0, 1),
    "k": (1, 2),
    "top_k": (1, 2),
}
"""Values with which calls succeed, by parameter."""

_TYPED: Mapping[str, Sequence[object]] = {
    "string": ("one", "ä\n'\"", ""),
    "integer": (1, 0, 3, -1),
    "float": (2.5, 10, 0, -4.0),
    "boolean": (True, False),
    "array": (["#a", "#b"], [], [1, 2]),
    "dict": ({}, {"a": {"b": []}}),
}
_WILD: Sequence[object] = (
    None,
    True,
    -7,
    10**30,
    1e300,
    "",
    "\x00",
    "x" * 300,
    [],
    [[1]],
    {},
    {"a": [None]},
    [{}],
)
_RAW: Sequence[str] = (
    "1e999",
    "ls()",
    "get_tweet(tweet_id=1)",
    "get_tweet(tweet_id=1)['mentions']",
    "get_ticket(ticket_id=1)",
    "cat(file_name='notes.txt')['file_content']",
    "list_users()['user_list'][0]",
    "nope()",
    "{1, 2}",
    "(1, (2,))",
    "b'x'",
    "undefined",
    "2**60",
    "9**9**9",
)
_NO_CALLS = ("", "ls", "1/0", "print('x')", "open('x', 'w')", "x.cd('docs')", "pwd(*[])", "cd(", "[pwd()]")


def draw_value(random: Random, name: str, schema: Schema) -> str:
    """Draw an argument as text: most often one that fits."""
    chance = random.random()
    if chance < 0.06:
        return random.choice(_RAW)
    if chance < 0.16:
        return repr(random.choice(_WILD))
    enum = schema.get("enum")
    fitting = enum if isinstance(enum, list) and chance < 0.8 else KNOWN.get(name)
    return repr(random.choice(fitting or _TYPED[str(schema["type"])]))


def draw_call(random: Random, docs: Sequence[FunctionDoc]) -> str:
    """Draw a call of one of the functions, most often with all its parameters."""
    if random.random() < 0.03:
        return random.choice(_NO_CALLS)
    doc = random.choice(docs)
    arguments = [
        f"{name}={draw_value(random, name, schema)}"
        for name, schema in doc.properties.items()
        if random.random() < (0.98 if name in doc.required else 0.5)
    ]
    if random.random() < 0.02:
        arguments.append(f"surplus={random.choice(_WILD)!r}")
    return f"{doc.name}({', '.join(arguments)})"


def open_domains(domains: Sequence[str], world: World = WORLD, *, long_context: bool) -> Environments:
    category = CATEGORIES["multi_turn_long_context" if long_context else "multi_turn_base"]
    config = {name: CONFIG.get(name, {}) for name in domains}
    scene = Scene(tuple(domains), config)
    return open_environments(Entry("test", "t_0", category, (), (), Trajectory(()), scene), world)


def copy_state(found: Environments) -> dict[str, tuple[str, str, str]]:
    """Write everything that a conversation can change as text."""
    return {
        name: (repr(dict(one.state())), repr(dict(one.get_hidden_state())), repr(dict(one.get_full_state())))
        for name, one in found.by_domain.items()
    }


def lies_in_itself(one: Environment) -> bool:
    """Whether a state has itself as a part, such as a ticket whose title is this ticket."""
    return "{...}" in repr(one.state())


TOGETHER = [name for name in DOMAINS if name != "memory_vector"]
"""What can be open at once: two memories have functions of one name."""
ALL = [[name] for name in DOMAINS] + [TOGETHER]
IDS = [*DOMAINS, "all"]


@pytest.mark.few(4)
@pytest.mark.parametrize("long_context", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("domains", ALL, ids=IDS)
@given(random=st.randoms(use_true_random=False), number=st.integers(1, 14))
@settings(max_examples=50)
def test_the_same_calls_do_the_same_and_nothing_else(
    domains: list[str], long_context: bool, random: Random, number: int
) -> None:
    docs = [doc for domain in domains for doc in DOCS[domain]]
    calls = [draw_call(random, docs) for _ in range(number)]
    before = deepcopy((CONFIG, WORLD))
    first, second, other = (open_domains(domains, long_context=long_context) for _ in range(3))
    untouched = copy_state(other)
    results = first.perform_calls(calls)
    assert [type(result) for result in results] == [str] * len(calls)
    assert second.perform_calls(calls[:1]) + second.perform_calls(calls[1:]) == results
    assert copy_state(second) == copy_state(first)
    for one, twin in zip(first.by_domain.values(), second.by_domain.values(), strict=True):
        assert lies_in_itself(one) or one.state() == twin.state()
        assert one.get_hidden_state() == twin.get_hidden_state()
    assert copy_state(other) == untouched
    assert before == (CONFIG, WORLD)


@each_case("domain", DOMAINS)
def test_states_are_told_apart(domain: str) -> None:
    changes = {
        "file_system": "touch(file_name='new')",
        "messages": "add_contact(user_name='Kim')",
        "posting": "follow_user(username_to_follow='kim')",
        "tickets": "logout()",
        "trading": "trading_logout()",
        "travel": "set_budget_limit(access_token='tok', budget_limit=1)",
        "vehicle": "releaseBrakePedal()",
        "memory_kv": "core_memory_add(key='new', value='x')",
        "memory_vector": "core_memory_add(text='x')",
        "memory_rec_sum": "memory_append(text='x')",
        "web_search": "search_engine_query(keywords='a')",
    }
    first, second = (open_domains([domain], long_context=False) for _ in range(2))
    results = first.perform_calls([changes.get(domain, "add(a=1, b=2)")])
    assert "rror" not in results[0]
    assert (copy_state(first) == copy_state(second)) == (domain in ("math", "web_search"))


def test_states_hold_every_public_attribute_and_shown_the_hidden_ones_too() -> None:
    for one in open_domains(TOGETHER, long_context=True).by_domain.values():
        assert set(one.state()) == {name for name in vars(one) if not name.startswith("_")}
        assert set(one.get_full_state()) == {*one.state(), *one.get_hidden_state()}
        assert {*one.state()}.isdisjoint(one.get_hidden_state())


def test_an_entry_whose_calls_are_only_read_has_no_environments() -> None:
    entry = Entry("test", "t_0", CATEGORIES["multi_turn_base"], (), (), Trajectory(()))
    assert open_environments(entry, WORLD).by_domain == {}


# Nothing outside is touched

_FORBIDDEN = (
    "open",
    "exec",
    "import",
    "socket.",
    "subprocess.",
    "os.",
    "shutil.",
    "glob.",
    "pty.",
    "ctypes.",
    "urllib.",
)
"""Audit events (or how they begin) of files, processes, networks, and code that is run."""


class Leaky(Environment):
    """What no domain may do."""

    def leak(self, how: str) -> None:
        """Do it."""
        LEAKS[how]()


LEAKS: Mapping[str, Callable[[], object]] = {
    "open": lambda: Path(__file__).read_text(),
    "os.remove": lambda: Path("no such file; name a configuration file, or leave the option out").unlink(),
    "subprocess.Popen": lambda: subprocess.run([sys.executable, "-V"], check=True),
    "socket.__new__": lambda: socket.socket(),
    "import": lambda: __import__("this"),
    "exec": lambda: eval("1"),
}
"""What no domain may do, by the event that it raises."""


def report_events(number: int) -> None:
    """Carry out calls under an audit hook and print what happened; for a process of its own, as it stays.

    Without calls of the domains, those of what none may do.
    """
    random, succeeded = Random(number), set()
    events: list[str] = []
    open_domains(TOGETHER, long_context=True)
    # It imports what it needs when it is first called.
    datetime.strptime("1", "%d")

    def note_event(event: str, _: object) -> None:
        if event.startswith(_FORBIDDEN):
            events.append(event)
            raise RuntimeError(event)

    sys.addaudithook(note_event)
    if not number:
        Environments({"leaky": Leaky({}, WORLD)}).perform_calls([f"leak({leak!r})" for leak in LEAKS])
    for turn in range(number):
        domains = TOGETHER if turn % 6 else ["memory_vector"]
        docs = [doc for domain in domains for doc in DOCS[domain]]
        found = open_domains(domains, long_context=turn % 2 == 1)
        calls = [draw_call(random, docs) for _ in range(10)]
        for text, result in zip(calls, found.perform_calls(calls), strict=True):
            if "rror" not in result:
                succeeded.add(text.partition("(")[0])
    print(json.dumps({"events": events, "succeeded": sorted(succeeded)}))


def run_report(number: int) -> dict[str, list[str]]:
    code = f"from tests.environments.test_every_domain import report_events; report_events({number})"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    report: dict[str, list[str]] = json.loads(ended.stdout)
    return report


@pytest.mark.slow
def test_calls_touch_no_file_no_network_no_process_and_no_module() -> None:
    report = run_report(1000)
    assert report["events"] == []
    never = {"get_outside_temperature_from_weather_com"}
    assert {*report["succeeded"]} == {doc.name for docs in DOCS.values() for doc in docs} - never


def test_the_hook_would_tell() -> None:
    assert run_report(0)["events"] == list(LEAKS)
