"""Entries with a golden path of a file: what is read, and what each kind of broken record is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import CATEGORIES, Entry, Group, Message
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import AskModel, RecordedCall
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.kinds.entry_files import read_entries
from pytest_fcbench.kinds.golden_path.kind import judge
from pytest_fcbench.kinds.golden_path.listings import make_listing
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, Lookup
from tests.cases import each_case
from tests.kinds.golden_path.talking import PROMPT, hold_conversation, write_call

SHARED = """\
functions:
  - name: find_pond
    description: Finds ponds.
    parameters:
      type: object
      properties:
        query: {type: string, description: "Name."}
        kind: {type: string, enum: [pond, lake], default: pond, description: "Which."}
      required: [query]
lookups: [find_pond]
judged: [query]
"""

GOOD = """\
category: hotels
uses: [ponds.yaml]
functions:
  - name: hire_boat
    description: Hires boats.
    parameters:
      type: object
      properties:
        pond_id: {type: string, description: "Pond."}
        seats: {type: integer, description: "Seats."}
        stops:
          type: array
          description: "Stops."
          items:
            type: object
            properties: {place: {type: string}, minutes: {type: number}}
            required: [place]
      required: [pond_id]
lookups:
  - {name: hire_boat, where: {seats: 1}, forgiven: false}
judged: [seats]
entries:
  - id: hotels_0
    cluster: ponds
    query: Hire a boat on the mill pond.
    steps:
      - - call: {find_pond: {query: mill pond}}
          reply: {ponds: [{pond_id: po_7, depth: 2.5, deep: false, note: null}]}
        - call: {find_pond: {query: mill lake, kind: lake}}
          reply: []
      - - call:
            hire_boat:
              pond_id: {$from: [0, 0, ponds, 0, pond_id]}
              stops: [{place: east}, {place: west, minutes: 5}]
          reply:
            boats:
              $listing:
                {of: rides, seed: 7, items: 3, prices: [2, 3], each: {seats: 4}, with: {1: {price_total: 1}}}
    recorded:
      - call: {find_pond: {query: the mill pond}}
        reply: {$from: [0, 0]}
  - id: hotels_1
    query: Which lakes are there?
    functions: [find_pond]
    steps:
      - - call: {find_pond: {query: "", kind: lake}}
          reply: plenty
"""


def _write_files(folder: Path, text: str, shared: str = SHARED) -> Path:
    folder.joinpath("ponds.yaml").write_text(shared, encoding="utf-8")
    path = folder / "entries.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def _replace_once(text: str, old: str, new: str) -> str:
    """Replace ``old``, which is there exactly once."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


FIND = FunctionDoc(
    "find_pond",
    "Finds ponds.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Name."},
            "kind": {"type": "string", "enum": ["pond", "lake"], "default": "pond", "description": "Which."},
        },
        "required": ["query"],
    },
)
HIRE = FunctionDoc(
    "hire_boat",
    "Hires boats.",
    {
        "type": "object",
        "properties": {
            "pond_id": {"type": "string", "description": "Pond."},
            "seats": {"type": "integer", "description": "Seats."},
            "stops": {
                "type": "array",
                "description": "Stops.",
                "items": {
                    "type": "object",
                    "properties": {"place": {"type": "string"}, "minutes": {"type": "number"}},
                    "required": ["place"],
                },
            },
        },
        "required": ["pond_id"],
    },
)
PONDS = {"ponds": [{"pond_id": "po_7", "depth": 2.5, "deep": False, "note": None}]}
BOATS = make_listing("rides", 7, 3, (2, 3), {"seats": 4}, {1: {"price_total": 1}})
FIRST = Entry(
    suite="mine",
    id="hotels_0",
    category=CATEGORIES["hotels"],
    turns=((Message("user", "Hire a boat on the mill pond."),),),
    functions=(FIND, HIRE),
    expectation=GoldenPath(
        steps=(
            (
                RecordedCall.with_reply("find_pond", {"query": "mill pond"}, PONDS),
                RecordedCall.with_reply("find_pond", {"query": "mill lake", "kind": "lake"}, []),
            ),
            (
                RecordedCall.with_reply(
                    "hire_boat",
                    {"pond_id": "po_7", "stops": [{"place": "east"}, {"place": "west", "minutes": 5}]},
                    {"boats": BOATS},
                ),
            ),
        ),
        lookups=(Lookup("find_pond"), Lookup("hire_boat", {"seats": 1}, forgiven=False)),
        judged=frozenset({"query", "seats"}),
        recorded=(RecordedCall.with_reply("find_pond", {"query": "the mill pond"}, PONDS),),
    ),
    cluster="ponds",
)
SECOND = Entry(
    suite="mine",
    id="hotels_1",
    category=CATEGORIES["hotels"],
    turns=((Message("user", "Which lakes are there?"),),),
    functions=(FIND,),
    expectation=GoldenPath(
        steps=((RecordedCall.with_reply("find_pond", {"query": "", "kind": "lake"}, "plenty"),),),
        lookups=(Lookup("find_pond"),),
        judged=frozenset({"query", "seats"}),
    ),
)


