"""The notation of FunctionGemma for function declarations and results.

Official: ``functiongemma.py``, which follows the model's public template: keys in order, types in capitals,
texts between ``<escape>`` marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.json_objects import as_mapping

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
    try:
        value = from_json(text)
    except Undecodable:
        value = None
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
