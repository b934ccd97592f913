"""Read the spans of generative AI in traces of OpenTelemetry, as exporters write them in JSON (OTLP)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.logged import (
    ROLES,
    LoggedConversation,
    LoggedMessage,
    load_list,
    read_call,
)


@dataclass(frozen=True, slots=True)
class SpanMessages:
    """The messages of a span, which is about one answer of a model."""

    messages: tuple[Mapping[str, object], ...]
    """The messages of the input, then those of the output, each with its ``parts``."""
    instructions: tuple[str, ...]
    tools: tuple[object, ...]


def read_spans(trace: Mapping[str, object]) -> Iterator[SpanMessages]:
    """Yield the messages of each span that has some. Raises ValueError for JSON that is broken."""
    for resource in _list_members(trace, "resourceSpans"):
        for scope in _list_members(resource, "scopeSpans"):
            for span in _list_members(scope, "spans"):
                attributes = {
                    str(each.get("key")): _read_attribute(as_mapping(each.get("value")))
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


def read_span(span: SpanMessages) -> LoggedConversation:
    """Read the messages of a span, of which only the last answer is new. Raises ``UnreadableLogError``."""
    read: list[LoggedMessage] = [LoggedMessage("system", text) for text in span.instructions]
    for message in span.messages:
        role = str(message.get("role"))
        parts = [as_mapping(part) for part in load_list(message.get("parts"))]
        texts = [str(part.get("content", "")) for part in parts if part.get("type") == "text"]
        calls = tuple(read_call(part) for part in parts if part.get("type") == "tool_call")
        results = [part for part in parts if part.get("type") == "tool_call_response"]
        known = ("text", "tool_call", "tool_call_response", "reasoning")
        has_other_media = any(part.get("type") not in known for part in parts)
        for part in results:
            result = part.get("response", part.get("result"))
            written = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            read.append(LoggedMessage("tool", written, call_id=str(part.get("id") or "")))
        if texts or calls or not results:
            read.append(
                LoggedMessage(ROLES.get(role, role), "\n".join(texts), calls, has_other_media=has_other_media)
            )
    return LoggedConversation(tuple(read), tuple(map(as_mapping, span.tools)), only_last=True)
