"""Function docs in the files of a team: in the form of the official suites, or as tools of an interface.

The forms that are read, told apart by their keys:

- ``{name, description, parameters}``: the official form, with ``parameters`` in the words of function docs;
- ``{type: function, function: {...}}``: a tool of OpenAI's chat interface;
- ``{type: function, name, parameters}``: one of its responses interface;
- ``{name, input_schema}``: one of Anthropic's interface;
- ``{name, inputSchema}``: one of an MCP server;
- ``{title, properties}``: a JSON Schema by itself.

All but the first have a JSON Schema, which a model is sent unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Discriminator, Tag, ValidationError, WithJsonSchema

from pytest_fcbench.codecs.function_docs.json_schema import NO_PARAMETERS, describe_function
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.formats.fields import Field, read_each
from pytest_fcbench.formats.rows import Given, OneOf, Row

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


class ToolRow(Row):
    """A tool of OpenAI's responses interface, of Anthropic's, or of an MCP server."""

    model_config = ConfigDict(extra="allow")

    name: str
    description: Given[str] = None
    parameters: Given[dict[str, object]] = None
    input_schema: Given[dict[str, object]] = None
    inputSchema: Given[dict[str, object]] = None  # noqa: N815 - the key of MCP


class ChatToolRow(Row):
    """A tool of OpenAI's chat interface."""

    type: Annotated[str, OneOf("type", ("function",))]
    function: ToolRow


class SchemaRow(Row):
    """The JSON Schema of the parameters of a function, whose name is its title."""

    model_config = ConfigDict(extra="allow")

    title: str
    description: Given[str] = None


class OfferedByRow(Row):
    """The MCP server that function docs were read from, as ``fcbench suite functions`` writes it."""

    source: str
    name: Given[str] = None
    version: Given[str] = None
    tools: Given[str] = None
    """A hash of all its tools."""


def _find_form(value: object) -> str:
    """Return the tag of the form that a function doc is written in."""
    doc = as_mapping(value)
    if "function" in doc:
        return ":chat"
    if "title" in doc and doc.keys().isdisjoint(("name", "parameters")):
        return ":schema"
    if doc.keys() & {"input_schema", "inputSchema", "type"}:
        return ":tool"
    parameters = as_mapping(doc.get("parameters"))
    if not parameters or parameters.get("type") == "dict":
        return ":doc"
    try:
        FunctionRow.model_validate(value)
    except ValidationError:
        return ":tool"
    return ":doc"


AnyFunctionRow: TypeAlias = Annotated[
    Annotated[FunctionRow, Tag(":doc")]
    | Annotated[ToolRow, Tag(":tool")]
    | Annotated[ChatToolRow, Tag(":chat")]
    | Annotated[SchemaRow, Tag(":schema")],
    Discriminator(_find_form),
]
"""The doc of a function in any form."""


def read_function_docs(
    rows: Sequence[AnyFunctionRow] | None, at: Field, types: Mapping[str, type]
) -> Mapping[str, FunctionDoc]:
    """Return the docs by name; ``types`` has the valid type words. Raises ``SuiteError``."""
    docs: dict[str, FunctionDoc] = {}
    for row, place in zip(rows or (), at.elements() if rows else (), strict=True):
        doc = _make_doc(row, place, types)
        if doc.name in docs:
            raise place.error(f"the function {doc.name!r} is defined twice")
        docs[doc.name] = doc
    return docs


def choose_docs(
    rows: Sequence[str | AnyFunctionRow],
    at: Field,
    docs: Mapping[str, FunctionDoc],
    types: Mapping[str, type] | None = None,
) -> Mapping[str, FunctionDoc]:
    """Return the docs that a list names; with ``types`` the list may also contain docs.

    Raises ``SuiteError``.
    """

    def choose(row: str | AnyFunctionRow, place: Field) -> FunctionDoc:
        if not isinstance(row, str):
            return _make_doc(row, place, types or {})
        if row not in docs:
            raise place.error(describe_unknown_name("function", row, docs))
        return docs[row]

    return {doc.name: doc for doc in read_each(choose, rows, at.elements())}


def _make_doc(row: AnyFunctionRow, at: Field, types: Mapping[str, type]) -> FunctionDoc:
    if isinstance(row, FunctionRow):
        check_object(row.parameters, at.at("parameters"), types)
        # From the file, not from the row: models are shown the keys in the order that they were written in.
        parameters = {key: field.value for key, field in at.at("parameters").members().items()}
        extra = {"response": row.response} if "response" in row.model_fields_set else {}
        return FunctionDoc(row.name, row.description, parameters, extra)
    if "object" not in types:
        raise at.error(
            "a JSON Schema uses the types of JSON, but this category has types of its own; write this doc in "
            "the form of the other function docs"
        )
    if isinstance(row, ChatToolRow):
        row, at = row.function, at.at("function")
    if isinstance(row, SchemaRow):
        name, schema = row.title, as_mapping(at.value)
    else:
        name, schema = row.name, row.parameters or row.input_schema or row.inputSchema or NO_PARAMETERS
    try:
        return describe_function(name, row.description or "", schema)
    except UsageError as error:
        raise at.error(str(error)) from None


def check_object(row: ParameterRow | ParametersRow, at: Field, types: Mapping[str, type]) -> None:
    """Check the properties of an object, and that the required ones are among them."""
    properties: Mapping[str, ParameterRow] = row.properties or {}
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
