"""Read the tools that were offered, in the forms of interfaces and of training data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.json_text import read_json_at
from pytest_fcbench.tools.importing.logged import load_json, load_list

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
        tool = {key: member for key, member in as_mapping(load_json(each)).items() if member is not None}
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
    tools = [tool for each in tagged_texts for value in _decode_values(each) for tool in read_tools(value)]
    if not only_tagged and not tagged_texts:
        for value in _decode_values(text, skip=True):
            tools += (
                tool
                for tool in read_tools(value)
                if name_tool(tool) and (has_parameters(tool) or "description" in tool)
            )
    return tools


def _decode_values(text: str, *, skip: bool = False) -> Iterator[object]:
    """Yield the JSON values of a text that follow each other; with ``skip`` also those between words."""
    at = 0
    while at < len(text):
        if skip:
            if not (match := _DOC.search(text, at)):
                return
            at = match.start()
        try:
            value, at = read_json_at(text, at)
        except ValueError:
            if not skip:
                yield load_json(text[at:])
                return
            at += 1
        else:
            yield value
        at += len(text[at:]) - len(text[at:].lstrip())


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
        if element := _TYPES.get(inner.rstrip("]").lower()):
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