def test_entries_are_read_whole_and_in_order(tmp_path: Path) -> None:
    assert read_entries(_write_files(tmp_path, GOOD), "mine") == (FIRST, SECOND)


@each_case("category", [c.name for c in CATEGORIES.values() if c.group is Group.COMPLEX])
def test_every_category_with_golden_paths_is_written_like_this(tmp_path: Path, category: str) -> None:
    entries = read_entries(
        _write_files(tmp_path, _replace_once(GOOD, "category: hotels", f"category: {category}")), "mine"
    )
    assert [entry.category.name for entry in entries] == [category] * 2


def test_a_file_needs_no_other(tmp_path: Path) -> None:
    text = _replace_once(
        GOOD,
        "uses: [ponds.yaml]\nfunctions:\n",
        SHARED.removesuffix("lookups: [find_pond]\njudged: [query]\n"),
    )
    entries = read_entries(_write_files(tmp_path, text, shared="- not used"), "mine")
    assert [entry.functions for entry in entries] == [(FIND, HIRE), (FIND,)]


def test_what_a_path_holds_is_json(tmp_path: Path) -> None:
    for entry in read_entries(_write_files(tmp_path, GOOD), "mine"):
        assert isinstance(entry.expectation, GoldenPath)
        for call in (*entry.expectation.calls, *entry.expectation.recorded):
            values = [dict(call.arguments), call.reply_value]
            assert json.loads(json.dumps(values, allow_nan=False)) == values


ENTRY = r"entries\.0\."
STEP = ENTRY + r"steps\.0\."

