"""Read messages, their parts and their calls in the form of whoever wrote them; keys tell the forms apart.

Known are the messages of OpenAI's interfaces (chat, responses), Anthropic's, Bedrock's, Gemini's and
Cohere's, of LangChain and OpenTelemetry, and of training data (ShareGPT, Hermes, ms-swift, LLaMA-Factory).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.logged import (
    LoggedCall,
    LoggedMessage,
    UnreadableLogError,
    load_json,
    load_list,
)

_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "gpt", "model", "ai", "chatbot", "bot"), "assistant"),
    **dict.fromkeys(("function_call", "tool_call", "tool_calls"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "ipython", "tool_response", "tool_result"), "tool"),
    **dict.fromkeys(("function_response", "function_call_output", "tool_output"), "tool"),
}
"""The roles of the forms in the words of the chat form."""

_CALL_ROLES = frozenset({"function_call", "tool_call", "tool_calls"})
"""Roles, and types of parts, that are calls and nothing else."""
_CALL_KEYS = ("toolUse", "functionCall", "function_call")
_CALL_TYPES = _CALL_ROLES | {"tool_use"}
_RESULT_KEYS = ("toolResult", "functionResponse", "function_response")
_RESULT_TYPES = frozenset(
    {"tool_result", "tool_call_response", "function_call_output", "tool_response", "tool_output"}
)
_TEXT_TYPES = (None, "text", "input_text", "output_text", "refusal")
_SILENT = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoningContent", "cachePoint", "thought"}
)
"""Types and keys of parts that say nothing to the user."""

_TAGGED_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


def read_messages(values: Iterable[object]) -> tuple[LoggedMessage, ...]:
    """Read messages in order. Raises ``UnreadableLogError`` and ValueError."""
    read: list[LoggedMessage] = []
    for value in values:
        bare_message = unwrap_message(as_mapping(value))
        for message in _read_message(bare_message):
            # Some forms have a message for each call, beside one for the words of the same answer.
            if read and _name_role(bare_message) in _CALL_ROLES and read[-1].role == "assistant":
                read[-1] = replace(read[-1], calls=(*read[-1].calls, *message.calls))
            else:
                read.append(message)
    return tuple(read)


def unwrap_message(value: Mapping[str, object]) -> Mapping[str, object]:
    """Return a message without what LangChain and OpenInference put around it."""
    for key in ("kwargs", "data", "message"):
        if isinstance(inner := value.get(key), Mapping):
            path = value.get("id")
            kind = str(path[-1]) if isinstance(path, list) and path else str(value.get("type", ""))
            role = kind.removesuffix("Chunk").removesuffix("Message").lower()
            return {**({"role": role} if role in _ROLES else {}), **inner}
    return value


def _name_role(message: Mapping[str, object]) -> str:
    """Return who says a message, or what kind of thing it is, in the words of its form."""
    role = str(next((message[key] for key in ("role", "from", "type") if message.get(key)), None))
    return "assistant" if role == "message" else role


def _read_message(message: Mapping[str, object]) -> Iterator[LoggedMessage]:
    """Read a message, which may be several: results beside words."""
    role_name = _name_role(message)
    if role_name in _SILENT:
        return
    role = _ROLES.get(role_name.lower(), role_name)
    keys = ("content", "value", "parts", "message", "output")
    content = next((message[key] for key in keys if key in message), None)
    call_id = str(message.get("tool_call_id") or message.get("call_id") or "")
    is_example = message.get("weight") != 0
    if role_name in _CALL_ROLES:
        calls = map(read_call, load_list(content) if content else [message])
        yield LoggedMessage(role, "", tuple(calls), is_example=is_example)
        return
    parts = content if isinstance(content, list) else [] if content is None else [content]
    read = [_read_part(part) for part in parts]
    values = [as_mapping(part) for part, reading in zip(parts, read, strict=True) if isinstance(reading, str)]
    if role == "tool" and (None in read or any(len(value) > 1 and "type" not in value for value in values)):
        # A result may be any value.
        read = [json.dumps(content, ensure_ascii=False)]
    yield from (part for part in read if isinstance(part, LoggedMessage))
    all_calls = [part for part in read if isinstance(part, LoggedCall)] or _read_calls_beside(message)
    text = "\n".join(part for part in read if part and isinstance(part, str))
    results = _TAGGED_RESULT.findall(text) if role in ("tool", "user") else []
    if results and not _TAGGED_RESULT.sub("", text).strip():
        yield from (LoggedMessage("tool", each, call_id=call_id) for each in results)
    elif text or all_calls or None in read or not any(isinstance(part, LoggedMessage) for part in read):
        unknown = [as_mapping(part) for part, reading in zip(parts, read, strict=False) if reading is None]
        other = next((str(part.get("type") or next(iter(part), "?")) for part in unknown), "")
        yield LoggedMessage(role, text, tuple(all_calls), call_id, is_example, other)


def _read_calls_beside(message: Mapping[str, object]) -> list[LoggedCall]:
    """Read the calls that stand beside the content; LangChain kept those of an interface in a member."""
    for holder in (message, as_mapping(message.get("additional_kwargs"))):
        for key in ("tool_calls", "function_call", "toolCalls"):
            if calls := holder.get(key):
                return [*map(read_call, load_list(calls))]
    return []


def _read_part(part: object) -> str | LoggedCall | LoggedMessage | None:
    """Read a part of a message; None for one that is no text, no call and no result."""
    if isinstance(part, str):
        return part
    value = as_mapping(part)
    kind = value.get("type")
    if not isinstance(kind, str | None):
        return None
    if kind in _CALL_TYPES:
        return read_call(load_json(value["value"]) if isinstance(value.get("value"), str) else value)
    if kind in _RESULT_TYPES:
        return _read_result(value)
    for key, inner in value.items():
        if key in _CALL_KEYS and isinstance(inner, Mapping):
            return read_call(inner)
        if key in _RESULT_KEYS and isinstance(inner, Mapping):
            return _read_result(inner)
    if kind in _SILENT or any(value.get(key) for key in _SILENT):
        return ""
    text = next((value[key] for key in ("text", "value", "content", "refusal") if key in value), None)
    return text if kind in _TEXT_TYPES and isinstance(text, str) else None


def _read_result(value: Mapping[str, object]) -> LoggedMessage:
    """Read the result of a call: a text, parts that have one, or any JSON value."""
    keys = ("content", "response", "result", "output", "value")
    result = next((value[key] for key in keys if key in value), "")
    if isinstance(result, list) and all(
        isinstance(each, Mapping) and {"text", "json"} & each.keys() for each in result
    ):
        pieces = [each.get("text", each.get("json")) for each in map(as_mapping, result)]
        result = pieces[0] if len(pieces) == 1 else "\n".join(map(write_text, pieces))
    ids = ("tool_use_id", "toolUseId", "call_id", "tool_call_id", "id")
    return LoggedMessage(
        "tool", write_text(result), call_id=next((str(value[key]) for key in ids if value.get(key)), "")
    )


def write_text(value: object) -> str:
    """Return a text, or any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_call(value: object) -> LoggedCall:
    """Read a call, in a ``function`` or not. Raises ``UnreadableLogError``."""
    members = as_mapping(value)
    outer = as_mapping(members.get("tool_call", members))
    call = as_mapping(inner) if isinstance(inner := outer.get("function"), Mapping) else outer
    name = next(
        (call[key] for key in ("name", "tool_name", "function") if isinstance(call.get(key), str)), None
    )
    if not isinstance(name, str):
        raise UnreadableLogError(f"has a call without a name: {json.dumps(value)[:80]}")
    keys = ("arguments", "parameters", "args", "input")
    arguments = next((call[key] for key in keys if call.get(key) is not None), {})
    ids = (outer[key] for key in ("call_id", "toolUseId", "id") if outer.get(key))
    if isinstance(arguments, str):
        # What is no JSON is what the assistant said; no entry is made of it.
        with suppress(ValueError):
            arguments = load_json(arguments) if arguments.strip() else {}
    return LoggedCall(name, arguments, str(next(ids, "")))
