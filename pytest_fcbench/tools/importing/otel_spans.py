"""Read the spans of generative AI in traces of OpenTelemetry, as exporters write them in JSON (OTLP).

Messages stand in attributes of several generations: JSON under one name, or a name for each member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.json_text import read_json_text

Attributes = Mapping[str, object]

_GENERATIONS = (
    ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions"),
    ("gen_ai.prompt", "gen_ai.completion", "llm.request.functions"),
    ("llm.input_messages", "llm.output_messages", "llm.tools"),
)
"""Where a span has the question, the answer and the tools: today's conventions, older ones, OpenInference."""


def find_spans(row: Mapping[str, object]) -> Sequence[Attributes] | None:
    """Return the attributes of the spans of a trace, or None for a row that is none."""
    for key in ("resourceSpans", "resource_spans"):
        if isinstance(row.get(key), list):
            return [
                _read_attributes(span)
                for resource in _list_members(row, key)
                for scopes in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
                for scope in _list_members(resource, scopes)
                for span in _list_members(scope, "spans")
            ]
    return [_read_attributes(row)] if "attributes" in row and "messages" not in row else None


def read_span_row(attributes: Attributes) -> Mapping[str, object]:
    """Return a span as a row with messages and an answer; empty for a span that is about none."""
    for request_name, answer_name, tools_name in _GENERATIONS:
        messages, answers = _gather(attributes, request_name), _gather(attributes, answer_name)
        if answers:
            return {
                "messages": messages,
                "output": [{"role": "assistant", **as_mapping(each)} for each in answers],
                "tools": _gather(attributes, tools_name) or _gather(attributes, "gen_ai.request.tools"),
                "system": _gather(attributes, "gen_ai.system_instructions"),
            }
    return {}


def _gather(attributes: Attributes, name: str) -> Sequence[object]:
    """Return the list under a name: JSON text, a value, or one attribute for each member."""
    value = attributes.get(name)
    if isinstance(value, str) and value:
        value = read_json_text(value)
    if value is None:
        value = _nest_names(
            {key[len(name) + 1 :]: each for key, each in attributes.items() if key.startswith(f"{name}.")}
        )
    return value if isinstance(value, list) else []


def _nest_names(members: Mapping[str, object]) -> object:
    """Make a value of members whose names have dots: ``0.role``, ``0.tool_calls.1.name``."""
    if "" in members:
        return members[""]
    heads = dict.fromkeys(key.partition(".")[0] for key in members)
    children = {
        head: _nest_names(
            {key.partition(".")[2]: each for key, each in members.items() if key.partition(".")[0] == head}
        )
        for head in heads
    }
    if heads and all(map(str.isdecimal, heads)):
        return [children[head] for head in sorted(children, key=int)]
    return children


def _list_members(value: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    members = value.get(name)
    return [as_mapping(each) for each in members] if isinstance(members, list) else []


def _read_attributes(span: Mapping[str, object]) -> Attributes:
    """Read the attributes of a span and of its events, which exporters write as a list or an object."""
    attributes: dict[str, object] = {}
    for holder in (*_list_members(span, "events"), span):
        if isinstance(members := holder.get("attributes"), Mapping):
            attributes |= {str(key): value for key, value in members.items()}
        for each in _list_members(holder, "attributes"):
            attributes[str(each.get("key"))] = _read_attribute(as_mapping(each.get("value")))
    return attributes


def _read_attribute(value: Mapping[str, object]) -> object:
    """Convert the value of an attribute (``AnyValue`` of OTLP) to a JSON value."""
    if "arrayValue" in value:
        return [_read_attribute(each) for each in _list_members(as_mapping(value["arrayValue"]), "values")]
    if "kvlistValue" in value:
        members = _list_members(as_mapping(value["kvlistValue"]), "values")
        return {str(each.get("key")): _read_attribute(as_mapping(each.get("value"))) for each in members}
    if "intValue" in value:
        # OTLP writes whole numbers of 64 bits as text.
        return int(str(value["intValue"]))
    return next((value[key] for key in ("stringValue", "boolValue", "doubleValue") if key in value), None)
