"""Read a line of a log, or of training data, as conversations, in the form of whoever wrote it.

The forms are told apart by their keys:

- ``messages``: OpenAI's form for chats and fine-tuning, with ``tools`` and ``tool_calls``;
- ``conversations``: ShareGPT's form and that of Hermes, with calls between ``<tool_call>`` tags, as JSON, or
  in messages of ``function_call``;
- ``query`` and ``answers``: xLAM's form;
- ``resourceSpans``: spans of OpenTelemetry as JSON (OTLP) with the attributes of generative AI.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.otel_spans import SpanMessages, read_spans


class UnreadableLogError(Exception):
    """A line that is no conversation; the message says why."""


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
    has_other_media: bool = False
    """True where it has parts that are not text."""


@dataclass(frozen=True, slots=True)
class LoggedConversation:
    """A conversation with the functions that the assistant was offered."""

    messages: tuple[LoggedMessage, ...]
    tools: tuple[Mapping[str, object], ...] = ()
    """In any form that function docs of a suite may have."""
    only_last: bool = field(default=False)
    """True where only the last answer is new, because each answer has a record of its own."""


def read_conversations(line: bytes | str) -> Iterator[LoggedConversation]:
    """Read the conversations of a line. Raises ``UnreadableLogError``."""
    try:
        value = as_mapping(json.loads(line))
        if isinstance(messages := value.get("messages"), list):
            yield _read_chat(value, messages)
        elif isinstance(messages := value.get("conversations"), list):
            yield _read_sharegpt(value, messages)
        elif isinstance(query := value.get("query"), str):
            calls = tuple(map(_read_call, _load_list(value.get("answers", []))))
            tools = tuple(_convert_xlam_tool(as_mapping(tool)) for tool in _load_list(value.get("tools", [])))
            yield LoggedConversation(
                (LoggedMessage("user", query), LoggedMessage("assistant", calls=calls)), tools
            )
        elif isinstance(value.get("resourceSpans"), list):
            yield from map(_read_span, read_spans(value))
        else:
            raise UnreadableLogError("has neither 'messages', 'conversations', 'query' nor 'resourceSpans'")
    except (ValueError, RecursionError) as error:
        raise UnreadableLogError(f"not valid JSON: {getattr(error, 'msg', error)}") from None


def _load(value: object) -> object:
    """Return a value, or what the JSON text in its place holds. Raises ValueError."""
    loaded: object = json.loads(value) if isinstance(value, str) else value
    return loaded


def _load_list(value: object) -> Sequence[object]:
    """Return a list, or a list of the one value that stands in its place. Raises ValueError."""
    loaded = _load(value)
    return loaded if isinstance(loaded, list) else [] if loaded is None else [loaded]


def _read_call(value: object) -> LoggedCall:
    """Read a call: ``{name, arguments}``, in a ``function`` or not. Raises ``UnreadableLogError``."""
    outer = as_mapping(value)
    call = as_mapping(outer.get("function", outer))
    if not isinstance(name := call.get("name"), str):
        raise UnreadableLogError(f"has a call without a name: {json.dumps(value)[:80]}")
    arguments = call.get("arguments", call.get("parameters", {}))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError:
            # What is no JSON is what the assistant said; no entry is made of it.
            return LoggedCall(name, arguments, str(outer.get("id") or ""))
    return LoggedCall(name, arguments, str(outer.get("id") or ""))


_ROLES: Mapping[str, str] = {
    "developer": "system",
    "human": "user",
    "gpt": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "function": "tool",
    "observation": "tool",
    "function_response": "tool",
}
"""The roles of the forms in the words of the chat form."""


def _read_text(content: object) -> tuple[str, bool]:
    """Return the text of a message, and whether it has parts that are not text."""
    if isinstance(content, list):
        parts = [as_mapping(part) for part in content]
        texts = [str(part["text"]) for part in parts if isinstance(part.get("text"), str)]
        return "\n".join(texts), len(texts) < len(parts)
    return (content, False) if isinstance(content, str) else ("", False)


def _read_chat(value: Mapping[str, object], messages: Sequence[object]) -> LoggedConversation:
    read = []
    for message in map(as_mapping, messages):
        role = str(message.get("role"))
        text, has_other_media = _read_text(message.get("content"))
        calls = [*_load_list(message.get("tool_calls")), *_load_list(message.get("function_call"))]
        read.append(
            LoggedMessage(
                _ROLES.get(role, role),
                text,
                tuple(map(_read_call, calls)),
                str(message.get("tool_call_id") or ""),
                is_example=message.get("weight") != 0,
                has_other_media=has_other_media,
            )
        )
    offered = [*_load_list(value.get("tools")), *_load_list(value.get("functions"))]
    return LoggedConversation(tuple(read), tuple(map(as_mapping, offered)))


_TAGGED_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_TAGGED_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_TAGGED_TOOLS = re.compile(r"<tools>\s*(.*?)\s*</tools>", re.DOTALL)


def _read_sharegpt(value: Mapping[str, object], messages: Sequence[object]) -> LoggedConversation:
    read: list[LoggedMessage] = []
    tools = [*_load_list(value.get("tools") or [])]
    for message in map(as_mapping, messages):
        said = str(message.get("from", message.get("role")))
        role = _ROLES.get(said, said)
        text, has_other_media = _read_text(message.get("value", message.get("content")))
        calls: tuple[LoggedCall, ...] = ()
        if role == "system" and (listed := _TAGGED_TOOLS.findall(text)):
            # Such a text tells a model how to call; a run tells it in the manner of the model under test.
            tools += [tool for each in listed for tool in _load_tagged(each)]
            continue
        if said == "function_call":
            calls, text = tuple(map(_read_call, _load_list(text))), ""
        elif role == "assistant" and (tagged := _TAGGED_CALL.findall(text)):
            calls = tuple(map(_read_call, map(_load, tagged)))
            text = _TAGGED_CALL.sub("", text).strip()
        if role == "tool" and (results := _TAGGED_RESULT.findall(text)):
            read += [LoggedMessage("tool", result) for result in results]
            continue
        read.append(LoggedMessage(role, text, calls, has_other_media=has_other_media))
    if system := value.get("system"):
        read.insert(0, LoggedMessage("system", str(system)))
    return LoggedConversation(tuple(read), tuple(map(as_mapping, tools)))


def _load_tagged(text: str) -> Sequence[object]:
    """Read tools between tags: a list, or one object after the other. Raises ValueError."""
    if text.lstrip().startswith("["):
        return _load_list(text)
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        tool, end = decoder.raw_decode(text, at)
        found.append(tool)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found


_XLAM_TYPES: Mapping[str, str] = {
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


def _convert_xlam_tool(tool: Mapping[str, object]) -> Mapping[str, object]:
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
        if word := _XLAM_TYPES.get(outer.lower()):
            schema["type"] = word
        if element := _XLAM_TYPES.get(inner.rstrip("]").lower()):
            schema["items"] = {"type": element}
        if "optional" not in rest and "default" not in schema:
            required.append(name)
        properties[name] = schema
    return {**tool, "parameters": {"type": "object", "properties": properties, "required": required}}


def _read_span(span: SpanMessages) -> LoggedConversation:
    read: list[LoggedMessage] = [LoggedMessage("system", text) for text in span.instructions]
    for message in span.messages:
        role = str(message.get("role"))
        parts = [as_mapping(part) for part in _load_list(message.get("parts"))]
        texts = [str(part.get("content", "")) for part in parts if part.get("type") == "text"]
        calls = tuple(_read_call(part) for part in parts if part.get("type") == "tool_call")
        results = [part for part in parts if part.get("type") == "tool_call_response"]
        known = ("text", "tool_call", "tool_call_response", "reasoning")
        has_other_media = any(part.get("type") not in known for part in parts)
        for part in results:
            result = part.get("response", part.get("result"))
            written = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            read.append(LoggedMessage("tool", written, call_id=str(part.get("id") or "")))
        if texts or calls or not results:
            read.append(
                LoggedMessage(
                    _ROLES.get(role, role), "\n".join(texts), calls, has_other_media=has_other_media
                )
            )
    return LoggedConversation(tuple(read), tuple(map(as_mapping, span.tools)), only_last=True)
