from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest

from pytest_fcbench.codecs.function_docs import openapi
from pytest_fcbench.codecs.function_docs.json_schema import describe_schema_violation
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc, GivenSchema
from tests.cases import each_case

_BERTH: Mapping[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "next": {"$ref": "#/c/Berth"}},
}
_HARBOUR = {
    "openapi": "3.1.0",
    "c": {"Berth": _BERTH, "dry": {"name": "dry", "in": "query", "schema": {"type": "boolean"}}},
    "paths": {
        "/berths/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {
                "operationId": "get-berth",
                "summary": "One berth",
                "parameters": [
                    {"$ref": "#/c/dry"},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                    {"name": "session", "in": "cookie", "schema": {"type": "string"}},
                    {"name": "accept", "in": "query", "schema": {"type": "boolean"}},
                ],
            },
            "put": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/c/Berth"}}}}},
        },
        "/log": {"post": {"requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}}},
    },
}


def _read_docs(value: object) -> list[FunctionDoc]:
    return list(openapi.read_functions(value, "f.json"))


def test_operations_become_functions() -> None:
    get, put, post = _read_docs(_HARBOUR)

    assert (get.name, get.description, get.required) == ("get_berth", "One berth", ("id",))
    assert list(get.properties) == ["id", "dry", "accept"]
    assert (put.name, put.description) == ("put__berths_id", "PUT /berths/{id}")
    assert list(put.properties) == ["id", "id_body", "name", "next"]
    assert put.properties["next"]["type"] == "dict"
    assert put.required == ("id", "name")
    assert (post.properties["body"]["type"], post.required) == ("string", ("body",))


def test_a_schema_stays_as_it_is_with_what_it_refers_to() -> None:
    get, put, _ = _read_docs(_HARBOUR)

    assert get.given == {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "dry": {"type": "boolean"},
            "accept": {"type": "boolean"},
        },
        "required": ["id"],
    }
    assert put.given == {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "id_body": {"type": "integer"},
            "name": {"type": "string"},
            "next": {"$ref": "#/$defs/Berth"},
        },
        "required": ["id", "name"],
        "$defs": {
            "Berth": {**_BERTH, "properties": {**_BERTH["properties"], "next": {"$ref": "#/$defs/Berth"}}},
        },
    }


def test_a_parameter_of_an_operation_overrides_that_of_its_path() -> None:
    place, of_path = {"name": "q", "in": "query"}, {"required": True, "schema": {"type": "string"}}
    item = {"parameters": [place | of_path], "get": {"parameters": [place | {"schema": {"type": "integer"}}]}}
    (doc,) = _read_docs({"paths": {"/": item}})
    assert (doc.required, doc.properties["q"]["type"]) == ((), "integer")


@each_case("name", ["Page`1", "Page<Berth>", "Seite«Größe»", "a/b", "100%"])
def test_a_definition_may_have_any_name(name: str) -> None:
    reference = f"#/definitions/{quote(name.replace('/', '~1'))}"
    body = {"in": "body", "name": "b", "schema": {"type": "array", "items": {"$ref": reference}}}
    swagger = {"definitions": {name: {"type": "integer"}}, "paths": {"/": {"put": {"parameters": [body]}}}}
    (doc,) = _read_docs(swagger)
    assert doc.properties["body"]["items"] == {"type": "integer"}
    assert describe_schema_violation(doc, "body", [1]) is None
    assert describe_schema_violation(doc, "body", ["x"])


def test_two_definitions_of_one_name_stay_apart() -> None:
    other = {"$ref": "#/old/Berth"}
    schema = {"type": "object", "properties": {"new": {"$ref": "#/c/Berth"}, "old": other}}
    body = {"content": {"application/json": {"schema": schema}}}
    old = {"type": "string"}
    (doc,) = _read_docs(
        {
            "c": {"Berth": {"type": "integer"}},
            "old": {"Berth": old},
            "paths": {"/": {"put": {"requestBody": body}}},
        }
    )
    assert doc.given is not None
    assert doc.given["$defs"] == {"Berth": {"type": "integer"}, "Berth_": old}
    assert doc.properties["old"]["type"] == "string"