BROKEN: Mapping[str, tuple[str, str, str]] = {
    # id: (what is replaced, by what, "line: field: rule", the rule as a pattern)
    "unknown category": (
        "category: hotels",
        "category: hotel",
        r"1: category: unknown category 'hotel'\. Did you mean 'hotels'\?",
    ),
    "unknown key": (
        "lookups:",
        "lookup:",
        r"19: lookup: unknown key 'lookup'\. Did you mean 'lookups'\? Valid: category, entries, ",
    ),
    "no entries": ("entries:", "# entries:", r"\d+: not valid YAML"),
    "unknown file": (
        "uses: [ponds.yaml]",
        "uses: [pond.yaml]",
        r"2: uses\.0: unknown file 'pond\.yaml'\. Did you mean 'ponds\.yaml'\? Valid: entries\.yaml, ponds",
    ),
    "file of a folder": (
        "uses: [ponds.yaml]",
        "uses: [../ponds.yaml]",
        r"2: uses\.0: unknown file '\.\./ponds\.yaml'",
    ),
    "uses is a text": ("uses: [ponds.yaml]", "uses: ponds.yaml", r"2: uses: must be a list, not str"),
    "uses itself": ("uses: [ponds.yaml]", "uses: [entries.yaml]", r"1: category: unknown key 'category'"),
    "function described twice": (
        "- name: hire_boat",
        "- name: find_pond",
        r"4: functions\.0: the function 'find_pond' is defined twice",
    ),
    "type of another language": (
        "seats: {type: integer",
        "seats: {type: long",
        r"10: functions\.0\.parameters\.properties\.seats\.type: unknown type 'long'\. .*"
        r"Valid: string, number, integer, boolean, array, object\.",
    ),
    "type of the official docs": (
        "stops:\n          type: array",
        "stops:\n          type: tuple",
        r"12: .*: unknown type 'tuple'",
    ),
    "parameters of another type": (
        "type: object\n      properties:\n        pond_id",
        "type: dict\n      properties:\n        pond_id",
        r"7: functions\.0\.parameters\.type: unknown type 'dict'\. .*Valid: object\.",
    ),
    "array without items": (
        "seats: {type: integer",
        "seats: {type: array",
        r"10: .*seats: a parameter of type array needs 'items'",
    ),
    "required is unknown": (
        "required: [pond_id]",
        "required: [pond]",
        r"18: functions\.0\.parameters\.required\.0: unknown parameter 'pond'\. Did you mean 'pond_id'\?",
    ),
    "lookup of an unknown function": (
        "{name: hire_boat, where",
        "{name: hire_boats, where",
        r"20: lookups\.0\.name: unknown function 'hire_boats'\. Did you mean 'hire_boat'\?",
    ),
    "where is no argument": (
        "where: {seats: 1}",
        "where: {seat: 1}",
        r"20: lookups\.0\.where\.seat: unknown parameter 'seat'\. Did you mean 'seats'\?",
    ),
    "where of a wrong type": (
        "where: {seats: 1}",
        "where: {seats: one}",
        r"20: lookups\.0\.where\.seats: 'one' is not what the function doc declares \(integer\)",
    ),
    "forgiven is a word": (
        "forgiven: false",
        "forgiven: never",
        r"20: lookups\.0\.forgiven: must be true or false",
    ),
    "judged is no parameter": (
        "judged: [seats]",
        "judged: [seat]",
        r"21: judged\.0: unknown parameter 'seat'\. Did you mean 'seats'\? Valid: kind, pond_id, query, ",
    ),
    "id stands twice": (
        "id: hotels_1",
        "id: hotels_0",
        r"42: entries\.1: the id 'hotels_0' is already used by an entry above",
    ),
    "no steps": (
        "    steps:\n      - - call: {find_pond: {query: mill",
        "    step:\n      - - call: {find_pond: {query: mill",
        r"26: entries\.0\.step: unknown key 'step'\. Did you mean 'steps'\?",
    ),
    "no query": ("    query: Which lakes are there?\n", "", r"42: entries\.1: has no 'query'"),
    "cluster is a number": (
        "cluster: ponds",
        "cluster: 7",
        r"24: entries\.0\.cluster: must be text, not int 7",
    ),
    "unknown function offered": (
        "functions: [find_pond]",
        "functions: [find_pnd]",
        r"44: entries\.1\.functions\.0: unknown function 'find_pnd'\. Did you mean 'find_pond'\?",
    ),
    "no function offered": (
        "functions: [find_pond]",
        "functions: []",
        r"44: entries\.1\.functions: needs a function",
    ),
    "function that is not offered": (
        "functions: [find_pond]",
        "functions: [hire_boat]",
        r"46: entries\.1\.steps\.0\.0\.call\.find_pond: unknown function 'find_pond'\. Valid: hire_boat\.",
    ),
    "steps are empty": (
        '    steps:\n      - - call: {find_pond: {query: "", kind: lake}}\n          reply: plenty\n',
        "    steps: []\n",
        r"45: entries\.1\.steps: must have at least one element",
    ),
    "step is empty": (
        '      - - call: {find_pond: {query: "", kind: lake}}\n          reply: plenty\n',
        "      - []\n",
        r"46: entries\.1\.steps\.0: must have at least one element",
    ),
    "step is a call": (
        '      - - call: {find_pond: {query: "", kind: lake}}\n          reply: plenty\n',
        '      - {call: {find_pond: {query: ""}}, reply: plenty}\n',
        r"46: entries\.1\.steps\.0: must be a list, not dict",
    ),
    "no reply": ("          reply: plenty\n", "", r"46: entries\.1\.steps\.0\.0: has no 'reply'"),
    "reply is a day": (
        "reply: plenty",
        "reply: !!timestamp 2027-01-02",
        r"47: entries\.1\.steps\.0\.0\.reply: 2027-01-02 is not a JSON value; put text in quotes",
    ),
    "reply is no number": ("reply: plenty", "reply: .nan", r"47: .*\.reply: nan is not a JSON value"),
    "call is a text": (
        "call: {find_pond: {query: mill pond}}",
        "call: find_pond",
        STEP.join(("27: ", r"0\.call: must be a mapping, not str")),
    ),
    "two functions in a call": (
        "call: {find_pond: {query: mill pond}}",
        "call: {find_pond: {query: a}, hire_boat: {pond_id: a}}",
        STEP.join(("27: ", r"0\.call: must have exactly one name, not 2")),
    ),
    "unknown function": (
        "call: {find_pond: {query: mill pond}}",
        "call: {find_ponds: {query: mill pond}}",
        STEP.join(("27: ", r"0\.call\.find_ponds: unknown function 'find_ponds'\. Did you mean 'find_pond'")),
    ),
    "unknown parameter": (
        "query: mill lake, kind: lake",
        "query: mill lake, kinds: lake",
        STEP.join(("29: ", r"1\.call\.find_pond\.kinds: unknown parameter 'kinds'\. Did you mean 'kind'\?")),
    ),
    "missing parameter": (
        "{query: mill lake, kind: lake}",
        "{kind: lake}",
        STEP.join(("29: ", r"1\.call\.find_pond: find_pond needs the parameter 'query'")),
    ),
    "no arguments": (
        "call: {find_pond: {query: mill pond}}",
        "call: {find_pond: }",
        STEP.join(("27: ", r"0\.call\.find_pond: find_pond needs the parameter 'query'")),
    ),
    "outside the enum": (
        "query: mill lake, kind: lake",
        "query: mill lake, kind: sea",
        STEP.join(
            (
                "29: ",
                r"1\.call\.find_pond\.kind: 'sea' is not what the function doc declares "
                r"\(\['pond', 'lake'\]\)",
            )
        ),
    ),
    "wrong type": (
        "{query: mill pond}",
        "{query: 7}",
        STEP.join(("27: ", r"0\.call\.find_pond\.query: 7 is not what the function doc declares \(string\)")),
    ),
    "wrong type deep inside": (
        "{place: west, minutes: 5}",
        "{place: west, minutes: five}",
        r"34: .*\.stops: \[.* is not what the function doc declares \(array\)",
    ),
    "unknown member": (
        "{place: west, minutes: 5}",
        "{place: west, minute: 5}",
        r"34: .*\.stops\.1\.minute: unknown key 'minute'\. Did you mean 'minutes'\?",
    ),
    "missing member": (
        "{place: west, minutes: 5}",
        "{minutes: 5}",
        r"34: .*\.stops\.1: has no 'place'",
    ),
    "equal calls in a step": (
        "{query: mill lake, kind: lake}",
        "{query: mill pond}",
        r"29: entries\.0\.steps\.0\.1: the same call of find_pond is listed above",
    ),
    "recorded is on the path": (
        "query: the mill pond",
        "query: mill pond",
        r"40: entries\.0\.recorded\.0: the same call of find_pond is listed above",
    ),
    "recorded is empty": (
        "    recorded:\n      - call: {find_pond: {query: the mill pond}}\n        reply: {$from: [0, 0]}\n",
        "    recorded: []\n",
        r"39: entries\.0\.recorded: must have at least one element",
    ),
    "from a later step": (
        "$from: [0, 0, ponds, 0, pond_id]",
        "$from: [1, 0, boats, 0, ride_token]",
        r"33: .*\.pond_id\.\$from\.0: must be an index into a list of 1, from 0",
    ),
    "from a call that is not there": (
        "$from: [0, 0, ponds, 0, pond_id]",
        "$from: [0, 2]",
        r"33: .*\.\$from\.1: must be an index into a list of 2, from 0",
    ),
    "from a call counted from the end": (
        "$from: [0, 0, ponds, 0, pond_id]",
        "$from: [0, -1]",
        r"33: .*\.\$from\.1: must be an index into a list of 2, from 0",
    ),
    "from an unknown member": (
        "$from: [0, 0, ponds, 0, pond_id]",
        "$from: [0, 0, pnds]",
        r"33: .*\.\$from\.2: unknown member 'pnds'\. Did you mean 'ponds'\?",
    ),
    "from inside of a text": (
        "$from: [0, 0, ponds, 0, pond_id]",
        "$from: [0, 0, ponds, 0, pond_id, 0]",
        r"33: .*\.\$from\.5: there is nothing inside 'po_7'",
    ),
    "from nowhere": (
        "$from: [0, 0, ponds, 0, pond_id]",
        "$from: [0]",
        r"33: .*\.\$from: must list a step, a call of the step and the path to a value in its reply",
    ),
    "from a wrong type": (
        "$from: [0, 0, ponds, 0, pond_id]",
        "$from: [0, 0, ponds, 0, depth]",
        r"33: .*\.pond_id: 2\.5 is not what the function doc declares \(string\)",
    ),
    "from and more": (
        "{$from: [0, 0, ponds, 0, pond_id]}",
        "{$from: [0, 0, ponds, 0, pond_id], else: 1}",
        r"33: .*\.pond_id\.else: unknown key 'else'",
    ),
    "unknown listing": (
        "of: rides",
        "of: ride",
        r"38: .*\.boats\.\$listing\.of: unknown listing 'ride'\. Did you mean 'rides'\? Valid: stays, ",
    ),
    "listing without a seed": ("seed: 7, ", "", r"37: .*\.\$listing: has no 'seed'"),
    "half an item": ("items: 3", "items: 2.5", r"38: .*\.items: must be a whole number from 0 to 10000"),
    "too many items": ("items: 3", "items: 10001", r"38: .*\.items: must be a whole number from 0 to 10000"),
    "seed is true": ("seed: 7", "seed: true", r"38: .*\.seed: must be a whole number"),
    "one price": ("prices: [2, 3]", "prices: [2]", r"38: .*\.prices: must be the lowest and the highest"),
    "prices the wrong way": ("prices: [2, 3]", "prices: [3, 2]", r"38: .*\.prices: must be the lowest"),
    "place behind the end": (
        "with: {1:",
        "with: {3:",
        r"38: .*\.with\.3: must be the index of an item, from 0 to 2",
    ),
    "unknown member of an item": (
        "{price_total: 1}",
        "{price: 1}",
        r"38: .*\.with\.1: unknown member 'price'\. Did you mean 'price_total'\?",
    ),
}


