"""Showing functions to a model: tool schemas, or a system prompt with the docs in it.

The transformations are BFCL's (``convert_to_tool`` for the OpenAI chat interface, the language hints of
``_func_doc_language_specific_pre_processing``); the sentences come from the suite's ``Wording``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

from pytest_fcbench.answers import AskModel, Mode, Names, as_wire
from pytest_fcbench.codecs.wording import Notes, Wording
from pytest_fcbench.entries import Entry, FunctionDoc, Language, Schema

WireDoc: TypeAlias = dict[str, object]

_JSON_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("string", "any", "Any", "String", "char"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
}


def ask(entry: Entry, wording: Wording, mode: Mode, names: Names) -> AskModel:
    """The first request of an entry."""
    docs = [described(doc, wording, entry.category.language, names) for doc in entry.functions]
    messages = [as_wire(message) for message in entry.turns[0]]
    if mode is Mode.FC:
        return AskModel(tuple(messages), tuple(tool(doc, wording) for doc in docs))
    prompt = wording.system_prompt.replace("{functions}", json.dumps(docs, indent=4))
    if messages and messages[0]["role"] == "system":
        prompt = f"{prompt}\n\n{messages.pop(0)['content']}"
    return AskModel(({"role": "system", "content": prompt}, *messages))


def described(doc: FunctionDoc, wording: Wording, language: Language, names: Names) -> WireDoc:
    """A doc as it is shown: its name shown, language hints added to its descriptions."""
    notes = wording.notes[language]
    parameters = dict(doc.parameters)
    if notes.any_type is not None:
        parameters["properties"] = {
            name: _as_source_text(schema, notes) for name, schema in doc.properties.items()
        }
    description = doc.description + notes.hint
    return {"name": names.shown(doc.name), "description": description, "parameters": parameters, **doc.extra}


def _as_source_text(schema: Schema, notes: Notes) -> Schema:
    """A parameter that is asked for as source text: its real type moves into the description."""
    shown = dict(schema)
    kind = shown.get("type")
    note = (notes.any_type or "") if kind == "any" else notes.typed.format(kind)
    items = shown.get("items")
    if kind in ("Array", "ArrayList", "array") and isinstance(items, Mapping):
        note += notes.elements.format(items.get("type"))
        del shown["items"]
    if kind == "dict" and notes.members is not None and "properties" in shown:
        note += notes.members.format(json.dumps(shown.pop("properties")))
    return {**shown, "description": f"{shown.get('description', '')}{note}", "type": "string"}


def tool(doc: WireDoc, wording: Wording) -> Mapping[str, object]:
    """A tool of the OpenAI chat interface for a doc. A dotted name is shown as it stands."""
    parameters = _mapping(doc["parameters"])
    schema = {**parameters, "type": "object", "properties": _cast(parameters.get("properties"), wording)}
    return {"type": "function", "function": {**doc, "parameters": schema}}


def _cast(properties: object, wording: Wording) -> dict[str, object]:
    """Properties with their types in JSON Schema's words.

    As deep as the official converter goes: members of objects at any depth, elements of a list and
    elements of those; what lies deeper, and ``items`` beside ``properties``, stays as it is.
    """
    return {name: _cast_property(_mapping(schema), wording) for name, schema in _mapping(properties).items()}


def _cast_property(schema: Mapping[str, object], wording: Wording) -> dict[str, object]:
    shown = dict(schema)
    if shown.get("type") == "float":
        shown["format"] = "float"
        shown["description"] = f"{shown.get('description', '')}{wording.float_note}"
    shown["type"] = _json_type(shown.get("type"))
    if shown["type"] not in ("array", "object"):
        return shown
    if "properties" in shown:
        shown["properties"] = _cast(shown["properties"], wording)
    elif "items" in shown:
        items = dict(_mapping(shown["items"]))
        items["type"] = _json_type(items.get("type"))
        if items["type"] == "array" and "items" in items:
            inner = _mapping(items["items"])
            items["items"] = {**inner, "type": _json_type(inner.get("type"))}
        elif items["type"] == "object" and "properties" in items:
            items["properties"] = _cast(items["properties"], wording)
        shown["items"] = items
    return shown


def _json_type(declared: object) -> str:
    return _JSON_TYPES.get(declared, "string") if isinstance(declared, str) else "string"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
