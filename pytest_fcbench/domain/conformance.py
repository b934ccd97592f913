"""Type words of function docs, and the check that a value has the type its schema declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema

TYPES: Mapping[Language, Mapping[str, type]] = {
    Language.PYTHON: {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        # JSON has no tuples, so both words mean a list.
        "tuple": list,
        "dict": dict,
        "any": str,
        # Words of JSON Schema, which the official table does not have:
        "number": float,
        "object": dict,
        "list": list,
        "bool": bool,
    },
    Language.JAVA: {
        "byte": int,
        "short": int,
        "integer": int,
        "float": float,
        "double": float,
        "long": int,
        "boolean": bool,
        "char": str,
        "Array": list,
        "ArrayList": list,
        "HashMap": dict,
        "String": str,
        "any": str,
    },
    Language.JAVASCRIPT: {
        "String": str,
        "integer": int,
        "float": float,
        "Bigint": int,
        "Boolean": bool,
        "dict": dict,
        "array": list,
        "any": str,
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
        if not fits(value, doc.properties[parameter]):
            kind = doc.properties[parameter].get("type")
            return f"The parameter {parameter} of {name} must be of type {kind}, not {name_json_type(value)}."
    return None


def name_json_type(value: object) -> str:
    """Return the name of a value's type in JSON."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    kinds = {str: "string", int: "number", float: "number", list: "array", tuple: "array"}
    return kinds.get(type(value), "object")