@each_case(("old", "new", "message"), BROKEN.values(), ids=BROKEN)
def test_errors_name_file_line_field_and_rule(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = _write_files(tmp_path, _replace_once(GOOD, old, new))
    with pytest.raises(SuiteError, match=f"^{re.escape(str(path))}:{message}"):
        read_entries(path, "mine")


BROKEN_SHARED: Mapping[str, tuple[str, str, str]] = {
    "entries": (
        "judged: [query]",
        "entries: []",
        r"11: entries: unknown key 'entries'\. .*Valid: functions, ",
    ),
    "no functions": ("functions:", "function:", r"1: function: unknown key 'function'"),
    "lookup": ("lookups: [find_pond]", "lookups: [find]", r"10: lookups\.0: unknown function 'find'"),
    "default outside the enum": (
        "default: pond",
        "default: puddle",
        r"8: functions\.0\.parameters\.properties\.kind\.default: 'puddle' is not what the function doc",
    ),
    "default is a day": (
        "default: pond",
        "default: !!timestamp 2027-01-02",
        r"8: .*\.default: 2027-01-02 is not a JSON value; put text in quotes",
    ),
}


@each_case(("old", "new", "message"), BROKEN_SHARED.values(), ids=BROKEN_SHARED)
def test_errors_in_a_shared_file_name_that_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = _write_files(tmp_path, GOOD, _replace_once(SHARED, old, new))
    with pytest.raises(SuiteError, match=f"^{re.escape(str(path.with_name('ponds.yaml')))}:{message}"):
        read_entries(path, "mine")


@each_case(
    ("old", "new", "line"),
    [
        pytest.param("reply: plenty", "reply: &a [*a]", "47", id="list"),
        pytest.param("reply: plenty", "reply: &a {a: *a}", "47", id="mapping"),
        pytest.param(
            "items:\n            type: object",
            "items: &a\n            items: *a\n            type: object",
            "14",
            id="schema",
        ),
        pytest.param("entries:\n", "entries: &a\n  - *a\n", "22", id="entries"),
    ],
)
def test_an_alias_inside_of_what_it_names_is_an_error(tmp_path: Path, old: str, new: str, line: str) -> None:
    with pytest.raises(SuiteError, match=rf"entries\.yaml:{line}: an alias in this value names the value"):
        read_entries(_write_files(tmp_path, _replace_once(GOOD, old, new)), "mine")


def test_a_reply_that_doubles_earlier_ones_is_refused_at_its_line(tmp_path: Path) -> None:
    steps = [[{"call": {"f": {"n": 0}}, "reply": {"a": "x" * 100}}]]
    for number in range(1, 30):
        twice = {key: {"$from": [number - 1, 0]} for key in "ab"}
        steps.append([{"call": {"f": {"n": number}}, "reply": twice}])
    schema = {"properties": {"n": {"type": "integer"}}}
    entry = {"id": "one", "query": "?", "steps": steps}
    file = {"category": "flights", "functions": [{"name": "f", "inputSchema": schema}], "entries": [entry]}
    path = tmp_path / "entries.yaml"
    path.write_text(json.dumps(file), "utf-8")

    with pytest.raises(
        SuiteError, match=r"entries\.yaml:\d+: entries\.0\.steps\.17\.0\.reply: has more than"
    ):
        read_entries(path, "mine")


def _read_error(path: Path) -> str:
    """Return what the reader finds wrong with a file."""
    try:
        read_entries(path, "mine")
    except SuiteError as error:
        return str(error)
    return str(path)


PIECES = [
    *(line for line in GOOD.splitlines() if line.strip()),
    *("[]", "{}", "~", "-", ":", ",", "&a", "*a", "{{", "'", "2027-13-40", ".inf", "9" * 5000),
    *("$from: [0, 0]", "$listing: {of: stays, seed: 1, items: 2}", "<<: *a", "? [a]", "\t", "\0", "\ud7ff"),
    *("!!int x", "!!bool x", "!!timestamp x"),
]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=3 * settings().max_examples,
    deadline=None,
)
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(GOOD)), st.integers(0, 30), st.sampled_from(PIECES) | st.text(max_size=5)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_a_file_holds_only_a_suite_error_comes_of_it(
    tmp_path: Path, edits: list[tuple[int, int, str]]
) -> None:
    text = GOOD
    for at, length, piece in edits:
        text = text[:at] + piece + text[at + length :]
    text = text.encode(errors="replace").decode()
    assert _read_error(_write_files(tmp_path, text)).startswith(str(tmp_path))


