"""Convert JSON Schema to the form of function docs, and check values against it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc, GivenSchema, Schema
from pytest_fcbench.domain.text import shorten_text

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_WORDS: Mapping[str, str] = {
    "string": "string",
    "integer": "integer",
    "number": "float",
    "boolean": "boolean",
    "array": "array",
    "object": "dict",
}
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
"""Keywords without a counterpart in function docs; the description states them."""

NO_PARAMETERS: Schema = {"type": "object", "properties": {}}
"""The JSON Schema of a function that takes nothing."""

_MOST_PARTS = 100
"""References, alternatives and parts that are followed for one schema."""


def convert_schema(
    schema: object, root: Mapping[str, object], within: frozenset[str] = frozenset()
) -> dict[str, object]:
    """Convert a schema to the form of function docs; ``$ref`` refers to the document ``root``.

    Of several alternatives the first that is not null counts; the parts of ``allOf`` are joined. A reference
    to one of the schemas ``within`` which it occurs keeps its type only. Raises ``UsageError`` for a
    reference without a target.
    """
    resolved, within = resolve_schema(schema, root, within)
    kind = _infer_type(resolved)
    converted: dict[str, object] = {"type": _WORDS[kind] if kind else "any"}
    words = " ".join(str(resolved.get("description") or "").split())
    stated = _update_keywords({key: resolved[key] for key in _LIMITS if key in resolved})
    limits = [f"{phrase} {stated[key]}" for key, phrase in _LIMITS.items() if key in stated]
    if words or limits:
        converted["description"] = f"{words} ({', '.join(limits)})".lstrip() if limits else words
    if options := _list_options(resolved):
        converted["enum"] = options
    if resolved.get("default") is not None:
        converted["default"] = resolved["default"]
    if kind == "array":
        items, first = resolved.get("items"), resolved.get("prefixItems")
        element = first[0] if not items and isinstance(first, list) and first else items
        converted["items"] = convert_schema(element, root, within)
    if kind == "object" and isinstance(properties := resolved.get("properties"), Mapping):
        required = resolved.get("required")
        converted["properties"] = {
            str(name): convert_schema(value, root, within) for name, value in properties.items()
        }
        converted["required"] = [
            name for name in properties if isinstance(required, list) and name in required
        ]
    return converted


def convert_parameter(schema: object, root: Mapping[str, object], words: str = "") -> dict[str, object]:
    """Convert the schema of a parameter, whose description is ``words``, or else its own."""
    converted = convert_schema(schema, root)
    return converted | {"description": words or converted.get("description", "")}


def convert_parameters(schema: object, root: Mapping[str, object]) -> Schema:
    """Convert the schema of an object to the parameters of a function doc. Raises ``UsageError``."""
    converted = convert_schema({"properties": {}, **as_mapping(schema), "type": "object"}, root)
    members = as_mapping(converted.get("properties"))
    properties = {name: {"description": "", **as_mapping(member)} for name, member in members.items()}
    return {"type": "dict", "properties": properties, "required": converted.get("required", [])}


def describe_function(name: str, description: str, schema: Mapping[str, object]) -> FunctionDoc:
    """Make the doc of a function whose parameters a JSON Schema describes, which a model is sent unchanged.

    A parameter that may have several types becomes one of any type. Raises ``UsageError`` for a schema that
    is not valid.
    """
    check_schema(schema)
    converted = convert_parameters(schema, schema)
    whole, _ = resolve_schema(schema, schema)
    raw = as_mapping(whole.get("properties"))
    properties = {
        parameter: {**each, "type": "any"} if _has_several_types(raw.get(parameter), schema) else each
        for parameter, each in as_mapping(converted["properties"]).items()
        if isinstance(each, Mapping)
    }
    return FunctionDoc(name, description, {**converted, "properties": properties}, given=GivenSchema(schema))


def list_untyped(doc: FunctionDoc) -> tuple[str, ...]:
    """List the parameters of a given JSON Schema that may have several types, or have none."""
    if doc.given is None:
        return ()
    return tuple(name for name, schema in doc.properties.items() if schema.get("type") == "any")


def describe_schema_violation(doc: FunctionDoc, parameter: str, value: object) -> str | None:
    """Describe how a value violates the given JSON Schema of a parameter; None where it does not."""
    import referencing.exceptions

    schema = as_mapping(doc.given.get("properties")).get(parameter) if doc.given else None
    if doc.given is None or schema is None:
        return None
    validator = _make_validator(doc.given).evolve(schema=_update_keywords(schema))
    try:
        error = next(validator.iter_errors(cast("Any", value)), None)
    except (referencing.exceptions.Unresolvable, RecursionError) as failure:
        return f"the schema cannot be applied: {failure}"
    return None if error is None else shorten_text(error.message, 200)


def check_schema(schema: Mapping[str, object]) -> None:
    """Check that a schema is valid and that its references can be followed. Raises ``UsageError``."""
    try:
        text = json.dumps(schema, default=repr)
    except (ValueError, RecursionError):
        raise UsageError("a reference in this schema leads back to itself; give it a type") from None
    if error := _find_schema_error(text):
        raise UsageError(error)


@lru_cache(maxsize=4096)
def _find_schema_error(text: str) -> str | None:
    """Find the first error of a schema, given as JSON text; logs repeat the same schemas in every line."""
    import jsonschema
    import referencing.exceptions

    schema = json.loads(text)
    try:
        validator = _make_validator(schema)
        validator.check_schema(_update_keywords(schema))
        # A call without arguments follows the references at the top, which could have no end.
        list(validator.iter_errors({}))
    except jsonschema.SchemaError as error:
        place = ".".join(map(str, error.absolute_path))
        return f"not a valid JSON Schema: {place and place + ': '}{shorten_text(error.message, 200)}"
    except referencing.exceptions.Unresolvable as error:
        return f"the reference {error.ref!r} is not defined in this schema; bundle all definitions into it"
    except RecursionError:
        return "a reference in this schema leads back to itself; give it a type"
    return None


def _make_validator(schema: Mapping[str, object]) -> Validator:
    import jsonschema
    import referencing

    # Without a registry of our own, the library would ask the network for a reference.
    registry: referencing.Registry[bool | Mapping[str, Any]] = referencing.Registry()
    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    return kind(_update_keywords(schema), registry=registry)


def _update_keywords(schema: Any) -> Any:
    """Write the keywords of OpenAPI 3.0 that JSON Schema has in another form as JSON Schema does."""
    if isinstance(schema, list):
        return [_update_keywords(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    written = {key: _update_keywords(value) for key, value in schema.items()}
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(written.get(exclusive), bool) and written.pop(exclusive) and limit in written:
            written[exclusive] = written.pop(limit)
    if written.get("nullable") is not True:
        return written
    return {"anyOf": [{"type": "null"}, {key: each for key, each in written.items() if key != "nullable"}]}


def _has_several_types(schema: object, root: Mapping[str, object]) -> bool:
    """Tell whether a schema leaves open which of several types a value or its elements have, null aside."""
    given = as_mapping(schema)
    for _ in range(_MOST_PARTS):
        if isinstance(reference := given.get("$ref"), str):
            given = resolve_reference(reference, root)
        elif isinstance(items := given.get("items"), Mapping):
            given = items
        else:
            break
    kinds = given.get("type")
    parts = _list_alternatives(given)
    if not parts:
        return isinstance(kinds, list) and len({*kinds} - {"null"}) > 1
    found = {_infer_type(resolve_schema(part, root)[0]) for part in parts}
    # Two objects are of one type, but what one of them allows the other may not.
    return len(found) > 1 or ("object" in found and len(parts) > 1)


def resolve_schema(
    schema: object, root: Mapping[str, object], within: frozenset[str] = frozenset()
) -> tuple[Mapping[str, object], frozenset[str]]:
    """Follow the references of a schema and join its parts; also return the references that were followed."""
    resolved = dict(as_mapping(schema))
    for _ in range(_MOST_PARTS):
        if isinstance(reference := resolved.pop("$ref", None), str):
            target = resolve_reference(reference, root)
            # A schema that contains itself has no end, so inside of itself only its type is kept.
            resolved = (dict(target) if reference not in within else {"type": target.get("type")}) | resolved
            within |= {reference}
        elif isinstance(parts := resolved.get("allOf"), list) and parts:
            resolved["allOf"] = parts[1:]
            part, within = resolve_schema(parts[0], root, within)
            both = {**part, **resolved}
            for key in ("properties", "required"):
                one, other = part.get(key), resolved.get(key)
                if isinstance(one, Mapping) and isinstance(other, Mapping):
                    both[key] = {**one, **other}
                elif isinstance(one, list) and isinstance(other, list):
                    both[key] = [*one, *other]
            resolved = both
        elif choices := _list_alternatives(resolved):
            # Of a number that may be whole or not, the wider type.
            chosen = next((choice for choice in choices if choice.get("type") == "number"), choices[0])
            rest = {key: value for key, value in resolved.items() if key not in ("anyOf", "oneOf")}
            resolved = dict(chosen) | rest
        else:
            break
    return resolved, within


def _list_alternatives(schema: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    """List the alternatives of a schema other than null."""
    parts = schema.get("anyOf", schema.get("oneOf"))
    listed = parts if isinstance(parts, list) else []
    return [part for part in listed if isinstance(part, Mapping) and part.get("type") != "null"]


def resolve_reference(reference: str, root: Mapping[str, object]) -> Mapping[str, object]:
    """Return the object that a reference within the document points to. Raises ``UsageError``."""
    found: object = root
    for key in reference.removeprefix("#").split("/")[1:]:
        # JSON Pointer (RFC 6901) writes / as ~1 and ~ as ~0; ~1 is read first, so that ~01 stays ~1.
        name = key.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    if not reference.startswith("#/") or not isinstance(found, Mapping):
        raise UsageError(
            f"the reference {reference!r} is not defined in this file; bundle all definitions into it"
        )
    return found


def bundle_references(schema: Mapping[str, object], document: Mapping[str, object]) -> Mapping[str, object]:
    """Return a schema with what it refers to under ``$defs``. Raises ``UsageError``."""
    names: dict[str, str] = {}
    definitions: dict[str, object] = {}

    def copy_value(value: object) -> object:
        if isinstance(value, list):
            return [copy_value(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        copied = {key: copy_value(each) for key, each in value.items()}
        if isinstance(reference := value.get("$ref"), str):
            if reference not in names:
                name = reference.rpartition("/")[2]
                while name in definitions:
                    name += "_"
                # Named before it is copied, because it may contain itself.
                names[reference], definitions[name] = name, {}
                definitions[name] = copy_value(resolve_reference(reference, document))
            copied["$ref"] = f"#/$defs/{names[reference]}"
        return copied

    bundled = as_mapping(copy_value(schema))
    return {**bundled, "$defs": definitions} if definitions else bundled


def _infer_type(schema: Mapping[str, object]) -> str | None:
    kind = schema.get("type")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kind = next((word for word in kind if word != "null"), None)
    if kind is None:
        # Many schemas leave the type out where another keyword implies it.
        options = _list_options(schema)
        if "properties" in schema:
            kind = "object"
        elif "items" in schema:
            kind = "array"
        elif options and all(isinstance(option, str) for option in options):
            kind = "string"
    return kind if isinstance(kind, str) and kind in _WORDS else None


def _list_options(schema: Mapping[str, object]) -> list[object]:
    options = [schema["const"]] if "const" in schema else schema.get("enum")
    return [value for value in options if value is not None] if isinstance(options, list) else []
