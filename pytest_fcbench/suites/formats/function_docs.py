"""Function docs written in YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Protocol

from pydantic import WithJsonSchema

from pytest_fcbench.domain.conformance import TYPES
from pytest_fcbench.domain.errors import describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.suites.formats.fields import Field
from pytest_fcbench.suites.formats.rows import Given, OneOf, Row

OBJECT_TYPES = ("dict", "object")
"""Type words for the parameters of a function as a whole, in any language."""

_WORDS = sorted({word for words in TYPES.values() for word in words})


class ParameterRow(Row):
    """A value of a call: its type, in the words of the category's language, and its limits."""

    type: Annotated[str, WithJsonSchema({"enum": _WORDS})]
    description: Given[str] = None
    enum: Given[list[object]] = None
    default: object = None
    items: Given[ParameterRow] = None
    properties: Given[dict[str, ParameterRow]] = None
    required: Given[list[str]] = None


class DescribedRow(ParameterRow):
    """A parameter of a function."""

    description: str


class ParametersRow(Row):
    """The parameters of a function."""

    type: Annotated[str, OneOf("type", OBJECT_TYPES)]
    properties: dict[str, DescribedRow]
    """Parameters by name."""
    required: list[str]
    """Parameters that every call has to give."""


class FunctionRow(Row):
    """The doc of a function."""

    name: str
    description: str
    parameters: ParametersRow
    response: object = None


class _Object(Protocol):
    @property
    def properties(self) -> Mapping[str, ParameterRow] | None: ...

    @property
    def required(self) -> Sequence[str] | None: ...


def read_function_docs(
    rows: Iterable[FunctionRow], at: Field, types: Mapping[str, type]
) -> Mapping[str, FunctionDoc]:
    """Return the docs by name; ``types`` has the valid type words. Raises ``SuiteError``."""
    docs: dict[str, FunctionDoc] = {}
    for row, place in zip(rows, at.elements(), strict=True):
        if row.name in docs:
            raise place.error(f"the function {row.name!r} is defined twice")
        docs[row.name] = _make_doc(row, place, types)
    return docs


def choose_docs(
    listed: Sequence[str | FunctionRow],
    at: Field,
    docs: Mapping[str, FunctionDoc],
    types: Mapping[str, type] | None = None,
) -> Mapping[str, FunctionDoc]:
    """Return the docs that a list names; with ``types`` the list may also contain docs.

    Raises ``SuiteError``.
    """
    found: dict[str, FunctionDoc] = {}
    for row, place in zip(listed, at.elements(), strict=True):
        if isinstance(row, FunctionRow):
            doc = _make_doc(row, place, types or {})
        elif row in docs:
            doc = docs[row]
        else:
            raise place.error(describe_unknown_name("function", row, docs))
        found[doc.name] = doc
    return found


def _make_doc(row: FunctionRow, at: Field, types: Mapping[str, type]) -> FunctionDoc:
    check_object(row.parameters, at.at("parameters"), types)
    # Taken from the file, not from the row: models are shown the keys in the order that they were written in.
    parameters = {key: field.value for key, field in at.at("parameters").members().items()}
    extra = {"response": row.response} if "response" in row.model_fields_set else {}
    return FunctionDoc(row.name, row.description, parameters, extra)


def check_object(row: _Object, at: Field, types: Mapping[str, type]) -> None:
    """Check the properties of an object, and that the required ones are among them."""
    properties = row.properties or {}
    for name, each in properties.items():
        _check_parameter(each, at.at("properties", name), types)
    for place, name in enumerate(row.required or ()):
        if name not in properties:
            raise at.at("required", place).error(describe_unknown_name("parameter", name, properties))


def _check_parameter(row: ParameterRow, at: Field, types: Mapping[str, type]) -> None:
    if row.type not in types:
        raise at.at("type").error(describe_unknown_name("type", row.type, types))
    if row.items:
        _check_parameter(row.items, at.at("items"), types)
    elif types[row.type] is list:
        raise at.error(f"a parameter of type {row.type} needs 'items' with the type of its elements")
    check_object(row, at, types)
