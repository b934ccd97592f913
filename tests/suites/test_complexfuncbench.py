"""Records in the official shape become entries; what is not of that shape stops the suite, with its place."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.cli import main
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Entry, Group
from pytest_fcbench.domain.errors import PackError, SuiteError
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, Lookup, PathWording
from pytest_fcbench.suites import core, packs
from pytest_fcbench.suites.complexfuncbench import (
    CODE,
    COMMIT,
    DOMAINS,
    FILE,
    JUDGED,
    SOURCE,
    list_changed_texts,
    read_code,
    read_golden_paths,
    read_wording,
)
from pytest_fcbench.suites.registry import PACKS, open_suite
from tests.complexfuncbench import COUNTS, FUNCTIONS, Record, make_records, write_file

NOWHERE = Path("cfb.jsonl")


def _write_lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def _read_rows(*rows: object) -> list[Entry]:
    return list(read_golden_paths(_write_lines(*rows), NOWHERE))


def _read_path(entry: Entry) -> GoldenPath:
    assert isinstance(entry.expectation, GoldenPath)
    return entry.expectation


RECORD: Record = {
    "id": "Car-Rental-34",
    "conversations": [
        {"role": "user", "content": "A car at the harbour, please."},
        {
            "role": "assistant",
            "function_call": [{"name": "Search_Car_Location", "arguments": {"query": "harbour"}}],
        },
        {"role": "observation", "content": [{"status": True, "data": [{"id": 7}]}]},
        {
            "role": "assistant",
            "function_call": [
                {"name": "Vehicle_Details", "arguments": {"vehicle_id": "7", "search_key": key}}
                for key in ("a", "b")
            ],
        },
        {"role": "observation", "content": [{"seats": 4}, None]},
        {"role": "assistant", "content": ""},
    ],
    "functions": [FUNCTIONS["Search_Car_Location"], FUNCTIONS["Vehicle_Details"]],
}
"""A small one of our own."""


@pytest.fixture
def record() -> Record:
    """Copy the record, so that a test may change it."""
    return deepcopy(RECORD)


# What is read


def test_a_record_becomes_an_entry(record: Record) -> None:
    (entry,) = _read_rows(record)
    assert (entry.key, entry.category.name) == ("complexfuncbench:Car-Rental-34", "car_rental")
    assert entry.cluster == "Car-Rental-3"
    assert entry.set_aside is None
    assert [[(m.role, m.content) for m in turn] for turn in entry.turns] == [
        [("user", "A car at the harbour, please.")]
    ]
    assert [(doc.name, doc.parameters) for doc in entry.functions] == [
        (function["name"], function["parameters"]) for function in record["functions"]
    ]
    path = _read_path(entry)
    assert [[(c.name, c.arguments, c.reply_value) for c in step] for step in path.steps] == [
        [("Search_Car_Location", {"query": "harbour"}, {"status": True, "data": [{"id": 7}]})],
        [
            ("Vehicle_Details", {"vehicle_id": "7", "search_key": "a"}, {"seats": 4}),
            ("Vehicle_Details", {"vehicle_id": "7", "search_key": "b"}, None),
        ],
    ]
    assert path.judged is JUDGED


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"b": "5 € più", "a": [1.0, 1, None, True]}, '{"b": "5 € più", "a": [1.0, 1, null, true]}'),
        ("half \ud800", '"half \\ud800"'),
    ],
)
def test_a_reply_is_kept_as_the_text_that_a_model_is_shown(record: Record, reply: object, text: str) -> None:
    record["conversations"][2]["content"] = [reply]
    (entry,) = read_golden_paths(json.dumps(record).encode(), NOWHERE)
    first = _read_path(entry).calls[0]
    assert (first.reply, first.reply_value) == (text, reply)


@pytest.mark.few(10)
@pytest.mark.parametrize("depth", range(700, 1000, 3))
def test_a_reply_that_is_too_deep_is_told(record: Record, depth: int) -> None:
    """Reading and writing JSON do not give up at the same depth."""
    deep = "[" * depth + "]" * depth
    said, replies = "", [deep]
    try:
        (entry,) = read_golden_paths(_write_lines(record).replace(b'{"seats": 4}', deep.encode()), NOWHERE)
        replies = [call.reply for call in _read_path(entry).calls]
    except SuiteError as error:
        said = str(error)
    assert deep in replies
    assert not said or "too deep" in said or "not JSON" in said


def test_lookups_are_the_official_free_functions(record: Record) -> None:
    (entry,) = _read_rows(record)
    plain = [lookup for lookup in _read_path(entry).lookups if not lookup.where]
    assert {lookup.name: lookup.forgiven for lookup in plain} == {
        "Location_to_Lat_Long": False,
        "Search_Hotel_Destination": True,
        "Search_Attraction_Location": True,
        "Search_Car_Location": True,
        "Search_Flight_Location": True,
        "Taxi_Search_Location": True,
    }
    assert Lookup("Search_Hotels", {"search_type": "hotel"}) in _read_path(entry).lookups


@pytest.mark.parametrize(
    ("entry_id", "category", "cluster"),
    [
        ("Hotels-0", "hotels", "Hotels-0"),
        ("Flights-9", "flights", "Flights-0"),
        ("Car-Rental-10", "car_rental", "Car-Rental-1"),
        ("Attraction-149", "attraction", "Attraction-14"),
        ("Cross-399", "cross", "Cross-39"),
    ],
)
def test_the_id_says_domain_and_template(record: Record, entry_id: str, category: str, cluster: str) -> None:
    (entry,) = _read_rows({**record, "id": entry_id})
    assert (entry.id, entry.category, entry.cluster) == (entry_id, CATEGORIES[category], cluster)


def test_alike_function_docs_are_read_once(record: Record) -> None:
    first, second = _read_rows(record, deepcopy({**record, "id": "Car-Rental-35"}))
    assert [a is b for a, b in zip(first.functions, second.functions, strict=True)] == [True, True]


def test_function_docs_that_differ_stay_apart(record: Record) -> None:
    other = deepcopy({**record, "id": "Car-Rental-35"})
    other["functions"][0]["description"] = "Another one."
    first, second = _read_rows(record, other)
    assert first.functions[0].description != second.functions[0].description


def test_further_keys_are_left_alone(record: Record) -> None:
    record["source"] = "x"
    record["conversations"][0]["name"] = "x"
    record["functions"][0] = {**record["functions"][0], "strict": True}
    (entry,) = _read_rows(record)
    assert entry.functions[0].extra == {"strict": True}


# Entries that are set aside


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        pytest.param(
            {"name": "Search_Car_Locations", "arguments": {}},
            "no function Search_Car_Locations",
            id="name",
        ),
        pytest.param(
            {"name": "Search_Car_Location", "arguments": {}},
            "Search_Car_Location needs query",
            id="missing",
        ),
        pytest.param(
            {"name": "Search_Car_Location", "arguments": {"query": "x", "qurey": "x"}},
            "Search_Car_Location has no parameter qurey",
            id="unknown",
        ),
        pytest.param(
            {"name": "Search_Car_Location", "arguments": {"query": 7}},
            "query of Search_Car_Location must be of type string, not number",
            id="type",
        ),
    ],
)
def test_an_entry_whose_golden_call_is_malformed_is_set_aside(
    record: Record, call: Record, reason: str
) -> None:
    record["conversations"][1]["function_call"] = [call]
    (entry,) = _read_rows(record)
    assert reason in str(entry.set_aside)
    assert _read_path(entry).steps[0][0].name == call["name"]


# What stops the suite


def _look_up(value: Any, keys: Sequence[str | int]) -> Any:
    for key in keys:
        value = value[key]
    return value


@pytest.mark.parametrize(
    ("keys", "value", "says"),
    [
        (["id"], 7, "id: must be text, not int 7; put it in quotes"),
        (["id"], "Hotels", "id: must be a domain and a number, e.g. Hotels-12, not 'Hotels'"),
        (["id"], "Hotels-007", "id: must be a domain and a number, e.g. Hotels-12, not 'Hotels-007'"),
        (["id"], "Hotel-7", "id: unknown domain 'Hotel'. Did you mean 'Hotels'? Valid: Hotels, Flights"),
        (["functions"], {}, "Car-Rental-34.functions: must be a list, not dict {}"),
        (
            ["functions", 1],
            FUNCTIONS["Search_Car_Location"],
            "Car-Rental-34.functions: a function is listed twice",
        ),
        (["functions", 0], {"name": "f"}, "Car-Rental-34.functions.0: has no 'description'"),
        (
            ["functions", 0, "parameters", "type"],
            "dict",
            "Car-Rental-34.functions.0.parameters.type: must be 'object', is 'dict'",
        ),
        (
            ["functions", 0, "parameters", "properties"],
            [],
            "Car-Rental-34.functions.0.parameters.properties: must be a mapping, not list []",
        ),
        (
            ["functions", 0, "parameters", "properties", "query"],
            "string",
            "Car-Rental-34.functions.0.parameters.properties.query: must be a mapping, not str 'string'",
        ),
        (
            ["functions", 0, "parameters", "required"],
            [1],
            "Car-Rental-34.functions.0.parameters.required.0: must be text, not int 1",
        ),
        (
            ["conversations", 0, "role"],
            "system",
            "Car-Rental-34.conversations.0.role: must be 'user', is 'system'",
        ),
        (
            ["conversations", 0, "content"],
            None,
            "Car-Rental-34.conversations.0.content: must be text, not empty",
        ),
        (
            ["conversations", 5],
            {"role": "observation", "content": []},
            "Car-Rental-34.conversations.5.role: must be 'assistant', is 'observation'",
        ),
        (["conversations", 3], "x", "Car-Rental-34.conversations.3: must be a mapping, not str 'x'"),
        (
            ["conversations", 1, "function_call"],
            [],
            "Car-Rental-34.conversations.1.function_call: needs a call",
        ),
        (
            ["conversations", 1, "function_call", 0, "arguments"],
            '{"query": "x"}',
            "Car-Rental-34.conversations.1.function_call.0.arguments: must be a mapping, not str",
        ),
        (
            ["conversations", 1, "function_call", 0],
            {"arguments": {}},
            "Car-Rental-34.conversations.1.function_call.0: has no 'name'",
        ),
        (
            ["conversations", 4, "content"],
            [{}],
            "Car-Rental-34.conversations.4.content: must have a reply to each of 2 calls, has 1",
        ),
        (
            ["conversations", 2],
            {"role": "observation"},
            "Car-Rental-34.conversations.2: has no 'content'",
        ),
    ],
)
def test_a_deviation_is_told_with_its_place(
    record: Record, keys: Sequence[str | int], value: object, says: str
) -> None:
    _look_up(record, keys[:-1])[keys[-1]] = value
    with pytest.raises(SuiteError) as caught:
        _read_rows({**RECORD, "id": "Hotels-1"}, record)
    assert str(caught.value).startswith(f"cfb.jsonl:2: {says}")


def test_calls_without_observations_are_not_dropped(record: Record) -> None:
    record["conversations"].insert(-1, record["conversations"][3])
    with pytest.raises(SuiteError, match=r"conversations: must have a question, pairs of calls and obs"):
        _read_rows(record)


@pytest.mark.parametrize("key", ["id", "conversations", "functions"])
def test_a_key_that_is_missing_is_told(record: Record, key: str) -> None:
    del record[key]
    with pytest.raises(SuiteError, match=rf"^cfb\.jsonl:1: .*has no '{key}'"):
        _read_rows(record)


@pytest.mark.parametrize("missing", [[-1], [2], [0], [1, 2, 3, 4]])
def test_a_turn_that_is_missing_is_told(record: Record, missing: Sequence[int]) -> None:
    """The last message too: a conversation that ends with an observation may have been cut off."""
    turns = record["conversations"]
    record["conversations"] = [
        turn for i, turn in enumerate(turns) if i not in missing and i - len(turns) not in missing
    ]
    with pytest.raises(SuiteError, match=r"^cfb\.jsonl:1: Car-Rental-34\.conversations"):
        _read_rows(record)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"7",
        b"\xff",
        b"[" * 100_000,
        b'{"id": ' + b"1" * 5000 + b"}",
        b"<html>",
        b'{"id": "\\ud800"}',
    ],
    ids=repr,
)
def test_a_line_that_is_no_record_is_told(record: Record, line: bytes) -> None:
    with pytest.raises(SuiteError, match=r"^cfb\.jsonl:2: "):
        list(read_golden_paths(_write_lines(record) + line + b"\n", NOWHERE))


def test_an_id_stands_once(record: Record) -> None:
    with pytest.raises(SuiteError) as caught:
        _read_rows(record, {**record, "id": "Car-Rental-35"}, record)
    assert str(caught.value) == "cfb.jsonl:3: Car-Rental-34: the id is used twice; remove one of them"


def test_an_id_stands_once_within_a_record(record: Record) -> None:
    """Else a line could be another category's than the one that it begins with."""
    line = _write_lines(record).replace(b"{", b'{"id": "Cross-1", ', 1)
    with pytest.raises(SuiteError, match="the id is used twice"):
        list(read_golden_paths(line, NOWHERE))


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_a_file_without_entries_is_none(content: bytes) -> None:
    with pytest.raises(SuiteError, match=r"^cfb\.jsonl: contains no entries; give the file of the dataset$"):
        list(read_golden_paths(content, NOWHERE))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _list_places(value: object, keys: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """List the way to every part of a value but the whole."""
    inside: Sequence[tuple[str | int, object]] = ()
    if isinstance(value, Mapping):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    return [place for key, part in inside for place in ((*keys, key), *_list_places(part, (*keys, key)))]


@given(st.data())
def test_a_mutated_record_is_read_or_told(data: st.DataObject) -> None:
    """Whatever stands where, there is an entry or an error with its place."""
    mutated = deepcopy(RECORD)
    for _ in range(data.draw(st.integers(1, 3))):
        places = _list_places(mutated)
        *keys, last = places[data.draw(st.integers(0, len(places) - 1))]
        if data.draw(st.booleans()):
            _look_up(mutated, keys)[last] = data.draw(_JSON)
        else:
            del _look_up(mutated, keys)[last]
    try:
        entries, said = _read_rows(mutated), ""
    except SuiteError as error:
        entries, said = [], str(error)
    assert entries or said.startswith("cfb.jsonl:1: ")
    assert all(step for entry in entries for step in _read_path(entry).steps)


@given(st.binary(max_size=200))
def test_any_content_is_read_or_told(content: bytes) -> None:
    with pytest.raises(SuiteError, match=r"^cfb\.jsonl(:\d+)?: (not JSON|contains no entries|\w)"):
        list(read_golden_paths(content, NOWHERE))


# One category


def test_a_category_is_read_alone(record: Record) -> None:
    """The broken line is another category's, as its first id says."""
    content = (
        _write_lines(record) + b'{"id": "Cross-1", broken\n' + _write_lines({**record, "id": "Hotels-1"})
    )
    assert [entry.id for entry in read_golden_paths(content, NOWHERE, CATEGORIES["hotels"])] == ["Hotels-1"]
    assert [entry.id for entry in read_golden_paths(content, NOWHERE, CATEGORIES["car_rental"])] == [
        "Car-Rental-34"
    ]
    for category in (CATEGORIES["cross"], None):
        with pytest.raises(SuiteError, match=r"^cfb\.jsonl:2: not JSON"):
            list(read_golden_paths(content, NOWHERE, category))


def test_an_id_may_stand_anywhere(record: Record) -> None:
    """Lines whose beginning does not say their category are read in full."""
    content = _write_lines(dict(reversed(record.items())), {**record, "id": "Hotels-1"})
    for name, ids in {"car_rental": ["Car-Rental-34"], "hotels": ["Hotels-1"], "cross": []}.items():
        assert [entry.id for entry in read_golden_paths(content, NOWHERE, CATEGORIES[name])] == ids


def test_a_key_called_id_inside_is_not_the_id(record: Record) -> None:
    content = _write_lines({"note": {"id": "Cross-1"}, **record})
    assert [entry.id for entry in read_golden_paths(content, NOWHERE, CATEGORIES["car_rental"])] == [
        "Car-Rental-34"
    ]


# The suite


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a cache with a synthetic pack, of two paraphrases of each template."""
    folder = tmp_path_factory.mktemp("complexfuncbench")
    packs.pull(SOURCE, folder / "cache", write_file(folder / "file.jsonl", paraphrases=(0, 1)))
    return folder / "cache"


def test_the_suite_is_known_by_what_was_pulled(cache: Path) -> None:
    suite = open_suite("complexfuncbench", cache)
    pack = packs.open_pack(PACKS["complexfuncbench"], cache)
    assert (suite.version, suite.pack_sha256) == (pack.version, pack.content_sha256)
    assert suite.version == pack.content_sha256[:12]
    assert {category.name for category in suite.categories} == set(SELECTIONS["complex"])
    assert {category.group for category in suite.categories} == {Group.COMPLEX}
    assert suite.wording == core.read_wording()


def test_categories_are_loaded_from_the_pack(cache: Path) -> None:
    suite = open_suite("complexfuncbench", cache)
    loaded = {category: suite.load(category) for category in suite.categories}
    assert {c.name: len(entries) for c, entries in loaded.items()} == {
        "hotels": 30,
        "flights": 30,
        "car_rental": 30,
        "attraction": 30,
        "cross": 80,
    }
    assert all(entry.category is category for category, entries in loaded.items() for entry in entries)


def test_a_pack_that_was_changed_is_not_loaded(cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "cache"
    packs.pull(SOURCE, other, write_file(tmp_path / "file.jsonl", megabytes=0, paraphrases=(0,)))
    suite = open_suite("complexfuncbench", other)
    with (other / "packs" / "complexfuncbench" / "dataset" / FILE).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(PackError, match="was changed after it was fetched"):
        suite.load(DOMAINS["Hotels"])


def test_a_file_with_a_broken_record_makes_no_pack(tmp_path: Path, record: Record) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_bytes(_write_lines(record, {**record, "id": "Car-Rental-35", "functions": 7}))
    with pytest.raises(PackError) as caught:
        packs.pull(SOURCE, tmp_path / "cache", file)
    assert str(caught.value) == (f"refused: {FILE}:2: Car-Rental-35.functions: must be a list, not int 7")


def test_the_synthetic_file_has_the_official_shape() -> None:
    """1,000 entries in 100 templates; steps, calls and widths as published."""
    entries = [entry for row in make_records(items=0) for entry in _read_rows(row)]
    assert len(entries) == sum(COUNTS.values()) == 1000
    assert not [entry for entry in entries if entry.set_aside]
    paths = [_read_path(entry) for entry in entries]
    assert sum(len(path.steps) for path in paths) == 3260
    assert sum(len(path.calls) for path in paths) == 5070
    first = [len(path.steps[0]) for path in paths]
    assert [first.count(width) for width in (1, 2, 3, 4)] == [490, 290, 190, 30]
    clusters: dict[str | None, set[tuple[tuple[str, ...], ...]]] = defaultdict(set)
    for entry in entries:
        clusters[entry.cluster].add(tuple(tuple(c.name for c in step) for step in _read_path(entry).steps))
    assert len(clusters) == 100
    assert {len(names) for names in clusters.values()} == {1}


def test_the_synthetic_file_is_the_same_for_a_seed() -> None:
    assert _write_lines(*make_records(3, paraphrases=(4,))) == _write_lines(
        *make_records(3, paraphrases=(4,))
    )
    assert _write_lines(*make_records(3, paraphrases=(4,))) != _write_lines(
        *make_records(4, paraphrases=(4,))
    )


# Real records


def test_a_real_record_is_read(complex_samples: Path) -> None:
    (entry,) = read_golden_paths((complex_samples / "Car-Rental-9.jsonl").read_bytes(), NOWHERE)
    assert (entry.id, entry.cluster, entry.set_aside) == ("Car-Rental-9", "Car-Rental-0", None)
    assert [[call.name for call in step] for step in _read_path(entry).steps] == [
        ["Search_Car_Location"],
        ["Search_Car_Rentals", "Search_Car_Rentals"],
    ]
    assert all(
        isinstance(call.reply_value, dict) and call.reply_value["status"] for call in _read_path(entry).calls
    )


def test_the_real_schemas_are_read_and_ours_agree_about_names(complex_samples: Path, record: Record) -> None:
    real = json.loads((complex_samples / "functions.json").read_bytes())
    (entry,) = _read_rows({**record, "functions": real})
    assert entry.set_aside is None
    assert {doc.name for doc in entry.functions} == set(FUNCTIONS)
    for doc in entry.functions:
        ours = FUNCTIONS[doc.name]["parameters"]
        assert set(ours["properties"]) <= set(doc.properties)
        assert set(ours["required"]) == set(doc.required)


@pytest.mark.nightly
def test_the_real_first_steps_make_a_hundred_templates(complex_samples: Path, record: Record) -> None:
    """All 1,000 real ids are read; the ten of a block begin with the same functions, in well-formed calls."""
    real = json.loads((complex_samples / "functions.json").read_bytes())
    content = (complex_samples / "ComplexFuncBench_first_step_golden.jsonl").read_text(encoding="utf-8")
    first: dict[str | None, set[tuple[str, ...]]] = defaultdict(set)
    entries = []
    for row in map(json.loads, content.splitlines()):
        calls = [{"name": name, "arguments": a} for call in row["ground_truth"] for name, a in call.items()]
        record["conversations"][1:-1] = [
            {"role": "assistant", "function_call": calls},
            {"role": "observation", "content": [None] * len(calls)},
        ]
        (entry,) = _read_rows({**record, "id": row["id"], "functions": real})
        first[entry.cluster].add(tuple(call.name for call in _read_path(entry).steps[0]))
        entries.append(entry)
    assert {domain: sum(e.category is c for e in entries) for domain, c in DOMAINS.items()} == COUNTS
    assert len({entry.id for entry in entries}) == 1000
    assert (len(first), {len(names) for names in first.values()}) == (100, {1})
    assert not [entry.key for entry in entries if entry.set_aside]


RUNNER = """
raise SystemExit("a clone is parsed, never run")

class ModelRunner:
    def __init__(self, args, logger):
        self.error_message = None
        self.unexpect_call_resp = {"api_status": True, "content": "Nay, try øther words."}
"""
COMPARISON = """
raise SystemExit("a clone is parsed, never run")

class CompareFCBase:
    def format_check(self, func_call, functions):
        if func_call['name'] not in functions:
            return {"error": f"{func_call['name']} is {{unheard}} of."}
        used_func = functions[func_call['name']]
        if missing_param:
            return {"error": f"{used_func['name']} wants {required_params}, "
                    f"has {list(func_call['arguments'].keys())}, lacks {missing_param}."}
        if surplus:
            return {"error": f"{used_func['name']} knows no {missing_param}."}
        for param_name in surplus:
            if kind == "string":
                if not isinstance(param_value, str):
                    return {"error": f"{param_name} of {used_func['name']}: text, no {type(param_value)}."}
            elif kind == "number":
                return {"error": f"{param_name} of {used_func['name']}: number, no {type(param_value)}."}
            elif kind == "boolean":
                return {"error": f"{param_name} of {used_func['name']}: truth, no {type(param_value)}."}
            elif kind == "array":
                return {"error": f"{param_name} of {used_func['name']}: row, no {type(param_value)}."}
        return True

    def other(self):
        return {"error": f"{self} is no sentence about forms."}
"""
COMPARE = '''
from nowhere import SimpleTemplatePrompt

system_prompt = """Alike or not?"""
user_prompt = SimpleTemplatePrompt(
    template=("""[args1] [args2]
[args3] [args4]"""
), args_order=["functions", "history", "function_call_1", "function_call_2"])
'''
RESPONSE = """
complete_system_prompt = "Whole?"
complete_user_prompt = SimpleTemplatePrompt(template="[args1] [args2]", args_order=["query", "gen_response"])
correct_system_prompt = "True?"
correct_user_prompt = SimpleTemplatePrompt(
    template="[args1]: [args2]", args_order=["history", "gen_response"]
)
"""
FILES = {
    "runner/base_runner.py": RUNNER,
    "utils/compare_method.py": COMPARISON,
    "prompts/compare.py": COMPARE,
    "prompts/response.py": RESPONSE,
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository in the shape of the official one, with sentences of our own."""
    folder = tmp_path / "clone"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_texts_are_read_and_nothing_is_run(clone: Path) -> None:
    wording = read_code(clone)
    assert wording.wrong_call == '{"api_status": true, "content": "Nay, try øther words."}'
    assert wording.refusals == {
        "unknown_function": "{function} is {{unheard}} of.",
        "missing": "{function} wants {required}, has {given}, lacks {names}.",
        "surplus": "{function} knows no {names}.",
        "string": "{parameter} of {function}: text, no {type}.",
        "number": "{parameter} of {function}: number, no {type}.",
        "boolean": "{parameter} of {function}: truth, no {type}.",
        "array": "{parameter} of {function}: row, no {type}.",
    }
    assert wording.equivalence.system == "Alike or not?"
    assert (
        wording.equivalence.fill(
            {"functions": "F", "history": "H", "function_call_1": "1", "function_call_2": "2"}
        )
        == "F H\n1 2"
    )
    assert wording.completeness.fill({"query": "Q", "gen_response": "R"}) == "Q R"
    assert wording.correctness.fill({"history": "H", "gen_response": "R"}) == "H: R"


def test_a_value_with_a_place_in_it_is_filled_by_a_later_value(clone: Path) -> None:
    """Officially too, and prompts have to be equal."""
    prompt = read_code(clone).completeness
    assert prompt.fill({"query": "[args2]", "gen_response": "R"}) == "R R"


def test_texts_of_another_version_are_named_by_their_hash(clone: Path) -> None:
    wording = read_code(clone)
    assert wording.version != COMMIT
    assert len(wording.version) == 12
    assert list_changed_texts(wording) == [
        "wrong_call",
        *(f"refusals.{name}" for name in wording.refusals),
        "equivalence",
        "completeness",
        "correctness",
    ]
    path = clone / "prompts/compare.py"
    path.write_text(COMPARE.replace("Alike", "alike"), encoding="utf-8")
    assert read_code(clone).version != wording.version


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("runner/base_runner.py", "unexpect_call_resp", "other", "assigns no unexpect_call_resp"),
        ("runner/base_runner.py", '"Nay, try øther words."', "args", "the value is not a literal"),
        ("runner/base_runner.py", "class", "klass", "it cannot be parsed"),
        ("utils/compare_method.py", "if surplus:", "if surplus", "it cannot be parsed"),
        ("utils/compare_method.py", "def format_check", "def check", "has 0 sentences, not 7"),
        (
            "utils/compare_method.py",
            "{missing_param}",
            "{missing_param!r}",
            "a sentence contains an unknown value",
        ),
        (
            "utils/compare_method.py",
            "{missing_param}",
            "{__import__('os')}",
            "a sentence contains an unknown value",
        ),
        ("prompts/compare.py", "system_prompt =", "other_prompt =", "it has no system_prompt"),
        ("prompts/compare.py", "user_prompt =", "other_prompt =", "it has no user_prompt"),
        ("prompts/response.py", '"query"', '"secret"', "its complete_user_prompt has an unexpected form"),
    ],
)
def test_another_shape_is_refused_with_its_file(
    clone: Path, file: str, old: str, new: str, told: str
) -> None:
    assert old in FILES[file]
    (clone / file).write_text(FILES[file].replace(old, new), encoding="utf-8")
    with pytest.raises(PackError) as error:
        read_code(clone)
    assert str(error.value).startswith(str(clone / file))
    assert told in str(error.value)
    assert COMMIT in str(error.value)


