"""Read the name and the parameters of a tool, in any form that function docs of a suite may have."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcbench.codecs.json_objects import as_mapping


def name_tool(tool: Mapping[str, object]) -> str:
    """Return the name of the function of a tool; empty for a tool of another kind."""
    function = as_mapping(tool.get("function", tool))
    name = function.get("name") or function.get("title")
    return name if isinstance(name, str) else ""


def find_parameters(tool: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schemas of a tool's parameters by name."""
    function = as_mapping(tool.get("function", tool))
    keys = ("parameters", "input_schema", "inputSchema")
    schema = next((as_mapping(function[key]) for key in keys if key in function), function)
    return as_mapping(schema.get("properties"))
