"""Function docs from files: an OpenAPI description, or tools as they are sent to OpenAI's interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.function_docs.json_schema import described, parameter, parameters, pointed
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


def read(value: object, where: str) -> Iterator[FunctionDoc]:
    """The functions in the content of a file, whichever of both kinds it is. Raises ``UsageError``."""
    if isinstance(value, Mapping) and isinstance(value.get("paths"), Mapping):
        return operations(value)
    listed = value.get("tools") if isinstance(value, Mapping) else value
    if isinstance(listed, list):
        return tools(listed, where)
    raise UsageError(f"{where} has neither the 'paths' of an OpenAPI description nor a list of tools")


def tools(listed: list[object], where: str) -> Iterator[FunctionDoc]:
    """Tools of OpenAI's chat or responses interface, or bare functions. Raises ``UsageError``."""
    for number, tool in enumerate(listed, 1):
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
            raise UsageError(f"{where}: element {number} is no tool with a name")
        schema = inner.get("parameters", inner.get("input_schema", {}))
        yield FunctionDoc(
            inner["name"], _words(inner.get("description")), parameters(schema, _mapping(schema))
        )


def operations(document: Mapping[str, object]) -> Iterator[FunctionDoc]:
    """The operations of an OpenAPI description (3.x, and Swagger 2 as far as it is alike).

    Parameters of path, query and header and the members of a JSON body become the parameters of one
    function; where a name stands in both, that of the body ends in ``_body``. Cookies and what a client
    sends by itself (``Authorization``, ``Accept``, ``Content-Type``) are left out.
    """
    for path, item in _mapping(document.get("paths")).items():
        shared = _listed(_mapping(item).get("parameters"))
        for method in _METHODS:
            operation = _mapping(item).get(method)
            if isinstance(operation, Mapping):
                yield _operation(operation, str(path), method, shared, document)


def _operation(
    operation: Mapping[str, object],
    path: str,
    method: str,
    shared: list[object],
    document: Mapping[str, object],
) -> FunctionDoc:
    properties: dict[str, object] = {}
    required: list[str] = []
    for given in (*shared, *_listed(operation.get("parameters"))):
        told = _mapping(given)
        told = pointed(str(told["$ref"]), document) if "$ref" in told else told
        name, place = str(told.get("name")), told.get("in")
        if place == "body":  # Swagger 2
            _add_body(told.get("schema"), document, properties, required)
        elif place in ("path", "query", "header") and name.lower() not in _BY_CLIENT:
            properties[name] = parameter(told.get("schema", told), document, _words(told.get("description")))
            required += [name] * (told.get("required") is True and name not in required)
    _add_body(_body(operation, document), document, properties, required)
    words = " ".join(filter(None, (_words(operation.get("summary")), _words(operation.get("description")))))
    name = str(operation.get("operationId") or f"{method}_{path}")
    whole = {"type": "dict", "properties": properties, "required": required}
    return FunctionDoc(re.sub(r"[^\w.]+", "_", name).strip("_"), words or f"{method.upper()} {path}", whole)


_BY_CLIENT = frozenset({"authorization", "accept", "content-type"})


def _body(operation: Mapping[str, object], document: Mapping[str, object]) -> object:
    body = _mapping(operation.get("requestBody"))
    body = pointed(str(body["$ref"]), document) if "$ref" in body else body
    content = _mapping(body.get("content"))
    kind = next((kind for kind in content if "json" in str(kind)), next(iter(content), None))
    return _mapping(content.get(kind)).get("schema") if kind is not None else None


def _add_body(
    schema: object, document: Mapping[str, object], properties: dict[str, object], required: list[str]
) -> None:
    if schema is None:
        return
    whole = parameter(schema, document)
    if whole["type"] != "dict" or "properties" not in whole:
        properties["body"] = whole
        required.append("body")
        return
    needed = _listed(whole["required"])
    for name, member in described(whole).items():
        called = f"{name}_body" if name in properties else name
        properties[called] = member
        required += [called] * (name in needed)


def _words(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
