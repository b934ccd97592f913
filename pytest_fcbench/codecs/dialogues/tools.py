"""Function docs as the tools of each API.

Official: ``convert_to_tool`` of ``model_handler/utils.py`` by the style of a handler, and what the vendors'
clients make of the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.syntax import decode_leniently
from pytest_fcbench.codecs.presenting import WireDoc, Wording, build_tool
from pytest_fcbench.domain.function_doc import GivenSchema
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.text import as_mapping

Tool: TypeAlias = Mapping[str, object]

WriteTool: TypeAlias = Callable[[WireDoc, Wording], Tool]
"""Makes a tool of a doc under its shown name."""

CONVERTER = "convert_to_tool"
"""The key of the converter's sentences among those of families."""

_DEFAULT, _MAXIMUM, _MIN_ITEMS, _MAX_ITEMS, _ADDITIONAL, _ENUM, _RESPONSE = range(1, 8)
"""The places of its sentences."""

_LABELS_OF_OURS = (
    "",
    *map(" {}: ".format, ("Default", "Most", "Fewest", "Longest", "Others", "One of", "Returns")),
)
"""What stands for them where a suite has its own wording."""


def write_nested_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of the chat interface; a ``response`` stays a key beside the parameters."""
    return {"type": "function", "function": convert_doc(doc, wording)}


def write_flat_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of the Responses API: without ``strict``, which lets the server make schemas strict."""
    return {**convert_doc(doc, wording), "type": "function"}


def write_described_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of the chat interface with its ``response`` in the description."""
    return {"type": "function", "function": _describe_response(convert_doc(doc, wording), wording)}


def write_firefunction_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of Fireworks, where a dotted name stays as it is."""
    return {"type": "function", "function": _describe_response(_convert_named_doc(doc, wording), wording)}


def write_bare_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of the chat interface without anything but name, description and parameters."""
    function = convert_doc(doc, wording)
    members = {name: function[name] for name in ("name", "description", "parameters") if name in function}
    return {"type": "function", "function": members}


def write_schema_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of the Messages API."""
    function = _describe_response(convert_doc(doc, wording), wording)
    return {**_leave_out(function, "parameters"), "input_schema": function["parameters"]}


def write_spec_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of Bedrock."""
    function = _describe_response(convert_doc(doc, wording), wording)
    return {
        "toolSpec": {**_leave_out(function, "parameters"), "inputSchema": {"json": function["parameters"]}}
    }


def write_unconverted_doc(doc: WireDoc, wording: Wording) -> Tool:
    """Leave a doc as it is."""
    return doc


def write_palmyra_tool(doc: WireDoc, wording: Wording) -> Tool:
    """Write a tool of Palmyra: names stay dotted, and descriptions state keywords that it does not know."""
    function = _describe_keywords(_convert_named_doc(doc, wording), wording, keeps_text_enums=False)
    return {"type": "function", "function": _describe_response(function, wording)}


def write_declaration(doc: WireDoc, wording: Wording) -> Tool:
    """Write a function declaration of Google, whose client writes types in capitals."""
    if isinstance(schema := doc["parameters"], GivenSchema):
        # Google's own schemas have no references and no lists of types; this key takes any JSON Schema.
        return {**_leave_out(convert_doc(doc, wording), "parameters"), "parametersJsonSchema": schema}
    function = _describe_keywords(convert_doc(doc, wording), wording, keeps_text_enums=True)
    declaration = _describe_response(function, wording)
    return {**declaration, "parameters": _write_google_schema(as_mapping(declaration["parameters"]))}


def convert_doc(doc: WireDoc, wording: Wording) -> dict[str, object]:
    """Convert a doc with the types of JSON Schema, under a name that every API takes."""
    return _convert_named_doc({**doc, "name": Names.UNDERSCORED.show_name(str(doc["name"]))}, wording)


def _convert_named_doc(doc: WireDoc, wording: Wording) -> dict[str, object]:
    """Convert a doc with the types of JSON Schema, under its own name."""
    return dict(as_mapping(build_tool(doc, wording)["function"]))


def _leave_out(value: Mapping[str, object], name: str) -> dict[str, object]:
    return {key: each for key, each in value.items() if key != name}


def _find_labels(wording: Wording) -> tuple[str, ...]:
    return tuple(wording.family_texts.get(CONVERTER, ())) or _LABELS_OF_OURS


def _describe_response(function: Mapping[str, object], wording: Wording) -> dict[str, object]:
    """Move the schema of what a function returns to the end of its description."""
    if "response" not in function:
        return dict(function)
    response_text = f"{_find_labels(wording)[_RESPONSE]}{json.dumps(function['response'])}"
    return {**_leave_out(function, "response"), "description": f"{function['description']}{response_text}"}


def _describe_keywords(
    function: Mapping[str, object], wording: Wording, *, keeps_text_enums: bool
) -> dict[str, object]:
    """Move keywords of the top level that an API does not know into the descriptions, in this order."""
    if isinstance(function["parameters"], GivenSchema):
        return dict(function)
    labels = _find_labels(wording)
    places = {
        "default": labels[_DEFAULT],
        "optional": " Optional: ",
        "required": " Required: ",
        "maximum": labels[_MAXIMUM],
        "minItems": labels[_MIN_ITEMS],
        "maxItems": labels[_MAX_ITEMS],
        "additionalProperties": labels[_ADDITIONAL],
        "enum": labels[_ENUM],
        "format": " Format: ",
    }
    parameters = _leave_out(as_mapping(function["parameters"]), "optional")
    properties: dict[str, object] = {}
    for name, schema in as_mapping(parameters["properties"]).items():
        keywords = dict(as_mapping(schema))
        is_text = keywords.get("type") == "string"
        description = str(keywords.get("description", ""))
        for keyword, label in places.items():
            is_known = keyword == "enum" and keeps_text_enums and is_text
            is_known = is_known or (keyword == "format" and not is_text)
            if keyword in keywords and not is_known:
                description += f"{label}{keywords.pop(keyword)}."
        properties[name] = {**keywords, "description": description}
    return {**function, "parameters": {**parameters, "properties": properties}}


def _write_google_schema(schema: Mapping[str, object]) -> dict[str, object]:
    """Write a schema as Google's client does: types in capitals, at every depth."""
    google_schema: dict[str, object] = {}
    for name, value in schema.items():
        if name == "type":
            google_schema[name] = str(value).upper()
        elif name == "properties":
            google_schema[name] = {
                key: _write_google_schema(as_mapping(each)) for key, each in as_mapping(value).items()
            }
        elif name == "items" and isinstance(value, Mapping):
            google_schema[name] = _write_google_schema(value)
        else:
            google_schema["anyOf" if name == "any_of" else name] = value
    return google_schema


