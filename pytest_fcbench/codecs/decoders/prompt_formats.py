"""The prompt formats of BFCL's format sensitivity: calls as JSON, as XML, and between tags.

JSON is ``[{"function": "f", "parameters": {"x": 1}}]``. Its official reading follows ``ast_parse`` and
``parse_json_function_call``, oddities included:

- text around the list is dropped, from the first ``[`` to the last ``]``; then a lazy pattern searches for a
  list of objects, so an object that ends a list inside of a call (``"x": [{"a": 1}]``) ends the search, and
  the match is no JSON;
- text that is no JSON is no call, like ``[]``, and so are elements that are no objects;
- an object without one of the two keys makes the whole answer undecodable.

The official pattern for lists takes time that doubles with each ``}, {`` of a text without the right end; the
same place is found here in one pass. The corrected reading accepts any fence and any words around the
calls, one object for a list of one, objects one after the other, and calls without parameters. A list that is
no JSON is unreadable.

XML has values in attributes (*verbose*) or between tags (*concise*). The official readers follow
``ast_parse`` and ``parse_verbose_xml_function_call`` or its concise sister, oddities included:

- the first ``<functions>`` element is read, text around it and further elements are not;
- a parameter's ``type`` attribute decides how its value is read, not the function doc: without one, or with
  an unknown word, it stays text; ``boolean`` is False for every text but ``true``; values of ``array``,
  ``tuple``, ``dict`` and ``object`` are Python literals, so JSON's ``true`` cannot be read;
- a value that is not of its type makes the whole answer undecodable, and so does a bare ``&``;
- text between tags is stripped, and ends at the first tag inside of it.

The corrected readers accept every ``<functions>`` element, a bare ``&``, JSON and Python literals, and other
common words for types; a value that is not of its type stays text. No entity can be declared inside of an
element, so none can grow here.

Either notation, and Python, may also stand between ``<TOOLCALL>`` and ``</TOOLCALL>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pytest_fcbench.codecs.decoders import python, syntax
from pytest_fcbench.codecs.decoders.syntax import CLOSING, OPENING, Syntax, TextReader, Undecodable
from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.prompting import AnswerNotation, Mode, PromptFormat
from pytest_fcbench.domain.transcript import Call


def parse_official_json(text: str) -> tuple[Call, ...]:
    """Read a text as BFCL does. Raises ``Undecodable`` and ``WrongFormat``."""
    return parse_official_json_between_tags(syntax.add_brackets(text))


def parse_official_json_between_tags(text: str) -> tuple[Call, ...]:
    """Read a text between tags as BFCL does. Raises ``Undecodable`` and ``WrongFormat``."""
    first, last = text.find("["), text.rfind("]")
    if 0 <= first < last:
        text = text[first : last + 1]
    # Official: the first match of ``\[\s*{.*?}\s*(?:,\s*{.*?}\s*)*\]``. What is between two of its objects
    # can just as well be inside of one, so it ends with the first ``}`` before a ``]``.
    start = _LIST_START.search(text)
    if start and (end := _LIST_END.search(text, start.end())):
        text = text[start.start() : end.end()]
    syntax.check_depth(text)
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError:
        # Official: text that is no JSON is an answer without calls, not a failure.
        return ()
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"not JSON: {str(error) or type(error).__name__}") from None
    if not isinstance(value, list | dict | str):
        raise Undecodable(f"expected a JSON list of calls, found {type(value).__name__}")
    # All are decoded before the form of any is looked at, as officially.
    items = [item for item in value if isinstance(item, dict)]
    for item in items:
        if "function" not in item or "parameters" not in item:
            raise Undecodable("a call needs 'function' and 'parameters'")
        if isinstance(item["function"], list | dict):
            raise Undecodable("a function's name is text")
    calls = []
    for item in items:
        name, parameters = item["function"], item["parameters"]
        if not isinstance(parameters, dict):
            kind = type(parameters).__name__
            raise syntax.WrongFormat(f"the parameters of {name!r:.80} are {kind}, not an object")
        calls.append(Call(name if isinstance(name, str) else json.dumps(name), parameters))
    return tuple(calls)


_LIST_START = re.compile(r"\[\s*\{")
_LIST_END = re.compile(r"\}\s*\]")


def parse_corrected_json(text: str) -> tuple[Call, ...]:
    """Read the JSON values of a text leniently and ignore the text between them. Raises ``Undecodable``."""
    calls = []
    for item in syntax.find_json_values(text):
        if not isinstance(item, Mapping) or not isinstance(name := item.get("function"), str):
            raise Undecodable('expected objects with "function" and "parameters"')
        calls.append(syntax.as_call(name, item.get("parameters", {})))
    return tuple(calls)


_FUNCTIONS_BEGIN, _FUNCTIONS_END = "<functions>", "</functions>"

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


def _parse_official_xml(read_arguments: ReadArguments, text: str) -> tuple[Call, ...]:
    """Read a text as BFCL does. Raises ``Undecodable``."""
    place = syntax.find_between(text, _FUNCTIONS_BEGIN, _FUNCTIONS_END)
    if place is None:
        raise Undecodable(f"there is no {_FUNCTIONS_BEGIN} element")
    element = f"{_FUNCTIONS_BEGIN}{text[slice(*place)]}{_FUNCTIONS_END}"
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

_BARE = re.compile(
    r"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)", re.DOTALL
)
"""A bare ampersand, or a section in which it needs no escape."""
_BOOLEANS = {"true": True, "false": False}


def _parse_corrected_xml(read_arguments: ReadArguments, text: str) -> tuple[Call, ...]:
    """Read a text leniently. Raises ``Undecodable``."""
    text = _BARE.sub(lambda match: match[1] or "&amp;", text)
    calls: list[Call] = []
    if not (elements := syntax.find_all_between(text, _FUNCTIONS_BEGIN, _FUNCTIONS_END)):
        raise Undecodable(f"there is no {_FUNCTIONS_BEGIN} element")
    for inside in elements:
        element = f"{_FUNCTIONS_BEGIN}{inside}{_FUNCTIONS_END}"
        calls += _read_calls(element, read_arguments, _read_corrected_value)
    return tuple(calls)


def _read_corrected_value(text: str, kind: str) -> object:
    kind = _TYPES.get(kind.lower(), kind.lower())
    try:
        match kind:
            case "boolean":
                return _BOOLEANS.get(text.strip().lower(), text)
            case "array":
                with suppress(Undecodable):
                    return _read_literal(text)
                return syntax.from_json(text)
        return _read_official_value(text, kind)
    except Undecodable:
        return text


parse_official_verbose = partial(_parse_official_xml, _read_verbose_arguments)
parse_official_concise = partial(_parse_official_xml, _read_concise_arguments)
parse_corrected_verbose = partial(_parse_corrected_xml, _read_verbose_arguments)
parse_corrected_concise = partial(_parse_corrected_xml, _read_concise_arguments)


def make_official_tag_reader(read: TextReader) -> TextReader:
    """Return a reader that passes the text between the first tags on to ``read``, as BFCL does."""

    def read_first(text: str) -> tuple[Call, ...]:
        # Official: brackets are added around the whole text, before its tags are looked for.
        text = syntax.add_brackets(text)
        place = syntax.find_between(text, OPENING, CLOSING)
        if place is None:
            raise Undecodable(f"there is no {OPENING} tag")
        return read(text[slice(*place)].strip())

    return read_first


def make_corrected_tag_reader(read: TextReader) -> TextReader:
    """Return a reader of the texts between all tags, the last of which may be left open."""

    def read_all(text: str) -> tuple[Call, ...]:
        _, *parts = text.split(OPENING)
        if not parts:
            raise Undecodable(f"there is no {OPENING} tag")
        return tuple(call for part in parts for call in read(part.partition(CLOSING)[0]))

    return read_all


_INSIDE: Mapping[AnswerNotation, tuple[TextReader, TextReader]] = {
    AnswerNotation.PYTHON: (python.parse_official_between_tags, python.parse_corrected),
    AnswerNotation.JSON: (parse_official_json_between_tags, parse_corrected_json),
    AnswerNotation.VERBOSE_XML: (parse_official_verbose, parse_corrected_verbose),
    AnswerNotation.CONCISE_XML: (parse_official_concise, parse_corrected_concise),
}
"""The official and the corrected reader of each return format, for text between tags."""

PROMPT_FORMATS: Mapping[str, Syntax] = {
    "json": syntax.read_every_language(Mode.PROMPT, parse_official_json, parse_corrected_json),
    "verbose_xml": syntax.read_every_language(Mode.PROMPT, *_INSIDE[AnswerNotation.VERBOSE_XML]),
    "concise_xml": syntax.read_every_language(Mode.PROMPT, *_INSIDE[AnswerNotation.CONCISE_XML]),
    **{
        PromptFormat(notation, tagged=True).syntax: syntax.read_every_language(
            Mode.PROMPT, make_official_tag_reader(official), make_corrected_tag_reader(corrected)
        )
        for notation, (official, corrected) in _INSIDE.items()
    },
}
"""The syntaxes of the prompt formats other than ``python``; their entries are all Python's."""
