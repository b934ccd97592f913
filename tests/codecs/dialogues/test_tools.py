"""Function docs as the tools of APIs that know fewer keywords than JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.codecs.dialogues.tools import (
    CONVERTER,
    WriteTool,
    write_bare_tool,
    write_declaration,
    write_described_tool,
    write_palmyra_tool,
    write_schema_tool,
)
from pytest_fcbench.domain.function_doc import GivenSchema
from pytest_fcbench.domain.text import as_mapping
from tests.cases import each_case
from tests.codecs.test_presenting import WORDING

LABELS = ("", " D: ", " MAX: ", " MIN: ", " LONG: ", " ADD: ", " ENUM: ", " RETURNS: ")
OFFICIAL = replace(WORDING, family_texts={CONVERTER: LABELS})
RETURNED = {"type": "dict", "properties": {}}


def write_property(write: WriteTool, schema: dict[str, object]) -> object:
    """Return what a tool says of a parameter that is declared like this."""
    doc: dict[str, object] = {
        "name": "a.b",
        "description": "Do.",
        "parameters": {"type": "dict", "properties": {"x": schema}},
    }
    tool = write(doc, OFFICIAL)
    function = as_mapping(tool.get("function", tool))
    return as_mapping(as_mapping(function["parameters"])["properties"])["x"]


@each_case(
    ("schema", "google", "palmyra"),
    [
        (
            {"type": "string", "description": "X.", "default": "a"},
            {"type": "STRING", "description": "X. D: a."},
            {"type": "string", "description": "X. D: a."},
        ),
        (
            {"type": "string", "enum": ["a"], "format": "date"},
            {"type": "STRING", "enum": ["a"], "description": " Format: date."},
            {"type": "string", "description": " ENUM: ['a']. Format: date."},
        ),
        (
            {"type": "integer", "enum": [1], "maximum": 3, "optional": True},
            {"type": "INTEGER", "description": " Optional: True. MAX: 3. ENUM: [1]."},
            {"type": "integer", "description": " Optional: True. MAX: 3. ENUM: [1]."},
        ),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2, "required": True},
            {
                "type": "ARRAY",
                "items": {"type": "STRING"},
                "description": " Required: True. MIN: 1. LONG: 2.",
            },
            {
                "type": "array",
                "items": {"type": "string"},
                "description": " Required: True. MIN: 1. LONG: 2.",
            },
        ),
        # Below the top level everything stays.
        (
            {
                "type": "dict",
                "properties": {"y": {"type": "string", "default": "b"}},
                "additionalProperties": False,
            },
            {
                "type": "OBJECT",
                "properties": {"y": {"type": "STRING", "default": "b"}},
                "description": " ADD: False.",
            },
            {
                "type": "object",
                "properties": {"y": {"type": "string", "default": "b"}},
                "description": " ADD: False.",
            },
        ),
    ],
)
def test_keywords_that_an_api_does_not_know_are_told_in_words(
    schema: dict[str, object], google: object, palmyra: object
) -> None:
    assert write_property(write_declaration, schema) == google
    assert write_property(write_palmyra_tool, schema) == palmyra


@pytest.mark.parametrize(
    ("write", "name"),
    [(write_declaration, "a_b"), (write_palmyra_tool, "a.b"), (write_described_tool, "a_b")],
)
def test_what_a_function_returns_is_told_in_its_description(write: WriteTool, name: str) -> None:
    doc: dict[str, object] = {
        "name": "a.b",
        "description": "Do.",
        "parameters": {"properties": {}},
        "response": RETURNED,
    }
    tool = write(doc, OFFICIAL)
    function = as_mapping(tool.get("function", tool))
    assert function["name"] == name
    assert function["description"] == 'Do. RETURNS: {"type": "dict", "properties": {}}'
    assert "response" not in function
    # Without official sentences with ours.
    ours = as_mapping(write(doc, WORDING).get("function", write(doc, WORDING)))
    assert ours["description"] == 'Do. Returns: {"type": "dict", "properties": {}}'


def test_a_bare_tool_has_nothing_else() -> None:
    doc: dict[str, object] = {
        "name": "a.b",
        "description": "Do.",
        "parameters": {"properties": {}},
        "response": RETURNED,
    }
    assert write_bare_tool(doc, OFFICIAL) == {
        "type": "function",
        "function": {
            "name": "a_b",
            "description": "Do.",
            "parameters": {"type": "object", "properties": {}},
        },
    }


@each_case(
    ("write", "way"),
    [
        (write_bare_tool, ("function", "parameters")),
        (write_palmyra_tool, ("function", "parameters")),
        (write_schema_tool, ("input_schema",)),
        (write_declaration, ("parametersJsonSchema",)),
    ],
)
def test_a_given_schema_is_sent_unchanged(write: WriteTool, way: Sequence[str]) -> None:
    given = GivenSchema({"properties": {"x": {"type": ["integer", "null"], "default": 1, "format": "int32"}}})
    found: object = write({"name": "a.b", "description": "Do.", "parameters": given}, OFFICIAL)
    for key in way:
        found = as_mapping(found)[key]
    assert found == given
