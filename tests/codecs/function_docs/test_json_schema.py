from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.function_docs.json_schema import (
    convert_parameter,
    convert_parameters,
    convert_schema,
)
from pytest_fcbench.domain.conformance import TYPES
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import Language


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"type": "number"}, {"type": "float"}),
        ({"type": ["null", "integer"]}, {"type": "integer"}),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, {"type": "string"}),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "float"}),
        ({"oneOf": [{"type": "null"}]}, {"type": "any"}),
        ({"const": "metric"}, {"type": "string", "enum": ["metric"]}),
        ({"enum": ["a", None, "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": [1, "b"]}, {"type": "any", "enum": [1, "b"]}),
        ({"type": "string", "default": None}, {"type": "string"}),
        ({"type": "boolean", "default": False}, {"type": "boolean", "default": False}),
        ({"type": "string", "format": "date"}, {"type": "string", "description": "(format date)"}),
        (
            {"type": "integer", "description": "Seats", "minimum": 1, "maximum": 9},
            {"type": "integer", "description": "Seats (at least 1, at most 9)"},
        ),
        ({"type": "array"}, {"type": "array", "items": {"type": "any"}}),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]},
            {"type": "array", "items": {"type": "float"}},
        ),
        ({"items": {"type": "integer"}}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": "object"}, {"type": "dict"}),
        (True, {"type": "any"}),
        ({"type": "money"}, {"type": "any"}),
    ],
)
def test_says_a_schema_in_the_words_of_function_docs(schema: object, made: object) -> None:
    assert convert_schema(schema, {}) == made


@pytest.mark.parametrize("schema", [{"properties": None}, {"properties": [1], "required": ["a"]}, None, 3])
def test_parameters_without_properties_are_none(schema: object) -> None:
    assert convert_parameters(schema, {}) == {"type": "dict", "properties": {}, "required": []}


def test_puts_all_parts_together() -> None:
    schema = {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
        ],
        "description": "Both",
    }

    made = convert_schema(schema, {})

    assert made["properties"] == {"a": {"type": "string"}, "b": {"type": "integer"}}
    assert sorted(map(str, made["required"])) == ["a", "b"]  # type: ignore[call-overload]
    assert made["description"] == "Both"


def test_follows_references_and_leaves_what_refers_to_itself_open() -> None:
    pair = {"left": {"$ref": "#/$defs/tree~1node"}, "right": {"$ref": "#/$defs/tree~1node"}}
    root = {"$defs": {"tree/node": {"type": "object", "properties": pair, "required": ["left"]}}}

    made = convert_schema({"$ref": "#/$defs/tree~1node", "description": "A tree"}, root)

    assert made == {
        "type": "dict",
        "description": "A tree",
        "properties": {"left": {"type": "dict"}, "right": {"type": "dict"}},
        "required": ["left"],
    }


@pytest.mark.parametrize("reference", ["#/$defs/missing", "other.json#/a", "https://x.example/a.json", "#"])
def test_a_reference_must_lead_somewhere(reference: str) -> None:
    with pytest.raises(UsageError, match="is not defined in this file; bundle all definitions into it"):
        convert_schema({"$ref": reference}, {"$defs": {}})


def test_a_parameter_always_has_a_description() -> None:
    assert convert_parameter({"type": "string"}, {}) == {"type": "string", "description": ""}
    assert convert_parameter({"type": "string", "description": "own"}, {}, "other")["description"] == "other"
    made = convert_parameters({"properties": {"a": {}}, "required": ["a", "gone"]}, {})
    assert made == {
        "type": "dict",
        "properties": {"a": {"description": "", "type": "any"}},
        "required": ["a"],
    }


_KEYS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "anyOf",
        "allOf",
        "oneOf",
        "enum",
        "const",
        "required",
        "$ref",
        "prefixItems",
    ]
)
_SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.sampled_from(["string", "object", "array", "#/anyOf", "#/properties"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=25,
)


@given(_SCHEMAS)
def test_whatever_the_schema_there_is_a_known_type_or_a_told_error(schema: object) -> None:
    root = schema if isinstance(schema, dict) else {}
    try:
        made = convert_schema(schema, root)
    except UsageError:
        return
    assert made["type"] in TYPES[Language.PYTHON]