@each_case(
    ("schema", "allowed", "refused"),
    [
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, 1, 0),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": True}, 8, 9),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": False}, 9, 10),
        ({"type": "integer", "nullable": True}, None, "1"),
    ],
)
def test_keywords_of_the_older_form_are_understood(schema: object, allowed: object, refused: object) -> None:
    parameter = {"name": "n", "in": "query", "schema": schema}
    (doc,) = _read_docs({"paths": {"/": {"get": {"parameters": [parameter]}}}})
    assert doc.given is not None
    assert doc.given["properties"] == {"n": schema}
    assert describe_schema_violation(doc, "n", allowed) is None
    assert describe_schema_violation(doc, "n", refused)


def test_a_schema_that_is_none_of_json_schema_is_converted() -> None:
    (doc,) = _read_docs(
        {
            "swagger": "2.0",
            "paths": {"/": {"post": {"parameters": [{"name": "f", "in": "query", "type": "file"}]}}},
        }
    )
    assert doc.given is None
    assert doc.properties["f"]["type"] == "any"


def test_the_older_format_has_its_body_among_the_parameters() -> None:
    body = {"in": "body", "name": "berth", "schema": {"$ref": "#/definitions/Berth"}}
    length = {"in": "query", "name": "length", "type": "number", "description": "In metres"}
    swagger = {
        "swagger": "2.0",
        "definitions": {"Berth": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "paths": {"/berths": {"post": {"operationId": "add", "parameters": [body, length]}}},
    }

    (add,) = _read_docs(swagger)

    assert {name: schema["type"] for name, schema in add.properties.items()} == {
        "name": "string",
        "length": "float",
    }
    assert add.properties["length"]["description"] == "In metres"


@each_case("wrapped", ["chat", "responses", "bare", "input_schema", "inputSchema", "object", "tools/list"])
def test_tools_become_functions(wrapped: str) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    bare = {"name": "berth.get", "description": "One\n berth", "parameters": schema}
    value: object = {
        "chat": [{"type": "function", "function": bare}],
        "responses": [{"type": "function", **bare}],
        "bare": [bare],
        "input_schema": [{"name": "berth.get", "description": "One berth", "input_schema": schema}],
        "inputSchema": [{"name": "berth.get", "description": "One berth", "inputSchema": schema}],
        "object": {"tools": [bare]},
        "tools/list": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [bare], "nextCursor": None}},
    }[wrapped]

    assert _read_docs(value) == [
        FunctionDoc(
            "berth.get",
            "One berth",
            {
                "type": "dict",
                "properties": {"id": {"description": "", "type": "integer"}},
                "required": ["id"],
            },
            given=GivenSchema(schema),
        )
    ]


def test_what_fcbench_functions_wrote_is_read() -> None:
    tool = {"name": "price", "description": "Price.", "parameters": {"type": "object", "properties": {}}}
    noted = {"server": {"source": "mcp:uvx shop"}, "functions": [tool]}
    assert list(openapi.read_functions(noted, "f.yaml")) == list(openapi.read_functions([tool], "f.yaml"))


def test_a_tool_without_parameters_has_none() -> None:
    (doc,) = _read_docs([{"name": "now"}])

    assert doc.parameters == {"type": "dict", "properties": {}, "required": []}
    assert doc.given == {"type": "object", "properties": {}}


def test_a_tool_with_a_wrong_schema_is_told_with_its_number() -> None:
    tools = [{"name": "now"}, {"name": "then", "parameters": {"type": "thing"}}]
    with pytest.raises(UsageError, match="element 2: not a valid JSON Schema: type: 'thing' is not valid"):
        _read_docs(tools)


@each_case(
    ("value", "rule"),
    [
        ({"a": 1}, "has neither 'paths', as an OpenAPI description, nor a list of tools; give one of these"),
        (3, "has neither"),
        ([{"function": {}}], "element 1: must be a tool with a name"),
        (["x"], "element 1: must be a tool with a name"),
        (
            {"paths": {"/a": {"get": {"parameters": [{"$ref": "#/gone"}]}}}},
            "'#/gone' is not defined in this file",
        ),
    ],
)
def test_another_file_is_refused(value: object, rule: str) -> None:
    with pytest.raises(UsageError, match=rule):
        _read_docs(value)
