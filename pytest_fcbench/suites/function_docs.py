"""Function docs written in YAML."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.entries import FunctionDoc
from pytest_fcbench.errors import unknown
from pytest_fcbench.suites.fields import Field

_SCHEMA_KEYS = ("type", "description", "enum", "default", "items", "properties", "required")


def read(field: Field, types: Mapping[str, type]) -> Mapping[str, FunctionDoc]:
    """The docs of a list, by name; ``types`` has the valid type words. Raises ``SuiteError``."""
    docs: dict[str, FunctionDoc] = {}
    for element in field.elements():
        members = element.members(("name", "description", "parameters"), ("response",))
        name = members["name"].text()
        if name in docs:
            raise element.error(f"the function {name!r} is described twice")
        parameters = members["parameters"].members(("type", "properties", "required"))
        for schema in parameters["properties"].members().values():
            schema.members(("type", "description"), _SCHEMA_KEYS)
        check_object(parameters, types)
        raw = {key: member.value for key, member in parameters.items()}
        extra = {"response": members["response"].value} if "response" in members else {}
        docs[name] = FunctionDoc(name, members["description"].text(), raw, extra)
    return docs


def chosen(names: Field, docs: Mapping[str, FunctionDoc]) -> Mapping[str, FunctionDoc]:
    """Those docs that a list names. Raises ``SuiteError``."""
    for name in names.elements():
        if name.text() not in docs:
            raise name.error(unknown("function", name.text(), docs))
    return {name.text(): docs[name.text()] for name in names.elements()}


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
    if "enum" in members:
        list(members["enum"].elements())
    if "items" in members:
        _check_schema(members["items"], types)
    elif types[kind] is list:
        raise field.error(f"a parameter of type {kind} needs 'items' with the type of its elements")
    check_object(members, types)
