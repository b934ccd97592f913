"""Calls written as XML, values in attributes (*verbose*) or between tags (*concise*; format sensitivity).

``official`` follows ``ast_parse`` and ``parse_verbose_xml_function_call`` or its concise sister, oddities
included:

- the first ``<functions>`` element is read, what stands around it is not, nor is a second one;
- a parameter's ``type`` attribute says how its value is read, not the function doc: without one, or with a
  word that is not known, it stays text; ``boolean`` is False for all that is not ``true``; values of
  ``array``, ``tuple``, ``dict`` and ``object`` are Python literals, so JSON's ``true`` cannot be read;
- a value that is not of its type makes the whole answer undecodable, and so does a bare ``&``;
- text between tags is stripped, and ends at the first tag inside of it.

``corrected`` reads every ``<functions>`` element, takes a bare ``&`` for itself, JSON and Python literals,
and common other words for types; a value that is not of its type stays text.

No entity can be declared inside of an element, so none can grow here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import TextReader
from pytest_fcbench.codecs.decoders.wrapping import between
from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.transcript import Call

_BEGIN, _END = "<functions>", "</functions>"

Value: TypeAlias = Callable[[str, str], object]
"""Reads a text of a type."""
Parameters: TypeAlias = Callable[[Element, Value], Iterator[tuple[str, object]]]
"""The arguments of a call's element."""


def _verbose(function: Element, value: Value) -> Iterator[tuple[str, object]]:
    inside = function.find("params")
    for parameter in (function if inside is None else inside).findall("param"):
        told = parameter.attrib
        yield told.get("name", "**"), value(told.get("value", ""), told.get("type", "string"))


def _concise(function: Element, value: Value) -> Iterator[tuple[str, object]]:
    for parameter in function.findall("param"):
        text = (parameter.text or "").strip()
        yield _attribute(parameter, "name"), value(text, parameter.attrib.get("type", "string"))


def _attribute(element: Element, name: str) -> str:
    if name not in element.attrib:
        raise Undecodable(f"a <{element.tag}> has no {name!r}")
    return element.attrib[name]


def _calls(text: str, parameters: Parameters, value: Value) -> Iterator[Call]:
    """The calls of one element. Raises ``Undecodable``."""
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - see above
    except (ElementTree.ParseError, ValueError) as error:
        raise Undecodable(f"not XML: {error}") from None
    for function in root.findall("function"):
        yield Call(_attribute(function, "name"), dict(parameters(function, value)))


def _official(parameters: Parameters) -> TextReader:
    def read(text: str) -> tuple[Call, ...]:
        """Read a text as BFCL does. Raises ``Undecodable``."""
        place = between(text, _BEGIN, _END)
        if place is None:
            raise Undecodable(f"there is no {_BEGIN} element")
        return tuple(_calls(f"{_BEGIN}{text[slice(*place)]}{_END}", parameters, _official_value))

    return read


def _official_value(text: str, kind: str) -> object:
    try:
        match kind:
            case "integer":
                return int(text)
            case "float":
                return float(text)
            case "boolean":
                return text.lower() == "true"
            case "null":
                return None
            case "array" | "tuple" | "object" | "dict":
                return _literal(text)
    except ValueError as error:
        raise Undecodable(f"not of the type {kind}: {error}") from None
    return text


def _literal(text: str) -> object:
    """A Python literal. Raises ``Undecodable``."""
    try:
        return read_literal(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise Undecodable(f"not a literal: {str(error) or type(error).__name__}") from None


_TYPES = {
    **dict.fromkeys(("int", "long"), "integer"),
    **dict.fromkeys(("number", "double"), "float"),
    "bool": "boolean",
    "none": "null",
    **dict.fromkeys(("list", "tuple", "dict", "object", "set", "any"), "array"),
}
"""Other words for types, among them all whose values are literals."""

_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)")


def _corrected(parameters: Parameters) -> TextReader:
    def read(text: str) -> tuple[Call, ...]:
        """Read a text leniently. Raises ``Undecodable``."""
        elements = list(_elements(_BARE.sub("&amp;", text)))
        if not elements:
            raise Undecodable(f"there is no {_BEGIN} element")
        return tuple(call for element in elements for call in _calls(element, parameters, _corrected_value))

    return read


def _elements(text: str) -> Iterator[str]:
    at = 0
    while place := between(text, _BEGIN, _END, at):
        yield f"{_BEGIN}{text[slice(*place)]}{_END}"
        at = place[1]


_BOOLEANS = {"true": True, "false": False}


def _corrected_value(text: str, kind: str) -> object:
    kind = _TYPES.get(kind.lower(), kind.lower())
    try:
        match kind:
            case "boolean":
                return _BOOLEANS.get(text.strip().lower(), text)
            case "array":
                return _json_or_literal(text)
        return _official_value(text, kind)
    except Undecodable:
        return text


def _json_or_literal(text: str) -> object:
    try:
        return _literal(text)
    except Undecodable:
        return from_json(text)


official_verbose, official_concise = _official(_verbose), _official(_concise)
corrected_verbose, corrected_concise = _corrected(_verbose), _corrected(_concise)