_NO_PARAMETERS = frozenset({"description", "type", "properties", "required", "nullable"})
"""Names that the notation does not take for parameters (official)."""


def write_declaration_text(doc: Mapping[str, object]) -> str:
    """Write a function doc as a declaration."""
    parameters = as_mapping(doc.get("parameters"))
    parts = [f"description:{_escape(doc.get('description', ''))}"]
    if properties := as_mapping(parameters.get("properties")):
        parts.append(f"properties:{{{_write_properties(properties)}}}")
    if required_names := parameters.get("required"):
        parts.append(_write_required(required_names))
    if "type" in parameters:
        parts.append(f"type:{_escape(str(parameters['type']).upper())}")
    return f"declaration:{doc.get('name', '')}{{{','.join(parts)}}}"


def write_result_text(text: str) -> str:
    """Write the text of a result: the members of an object, or the text as a value."""
    value = decode_leniently(text, None)
    return write_value(value, marks_keys=False) if isinstance(value, dict) else f"{{value:{_escape(text)}}}"


def write_value(value: object, *, marks_keys: bool = True) -> str:
    """Write a JSON value; keys stand between marks too where ``marks_keys``."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _escape(value)
        case list() | tuple():
            return f"[{','.join(write_value(each, marks_keys=marks_keys) for each in value)}]"
        case dict():
            members = (
                f"{_escape(key) if marks_keys else key}:{write_value(each, marks_keys=marks_keys)}"
                for key, each in sorted(value.items())
            )
            return f"{{{','.join(members)}}}"
    return str(value)


def _escape(text: object) -> str:
    return f"<escape>{text}<escape>"


def _write_required(names: object) -> str:
    required_names = names if isinstance(names, Sequence) else ()
    return f"required:[{','.join(map(_escape, required_names))}]"


def _write_properties(properties: Mapping[str, object]) -> str:
    property_texts = []
    for name in sorted(properties.keys() - _NO_PARAMETERS):
        schema = as_mapping(properties[name])
        kind = str(schema.get("type", "")).upper()
        parts = [f"description:{_escape(schema.get('description', ''))}"]
        if kind == "STRING" and "enum" in schema:
            parts.append(f"enum:{write_value(schema['enum'])}")
        elif kind == "OBJECT":
            parts.append(f"properties:{{{_write_properties(as_mapping(schema.get('properties')))}}}")
            if required_names := schema.get("required"):
                parts.append(_write_required(required_names))
        elif kind == "ARRAY" and (items := as_mapping(schema.get("items"))):
            members = [
                _write_item_member(key, each) for key, each in sorted(items.items()) if each is not None
            ]
            parts.append(f"items:{{{','.join(members)}}}")
        parts.append(f"type:{_escape(kind)}")
        property_texts.append(f"{name}:{{{','.join(parts)}}}")
    return ",".join(property_texts)


def _write_item_member(key: str, value: object) -> str:
    if key == "properties" and isinstance(value, Mapping):
        return f"properties:{{{_write_properties(value)}}}"
    if key == "required":
        return _write_required(value)
    if key == "type":
        kinds = [str(each).upper() for each in value] if isinstance(value, list) else str(value).upper()
        return f"type:{write_value(kinds)}"
    return f"{key}:{write_value(value)}"
