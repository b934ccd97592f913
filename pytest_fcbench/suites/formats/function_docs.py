"""Function docs written in YAML."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.domain.errors import unknown
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.suites.formats.fields import Field

OBJECT_TYPES = ("dict", "object")
"""Words for all parameters of a function together, in any language."""

_SCHEMA_KEYS = ("type", "description", "enum", "default", "items", "properties", "required")


def read(field: Field, types: Mapping[str, type]) -> Mapping[str, FunctionDoc]:
    """The docs of a list, by name; ``types`` has the valid type words. Raises ``SuiteError``."""
    docs: dict[str, FunctionDoc] = {}
    for element in field.elements():
        doc = _doc(element, types)
        if doc.name in docs:
            raise element.error(f"the function {doc.name!r} is described twice")
        docs[doc.name] = doc
    return docs


def chosen(
    listed: Field, docs: Mapping[str, FunctionDoc], types: Mapping[str, type] | None = None
) -> Mapping[str, FunctionDoc]:
    """Those docs that a list names; with ``types`` it may also hold docs itself. Raises ``SuiteError``."""
    found: dict[str, FunctionDoc] = {}
    for element in listed.elements():
        if types is not None and isinstance(element.value, Mapping):
            doc = _doc(element, types)
        elif element.text() in docs:
            doc = docs[element.text()]
        else:
            raise element.error(unknown("function", element.text(), docs))
        found[doc.name] = doc
    return found


def _doc(element: Field, types: Mapping[str, type]) -> FunctionDoc:
    members = element.members(("name", "description", "parameters"), ("response",))
    parameters = members["parameters"].members(("type", "properties", "required"))
    for schema in parameters["properties"].members().values():
        schema.members(("type", "description"), _SCHEMA_KEYS)
    kind = parameters["type"].text()
    if kind not in OBJECT_TYPES:
        raise parameters["type"].error(unknown("type", kind, OBJECT_TYPES))
    check_object(parameters, types)
    raw = {key: member.value for key, member in parameters.items()}
    extra = {"response": members["response"].value} if "response" in members else {}
    return FunctionDoc(members["name"].text(), members["description"].text(), raw, extra)


def check_object(members: Mapping[str, Field], types: Mapping[str, type]) -> None:
    """The properties of an object, and that the required ones are among them."""
    properties = members["properties"].members() if "properties" in members else {}
    for schema in properties.values():
        _check_schema(schema, types)
    for required in members["required"].elements() if "required" in members else ():
        if required.text() not in properties:
            raise required.error(unknown("parameter", required.text(), properties))


def _check_schema(field: Field, types: Mapping[str, type]) -> None:
    members = field.members(("type",), _SCHEMA_KEYS)
    kind = members["type"].text()
    if kind not in types:
        raise members["type"].error(unknown("type", kind, types))
    if "description" in members:
        members["description"].text()
    if "enum" in members:
        list(members["enum"].elements())
    if "items" in members:
        _check_schema(members["items"], types)
    elif types[kind] is list:
        raise field.error(f"a parameter of type {kind} needs 'items' with the type of its elements")
    check_object(members, types)
