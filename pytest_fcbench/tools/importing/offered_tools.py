"""A conversation of a log and its tools, in the forms of interfaces and of training data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.text import as_mapping, read_json_at, read_json_text

_SCHEMAS = ("parameters", "input_schema", "inputSchema")


def name_tool(tool: Mapping[str, object]) -> str:
    """Return the name of the function of a tool; empty for a tool of another kind."""
    function = as_mapping(tool.get("function", tool))
    name = function.get("name") or function.get("title")
    return name if isinstance(name, str) else ""


def find_parameters(tool: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schemas of a tool's parameters by name."""
    function = as_mapping(tool.get("function", tool))
    schema = next((as_mapping(function[key]) for key in _SCHEMAS if key in function), function)
    return as_mapping(schema.get("properties"))


def has_parameters(tool: Mapping[str, object]) -> bool:
    """Tell whether a tool has a schema of its parameters, which may be one without any."""
    function = as_mapping(tool.get("function", tool))
    return not function.keys().isdisjoint((*_SCHEMAS, "properties"))


def read_tools(value: object) -> Iterator[Mapping[str, object]]:
    """Yield the tools of a list, or of the text of one. Raises ValueError."""
    for each in load_list(value):
        try:
            tool = {key: member for key, member in as_mapping(load_json(each)).items() if member is not None}
        except ValueError:
            # A name alone says nothing of a function.
            continue
        if isinstance(
            declarations := tool.get("functionDeclarations", tool.get("function_declarations")), list
        ):
            yield from (as_mapping(_lower_types(each)) for each in read_tools(declarations))
        elif "tool" in tool or "json_schema" in tool:
            yield from read_tools(tool.get("tool", tool.get("json_schema")))
        elif spec := as_mapping(tool.get("toolSpec")):
            yield {**spec, "inputSchema": as_mapping(spec.get("inputSchema")).get("json", {})}
        elif "parameter_definitions" in tool:
            other_members = {key: member for key, member in tool.items() if key != "parameter_definitions"}
            yield convert_tool({**other_members, "parameters": tool["parameter_definitions"]})
        elif isinstance(schema := as_mapping(tool.get("function", tool)).get("parameters"), str):
            yield {**as_mapping(tool.get("function", tool)), "parameters": load_json(schema)}
        else:
            yield convert_tool(tool)


def _lower_types(schema: object) -> object:
    """Write the types of a schema of Gemini's in lower case."""
    if isinstance(schema, list):
        return [_lower_types(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: member.lower() if key == "type" and isinstance(member, str) else _lower_types(member)
        for key, member in schema.items()
    }


_TAGGED = re.compile(r"<tools>\s*(.*?)\s*</tools>", re.DOTALL)
_DOC = re.compile(r"\[\s*(?=\{)|\{\s*(?=\"(?:name|type|function|description)\")")


def find_tools(text: str, *, only_tagged: bool) -> list[Mapping[str, object]]:
    """Find the tools that a system text lists: between tags, or as JSON. Raises ValueError."""
    tagged_texts = _TAGGED.findall(text)
    tools = [tool for each in tagged_texts for value in split_values(each) for tool in read_tools(value)]
    at = 0
    while not (only_tagged or tagged_texts) and (match := _DOC.search(text, at)):
        at = match.start() + 1
        # What only looks like a tool, such as the form of a call, is none.
        with suppress(ValueError):
            value, end = read_json_at(text, match.start())
            tools += [
                tool
                for tool in read_tools(value)
                if name_tool(tool) and (has_parameters(tool) or "description" in tool)
            ]
            at = end
    return tools


_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("str", "string"), "string"),
    **dict.fromkeys(("int", "integer"), "integer"),
    **dict.fromkeys(("float", "number"), "number"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("dict", "object"), "object"),
    **dict.fromkeys(("list", "array", "tuple", "set"), "array"),
}


def convert_tool(tool: Mapping[str, object]) -> Mapping[str, object]:
    """Convert a tool of xLAM's or Cohere's to JSON Schema; any other stays as it is.

    Its types are Python's, with ``, optional`` behind them; Cohere says what is required.
    """
    parameters = as_mapping(tool.get("parameters"))
    is_schema = "properties" in parameters or not all(
        isinstance(each, Mapping) for each in parameters.values()
    )
    if "parameters" not in tool or is_schema:
        return tool
    properties: dict[str, object] = {}
    required_names = []
    for name, parameter in parameters.items():
        schema = dict(as_mapping(parameter))
        kind, _, rest = str(schema.pop("type", "")).partition(",")
        outer, _, inner = kind.strip().partition("[")
        if word := _TYPES.get(outer.lower()):
            schema["type"] = word
        if word == "array" and (element := _TYPES.get(inner.rstrip("]").lower())):
            schema["items"] = {"type": element}
        is_optional = "optional" in rest or "default" in schema
        is_required = schema.get("required")
        if isinstance(is_required, bool):
            del schema["required"]
            is_optional = not is_required
        if not is_optional:
            required_names.append(name)
        properties[name] = schema
    return {**tool, "parameters": {"type": "object", "properties": properties, "required": required_names}}


class UnreadableLogError(Exception):
    """A line that is no conversation; the message says why."""


class NoConversationError(UnreadableLogError):
    """A line that can be read and has no conversation, such as a trace of other things."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A call of the assistant."""

    name: str
    arguments: object
    """An object, or whatever else the log has in its place."""
    id: str = ""
    """The name by which results refer to it; empty where results follow in the order of calls."""


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """A message of a log."""

    role: str
    """``system``, ``user``, ``assistant`` or ``tool``."""
    text: str = ""
    calls: tuple[LoggedCall, ...] = ()
    call_id: str = ""
    """The id of the call that a message of the role ``tool`` answers, or empty."""
    is_example: bool = True
    """False where the log says that nobody should learn from this answer."""
    other_part: str = ""
    """The kind of a part that is no text, such as ``image_url``, or empty."""
    has_unread_call: bool = False
    """True where its text looks like a call that cannot be read."""


@dataclass(frozen=True, slots=True)
class LoggedConversation:
    """A conversation with the functions that the assistant was offered."""

    messages: tuple[LoggedMessage, ...]
    tools: tuple[Mapping[str, object], ...] = ()
    """In any form that function docs of a suite may have."""
    new_from: int = 0
    """The place of the first new message; the answers before have records of their own."""


def load_json(value: object) -> object:
    """Return a value; a text is read as JSON, else as a Python literal. Raises ValueError."""
    if not isinstance(value, str):
        return value
    try:
        json_value: object = read_json_text(value)
    except ValueError as error:
        try:
            # Written once more, because a literal may have what JSON has not, such as a tuple.
            json_value = read_json_text(json.dumps(read_literal(value)))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            raise error from None
    return json_value


def split_values(text: str) -> Iterator[object]:
    """Yield the values of a text, between which there is nothing but separators. Raises ValueError.

    They are JSON, in whose texts there may be line ends as they are; the last may be a Python literal.
    """
    at = 0
    while at < len(text):
        try:
            value, at = read_json_at(text, at, strict=False)
        except ValueError:
            yield load_json(text[at:])
            return
        yield value
        at += len(text[at:]) - len(text[at:].lstrip(" \n\t\r;,"))


def load_list(value: object) -> Sequence[object]:
    """Return a list; any other value becomes a list of it. Raises ValueError."""
    json_value = load_json(value)
    return json_value if isinstance(json_value, list) else [] if json_value is None else [json_value]
