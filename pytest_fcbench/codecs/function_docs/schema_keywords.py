"""Write JSON Schemas of drafts 4 to 2020-12 and of OpenAPI 3.0 as draft 2020-12, with patterns of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote, urljoin

from pytest_fcbench.domain.text import as_mapping

_DEFINITIONS = ("$defs", "definitions")
_NAMED_SCHEMAS = (
    *_DEFINITIONS,
    "properties",
    "patternProperties",
    "dependencies",
    "dependentSchemas",
    "dependentRequired",
)
"""Keywords whose value has a schema or a list by name, so that the names in it are no keywords."""
_TYPES = {
    "float": "number",
    "double": "number",
    "int": "integer",
    "str": "string",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}
"""Words for types that programs write in place of those of JSON Schema."""
_LITERAL = ("const", "enum", "default")
_REMARKS = ("$schema", "$comment", "$recursiveAnchor", "title", "description", "examples")


def update_keywords(schema: Any) -> Any:
    """Write a schema of draft 4 or later, or of OpenAPI 3.0, with the keywords of draft 2020-12.

    A pattern of ECMA 262 that Python has no form for is left out, and remarks that have a wrong type.
    References to an address or an anchor in the schema become pointers from its top.
    """
    new_schema = _update_keywords(schema)
    _point_references(new_schema)
    return new_schema


def _update_keywords(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_update_keywords(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    new_schema: dict[str, Any] = {}
    for key, value in schema.items():
        # Some programs write null for each keyword that they leave out.
        if key in _REMARKS or (value is None and key not in _LITERAL):
            new_schema |= {key: value} if key == "description" and isinstance(value, str) else {}
        elif key == "$recursiveRef":
            new_schema["$ref"] = value
        elif key in _NAMED_SCHEMAS and (isinstance(value, Mapping) or value == []):
            # PHP writes an empty object as a list.
            new_schema[key] = {name: _update_keywords(each) for name, each in as_mapping(value).items()}
        else:
            new_schema[key] = value if key in _LITERAL else _update_keywords(value)
    _update_types(new_schema)
    _update_limits(new_schema)
    _update_members(new_schema, schema)
    for key in ("id", "$id"):
        # Up to draft 7 a fragment in it was an anchor.
        if isinstance(anchor := new_schema.get(key), str):
            del new_schema[key]
            new_schema["$anchor" if anchor.startswith("#") else "$id"] = anchor.removeprefix("#")
    if new_schema.pop("nullable", None) is not True:
        return new_schema
    # In place where that can be, because references can lead into it.
    if isinstance(new_schema.get("type"), str) and "const" not in new_schema:
        enum = {"enum": [*new_schema["enum"], None]} if isinstance(new_schema.get("enum"), list) else {}
        return new_schema | {"type": [new_schema["type"], "null"]} | enum
    definitions = {key: new_schema.pop(key) for key in _DEFINITIONS if key in new_schema}
    return {**definitions, "anyOf": [{"type": "null"}, new_schema]}


def _update_types(new_schema: dict[str, Any]) -> None:
    """Write the types of draft 3, of OpenAPI and of other programs in the present form."""
    type_value = new_schema.get("type")
    kinds = [
        _TYPES.get(kind.lower(), kind.lower()) if isinstance(kind, str) else kind
        for kind in (type_value if isinstance(type_value, list) else [type_value])
    ]
    if "any" in kinds:
        del new_schema["type"]
    elif any(isinstance(kind, Mapping) for kind in kinds):
        del new_schema["type"]
        alternatives = [kind if isinstance(kind, Mapping) else {"type": kind} for kind in kinds]
        new_schema["allOf"] = [*new_schema.get("allOf", ()), {"anyOf": alternatives}]
    elif "type" in new_schema:
        new_schema["type"] = kinds if isinstance(type_value, list) else kinds[0]
    # The discriminator says which alternative counts, though a value may have the form of another too.
    if "discriminator" in new_schema and isinstance(new_schema.get("oneOf"), list):
        new_schema["anyOf"] = [*new_schema.pop("oneOf"), *new_schema.get("anyOf", ())]


def _update_limits(new_schema: dict[str, Any]) -> None:
    """Write what earlier drafts said about numbers, elements and texts in the present form."""
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(new_schema.get(exclusive), bool) and new_schema.pop(exclusive) and limit in new_schema:
            new_schema[exclusive] = new_schema.pop(limit)
    if isinstance(items := new_schema.get("items"), list):
        # Up to draft 2019-09 a list of schemas was for the first elements.
        del new_schema["items"]
        rest = new_schema.pop("additionalItems", True)
        new_schema |= {"prefixItems": items, "items": rest} if items else {"items": rest}
    if isinstance(pattern := new_schema.get("pattern"), str):
        del new_schema["pattern"]
        new_schema |= {"pattern": python_pattern} if (python_pattern := _translate_pattern(pattern)) else {}


def _point_references(schema: Any) -> None:
    """Write references to addresses and anchors in a schema as pointers from its top."""
    parts = [*_iterate_parts(schema, "#", "")]
    places: dict[str, str] = {}
    for part, pointer, address in parts:
        if isinstance(part.pop("$id", None), str):
            places.setdefault(address, pointer)
        for key in ("$anchor", "$dynamicAnchor"):
            if key in part:
                places.setdefault(f"{address}#{part.pop(key)}", pointer)
    if not places:
        return
    places.setdefault(parts[0][2], "#")
    for part, _, address in parts:
        reference = part.pop("$dynamicRef", part.get("$ref"))
        if isinstance(reference, str):
            pointers = _list_pointers(reference, address, places)
            part["$ref"] = next(
                (each for each in pointers if find_place(schema, each) is not None), reference
            )


def _list_pointers(reference: str, address: str, places: Mapping[str, str]) -> Iterator[str]:
    """Yield the pointers that a reference may stand for, where references start at an address."""
    whole = _join_address(address, reference)
    base, _, fragment = whole.partition("#")
    if whole in places:
        yield places[whole]
    if fragment[:1] in ("", "/") and base in places:
        yield places[base] + fragment
    # Many programs give each part an address, and still count pointers from the top.
    if reference.startswith("#/"):
        yield reference


def _iterate_parts(schema: Any, pointer: str, address: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield a schema and those in it, each with a pointer to it and the address that references start at."""
    if isinstance(schema, list):
        for number, each in enumerate(schema):
            yield from _iterate_parts(each, f"{pointer}/{number}", address)
    if not isinstance(schema, dict):
        return
    if isinstance(own := schema.get("$id"), str):
        address = _join_address(address, own).rstrip("#")
    yield schema, pointer, address
    for key, value in [*schema.items()]:
        inside = f"{pointer}/{_escape_key(key)}"
        if key in _NAMED_SCHEMAS and isinstance(value, dict):
            for name, each in value.items():
                yield from _iterate_parts(each, f"{inside}/{_escape_key(name)}", address)
        elif key not in _LITERAL:
            yield from _iterate_parts(value, inside, address)


