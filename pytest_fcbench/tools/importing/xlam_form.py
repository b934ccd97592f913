"""Read questions and calls in xLAM's form: ``query``, ``tools`` and ``answers``."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.logged import (
    LoggedConversation,
    LoggedMessage,
    load_list,
    read_call,
)


def read_xlam(value: Mapping[str, object], query: str) -> LoggedConversation:
    """Read the question of a line and its calls. Raises ``UnreadableLogError`` and ValueError."""
    calls = tuple(map(read_call, load_list(value.get("answers", []))))
    tools = tuple(convert_tool(as_mapping(tool)) for tool in load_list(value.get("tools", [])))
    return LoggedConversation((LoggedMessage("user", query), LoggedMessage("assistant", calls=calls)), tools)


_TYPES: Mapping[str, str] = {
    "str": "string",
    "string": "string",
    "int": "integer",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "bool": "boolean",
    "boolean": "boolean",
    "dict": "object",
    "object": "object",
    "list": "array",
    "array": "array",
    "tuple": "array",
    "set": "array",
}


def convert_tool(tool: Mapping[str, object]) -> Mapping[str, object]:
    """Convert a tool of xLAM's to JSON Schema: its types are Python's, with ``, optional`` behind them."""
    given = as_mapping(tool.get("parameters"))
    if "properties" in given or not all(isinstance(each, Mapping) for each in given.values()):
        return tool
    properties: dict[str, object] = {}
    required = []
    for name, parameter in given.items():
        schema = dict(as_mapping(parameter))
        kind, _, rest = str(schema.pop("type", "")).partition(",")
        outer, _, inner = kind.strip().partition("[")
        if word := _TYPES.get(outer.lower()):
            schema["type"] = word
        if element := _TYPES.get(inner.rstrip("]").lower()):
            schema["items"] = {"type": element}
        if "optional" not in rest and "default" not in schema:
            required.append(name)
        properties[name] = schema
    return {**tool, "parameters": {"type": "object", "properties": properties, "required": required}}
