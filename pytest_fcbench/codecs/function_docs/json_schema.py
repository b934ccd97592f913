"""JSON Schema in the words of function docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import Schema

_WORDS: Mapping[str, str] = {
    "string": "string",
    "integer": "integer",
    "number": "float",
    "boolean": "boolean",
    "array": "array",
    "object": "dict",
}
Told: TypeAlias = dict[str, object]
"""A schema in the making."""

_LIMITS: Mapping[str, str] = {
    "format": "format",
    "pattern": "pattern",
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "minItems": "elements at least",
    "maxItems": "elements at most",
}
"""Keywords that function docs have no place for: said in the description."""

_MOST_PARTS = 100
"""References, alternatives and parts that are followed for one schema."""


def in_words(schema: object, root: Mapping[str, object], within: frozenset[str] = frozenset()) -> Told:
    """A schema as function docs write it; ``root`` is the document that ``$ref`` points into.

    Of several alternatives the first that is not null counts; the parts of ``allOf`` are put together. What
    refers to one of the references it stands ``within`` is left open. Raises ``UsageError`` for a reference
    that leads nowhere.
    """
    told, within = _resolved(schema, root, within)
    kind = _kind(told)
    made: Told = {"type": _WORDS[kind] if kind else "any"}
    if words := _description(told):
        made["description"] = words
    if options := _options(told):
        made["enum"] = options
    if told.get("default") is not None:
        made["default"] = told["default"]
    if kind == "array":
        made["items"] = in_words(_element(told), root, within)
    if kind == "object" and isinstance(told.get("properties"), Mapping):
        made |= _members(told, root, within)
    return made


def parameter(schema: object, root: Mapping[str, object], words: str = "") -> Told:
    """The schema of a parameter, which always has a description: ``words``, or else its own."""
    made = in_words(schema, root)
    return made | {"description": words or made.get("description", "")}


def parameters(schema: object, root: Mapping[str, object]) -> Schema:
    """The schema of an object as the parameters of a function doc. Raises ``UsageError``."""
    made = in_words({"properties": {}, **_mapping(schema), "type": "object"}, root)
    return {"type": "dict", "properties": described(made), "required": made.get("required", [])}


def described(made: Told) -> Mapping[str, Schema]:
    """The properties of an object in words, each with a description."""
    properties = _mapping(made.get("properties"))
    return {name: {"description": "", **_mapping(member)} for name, member in properties.items()}


def _members(told: Mapping[str, object], root: Mapping[str, object], within: frozenset[str]) -> Told:
    properties, needed = _mapping(told.get("properties")), told.get("required")
    return {
        "properties": {str(name): in_words(value, root, within) for name, value in properties.items()},
        "required": [name for name in properties if isinstance(needed, list) and name in needed],
    }


def _resolved(
    schema: object, root: Mapping[str, object], within: frozenset[str]
) -> tuple[Mapping[str, object], frozenset[str]]:
    told = dict(_mapping(schema))
    for _ in range(_MOST_PARTS):
        if isinstance(reference := told.pop("$ref", None), str):
            target = pointed(reference, root)
            told = (dict(target) if reference not in within else {"type": target.get("type")}) | told
            within |= {reference}
        elif isinstance(parts := told.get("allOf"), list) and parts:
            told["allOf"] = parts[1:]
            part, within = _resolved(parts[0], root, within)
            told = _together(told, part)
        elif chosen := _alternative(told):
            told = dict(chosen) | {key: value for key, value in told.items() if key not in ("anyOf", "oneOf")}
        else:
            break
    return told, within


def _alternative(told: Mapping[str, object]) -> Mapping[str, object] | None:
    parts = told.get("anyOf", told.get("oneOf"))
    if not isinstance(parts, list):
        return None
    kept = [part for part in parts if isinstance(part, Mapping) and part.get("type") != "null"]
    # Of a number that may be whole or not, the wider type.
    return next((part for part in kept if part.get("type") == "number"), kept[0] if kept else None)


def _together(told: Mapping[str, object], part: Mapping[str, object]) -> dict[str, object]:
    both = {**part, **told}
    for key in ("properties", "required"):
        one, other = part.get(key), told.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            both[key] = {**one, **other}
        elif isinstance(one, list) and isinstance(other, list):
            both[key] = [*one, *other]
    return both


def pointed(reference: str, root: Mapping[str, object]) -> Mapping[str, object]:
    """What a reference within the document points to. Raises ``UsageError``."""
    found: object = root
    for key in reference.removeprefix("#").split("/")[1:]:
        name = key.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    if not reference.startswith("#/") or not isinstance(found, Mapping):
        raise UsageError(f"the reference {reference!r} points to nothing in this file; put it into one file")
    return found


def _kind(told: Mapping[str, object]) -> str | None:
    kind = told.get("type")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kind = next((word for word in kind if word != "null"), None)
    if kind is None:
        implied = [key for key in ("properties", "items") if key in told]
        values = _options(told)
        if implied:
            kind = {"properties": "object", "items": "array"}[implied[0]]
        elif values and all(isinstance(value, str) for value in values):
            kind = "string"
    return kind if isinstance(kind, str) and kind in _WORDS else None


def _options(told: Mapping[str, object]) -> list[object]:
    options = [told["const"]] if "const" in told else told.get("enum")
    return [value for value in options if value is not None] if isinstance(options, list) else []


def _element(told: Mapping[str, object]) -> object:
    items, first = told.get("items"), told.get("prefixItems")
    return first[0] if not items and isinstance(first, list) and first else items


def _description(told: Mapping[str, object]) -> str:
    words = " ".join(str(told.get("description") or "").split())
    limits = [f"{said} {told[key]}" for key, said in _LIMITS.items() if key in told]
    return f"{words} ({', '.join(limits)})".lstrip() if limits else words


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