def _join_address(address: str, reference: str) -> str:
    # Not every scheme of an address knows how to be joined with a fragment.
    with suppress(ValueError):
        return urljoin(address, reference) if reference[:1] != "#" else address + reference
    return reference


def _escape_key(key: object) -> str:
    return quote(str(key).replace("~", "~0").replace("/", "~1"))


def find_place(document: object, pointer: str) -> object:
    """Return the value that a JSON Pointer (RFC 6901) leads to; None where it leads nowhere."""
    for key in unquote(pointer.removeprefix("#")).split("/")[1:]:
        # It writes / as ~1 and ~ as ~0; ~1 is read first, so that ~01 stays ~1.
        name = key.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            document = document[int(name)] if name.isdecimal() and int(name) < len(document) else None
        else:
            document = document.get(name) if isinstance(document, Mapping) else None
    return document


def _update_members(new_schema: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Write what drafts 3 to 7 said about the members of an object in the present form."""
    required_value = new_schema.get("required")
    if isinstance(required_value, bool):
        del new_schema["required"]
    inside = as_mapping(schema.get("properties")).items()
    marked_names = [name for name, each in inside if as_mapping(each).get("required") is True]
    if marked_names or isinstance(required_value, list):
        required_names = [*(required_value if isinstance(required_value, list) else ()), *marked_names]
        # The same name twice is harmless, but not valid.
        new_schema["required"] = [
            each for place, each in enumerate(required_names) if each not in required_names[:place]
        ]
    for name, then in as_mapping(new_schema.pop("dependencies", None)).items():
        key = "dependentRequired" if isinstance(then, list) else "dependentSchemas"
        new_schema[key] = {**as_mapping(new_schema.get(key)), name: then}
    if isinstance(patterns := new_schema.get("patternProperties"), Mapping):
        python_patterns = {_translate_pattern(pattern): each for pattern, each in patterns.items()}
        # Names that Python cannot tell apart may be any.
        if None in python_patterns:
            del python_patterns[None]
            new_schema.pop("additionalProperties", None)
        new_schema["patternProperties"] = python_patterns


def _translate_pattern(pattern: str) -> str | None:
    """Write a regular expression of ECMA 262 as Python does; None where Python has no form for it."""
    # Groups are named alike but for one letter.
    python_pattern = re.sub(r"\(\?<(?![=!])", "(?P<", re.sub(r"\\k<(\w+)>", r"(?P=\1)", pattern))
    # Python warns of a bracket that begins a set, because it may read it otherwise one day.
    python_pattern = re.sub(r"(?<!\\)\[(\^?)\[", r"[\1\\[", python_pattern)
    try:
        re.compile(python_pattern)
    except (re.error, RecursionError, OverflowError, Warning):
        return None
    return python_pattern


def list_unapplied_patterns(schema: object) -> Iterator[str]:
    """Yield the patterns of a schema that Python has no form for, so that no value is held to them."""
    for part, _, _ in _iterate_parts(schema, "", ""):
        for each in (part.get("pattern"), *as_mapping(part.get("patternProperties"))):
            if isinstance(each, str) and _translate_pattern(each) is None:
                yield each
