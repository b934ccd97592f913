"""Write JSON Schemas of every draft and of OpenAPI 3.0 as draft 2020-12, with patterns that Python knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote, urljoin

from pytest_fcbench.codecs.json_objects import as_mapping

_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value has a schema by name, so that the names in it are no keywords."""
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
    """Write a schema of any draft, or of OpenAPI 3.0, with the keywords of draft 2020-12.

    A pattern of ECMA 262 that Python has no form for is left out, and remarks that have a wrong type.
    References to an address or an anchor in the schema become pointers from its top.
    """
    written = _update_keywords(schema)
    _point_references(written)
    return written


def _update_keywords(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_update_keywords(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    written: dict[str, Any] = {}
    for key, value in schema.items():
        # Some programs write null for each keyword that they leave out.
        if key in _REMARKS or (value is None and key not in _LITERAL):
            written |= {key: value} if key == "description" and isinstance(value, str) else {}
        elif key == "$recursiveRef":
            written["$ref"] = value
        elif key in _NAMED_SCHEMAS and (isinstance(value, Mapping) or value == []):
            # PHP writes an empty object as a list.
            written[key] = {name: _update_keywords(each) for name, each in as_mapping(value).items()}
        else:
            written[key] = value if key in _LITERAL else _update_keywords(value)
    _update_types(written)
    _update_limits(written)
    _update_members(written, schema)
    for key in ("id", "$id"):
        # Up to draft 7 a fragment in it was an anchor.
        if isinstance(anchor := written.get(key), str):
            del written[key]
            written["$anchor" if anchor.startswith("#") else "$id"] = anchor.removeprefix("#")
    if written.pop("nullable", None) is not True:
        return written
    # In place where that can be, because references can lead into it.
    if isinstance(written.get("type"), str) and "const" not in written:
        enum = {"enum": [*written["enum"], None]} if isinstance(written.get("enum"), list) else {}
        return written | {"type": [written["type"], "null"]} | enum
    return {"anyOf": [{"type": "null"}, written]}


def _update_types(written: dict[str, Any]) -> None:
    """Write the types of draft 3, of OpenAPI and of other programs in the present form."""
    given = written.get("type")
    kinds = [
        _TYPES.get(kind.lower(), kind.lower() if kind.isupper() else kind) if isinstance(kind, str) else kind
        for kind in (given if isinstance(given, list) else [given])
    ]
    if "any" in kinds:
        del written["type"]
    elif any(isinstance(kind, Mapping) for kind in kinds):
        del written["type"]
        alternatives = [kind if isinstance(kind, Mapping) else {"type": kind} for kind in kinds]
        written["allOf"] = [*written.get("allOf", ()), {"anyOf": alternatives}]
    elif "type" in written:
        written["type"] = kinds if isinstance(given, list) else kinds[0]
    # The discriminator says which alternative counts, though a value may have the form of another too.
    if "discriminator" in written and isinstance(written.get("oneOf"), list):
        written["anyOf"] = [*written.pop("oneOf"), *written.get("anyOf", ())]


def _update_limits(written: dict[str, Any]) -> None:
    """Write what earlier drafts said about numbers, elements and texts in the present form."""
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(written.get(exclusive), bool) and written.pop(exclusive) and limit in written:
            written[exclusive] = written.pop(limit)
    if isinstance(items := written.get("items"), list):
        # Up to draft 2019-09 a list of schemas was for the first elements.
        del written["items"]
        rest = written.pop("additionalItems", True)
        written |= {"prefixItems": items, "items": rest} if items else {"items": rest}
    if isinstance(pattern := written.get("pattern"), str):
        del written["pattern"]
        written |= {"pattern": translated} if (translated := _translate_pattern(pattern)) else {}


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


def _update_members(written: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Write what drafts 3 to 7 said about the members of an object in the present form."""
    needed = written.get("required")
    if isinstance(needed, bool):
        del written["required"]
    inside = as_mapping(schema.get("properties")).items()
    marked = [name for name, each in inside if as_mapping(each).get("required") is True]
    if marked or isinstance(needed, list):
        listed = [*(needed if isinstance(needed, list) else ()), *marked]
        # The same name twice is harmless, but not valid.
        written["required"] = [each for place, each in enumerate(listed) if each not in listed[:place]]
    for name, then in as_mapping(written.pop("dependencies", None)).items():
        key = "dependentRequired" if isinstance(then, list) else "dependentSchemas"
        written[key] = {**as_mapping(written.get(key)), name: then}
    if isinstance(patterns := written.get("patternProperties"), Mapping):
        translated = {_translate_pattern(pattern): each for pattern, each in patterns.items()}
        # Names that Python cannot tell apart may be any.
        if None in translated:
            del translated[None]
            written.pop("additionalProperties", None)
        written["patternProperties"] = translated


def _translate_pattern(pattern: str) -> str | None:
    """Write a regular expression of ECMA 262 as Python does; None where Python has no form for it."""
    # Groups are named alike but for one letter.
    translated = re.sub(r"\(\?<(?![=!])", "(?P<", re.sub(r"\\k<(\w+)>", r"(?P=\1)", pattern))
    # Python warns of a bracket that begins a set, because it may read it otherwise one day.
    translated = re.sub(r"(?<!\\)\[(\^?)\[", r"[\1\\[", translated)
    try:
        re.compile(translated)
    except (re.error, RecursionError, OverflowError, Warning):
        return None
    return translated


def list_unapplied_patterns(schema: object) -> Iterator[str]:
    """Yield the patterns of a schema that Python has no form for, so that no value is held to them."""
    if isinstance(schema, list):
        for each in schema:
            yield from list_unapplied_patterns(each)
    elif isinstance(schema, Mapping):
        for key, value in schema.items():
            patterns = as_mapping(value) if key == "patternProperties" else (value,) * (key == "pattern")
            yield from (each for each in patterns if isinstance(each, str) and not _translate_pattern(each))
            yield from list_unapplied_patterns(value)
