"""Write JSON Schemas of every draft and of OpenAPI 3.0 as draft 2020-12, with patterns that Python knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_fcbench.codecs.json_objects import as_mapping

_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords whose value has a schema by name, so that the names in it are no keywords."""
_LITERAL = ("const", "enum", "default")
_REMARKS = ("$schema", "$comment", "$recursiveAnchor", "title", "description", "examples")


def update_keywords(schema: Any) -> Any:
    """Write a schema of any draft, or of OpenAPI 3.0, with the keywords of draft 2020-12.

    A pattern of ECMA 262 that Python has no form for is left out, and remarks that have a wrong type.
    """
    if isinstance(schema, list):
        return [update_keywords(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    written: dict[str, Any] = {}
    for key, value in schema.items():
        # Some programs write null for each keyword that they leave out.
        if key in _REMARKS or (value is None and key not in _LITERAL):
            written |= {key: value} if key == "description" and isinstance(value, str) else {}
        elif key == "$recursiveRef":
            written["$ref"] = value
        elif key in _NAMED_SCHEMAS and isinstance(value, Mapping):
            written[key] = {name: update_keywords(each) for name, each in value.items()}
        else:
            written[key] = value if key in _LITERAL else update_keywords(value)
    _update_limits(written)
    _update_members(written, schema)
    _update_ids(written)
    if written.pop("nullable", None) is not True:
        return written
    # In place where that can be, because references can lead into it.
    if isinstance(written.get("type"), str) and "const" not in written:
        enum = {"enum": [*written["enum"], None]} if isinstance(written.get("enum"), list) else {}
        return written | {"type": [written["type"], "null"]} | enum
    return {"anyOf": [{"type": "null"}, written]}


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


def _update_ids(written: dict[str, Any]) -> None:
    """Write the addresses and anchors of drafts 4 to 7 in the present form."""
    for key in ("id", "$id"):
        # Up to draft 7 a fragment in it was an anchor.
        if isinstance(anchor := written.get(key), str) and anchor.startswith("#"):
            del written[key]
            written |= {"$anchor": anchor[1:]} if re.fullmatch(r"#[A-Za-z_][-\w.]*", anchor) else {}
        elif isinstance(anchor, str) and "://" in anchor:
            written["$id"] = anchor


def _update_members(written: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Write what drafts 3 to 7 said about the members of an object in the present form."""
    needed = written.get("required")
    if isinstance(needed, bool):
        del written["required"]
    inside = as_mapping(schema.get("properties")).items()
    if marked := [name for name, each in inside if as_mapping(each).get("required") is True]:
        written["required"] = [*(needed if isinstance(needed, list) else ()), *marked]
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
