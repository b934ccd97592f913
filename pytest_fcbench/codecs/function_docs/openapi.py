"""Read function docs from files: an OpenAPI description, or the tools of an interface or an MCP server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.function_docs import json_schema
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.text import as_list, as_mapping

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


def read_functions(value: object, where: str) -> Iterator[FunctionDoc]:
    """Read the functions in the content of a file, whichever of both kinds it is. Raises ``UsageError``."""
    if isinstance(value, Mapping) and isinstance(value.get("paths"), Mapping):
        return read_operations(value)
    # An MCP server sends its list as the result of a request.
    inner = value.get("result", value) if isinstance(value, Mapping) else value
    # ``fcbench suite functions`` writes its list under another name.
    tools = inner.get("tools", inner.get("functions")) if isinstance(inner, Mapping) else inner
    if isinstance(tools, list):
        return read_tools(tools, where)
    raise UsageError(
        f"{where} has neither 'paths', as an OpenAPI description, nor a list of tools; give one of these"
    )


def read_tools(tools: list[object], where: str) -> Iterator[FunctionDoc]:
    """Read tools of OpenAI's, Anthropic's or MCP's interface, or bare functions. Raises ``UsageError``."""
    for number, tool in enumerate(tools, 1):
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
            raise UsageError(f"{where}: element {number}: must be a tool with a name")
        schemas = (inner[key] for key in _SCHEMA_KEYS if isinstance(inner.get(key), Mapping))
        schema = next(schemas, json_schema.NO_PARAMETERS)
        try:
            yield json_schema.describe_function(inner["name"], _join_words(inner.get("description")), schema)
        except UsageError as error:
            raise UsageError(f"{where}: element {number}: {error}") from None


def read_operations(document: Mapping[str, object]) -> Iterator[FunctionDoc]:
    """Read the operations of an OpenAPI description (3.x, and Swagger 2 as far as it is alike).

    Parameters of path, query and header and the members of a JSON body become the parameters of one
    function; a name in both gets ``_body`` appended in the body. Cookies and headers that a client sends
    by itself (``Authorization``, ``Accept``, ``Content-Type``) are left out. Schemas stay as they are, but
    what they refer to is under ``$defs``.
    """
    for path, item in as_mapping(document.get("paths")).items():
        path_parameters = as_list(as_mapping(item).get("parameters"))
        for method in _METHODS:
            operation = as_mapping(item).get(method)
            if isinstance(operation, Mapping):
                yield _read_operation(operation, str(path), method, path_parameters, document)


def _read_operation(
    operation: Mapping[str, object],
    path: str,
    method: str,
    path_parameters: list[object],
    document: Mapping[str, object],
) -> FunctionDoc:
    properties: dict[str, object] = {}
    required_names: list[str] = []
    # Parameters of the operation come last: by OpenAPI they override those of the path.
    raw_parameters = (*path_parameters, *as_list(operation.get("parameters")))
    parameters = [_follow_reference(each, document) for each in raw_parameters]
    parameters_by_place = {(str(each.get("name")), str(each.get("in"))): each for each in parameters}
    for (name, place), parameter in parameters_by_place.items():
        # Only Swagger 2 has a body among the parameters.
        if place == "body":
            _add_body(parameter.get("schema"), document, properties, required_names)
        elif place in ("path", "query") or (place == "header" and name.lower() not in _BY_CLIENT):
            own_schema = {key: value for key, value in parameter.items() if key not in _NOT_SCHEMA}
            words = _join_words(parameter.get("description"))
            properties[name] = {
                **as_mapping(parameter.get("schema", own_schema)),
                **({"description": words} if words else {}),
            }
            required_names += [name] * (parameter.get("required") is True and name not in required_names)
    content = as_mapping(_follow_reference(operation.get("requestBody"), document).get("content"))
    kind = next((kind for kind in content if "json" in str(kind)), next(iter(content), None))
    if kind is not None:
        _add_body(as_mapping(content.get(kind)).get("schema"), document, properties, required_names)
    words = " ".join(filter(None, (_join_words(operation.get(key)) for key in ("summary", "description"))))
    name = re.sub(r"[^\w.]+", "_", str(operation.get("operationId") or f"{method}_{path}")).strip("_")
    words = words or f"{method.upper()} {path}"
    schema = json_schema.bundle_references(
        {"type": "object", "properties": properties, "required": required_names}, document
    )
    try:
        return json_schema.describe_function(name, words, schema)
    except UsageError:
        # OpenAPI up to 3.0 has keywords with another meaning than in JSON Schema: such a schema is converted.
        return FunctionDoc(name, words, json_schema.convert_parameters(schema, schema))


_BY_CLIENT = frozenset({"authorization", "accept", "content-type"})
_NOT_SCHEMA = frozenset({"name", "in", "required", "allowEmptyValue", "collectionFormat"})
"""Keys of a parameter of Swagger 2 that are not of its schema, which it contains."""


def _follow_reference(value: object, document: Mapping[str, object]) -> Mapping[str, object]:
    members = as_mapping(value)
    return json_schema.resolve_reference(str(members["$ref"]), document) if "$ref" in members else members


def _add_body(
    schema: object, document: Mapping[str, object], properties: dict[str, object], required_names: list[str]
) -> None:
    if schema is None:
        return
    body, _ = json_schema.resolve_schema(schema, document)
    members = as_mapping(body.get("properties"))
    if body.get("type", "object") != "object" or not members:
        properties["body"] = schema
        required_names.append("body")
        return
    required_members = as_list(body.get("required"))
    for name, member in members.items():
        unique_name = f"{name}_body" if name in properties else str(name)
        properties[unique_name] = member
        required_names += [unique_name] * (name in required_members)


def _join_words(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
