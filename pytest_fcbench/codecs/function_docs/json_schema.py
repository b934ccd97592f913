"""Convert JSON Schema to the form of function docs, and check values against it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from pytest_fcbench.codecs.function_docs.schema_keywords import find_place, update_keywords
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc, GivenSchema, OpenNames, Schema
from pytest_fcbench.domain.registry import IdentityCache
from pytest_fcbench.domain.text import as_list, as_mapping, read_json_text, shorten_text

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_WORDS: Mapping[str, str] = {
    **{word: word for word in ("string", "integer", "boolean", "array")},
    "number": "float",
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
# A few references that each occur twice in the next expand to more than any memory holds.
_MOST_CONVERSIONS = 5_000
"""Schemas inside of one that are converted; a value of any further one is of any type."""
_DEEPEST = 50
"""References inside each other that are converted."""
_MOST_REFERENCES = 20_000
"""References that are followed to check one value."""


def convert_schema(
    schema: object,
    root: Mapping[str, object],
    within: frozenset[str] = frozenset(),
    budget: Iterator[int] | None = None,
) -> dict[str, object]:
    """Convert a schema to the form of function docs; ``$ref`` refers to the document ``root``.

    Of several alternatives the first that is not null counts; the parts of ``allOf`` are joined. A reference
    to one of the schemas ``within`` which it occurs keeps its type only; what is beyond the number ``budget``
    is of any type. Raises ``UsageError`` for a reference without a target.
    """
    budget = iter(range(_MOST_CONVERSIONS)) if budget is None else budget
    if next(budget, None) is None or len(within) > _DEEPEST:
        return {"type": "any"}
    resolved_schema, within = resolve_schema(schema, root, within)
    kind = _infer_type(resolved_schema)
    converted_schema: dict[str, object] = {"type": _WORDS[kind] if kind else "any"}
    words = " ".join(str(resolved_schema.get("description") or "").split())
    limit_values = update_keywords({key: resolved_schema[key] for key in _LIMITS if key in resolved_schema})
    limits = [f"{phrase} {limit_values[key]}" for key, phrase in _LIMITS.items() if key in limit_values]
    if words or limits:
        converted_schema["description"] = f"{words} ({', '.join(limits)})".lstrip() if limits else words
    if options := _list_options(resolved_schema):
        converted_schema["enum"] = options
    if resolved_schema.get("default") is not None:
        converted_schema["default"] = resolved_schema["default"]
    if kind == "array":
        items, first = resolved_schema.get("items"), resolved_schema.get("prefixItems")
        element = first[0] if not items and isinstance(first, list) and first else items
        converted_schema["items"] = convert_schema(element, root, within, budget)
    if kind == "object" and isinstance(properties := resolved_schema.get("properties"), Mapping):
        required_names = resolved_schema.get("required")
        converted_schema["properties"] = {
            str(name): convert_schema(value, root, within, budget) for name, value in properties.items()
        }
        converted_schema["required"] = [
            name for name in properties if isinstance(required_names, list) and name in required_names
        ]
    return converted_schema


def convert_parameter(schema: object, root: Mapping[str, object], words: str = "") -> dict[str, object]:
    """Convert the schema of a parameter, whose description is ``words``, or else its own."""
    converted_schema = convert_schema(schema, root)
    return converted_schema | {"description": words or converted_schema.get("description", "")}


def convert_parameters(schema: object, root: Mapping[str, object]) -> Schema:
    """Convert the schema of an object to the parameters of a function doc. Raises ``UsageError``."""
    converted_schema = convert_schema({"properties": {}, **as_mapping(schema), "type": "object"}, root)
    members = as_mapping(converted_schema.get("properties"))
    properties = {name: {"description": "", **as_mapping(member)} for name, member in members.items()}
    return {"type": "dict", "properties": properties, "required": converted_schema.get("required", [])}


def describe_function(name: str, description: str, schema: Mapping[str, object]) -> FunctionDoc:
    """Make the doc of a function whose parameters a JSON Schema describes, which a model is sent unchanged.

    Its parameters are those of every part and alternative at the top. One that may have several types becomes
    one of any type. Raises ``UsageError`` for a schema that is not valid.
    """
    check_schema(schema)
    root = as_mapping(update_keywords(schema))
    members = _gather_members(root, root, {})
    parameters: dict[str, object] = {
        "type": "dict",
        "properties": {
            parameter: _convert_variants(variants, root) for parameter, variants in members.variants.items()
        },
        "required": [parameter for parameter in members.variants if parameter in members.required],
    }
    # An empty schema is how many say that there are no parameters.
    if members.is_open or not (members.is_closed or members.variants or not root):
        parameters["additionalProperties"] = True
    return FunctionDoc(name, description, parameters, given=GivenSchema(schema))


@dataclass(frozen=True, slots=True)
class _Members:
    """The members of an object: the schemas of each, those that must be there, and whether others may be."""

    variants: Mapping[str, Sequence[object]]
    required: frozenset[str] = frozenset()
    is_open: bool = False
    is_closed: bool = False

    def join(self, other: _Members, *, required: frozenset[str]) -> _Members:
        """Return the members of both."""
        variants = {name: [*each] for name, each in self.variants.items()}
        for name, schemas in other.variants.items():
            own_schemas = variants.setdefault(name, [])
            own_schemas += (schema for schema in schemas if schema not in own_schemas)
        return _Members(variants, required, self.is_open or other.is_open, self.is_closed or other.is_closed)


def _gather_members(
    schema: object, root: Mapping[str, object], known_members: dict[str, _Members]
) -> _Members:
    """Gather the members of an object over its parts; ``known_members`` has those of references."""
    object_schema = as_mapping(schema)
    others = object_schema.get("additionalProperties", object_schema.get("unevaluatedProperties"))
    members = _Members(
        {str(name): [each] for name, each in as_mapping(object_schema.get("properties")).items()},
        frozenset(map(str, as_list(object_schema.get("required")))),
        is_open=others not in (None, False) or "patternProperties" in object_schema,
        is_closed=others is False or "properties" in object_schema,
    )
    for key in ("$ref", "$dynamicRef"):
        if isinstance(reference := object_schema.get(key), str):
            if reference not in known_members:
                # Entered before its members are gathered, because it may contain itself.
                known_members[reference] = _Members({})
                target = resolve_reference(reference, root)
                known_members[reference] = _gather_members(target, root, known_members)
            members = members.join(
                known_members[reference], required=members.required | known_members[reference].required
            )
    conditions = [object_schema[key] for key in ("then", "else") if key in object_schema]
    conditions += as_mapping(object_schema.get("dependentSchemas")).values()
    # All parts count, and what every alternative needs; under a condition nothing is needed for sure.
    combinations = (
        (object_schema.get("allOf"), frozenset[str].union),
        (object_schema.get("anyOf"), frozenset[str].intersection),
        (object_schema.get("oneOf"), frozenset[str].intersection),
        (conditions, lambda *_: frozenset[str]()),
    )
    for entries, combine in combinations:
        parts = [_gather_members(part, root, known_members) for part in as_list(entries)]
        required_names = combine(*(part.required for part in parts)) if parts else frozenset[str]()
        for part in parts:
            members = members.join(part, required=members.required | required_names)
    return members


def _convert_variants(variants: Sequence[object], root: Mapping[str, object]) -> Mapping[str, object]:
    """Convert a parameter that may have one of several schemas."""
    converted_variants = [convert_parameter(each, root) for each in variants]
    if converted_variants.count(converted_variants[0]) < len(converted_variants):
        words = next((each["description"] for each in converted_variants if each["description"]), "")
        return {"description": words, "type": "any"}
    is_open = any(_has_several_types(each, root) for each in variants)
    return {**converted_variants[0], "type": "any"} if is_open else converted_variants[0]


def list_untyped(doc: FunctionDoc) -> tuple[str, ...]:
    """List the parameters of a given JSON Schema that may have several types, or have none."""
    if doc.given is None:
        return ()
    names = tuple(name for name, schema in doc.properties.items() if schema.get("type") == "any")
    return OpenNames(names, typed=doc.properties.keys() - {*names}) if doc.is_open else names


def describe_schema_violation(doc: FunctionDoc, parameter: str, value: object) -> str | None:
    """Describe how a value violates the given JSON Schema of a parameter; None where it does not."""
    if doc.given is None:
        return None
    validator = _make_validator(doc.given)
    schema = as_mapping(as_mapping(validator.schema).get("properties")).get(parameter, True)
    return _describe_violation(validator.evolve(schema=schema), value)


def describe_call_violation(doc: FunctionDoc, arguments: Mapping[str, object]) -> str | None:
    """Describe how the arguments of a call violate the whole JSON Schema of a doc; None where they do not."""
    return None if doc.given is None else describe_violation(doc.given, arguments)


def describe_violation(schema: Mapping[str, object], value: object) -> str | None:
    """Describe how a value violates a JSON Schema; None where it does not."""
    return _describe_violation(_make_validator(schema), value)


def _describe_violation(validator: Validator, value: object) -> str | None:
    import jsonschema.exceptions
    import referencing.exceptions

    _REFERENCES_LEFT.set(iter(range(_MOST_REFERENCES)))
    try:
        error = jsonschema.exceptions.best_match(validator.iter_errors(cast("Any", value)))
    except (referencing.exceptions.Unresolvable, RecursionError) as failure:
        return f"the schema cannot be applied: {failure}"
    return None if error is None else shorten_text(error.message, 200)


_CYCLE = "a reference in this schema leads back to itself; give it a type"
# How deep exactly depends on how much of the stack is in use.
_TOO_DEEP = f"this schema is nested more than {_DEEPEST} deep; give its inner parts names under $defs"


def check_schema(schema: Mapping[str, object]) -> None:
    """Check that a schema is valid and that its references can be followed. Raises ``UsageError``."""
    try:
        text = json.dumps(schema, default=repr)
    except RecursionError:
        raise UsageError(_TOO_DEEP) from None
    except ValueError:
        raise UsageError(_CYCLE) from None
    if error := _find_schema_error(text):
        raise UsageError(error)


@lru_cache(maxsize=4096)
def _find_schema_error(text: str) -> str | None:
    """Find the first error of a schema, given as JSON text; logs repeat the same schemas in every line."""
    import jsonschema
    import referencing.exceptions

    _REFERENCES_LEFT.set(iter(range(_MOST_REFERENCES)))
    try:
        schema = update_keywords(read_json_text(text))
        validator_class = _get_validator_class()
        try:
            validator_class.check_schema(schema)
        except RecursionError:
            return _TOO_DEEP
        # A call without arguments follows the references at the top, which could have no end.
        list(_make_validator(schema).iter_errors({}))
    except jsonschema.SchemaError as error:
        place = ".".join(map(str, error.absolute_path))
        return f"not a valid JSON Schema: {place and place + ': '}{shorten_text(error.message, 200)}"
    except referencing.exceptions.Unresolvable as error:
        return f"the reference {error.ref!r} is not defined in this schema; bundle all definitions into it"
    except ValueError as error:
        return f"this schema is {error}; give its inner parts names under $defs"
    except RecursionError as error:
        return str(error) if isinstance(error, _TooManyReferences) else _CYCLE
    return None


class _TooManyReferences(RecursionError):  # noqa: N818 - reads as the state it names
    """References that occur twice in each other multiply, and are followed without an end in sight."""

    def __init__(self) -> None:
        super().__init__(
            f"more than {_MOST_REFERENCES:,} references of this schema would be followed for one value; "
            "write them so that they do not multiply"
        )


_REFERENCES_LEFT: ContextVar[Iterator[int]] = ContextVar("_REFERENCES_LEFT")
"""What is left of the references that may be followed to check a value."""


@cache
def _get_validator_class() -> type[Validator]:
    """Return the validator of draft 2020-12, bounded in the references that it follows.

    Its numbers are those of the text: 19.99 is a multiple of 0.01, though no quotient of floats is whole.
    """
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def follow(validator: Any, reference: str, instance: object, schema: object) -> Iterator[Any]:
        if next(_REFERENCES_LEFT.get(), None) is None:
            raise _TooManyReferences
        yield from Draft202012Validator.VALIDATORS["$ref"](validator, reference, instance, schema)

    def check_multiple(validator: Any, step: float, instance: float, schema: object) -> Iterator[Any]:
        if not validator.is_type(instance, "number"):
            return
        # The shortest text of a float is the number that somebody wrote; one without an end has no multiples.
        with suppress(ValueError):
            whole, part = (
                Fraction(each if isinstance(each, int) else repr(each)) for each in (instance, step)
            )
            if whole % part == 0:
                return
        yield ValidationError(f"{instance!r} is not a multiple of {step}")

    keywords = {"$ref": follow, "$dynamicRef": follow, "multipleOf": check_multiple}
    return cast("type[Validator]", extend(Draft202012Validator, keywords))  # type: ignore[no-untyped-call]


_VALIDATORS = IdentityCache[Mapping[str, object], "Validator"](1024)


def _make_validator(schema: Mapping[str, object]) -> Validator:
    def make(given: Mapping[str, object]) -> Validator:
        import referencing

        # Without a registry of our own, the library would ask the network for a reference.
        registry: referencing.Registry[bool | Mapping[str, Any]] = referencing.Registry()
        return _get_validator_class()(update_keywords(given), registry=registry)

    return _VALIDATORS.find_or_make(schema, make)


def _has_several_types(schema: object, root: Mapping[str, object]) -> bool:
    """Tell whether a schema leaves open which of several types a value or its elements have, null aside."""
    waiting, followed_references = [schema], set[str]()
    while waiting:
        part = as_mapping(waiting.pop())
        reference, kinds, alternatives = part.get("$ref"), part.get("type"), _list_alternatives(part)
        if isinstance(reference, str) and reference not in followed_references:
            followed_references.add(reference)
            waiting.append(resolve_reference(reference, root))
        types = {*kinds} if isinstance(kinds, list) else set()
        types |= {_infer_type(resolve_schema(each, root)[0]) for each in alternatives}
        # Two objects are of one type, but what one of them allows the other may not.
        if len(types - {"null"}) > 1 or ("object" in types and len(alternatives) > 1):
            return True
        inner_parts = [*alternatives, *as_list(part.get("allOf")), part.get("items")]
        waiting += filter(None, inner_parts)
    return False


def resolve_schema(
    schema: object, root: Mapping[str, object], within: frozenset[str] = frozenset()
) -> tuple[Mapping[str, object], frozenset[str]]:
    """Follow the references of a schema and join its parts; also return the references that were followed."""
    resolved_schema = dict(as_mapping(schema))
    for _ in range(_MOST_PARTS):
        if isinstance(reference := resolved_schema.pop("$ref", None), str):
            target = resolve_reference(reference, root)
            # A schema that contains itself has no end, so inside of itself only its type is kept.
            resolved_schema = (
                dict(target) if reference not in within else {"type": target.get("type")}
            ) | resolved_schema
            within |= {reference}
        elif isinstance(parts := resolved_schema.get("allOf"), list) and parts:
            resolved_schema["allOf"] = parts[1:]
            part, within = resolve_schema(parts[0], root, within)
            joined_schema = {**part, **resolved_schema}
            for key in ("properties", "required"):
                one, other = part.get(key), resolved_schema.get(key)
                if isinstance(one, Mapping) and isinstance(other, Mapping):
                    joined_schema[key] = {**one, **other}
                elif isinstance(one, list) and isinstance(other, list):
                    joined_schema[key] = [*one, *other]
            resolved_schema = joined_schema
        elif choices := _list_alternatives(resolved_schema):
            # Of a number that may be whole or not, the wider type.
            alternative = next((choice for choice in choices if choice.get("type") == "number"), choices[0])
            rest = {key: value for key, value in resolved_schema.items() if key not in ("anyOf", "oneOf")}
            resolved_schema = dict(alternative) | rest
            if len(choices) > 1:
                # Words that are each an alternative are those of one list; otherwise none of them is a limit.
                words = [_list_options(choice) for choice in choices]
                for key in ("const", "enum"):
                    resolved_schema.pop(key, None)
                resolved_schema |= {"enum": [*chain(*words)]} if all(words) else {}
        else:
            break
    return resolved_schema, within


def _list_alternatives(schema: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    """List the alternatives of a schema other than null."""
    parts = schema.get("anyOf", schema.get("oneOf"))
    return [part for part in as_list(parts) if isinstance(part, Mapping) and part.get("type") != "null"]


def resolve_reference(reference: str, root: Mapping[str, object]) -> Mapping[str, object]:
    """Return the object that a reference within the document points to. Raises ``UsageError``."""
    # ``update_keywords`` has turned all other references into pointers.
    target = find_place(root, reference) if re.match("#(/|$)", reference) else None
    if not isinstance(target, (Mapping, bool)):
        raise UsageError(
            f"the reference {reference!r} is not defined in this file; bundle all definitions into it"
        )
    return as_mapping(target)


def bundle_references(schema: Mapping[str, object], document: Mapping[str, object]) -> Mapping[str, object]:
    """Return a schema with what it refers to under ``$defs``. Raises ``UsageError``."""
    names: dict[str, str] = {}
    definitions: dict[str, object] = {}
    waiting: list[str] = []

    def copy_value(value: object) -> object:
        if isinstance(value, list):
            return [copy_value(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        value_copy = {key: copy_value(each) for key, each in value.items()}
        if isinstance(reference := value.get("$ref"), str):
            if reference not in names:
                # Without characters that a reference has to escape, such as the brackets of generic types.
                name = re.sub(r"[^\w.-]", "_", unquote(reference).rpartition("/")[2])
                while name in definitions:
                    name += "_"
                # Copied later, because it may contain itself, or a thousand others inside each other.
                names[reference], definitions[name] = name, {}
                waiting.append(reference)
            value_copy["$ref"] = f"#/$defs/{names[reference]}"
        return value_copy

    bundled_schema = as_mapping(copy_value(schema))
    while waiting:
        reference = waiting.pop()
        definitions[names[reference]] = copy_value(resolve_reference(reference, document))
    return {**bundled_schema, "$defs": definitions} if definitions else bundled_schema


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
