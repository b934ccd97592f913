from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.codecs.function_docs.json_schema import (
    check_schema,
    convert_parameter,
    convert_parameters,
    convert_schema,
    describe_call_violation,
    describe_function,
    describe_schema_violation,
    list_untyped,
)
from pytest_fcbench.codecs.function_docs.schema_keywords import list_unapplied_patterns
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import TYPES, Language
from tests.cases import each_case


@each_case(
    ("schema", "made"),
    [
        ({"type": "number"}, {"type": "float"}),
        ({"type": ["null", "integer"]}, {"type": "integer"}),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, {"type": "string"}),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "float"}),
        ({"oneOf": [{"type": "null"}]}, {"type": "any"}),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"type": "string", "enum": ["a", "b"]}),
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


@each_case("schema", [{"properties": None}, {"properties": [1], "required": ["a"]}, None, 3])
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


@each_case("reference", ["#/$defs/missing", "other.json#/a", "https://x.example/a.json", "#gone"])
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


_A = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
_B = {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a", "b"]}
_DEFINITIONS = {"A": _A, "B": _B, "text": {"type": "string"}}
_TOPS: dict[str, tuple[dict[str, object], dict[str, object], dict[str, object]]] = {
    # A schema of all parameters, arguments that it allows, and some that it does not.
    "$ref": ({"$ref": "#/$defs/A"}, {"a": "x"}, {"a": 1}),
    "oneOf": ({"type": "object", "oneOf": [_A, _B]}, {"a": 1, "b": "x"}, {"a": 1}),
    "anyOf of references": (
        {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
        {"a": "x"},
        {"b": "x"},
    ),
    "allOf": ({"allOf": [_A, {"properties": {"b": {"type": "string"}}}]}, {"a": "x", "b": "y"}, {"b": "y"}),
    "then": (
        {"if": {"required": ["a"]}, "then": {"properties": {"b": {"type": "string"}}}, **_A},
        {"a": "x", "b": "y"},
        {"a": "x", "b": 1},
    ),
    "a free object": ({"type": "object", "additionalProperties": {"type": "string"}}, {"q": "x"}, {"q": 1}),
    "names by pattern": ({"patternProperties": {"^x-": {"type": "string"}}}, {"x-a": "b"}, {"x-a": 1}),
    "itself": (
        {"type": "object", "properties": {"a": {"type": "string"}, "kids": {"items": {"$ref": "#"}}}},
        {"kids": [{"a": "x"}]},
        {"kids": [{"a": 1}]},
    ),
    "a reference into a list": (
        {"properties": {"a": {"anyOf": [{"type": "string"}]}, "b": {"$ref": "#/properties/a/anyOf/0"}}},
        {"b": "x"},
        {"b": 1},
    ),
    "draft 3": ({"properties": {"a": {"type": "string", "required": True}}}, {"a": "x"}, {}),
    "draft 4": (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": "http://x.example/top",
            "properties": {
                "a": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
                "id": {"$ref": "http://x.example/top#/$defs/text"},
            },
        },
        {"a": 1, "id": "x"},
        {"a": 0},
    ),
    "a list of elements": (
        {"properties": {"a": {"type": "array", "items": [{"type": "string"}], "additionalItems": False}}},
        {"a": ["x"]},
        {"a": ["x", "y"]},
    ),
    "types of draft 3": (
        {"properties": {"a": {"type": ["string", {"type": "number"}]}, "b": {"type": "any"}}},
        {"a": 1.5, "b": []},
        {"a": True},
    ),
    "types in other words": (
        {"type": "OBJECT", "properties": {"a": {"type": "STRING"}, "b": {"type": ["float", "null"]}}},
        {"a": "x", "b": 1.5},
        {"b": "x"},
    ),
    "alternatives with a discriminator": (
        {"oneOf": [_A, {"properties": {"b": {"type": "string"}}}], "discriminator": {"propertyName": "b"}},
        {"a": "x", "b": "y"},
        {"b": 1},
    ),
    "a name that is required twice, and no properties": (
        {"properties": {"a": {"properties": [], "required": ["x", "x"]}}},
        {"a": {"x": 1}},
        {"a": {}},
    ),
    "dependencies": ({"properties": {"a": {}, "b": {}}, "dependencies": {"a": ["b"]}}, {"b": 1}, {"a": 1}),
    "dependencies of parameters named as keywords": (
        {"properties": {"title": {}, "items": {}}, "dependentRequired": {"title": ["items"]}},
        {"items": 1},
        {"title": 1},
    ),
    "definitions of a schema that may be null": (
        {
            "nullable": True,
            "allOf": [{"$ref": "#/$defs/A"}],
            "$defs": {"A": {"properties": {"a": {"type": "String"}}}},
        },
        {"a": "x"},
        {"a": 1},
    ),
    "draft 7": (
        {"properties": {"a": {"$ref": "#t"}}, "definitions": {"t": {"$id": "#t", "type": "string"}}},
        {"a": "x"},
        {"a": 1},
    ),
    "addresses of parts": (
        {
            "$id": "https://x.example/schemas/top",
            "properties": {"a": {"$ref": "part"}, "b": {"$ref": "/schemas/part#/$defs/a~1b%25"}},
            "$defs": {
                "p": {
                    "$id": "part",
                    "properties": {"c": {"$ref": "#/$defs/a~1b%25"}, "d": {"$ref": "#/$defs/text"}},
                    "$defs": {"a/b%": {"type": "string"}},
                },
                "text": {"type": "string"},
            },
        },
        {"a": {"c": "x", "d": "y"}, "b": "z"},
        {"a": {"c": 1}},
    ),
    "addresses of draft 4": (
        {
            "id": "top",
            "properties": {"a": {"$ref": "t"}},
            "definitions": {"t": {"id": "t", "type": "string"}},
        },
        {"a": "x"},
        {"a": 1},
    ),
    "a dynamic anchor": (
        {
            "$id": "urn:example:tree",
            "$dynamicAnchor": "node",
            "properties": {"a": {"$dynamicRef": "#node"}, "b": {"type": "string"}},
        },
        {"a": {"b": "x"}},
        {"a": {"b": 1}},
    ),
    "draft 2019-09": (
        {"$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}, "b": {"type": "string"}}},
        {"a": {"b": "x"}},
        {"a": {"b": 1}},
    ),
    "null for what is left out": (
        {"title": None, "required": None, "properties": {"a": {"type": "string", "examples": "x"}}},
        {"a": "x"},
        {"a": 1},
    ),
    "keywords as names": (
        {"properties": {"pattern": {"type": "string"}, "nullable": {"type": "boolean"}, "title": {}}},
        {"pattern": "(", "nullable": True, "title": None},
        {"pattern": 1},
    ),
    "a named group": ({"properties": {"a": {"pattern": r"^(?<y>\d)\k<y>$"}}}, {"a": "11"}, {"a": "12"}),
}


@each_case("name", _TOPS)
def test_schemas_are_read_as_the_world_writes_them(name: str) -> None:
    schema, allowed, refused = _TOPS[name]
    doc = describe_function("f", "", {"$defs": _DEFINITIONS, **schema})

    assert [parameter for parameter in allowed if parameter not in doc.properties] == []
    assert describe_call_violation(doc, allowed) is None
    assert describe_call_violation(doc, refused)


@each_case("reference", ["part#gone", "#/$defs/gone", "other#/$defs/A", "https://[y"])
def test_a_reference_beside_addresses_must_lead_somewhere(reference: str) -> None:
    schema = {"$id": "top", "$defs": _DEFINITIONS, "properties": {"a": {"$id": "part", "$ref": reference}}}
    with pytest.raises(
        UsageError, match=f"the reference {re.escape(repr(reference))} is not defined in this"
    ):
        describe_function("f", "", schema)


_UNION: dict[str, object] = {"anyOf": [{"type": "string"}, {"type": "integer"}]}


@each_case(
    ("schema", "kind"),
    [
        (_UNION, "any"),
        ({"anyOf": [{"type": "array", "items": _UNION}, {"type": "null"}]}, "any"),
        ({"anyOf": [{"type": ["string", "number"]}, {"type": "null"}]}, "any"),
        ({"anyOf": [{"$ref": "#/$defs/union"}, {"type": "null"}]}, "any"),
        ({"allOf": [{"$ref": "#/$defs/union"}]}, "any"),
        ({"items": {"$ref": "#/$defs/tree"}}, "array"),
        ({"anyOf": [{"type": ["string", "null"]}, {"type": "null"}]}, "string"),
    ],
)
def test_a_parameter_that_may_have_several_types_is_of_any(schema: object, kind: str) -> None:
    tree = {"type": "array", "items": {"$ref": "#/$defs/tree"}}
    doc = describe_function("f", "", {"properties": {"a": schema}, "$defs": {"union": _UNION, "tree": tree}})
    assert doc.properties["a"]["type"] == kind
    assert list_untyped(doc) == ("a",) * (kind == "any")


def test_parameters_are_those_of_all_alternatives() -> None:
    doc = describe_function("f", "", {"oneOf": [_A, _B]})
    assert {name: schema["type"] for name, schema in doc.properties.items()} == {"a": "any", "b": "string"}
    assert doc.required == ("a",), "b is needed by one of them only"
    assert "c" not in doc.properties


@each_case(
    ("schema", "is_open"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": True}, True),
        ({"type": "object", "properties": {"a": {}}}, False),
        ({"type": "object", "additionalProperties": False}, False),
        ({}, False),
    ],
)
def test_other_parameters_are_allowed_where_a_schema_says_so(
    schema: dict[str, object], is_open: bool
) -> None:
    assert ("other" in describe_function("f", "", schema).properties) is is_open


@pytest.mark.parametrize("step", [0.01, 1, 10**400], ids=["cent", "one", "huge"])
def test_multiples_are_those_of_the_numbers_as_written(step: float) -> None:
    doc = describe_function("f", "", {"type": "object", "properties": {"x": {"multipleOf": step}}})
    values = (19.99, 0.07, -3.0, 1e308, 0, 10**400, 1e-7, float("inf"), float("nan"))
    allowed = [value for value in values if describe_schema_violation(doc, "x", value) is None]
    assert allowed == {0.01: [*values[:6]], 1: [-3.0, 1e308, 0, 10**400], 10**400: [0, 10**400]}[step]


def test_a_set_in_a_set_is_read_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    doc = describe_function("f", "", {"properties": {"a": {"pattern": "^[[a-z]$"}}})
    assert describe_schema_violation(doc, "a", "[") is None
    assert describe_schema_violation(doc, "a", "1")
    assert not recwarn.list


@pytest.mark.parametrize("pattern", [r"^[\p{L}\p{N} _-]+$", "(", r"^\u{1F600}$"])
def test_a_pattern_that_python_has_no_form_for_holds_nothing(pattern: str) -> None:
    named = {"patternProperties": {pattern: {"type": "string"}}, "additionalProperties": False}
    schema = {"properties": {"a": {"type": "string", "pattern": pattern}, "b": named}}
    doc = describe_function("f", "", schema)

    assert doc.given == schema
    assert list(list_unapplied_patterns(schema)) == [pattern] * 2
    assert describe_call_violation(doc, {"a": "anything", "b": {"c": 1}}) is None
    assert describe_call_violation(doc, {"a": 1})


def test_a_pattern_that_holds_is_not_listed_and_a_default_has_none() -> None:
    assert not [
        *list_unapplied_patterns({"pattern": "", "default": {"pattern": "("}, "enum": [{"pattern": "("}]})
    ]
    # A parameter may have such a name.
    assert [*list_unapplied_patterns({"properties": {"default": {"pattern": "("}}})] == ["("]


def _double(count: int, keyword: str) -> dict[str, object]:
    """Return definitions, each of which refers to the next one twice."""
    definitions: dict[str, object] = {f"d{count}": {"type": "object"}}
    for number in range(count):
        twice = [{"$ref": f"#/$defs/d{number + 1}"}] * 2
        named = {"properties": dict(zip("ab", twice, strict=True))}
        definitions[f"d{number}"] = named if keyword == "properties" else {keyword: twice}
    return definitions


def test_references_that_multiply_are_converted_up_to_a_bound() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": _double(40, "properties")}
    doc = describe_function("f", "", schema)
    assert str(doc.parameters).count("'type'") < 20_000
    assert describe_call_violation(doc, {"a": {"b": {"a": {}}}}) is None


def test_references_that_multiply_for_one_value_are_refused() -> None:
    schema = {"$ref": "#/$defs/d0", "$defs": _double(40, "allOf")}
    with pytest.raises(UsageError, match="more than 20,000 references of this schema would be followed"):
        describe_function("f", "", schema)


def _nest(depth: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


_CIRCLE: dict[str, object] = {}
_CIRCLE["not"] = _CIRCLE


@each_case(
    ("schema", "told"),
    [
        (_nest(50), None),
        (_nest(120), "nested more than 50 deep; give its inner parts names under $defs"),
        (_nest(5000), " deep; give its inner parts names under $defs"),  # which depth depends on Python
        ({"allOf": [{"$ref": "#"}]}, "a reference in this schema leads back to itself; give it a type"),
        (_CIRCLE, "a reference in this schema leads back to itself; give it a type"),
    ],
    ids=["levels that are read", "too deep", "much too deep", "reference", "value that holds itself"],
)
def test_a_schema_that_is_too_deep_is_no_circle(schema: dict[str, object], told: str | None) -> None:
    if told is None:
        check_schema(schema)
        return
    with pytest.raises(UsageError, match=re.escape(told)):
        check_schema(schema)


def test_a_thousand_references_inside_each_other_are_read() -> None:
    chain: dict[str, object] = {"d1000": {"type": "string"}}
    chain |= {f"d{n}": {"properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}} for n in range(1000)}
    doc = describe_function("f", "", {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain})
    assert doc.properties["a"]["type"] == "dict"


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
