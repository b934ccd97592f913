"""Descriptions of functions, as entries offer them to a model, and the check that a call agrees with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Schema: TypeAlias = Mapping[str, object]
"""A JSON-Schema-like description of a parameter, in the type words of the entry's language."""


class GivenSchema(dict[str, object]):
    """A JSON Schema that a model is sent as its source wrote it."""


class OpenNames(tuple[str, ...]):
    """Names of the untyped parameters of a function that takes others too: every name without a type."""

    _typed: frozenset[str]

    def __new__(cls, names: Iterable[str], typed: Iterable[str]) -> OpenNames:
        instance = super().__new__(cls, names)
        instance._typed = frozenset(typed)
        return instance

    def __contains__(self, name: object) -> bool:
        return name not in self._typed


class _OpenProperties(dict[str, Schema]):
    """Schemas of the parameters of a function that takes others too, each of any type."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Schema:
        return {"type": "any", "description": ""}


class Language(StrEnum):
    """The language whose call syntax and literals a category asks for."""

    PYTHON = "python"
    JAVA = "java"
    JAVASCRIPT = "javascript"


@dataclass(frozen=True, slots=True)
class FunctionDoc:
    """A function as it is described to a model.

    ``parameters`` is the object schema: ``{"type": "dict", "properties": {...}, "required": [...]}``.
    """

    name: str
    description: str
    parameters: Schema
    extra: Mapping[str, object] = field(default_factory=dict)
    """Keys beside the three above that the source has (``response`` for example), kept for the model."""
    given: GivenSchema | None = None
    """The JSON Schema that ``parameters`` was converted from, or None where the source has no JSON Schema."""

    @property
    def shown_schema(self) -> Schema:
        """The schema that a model is sent: as its source wrote it, or else ``parameters``."""
        return self.parameters if self.given is None else self.given

    @property
    def properties(self) -> Mapping[str, Schema]:
        """Schema of each parameter, in the order of the doc."""
        properties = self.parameters.get("properties")
        schemas = properties if isinstance(properties, Mapping) else {}
        return _OpenProperties(schemas) if self.is_open else schemas

    @property
    def is_open(self) -> bool:
        """Whether its given schema allows parameters that it does not name."""
        return self.given is not None and "additionalProperties" in self.parameters

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the parameters that every call must give."""
        required = self.parameters.get("required")
        return tuple(required) if isinstance(required, (list, tuple)) else ()


TYPES: Mapping[Language, Mapping[str, type]] = {
    Language.PYTHON: {
        **dict.fromkeys(("string", "any"), str),
        "integer": int,
        # Words of JSON Schema, which the official table does not have: number, bool, list and object.
        **dict.fromkeys(("float", "number"), float),
        **dict.fromkeys(("boolean", "bool"), bool),
        # JSON has no tuples, so all these words mean a list.
        **dict.fromkeys(("array", "tuple", "list"), list),
        **dict.fromkeys(("dict", "object"), dict),
    },
    Language.JAVA: {
        **dict.fromkeys(("String", "char", "any"), str),
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        "boolean": bool,
        **dict.fromkeys(("Array", "ArrayList"), list),
        "HashMap": dict,
    },
    Language.JAVASCRIPT: {
        **dict.fromkeys(("String", "any"), str),
        **dict.fromkeys(("integer", "Bigint"), int),
        "float": float,
        "Boolean": bool,
        "array": list,
        "dict": dict,
    },
}
"""The Python type of each type word (BFCL's ``PYTHON_TYPE_MAPPING``, ``JAVA_TYPE_CONVERSION``
and ``JS_TYPE_CONVERSION``)."""

_ACCEPTED: Mapping[type, tuple[type, ...]] = {float: (int, float), list: (list, tuple), dict: (Mapping,)}
"""The types of values that count as a type of ``TYPES``, where they are not this type alone."""

WITH_ELEMENTS: Mapping[Language, tuple[str, ...]] = {
    Language.PYTHON: ("array", "tuple", "list"),
    Language.JAVA: ("Array", "ArrayList"),
    Language.JAVASCRIPT: ("array",),
}
"""Type words of collections whose elements have a declared type too."""


def find_element_type(language: Language, schema: Schema) -> str | None:
    """Return the declared type of a collection's elements, in the words of the language."""
    items = schema.get("items")
    if schema.get("type") not in WITH_ELEMENTS[language] or not isinstance(items, Mapping):
        return None
    element = items.get("type")
    return element if isinstance(element, str) else None


def conforms_to_schema(value: object, schema: Schema, language: Language = Language.PYTHON) -> bool:
    """Tell whether a value has the type that its schema declares and is in its enum, at every depth.

    A whole number is a float, and ``5.0`` an integer; a boolean is neither. ``any`` takes every value in
    Python and source text in the other languages; no type or an unknown one takes every value.
    """
    type_name = schema.get("type")
    expected_type = TYPES[language].get(type_name) if isinstance(type_name, str) else None
    if expected_type is None or (type_name == "any" and language is Language.PYTHON):
        return True
    # To Python a bool is an int, to a schema it is not.
    if isinstance(value, bool) != (expected_type is bool):
        return False
    is_whole = expected_type is int and isinstance(value, float) and value.is_integer()
    if not is_whole and not isinstance(value, _ACCEPTED.get(expected_type, expected_type)):
        return False
    options = schema.get("enum")
    if isinstance(options, list) and expected_type is not list and value not in options:
        return False
    items, properties = schema.get("items"), schema.get("properties")
    if isinstance(value, (list, tuple)) and isinstance(items, Mapping):
        return all(conforms_to_schema(item, items, language) for item in value)
    if isinstance(value, Mapping) and isinstance(properties, Mapping):
        return all(
            conforms_to_schema(value[key], properties[key], language) for key in value if key in properties
        )
    return True


def has_type(value: object, schema: Schema) -> bool:
    """Tell whether a value has the outermost type of its schema, whatever it contains."""
    return conforms_to_schema(value, {"type": schema.get("type")})


def describe_misfit(
    name: str,
    arguments: Mapping[str, object],
    docs: Mapping[str, FunctionDoc],
    fits: Callable[[object, Schema], bool] = has_type,
) -> str | None:
    """Describe the first way in which a call violates its function doc, or return None."""
    doc = docs.get(name)
    if doc is None:
        return f"There is no function {name}; the functions are {', '.join(docs)}."
    if missing := [required_name for required_name in doc.required if required_name not in arguments]:
        return f"{name} needs {', '.join(missing)}, which the call does not give."
    if surplus := [parameter for parameter in arguments if parameter not in doc.properties]:
        return f"{name} has no parameter {', '.join(surplus)}."
    for parameter, value in arguments.items():
        if not fits(value, schema := doc.properties[parameter]):
            rule = f"must be of type {schema.get('type')}, not {name_json_type(value)}"
            # What else a schema can rule out is a value that is not in an enum, or one inside of this one.
            rule = "has a value that its schema does not allow" if has_type(value, schema) else rule
            return f"The parameter {parameter} of {name} {rule}."
    return None


def name_json_type(value: object) -> str:
    """Return the name of a value's type in JSON."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    kinds = {str: "string", int: "number", float: "number", list: "array", tuple: "array"}
    return kinds.get(type(value), "object")
