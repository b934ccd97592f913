"""Function docs derived from code: signatures give the types, docstrings the words."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping
from textwrap import dedent
from typing import Literal, Union, get_args, get_origin, get_type_hints

from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments.environment import Environment, functions_of

_TYPES: Mapping[object, str] = {
    str: "string",
    int: "integer",
    float: "float",
    bool: "boolean",
    list: "array",
    dict: "dict",
}


def documented(domain: type[Environment]) -> tuple[FunctionDoc, ...]:
    """The docs of all functions of a domain. Raises ValueError where a class leaves something out."""
    about = _paragraph(inspect.getdoc(domain) or "")
    return tuple(
        _documented(getattr(domain, name), f"{domain.__name__}.{name}", name, about)
        for name in functions_of(domain)
    )


def of_function(function: Callable[..., object]) -> FunctionDoc:
    """The doc of a function by itself. Raises ValueError where it leaves something out."""
    return _documented(function, function.__name__, function.__name__)


def _documented(function: Callable[..., object], where: str, name: str, about: str = "") -> FunctionDoc:
    text = inspect.getdoc(function) or ""
    described = dict(_arguments(text))
    hints = get_type_hints(function)
    properties: dict[str, object] = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.name not in described:
            raise ValueError(f"{where}: the docstring does not describe {parameter.name!r}")
        try:
            schema = _schema(hints[parameter.name])
        except (KeyError, IndexError):
            raise ValueError(f"{where}: {parameter.name} needs another type") from None
        schema["description"] = described.pop(parameter.name)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif parameter.default is not None:
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    if described:
        raise ValueError(f"{where}: the docstring describes {', '.join(described)}")
    parameters = {"type": "dict", "properties": properties, "required": required}
    return FunctionDoc(name, f"{about} {_paragraph(text)}".lstrip(), parameters)


def _paragraph(text: str) -> str:
    """The text before the first section, on one line."""
    return " ".join(re.split(r"\n\s*(?:Args|Returns|Raises):", text)[0].split())


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    """Name and description of each argument; further lines of one are indented deeper."""
    found = re.search(r"\n\s*Args:\n(.*?)(?=\n\s*(?:Returns|Raises):|\Z)", text, re.DOTALL)
    section = dedent(found[1]) if found else ""
    for name, words in re.findall(r"^(\w+): (.*(?:\n[ ].*)*)", section, re.MULTILINE):
        yield name, " ".join(words.split())


def _schema(hint: object) -> dict[str, object]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": _TYPES[type(inner[0])], "enum": list(inner)}
    if origin in (Union, types.UnionType):
        parts = [_schema(part) for part in inner if part is not type(None)]
        # Of a number that may be whole or not, the wider type.
        return next((part for part in parts if part["type"] == "float"), parts[0])
    kind = _TYPES[origin or hint]
    return {"type": kind, "items": _schema(inner[0])} if kind == "array" else {"type": kind}
