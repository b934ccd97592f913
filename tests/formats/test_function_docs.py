"""Function docs in every form that a team may have them in, from the file to the verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from pytest_fcbench.codecs.presenting import build_first_request
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.domain.verdict import Passed
from pytest_fcbench.kinds.calls.verdict import judge
from pytest_fcbench.kinds.entry_files import read_entries
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.suites.core import read_wording
from tests.cases import each_case
from tests.factories import ask_model, make_transcript

FC = Prompting.make_default(Mode.FC)

SALT: Mapping[str, object] = {
    "type": "object",
    "properties": {"item": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
    "required": ["item"],
    "additionalProperties": False,
}
"""A schema without descriptions, as tools often have it."""

FORMS: Mapping[str, Mapping[str, object]] = {
    "chat": {"type": "function", "function": {"name": "price", "parameters": SALT, "strict": True}},
    "responses": {"type": "function", "name": "price", "description": "Price.", "parameters": SALT},
    "anthropic": {"name": "price", "description": "Price.", "input_schema": SALT},
    "mcp": {"name": "price", "title": "Price", "inputSchema": SALT, "annotations": {"readOnlyHint": True}},
    "bare": {"name": "price", "parameters": SALT},
    "schema": {"title": "price", **SALT},
}


def _read_entry(
    folder: Path, doc: object, expect: Sequence[object], category: str = "simple_python"
) -> Entry:
    """Write a suite of one entry that offers one function, and read it."""
    path = folder / "entries.yaml"
    entry = {"id": "one", "query": "What costs it?", "functions": [doc], "expect": list(expect)}
    path.write_text(yaml.safe_dump({"category": category, "entries": [entry]}, sort_keys=False), "utf-8")
    (read,) = read_entries(path, "mine")
    return read


def _show_schema(entry: Entry) -> object:
    """Return the schema of the only function that a model is sent."""
    (tool,) = build_first_request(entry, read_wording(), FC).tools
    function = tool["function"]
    assert isinstance(function, Mapping)
    return function["parameters"]


def _passes(entry: Entry, answer: Completion) -> tuple[bool, bool]:
    """Tell whether an answer passes, officially and corrected."""
    judgement = judge(entry, make_transcript(answer, mode=Mode.FC))
    return isinstance(judgement.official, Passed), isinstance(judgement.corrected, Passed)


def _call(arguments: Mapping[str, object]) -> Completion:
    return Completion(None, (ToolCall("price", json.dumps(arguments)),))


@each_case("form", FORMS)
@each_case("listed", [True, False], ids=["at the top", "in the entry"])
def test_every_form_is_read_sent_unchanged_and_judged(tmp_path: Path, form: str, listed: bool) -> None:
    path = tmp_path / "entries.yaml"
    entry = {"id": "one", "query": "?", "functions": ["price"], "expect": [{"price": {"item": "salt"}}]}
    file: dict[str, object] = {"category": "simple_python", "functions": [FORMS[form]], "entries": [entry]}
    if not listed:
        file = {"category": "simple_python", "entries": [{**entry, "functions": [FORMS[form]]}]}
    path.write_text(yaml.safe_dump(file, sort_keys=False), "utf-8")

    (read,) = read_entries(path, "mine")

    sent = _show_schema(read)
    assert sent == (FORMS[form] if form == "schema" else SALT)
    assert json.dumps(sent) == json.dumps(FORMS[form] if form == "schema" else SALT), "the order is kept"
    assert _passes(read, ask_model(OracleModel(FC), read)) == (True, True)
    assert _passes(read, _call({"item": "pepper"})) == (False, False)


TREE = {"$ref": "#/$defs/node"}
ROOT = {"$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "next": TREE}}}}

SCHEMAS: Mapping[str, tuple[object, object, Sequence[object]]] = {
    # The schema of x, its value, and three wrong ones.
    "string": ({"type": "string"}, "salt", ["pepper", 5, None]),
    "integer": ({"type": "integer"}, 5, [6, "5", True]),
    "number": ({"type": "number"}, 2.5, [2, "2.5", [2.5]]),
    "boolean": ({"type": "boolean"}, True, [False, "true", 1]),
    "array": ({"type": "array", "items": {"type": "string"}}, ["a", "b"], [["b", "a"], ["a"], "a"]),
    "array of arrays": (
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        [[1, 2], [3]],
        [[[1, 2, 3]], [[1], [2], [3]], [1, 2, 3]],
    ),
    "array without items": ({"type": "array"}, ["a"], [["b"], [], "a"]),
    "prefixItems": (
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}]},
        ["a", "b"],
        [["b", "a"], ["a"], "ab"],
    ),
    "object": (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"a": 1},
        [{"a": 2}, {}, {"a": 1, "b": 2}],
    ),
    "object in an object": (
        {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}},
        {"a": {"b": "c"}},
        [{"a": {"b": "d"}}, {"a": {}}, {"b": "c"}],
    ),
    "array of objects": (
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        [{"a": "b"}],
        [[{"a": "c"}], [], {"a": "b"}],
    ),
    "additionalProperties": (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"salt": 2},
        [{"salt": 3}, {"pepper": 2}, {}],
    ),
    "enum": ({"type": "string", "enum": ["kg", "lb"]}, "kg", ["lb", "t", 1]),
    "enum without type": ({"enum": ["kg", "lb"]}, "kg", ["lb", "t", 1]),
    "enum of several types": ({"enum": ["kg", 1, True]}, 1, [True, "kg", "1"]),
    "const": ({"const": "now"}, "now", ["later", 1, None]),
    "anyOf": ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 5, ["5", 6, True]),
    "the other of anyOf": ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5", [5, "6", None]),
    "anyOf with null": ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "a", ["b", None, 1]),
    "oneOf": (
        {
            "oneOf": [
                {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
                {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}},
            ]
        },
        {"lat": 60.4, "lon": 5.3},
        [{"lat": 60.4}, {"city": "Bergen"}, {"lat": 60.4, "lon": 5}],
    ),
    "allOf": (
        {"allOf": [{"type": "string"}, {"minLength": 2, "description": "A code."}]},
        "ab",
        ["a", "b", 2],
    ),
    "type list": ({"type": ["integer", "string"]}, "5", [5, "6", True]),
    "type list with null": ({"type": ["integer", "null"]}, 5, [6, None, "5"]),
    "nullable": ({"type": "integer", "nullable": True}, 5, [6, None, "5"]),
    "$ref": ({"$ref": "#/$defs/node"}, {"name": "a"}, [{"name": "b"}, {}, "a"]),
    "format": ({"type": "string", "format": "date"}, "2025-06-14", ["2025-06-15", "14.6.2025", 20250614]),
    "pattern": ({"type": "string", "pattern": "^[A-Z]{3}$"}, "BGO", ["OSL", "Bergen", 3]),
    "limits": ({"type": "integer", "minimum": 1, "maximum": 9}, 5, [6, 50, "5"]),
    "default": ({"type": "integer", "default": 1}, 5, [6, 1, "5"]),
    "no type": ({}, 5, [6, "5", [5]]),
    "true": (True, "a", ["b", 1, ["a"]]),
    "array of anyOf": (
        {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
        [1, "a"],
        [["a", 1], [1], [1, 2]],
    ),
}


@each_case("name", SCHEMAS)
def test_every_word_of_json_schema_is_sent_and_judged(tmp_path: Path, name: str) -> None:
    schema, right, wrong = SCHEMAS[name]
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"], **ROOT}
    entry = _read_entry(tmp_path, {"name": "price", "inputSchema": whole}, [{"price": {"x": [right]}}])

    assert json.dumps(_show_schema(entry)) == json.dumps(whole)
    assert _passes(entry, ask_model(OracleModel(FC), entry)) == (True, True)
    assert _passes(entry, _call({"x": right})) == (True, True)
    for value in wrong:
        assert _passes(entry, _call({"x": value})) == (False, False), value
    assert len(wrong) == 3


@pytest.mark.parametrize(
    ("expect", "right", "wrong"),
    [
        pytest.param({"price": {"item": "salt"}}, {"item": "salt"}, {"item": "oil"}, id="a value"),
        pytest.param({"price": {"item": ["salt", "NaCl"]}}, {"item": "NaCl"}, {"item": "oil"}, id="values"),
        pytest.param(
            'price(item="salt", count=3)', {"item": "salt", "count": 3}, {"item": "salt"}, id="text"
        ),
    ],
)
def test_a_call_is_expected_as_it_is_easiest_to_write(
    tmp_path: Path, expect: object, right: Mapping[str, object], wrong: Mapping[str, object]
) -> None:
    entry = _read_entry(tmp_path, FORMS["mcp"], [expect])
    assert _passes(entry, _call(right)) == (True, True)
    assert _passes(entry, _call(wrong)) == (False, False)


def test_a_list_is_one_value_of_a_parameter_that_takes_a_list(tmp_path: Path) -> None:
    whole = {"properties": {"x": {"type": "array", "items": {"type": "string"}}}}
    entry = _read_entry(tmp_path, {"name": "price", "inputSchema": whole}, [{"price": {"x": ["a", "b"]}}])
    assert _passes(entry, _call({"x": ["a", "b"]})) == (True, True)
    assert _passes(entry, _call({"x": ["a"]})) == (False, False)


@each_case(
    ("doc", "expect", "says"),
    [
        pytest.param(
            {"name": "price", "inputSchema": {"properties": {"x": {"type": "text"}}}},
            'price(x="a")',
            "functions.0: not a valid JSON Schema: properties.x.type: 'text' is not valid under any",
            id="no type of JSON Schema",
        ),
        pytest.param(
            {"name": "price", "inputSchema": {"properties": {"x": {"$ref": "#/$defs/gone"}}}},
            'price(x="a")',
            "functions.0: the reference '#/$defs/gone' is not defined in this file",
            id="a reference to nothing",
        ),
        pytest.param(
            {"name": "price", "inputSchema": {"$ref": "http://127.0.0.1:9/schema.json"}},
            'price(x="a")',
            "functions.0: the reference 'http://127.0.0.1:9/schema.json' is not defined in this",
            id="a reference to a server, which is not asked",
        ),
        pytest.param(
            {"name": "price", "inputSchema": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}},
            'price(x="a")',
            "functions.0: a reference in this schema leads back to itself; give it a type",
            id="a reference to itself",
        ),
        pytest.param(
            {"type": "tool", "function": {"name": "price", "parameters": SALT}},
            'price(item="a")',
            "functions.0.type: unknown type 'tool'",
            id="no kind of tool",
        ),
        pytest.param(
            FORMS["mcp"], "price(item=", "expect.0: 'price(item=' cannot be read as a call", id="cut"
        ),
        pytest.param(FORMS["mcp"], 'price("salt")', "has an argument without a name", id="without names"),
        pytest.param(
            FORMS["mcp"], '[price(item="a"), price(item="b")]', "is 2 calls; write each as an", id="two calls"
        ),
        pytest.param(FORMS["mcp"], 'prize(item="a")', "unknown function 'prize'. Did you mean", id="typo"),
        pytest.param(FORMS["mcp"], 'price(itme="a")', "unknown parameter 'itme'. Did you mean", id="name"),
        pytest.param(
            {"name": "price", "inputSchema": {"properties": {"x": {"not": {"$ref": "#/$defs/gone"}}}}},
            'price(x="a")',
            "is not what the schema of x allows: the schema cannot be applied: ",
            id="a reference to nothing that is met with a value",
        ),
        pytest.param(
            {
                "name": "price",
                "inputSchema": {"dependentRequired": {"b": ["a"]}, "properties": {"a": {}, "b": {}}},
            },
            "price(b=1)",
            "expect.0: is not what the schema of price allows: 'a' is a dependency of 'b'",
            id="parameters that do not go together",
        ),
        pytest.param(
            {"name": "price", "inputSchema": {"type": "object", "properties": {}}},
            "price(b=1)",
            "unknown parameter 'b'. There is no parameter that could be named; leave it out.",
            id="no parameters",
        ),
        pytest.param(
            FORMS["mcp"],
            {"price": {"item": "a", "count": 0}},
            "expect.0.price.count: is not what the schema of count allows: 0 is less than the minimum of 1",
            id="a value that the schema refuses",
        ),
    ],
)
def test_a_wrong_doc_or_call_is_told_with_its_place(
    tmp_path: Path, doc: object, expect: object, says: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        _read_entry(tmp_path, doc, [expect])
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "schema",
    [
        {
            "type": "object",
            "oneOf": [{"properties": {"x": {"const": 1}}}, {"properties": {"x": {"const": "1"}}}],
        },
        {"$ref": "#/$defs/all", "$defs": {"all": {"type": "object", "properties": {"x": {}}}}},
        {"type": "object", "additionalProperties": True},
    ],
    ids=["union", "reference", "free object"],
)
def test_parameters_that_are_no_list_of_names_are_judged(
    tmp_path: Path, schema: Mapping[str, object]
) -> None:
    entry = _read_entry(tmp_path, {"name": "price", "inputSchema": schema}, [{"price": {"x": 1}}])
    assert json.dumps(_show_schema(entry)) == json.dumps(schema)
    assert _passes(entry, _call({"x": 1})) == (True, True)
    assert _passes(entry, _call({"x": "1"})) == (False, False)
    assert _passes(entry, _call({"x": 1, "y": 2})) == (False, False)


def test_a_json_schema_is_refused_where_types_are_those_of_java(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="write this doc in the form of the other function docs"):
        _read_entry(tmp_path, FORMS["mcp"], ['price(item="a")'], "simple_java")