def test_a_folder_that_is_no_clone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"base_runner\.py: No such file.*give the folder of a clone"):
        read_code(tmp_path)


# The cache


def test_texts_are_kept_in_the_cache(clone: Path, tmp_path: Path) -> None:
    assert read_wording(tmp_path) is None
    pack = packs.pull(CODE, tmp_path, clone)
    found = read_wording(tmp_path)
    assert isinstance(found, PathWording)
    assert found == read_code(clone)
    assert found.version == pack.version
    # The data have a folder of their own, so a new pull of them leaves the texts.
    assert pack.folder == tmp_path / "packs" / "complexfuncbench" / "code"


@pytest.mark.parametrize("content", [b"{}", b"\xff"])
def test_damaged_texts_are_told_with_the_way_out(clone: Path, tmp_path: Path, content: bytes) -> None:
    pack = packs.pull(CODE, tmp_path, clone)
    (pack.folder / "texts.json").write_bytes(content)
    with pytest.raises(PackError, match="are damaged; run 'fcbench pull complexfuncbench --code PATH'"):
        read_wording(tmp_path)


def test_texts_can_only_come_from_a_clone(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="from a clone only; name it with --code"):
        packs.pull(CODE, tmp_path)


# The command


def test_the_command_reads_texts_and_tells_what_has_changed(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "cache"))
    assert main.main(["pull", "complexfuncbench", "--code", str(clone)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("texts of THUDM/ComplexFuncBench ")
    assert told[1].startswith(f"CHANGED since commit {COMMIT}: wrong_call, refusals.unknown_function")
    assert json.loads((tmp_path / "cache/packs/complexfuncbench/code/pack.json").read_bytes())["version"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["bfcl"], "applies only to complexfuncbench; leave it out with bfcl"),
        (["complexfuncbench", "--revision=main"], "reads texts and no data"),
        (["complexfuncbench", "--from=x.jsonl"], "reads texts and no data"),
    ],
)
def test_the_option_goes_with_no_others(
    arguments: list[str], told: str, clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="4"):
        main.main(["pull", *arguments, "--code", str(clone)])
    assert told in capsys.readouterr().err
