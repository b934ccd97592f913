"""The JSON Schema of entries agrees with the readers."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.formats.fields import read_yaml
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.kinds.entry_schema import generate_entry_schema
from pytest_fcbench.suites import core
from pytest_fcbench.suites.custom import open_own
from tests.suites.test_custom import LINES

FOLDER = Path(core.__file__).parent
WRITTEN = sorted(path for path in FOLDER.glob("*.yaml") if b"\nentries:" in path.read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(generate_entry_schema())
LINE = jsonschema.Draft202012Validator(generate_entry_schema(lines=True))


def test_it_is_a_schema() -> None:
    VALIDATOR.check_schema(generate_entry_schema())
    LINE.check_schema(generate_entry_schema(lines=True))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_everything_of_ours_is_valid(path: Path) -> None:
    VALIDATOR.validate(read_yaml(path))


def test_every_category_is_among_ours_or_made() -> None:
    def read_category(path: Path) -> str:
        value = read_yaml(path)
        assert isinstance(value, dict)
        return str(value["category"])

    left = set(entry_files.file_categories()) - {read_category(path) for path in WRITTEN}
    assert left == {
        *("multi_turn_miss_func", "multi_turn_long_context", "multi_turn_composite"),
        # Of a team's own suites only.
        *("next_call", "next_reply", "own_check", "mcp"),
    }


def shorten_file(path: Path) -> dict[str, Any]:
    """Read the file with its first entries alone."""
    value = read_yaml(path)
    assert isinstance(value, dict)
    return {**value, "entries": value["entries"][:4]}


_FREE = ("domains", "reply", "call", "expect", "rows", "default", "enum", "response", "where")
"""Below these a file says what nobody but the reader can know."""


def _list_places(value: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path to every value, as far as a schema describes it."""
    yield way
    if way and way[-1] in _FREE:
        return
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _list_places(member, (*way, key))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _list_places(element, (*way, index))


def _spoil_value(value: Any, way: tuple[str | int, ...], draw: Random) -> object:
    """Make a mistake at a place: something is gone, misspelt, doubled or of another type."""
    if not way:
        return draw.choice([None, 7, "text", [], {}, True, 2.5])
    value = copy.copy(value)
    assert isinstance(value, (dict, list))
    here: Any = way[0]
    rest, kind = way[1:], draw.randrange(4)
    member = value[here]
    if rest or kind == 0:
        value[here] = _spoil_value(member, rest, draw)
    elif isinstance(value, dict) and kind == 1:
        value[f"{here}x"] = value.pop(str(here))
    elif isinstance(value, dict):
        value[f"{here}_more"] = member
    else:
        del value[here]
    return value


def _read_entries(value: object, folder: Path) -> None:
    path = folder / "changed.yaml"
    path.write_text(json.dumps(value))
    entry_files.read_entries(path, "mine", core.make_world())


@pytest.mark.few(12)
@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_what_the_schema_refuses_the_reader_refuses_too(path: Path, tmp_path: Path) -> None:
    for used in FOLDER.glob("booking_*.yaml"):
        (tmp_path / used.name).write_bytes(used.read_bytes())
    whole, draw = shorten_file(path), Random(path.stem)
    places = [place for place in _list_places(whole) if place]
    refused = 0
    for place in draw.sample(places, min(len(places), 60)):
        changed = _spoil_value(whole, place, draw)
        if VALIDATOR.is_valid(changed):
            continue
        refused += 1
        with pytest.raises(SuiteError, match=r"/changed\.yaml(:1: \w|: not valid YAML)"):
            _read_entries(changed, tmp_path)
    assert refused


MISTAKES: dict[str, tuple[str, str, object, str]] = {
    "no category": ("simple_python", "category", None, "file: has no 'category'"),
    "another category": (
        "simple_python",
        "category",
        "simple_pyton",
        "category: unknown category 'simple_pyton'. Did you mean 'simple_python'",
    ),
    "no id": ("simple_python", "entries.0.id", None, "entries.0: has no 'id'"),
    "an id that is a number": (
        "simple_python",
        "entries.0.id",
        7,
        "entries.0.id: must be text, not int 7; put it in quotes",
    ),
    "no question": ("multiple", "entries.1.query", None, "entries.1: needs either 'query' or 'messages'"),
    "an unknown key": (
        "parallel",
        "entries.0.hint",
        "x",
        "entries.0.hint: unknown key 'hint'. Valid: id, functions, expect, ",
    ),
    "two calls in one": (
        "parallel",
        "entries.0.expect.0",
        {"a": {}, "b": {}},
        "entries.0.expect.0: must have exactly one name, not 2",
    ),
    "no turns": ("multi_turn_base", "entries.0.turns", [], "entries.0.turns: must have at least one element"),
    "no calls": ("multi_turn_base", "entries.0.turns.0.calls", None, "entries.0.turns.0: has no 'calls'"),
    "a turn before the first": (
        "multi_turn_base",
        "entries.0.withhold",
        {"turn": -1, "functions": ["cp"]},
        "entries.0.withhold.turn: must be the index of a turn, from 0",
    ),
    "no tables": ("sql", "tables", None, "file: has no 'tables'"),
    "functions for words": (
        "chatable",
        "functions",
        [],
        "functions: unknown key 'functions'. Valid: category, entries, check.",
    ),
    "no steps": ("hotels", "entries.0.steps", [], "entries.0.steps: must have at least one element"),
    "a step without reply": (
        "hotels",
        "entries.0.steps.0.0.reply",
        None,
        "entries.0.steps.0.0: has no 'reply'",
    ),
    "an unknown way of comparing": (
        "exec_simple",
        "entries.0.expect.0",
        {"call": "a()", "kind": "exact"},
        "entries.0.expect.0.kind: unknown kind 'exact'. Did you mean 'exact_match'? "
        "Valid: exact_match, real_time_match, structural_match.",
    ),
    "no endpoint": ("rest", "entries.0.endpoint", None, "entries.0: has no 'endpoint'"),
    "an id without its kind": (
        "memory_flat",
        "entries.0.id",
        "flat",
        "entries.0.id: 'flat' must begin with 'memory_', for which each kind of memory stands",
    ),
    "nobody said it": (
        "memory_flat",
        "entries.0.questions.0.said",
        [],
        "entries.0.questions.0.said: must have at least one element",
    ),
    "no answer": ("web_search", "entries.0.answers", [], "entries.0.answers: must have at least one element"),
    "a trail of nothing": (
        "web_search",
        "entries.0.trail",
        [],
        "entries.0.trail: must have at least one element",
    ),
}


