"""Calls written as XML, values in attributes (*verbose*) or between tags (*concise*; format sensitivity).

The official readers follow ``ast_parse`` and ``parse_verbose_xml_function_call`` or its concise sister,
oddities included:

- the first ``<functions>`` element is read, text around it and further elements are not;
- a parameter's ``type`` attribute decides how its value is read, not the function doc: without one, or with
  an unknown word, it stays text; ``boolean`` is False for every text but ``true``; values of
  ``array``, ``tuple``, ``dict`` and ``object`` are Python literals, so JSON's ``true`` cannot be read;
- a value that is not of its type makes the whole answer undecodable, and so does a bare ``&``;
- text between tags is stripped, and ends at the first tag inside of it.

The corrected readers accept every ``<functions>`` element, a bare ``&``, JSON and Python literals, and other
common words for types; a value that is not of its type stays text.

No entity can be declared inside of an element, so none can grow here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.wrapping import find_between
from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.transcript import Call

_BEGIN, _END = "<functions>", "</functions>"

ReadValue: TypeAlias = Callable[[str, str], object]
"""A reader of a text of a type."""
ReadArguments: TypeAlias = Callable[[Element, ReadValue], Iterator[tuple[str, object]]]
"""A reader of the arguments of a call's element."""


def _read_verbose_arguments(function: Element, read: ReadValue) -> Iterator[tuple[str, object]]:
    inside = function.find("params")
    for parameter in (function if inside is None else inside).findall("param"):
        attributes = parameter.attrib
        yield (
            attributes.get("name", "**"),
            read(attributes.get("value", ""), attributes.get("type", "string")),
        )


def _read_concise_arguments(function: Element, read: ReadValue) -> Iterator[tuple[str, object]]:
    for parameter in function.findall("param"):
        # Official: without a name this one fails, while a verbose parameter gets the name None.
        text = (parameter.text or "").strip()
        yield _get_attribute(parameter, "name"), read(text, parameter.attrib.get("type", "string"))


def _get_attribute(element: Element, name: str) -> str:
    if name not in element.attrib:
        raise Undecodable(f"a <{element.tag}> has no {name!r}")
    return element.attrib[name]


def _read_calls(text: str, read_arguments: ReadArguments, read: ReadValue) -> Iterator[Call]:
    """Yield the calls of one element. Raises ``Undecodable``."""
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - see above
    except (ElementTree.ParseError, ValueError) as error:
        raise Undecodable(f"not XML: {error}") from None
    for function in root.findall("function"):
        yield Call(_get_attribute(function, "name"), dict(read_arguments(function, read)))


def _parse_official(read_arguments: ReadArguments, text: str) -> tuple[Call, ...]:
    """Read a text as BFCL does. Raises ``Undecodable``."""
    place = find_between(text, _BEGIN, _END)
    if place is None:
        raise Undecodable(f"there is no {_BEGIN} element")
    element = f"{_BEGIN}{text[slice(*place)]}{_END}"
    return tuple(_read_calls(element, read_arguments, _read_official_value))


def _read_official_value(text: str, kind: str) -> object:
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
                return _read_literal(text)
    except ValueError as error:
        raise Undecodable(f"not of the type {kind}: {error}") from None
    return text


def _read_literal(text: str) -> object:
    """Read a Python literal. Raises ``Undecodable``."""
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
"""Other words for types; ``array`` stands for all types whose values are literals."""

_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)")
_BOOLEANS = {"true": True, "false": False}


def _parse_corrected(read_arguments: ReadArguments, text: str) -> tuple[Call, ...]:
    """Read a text leniently. Raises ``Undecodable``."""
    text = _BARE.sub("&amp;", text)
    elements, at = [], 0
    while place := find_between(text, _BEGIN, _END, at):
        elements.append(f"{_BEGIN}{text[slice(*place)]}{_END}")
        at = place[1]
    if not elements:
        raise Undecodable(f"there is no {_BEGIN} element")
    return tuple(
        call for each in elements for call in _read_calls(each, read_arguments, _read_corrected_value)
    )


def _read_corrected_value(text: str, kind: str) -> object:
    kind = _TYPES.get(kind.lower(), kind.lower())
    try:
        match kind:
            case "boolean":
                return _BOOLEANS.get(text.strip().lower(), text)
            case "array":
                with suppress(Undecodable):
                    return _read_literal(text)
                return from_json(text)
        return _read_official_value(text, kind)
    except Undecodable:
        return text


parse_official_verbose = partial(_parse_official, _read_verbose_arguments)
parse_official_concise = partial(_parse_official, _read_concise_arguments)
parse_corrected_verbose = partial(_parse_corrected, _read_verbose_arguments)
parse_corrected_concise = partial(_parse_corrected, _read_concise_arguments)
