"""Read the spans of generative AI in traces of OpenTelemetry, as exporters write them in JSON (OTLP)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.codecs.json_objects import as_mapping


@dataclass(frozen=True, slots=True)
class SpanMessages:
    """What a span says about one answer of a model."""

    messages: tuple[Mapping[str, object], ...]
    """Those of the input, then those of the output, each with its ``parts``."""
    instructions: tuple[str, ...]
    tools: tuple[object, ...]


def read_spans(trace: Mapping[str, object]) -> Iterator[SpanMessages]:
    """Yield the messages of each span that has some. Raises ValueError for JSON that is broken."""
    for resource in _list_members(trace, "resourceSpans"):
        for scope in _list_members(resource, "scopeSpans"):
            for span in _list_members(scope, "spans"):
                attributes = {
                    str(each.get("key")): _read_value(as_mapping(each.get("value")))
                    for each in _list_members(span, "attributes")
                }
                asked, answered = (
                    _list_values(attributes.get(f"gen_ai.{side}.messages")) for side in ("input", "output")
                )
                if not answered:
                    continue
                instructions = _list_values(attributes.get("gen_ai.system_instructions"))
                yield SpanMessages(
                    tuple(map(as_mapping, (*asked, *answered))),
                    tuple(str(as_mapping(each).get("content", "")) for each in instructions),
                    tuple(_list_values(attributes.get("gen_ai.tool.definitions"))),
                )


def _list_members(value: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    listed = value.get(name)
    return [as_mapping(each) for each in listed] if isinstance(listed, list) else []


def _list_values(value: object) -> Sequence[object]:
    """Return a list that is one, or JSON text of one."""
    loaded = json.loads(value) if isinstance(value, str) and value else value
    return loaded if isinstance(loaded, list) else []


def _read_value(value: Mapping[str, object]) -> object:
    """Convert the value of an attribute (``AnyValue`` of OTLP) to a JSON value."""
    if "arrayValue" in value:
        return [_read_value(each) for each in _list_members(as_mapping(value["arrayValue"]), "values")]
    if "kvlistValue" in value:
        members = _list_members(as_mapping(value["kvlistValue"]), "values")
        return {str(each.get("key")): _read_value(as_mapping(each.get("value"))) for each in members}
    if "intValue" in value:
        # OTLP writes whole numbers of 64 bits as text.
        return int(str(value["intValue"]))
    return next((value[key] for key in ("stringValue", "boolValue", "doubleValue") if key in value), None)