MISTAKES_OF_VALUES: dict[str, tuple[str, str, object, str]] = {
    "no accepted value": (
        "simple_python",
        "entries.0.expect.0",
        {"set_timer": {"minutes": []}},
        "entries.0.expect.0.set_timer.minutes: must have at least one element",
    ),
    "an unknown type": (
        "simple_python",
        "functions.0.parameters.type",
        "dictionary",
        "functions.0: not a valid JSON Schema: type: 'dictionary' is not valid under any",
    ),
}
"""Mistakes that the schema cannot see: a value may have any form, and a doc may be a tool of an interface."""


@pytest.mark.parametrize(("name", "place", "value", "reason"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_seen_by_both(name: str, place: str, value: object, reason: str, tmp_path: Path) -> None:
    assert not VALIDATOR.is_valid(_read_changed(name, place, value, reason, tmp_path))


@pytest.mark.parametrize(
    ("name", "place", "value", "reason"), MISTAKES_OF_VALUES.values(), ids=MISTAKES_OF_VALUES
)
def test_mistakes_of_values_are_seen_by_the_reader(
    name: str, place: str, value: object, reason: str, tmp_path: Path
) -> None:
    _read_changed(name, place, value, reason, tmp_path)


def _read_changed(name: str, place: str, value: object, reason: str, tmp_path: Path) -> object:
    """Read a file of ours with a mistake, which is refused for a reason, and return its content."""
    for used in FOLDER.glob("booking_*.yaml"):
        (tmp_path / used.name).write_bytes(used.read_bytes())
    whole = copy.deepcopy(shorten_file(FOLDER / f"{name}.yaml"))
    VALIDATOR.validate(whole)
    _read_entries(whole, tmp_path)
    here: Any = whole
    *way, last = place.split(".")
    for key in way:
        here = here[int(key) if isinstance(here, list) else key]
    if value is None:
        del here[last]
    else:
        here[int(last) if isinstance(here, list) else last] = value
    with pytest.raises(SuiteError, match=re.escape(f"changed.yaml:1: {reason}")):
        _read_entries(whole, tmp_path)
    return whole


def test_a_line_has_all_in_one_object(tmp_path: Path) -> None:
    for line in LINES:
        LINE.validate(line)
        assert not VALIDATOR.is_valid(line)
        (tmp_path / "lines.jsonl").write_text(json.dumps({**line, "id": 7}))
        assert not LINE.is_valid({**line, "id": 7})
        with pytest.raises(
            SuiteError, match=r"lines\.jsonl:1: entries\.0\.id: must be text, not int 7; put it in quotes"
        ):
            _load_suite(tmp_path / "lines.jsonl")
        assert not LINE.is_valid({key: value for key, value in line.items() if key != "id"})


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_our_entries_are_valid_as_lines(path: Path, tmp_path: Path) -> None:
    value = shorten_file(path)
    for used in FOLDER.glob("booking_*.yaml"):
        (tmp_path / used.name).write_bytes(used.read_bytes())
    entries, functions = value.pop("entries"), value.pop("functions", [])
    if path.stem in ("hotels", "flights", "car_rental", "attraction", "cross") and functions:
        (tmp_path / "own.yaml").write_text(json.dumps({"functions": functions}))
        value["uses"] = [*value.get("uses", []), "own.yaml"]
        functions = []
    docs = {doc["name"]: doc for doc in functions}
    lines = []
    for entry in entries:
        if docs:
            entry = {**entry, "functions": [docs.get(str(name), name) for name in entry["functions"]]}
        lines.append({**value, **entry})
        LINE.validate(lines[-1])
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    _load_suite(tmp_path / "lines.jsonl")


def _load_suite(path: Path) -> None:
    suite = open_own("mine", path)
    for category in suite.categories:
        suite.load(category)