PLACES = (
    "[ponds.yaml]",
    "{name: hire_boat, where: {seats: 1}, forgiven: false}",
    "{query: mill pond}",
    "[0, 0, ponds, 0, pond_id]",
    "[{place: east}, {place: west, minutes: 5}]",
    "{of: rides, seed: 7, items: 3, prices: [2, 3], each: {seats: 4}, with: {1: {price_total: 1}}}",
    "[find_pond]",
    "plenty",
)
KEYS = [
    "$from",
    "$listing",
    "call",
    "find_pond",
    "query",
    "name",
    "where",
    "of",
    "seed",
    "items",
    "with",
    "0",
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["", "find_pond", "rides", "2027-01-02"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=9,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=3 * settings().max_examples,
    deadline=None,
)
@given(st.sampled_from(PLACES), VALUES)
def test_whatever_stands_in_a_place_only_a_suite_error_comes_of_it(
    tmp_path: Path, place: str, value: object
) -> None:
    text = _replace_once(GOOD, place, json.dumps(value))
    assert _read_error(_write_files(tmp_path, text)).startswith(str(tmp_path))


TOOL = {
    "properties": {"query": {"type": "string"}, "kind": {"anyOf": [{"const": "pond"}, {"type": "integer"}]}},
    "required": ["query"],
}
WITH_TOOL = f"""\
category: hotels
functions: [{{name: find_pond, inputSchema: {json.dumps(TOOL)}}}]
entries:
  - id: hotels_1
    query: Which lakes are there?
    steps: [[{{call: {{find_pond: {{query: "", kind: 3}}}}, reply: plenty}}]]
"""


def test_a_tool_is_shown_as_it_is_given_and_the_path_passes(tmp_path: Path) -> None:
    (entry,) = read_entries(_write_files(tmp_path, WITH_TOOL), "mine")
    requests: list[AskModel] = []
    for kind, passes in ((3, True), ("pond", False)):
        call = write_call("find_pond", query="", kind=kind)
        outcome = judge(entry, hold_conversation(entry, [[call]], requests=requests)).official
        assert isinstance(outcome, Passed) is passes
    (tool,) = requests[0].tools
    assert tool["function"] == {"name": "find_pond", "description": "", "parameters": TOOL}
    hold_conversation(entry, [], manner=PROMPT, requests=requests)
    assert json.dumps(TOOL, indent=4).replace("\n", "\n        ") in str(requests[-1].messages[0]["content"])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("lake", "call.find_pond.kind: is not what the schema of kind allows: 'lake' is not valid under any"),
        ("[3]", "call.find_pond.kind: is not what the schema of kind allows: [3] is not valid under any"),
    ],
)
def test_a_call_must_be_what_the_schema_of_a_tool_allows(tmp_path: Path, value: str, says: str) -> None:
    with pytest.raises(SuiteError, match=re.escape(says)):
        read_entries(_write_files(tmp_path, WITH_TOOL.replace("kind: 3", f"kind: {value}")), "mine")
