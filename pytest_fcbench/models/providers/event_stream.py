"""Join the events of a streamed chat completion to the reply that would have come without a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_fcbench.domain.errors import CallError


def is_event_stream(content_type: str) -> bool:
    """Tell whether a reply of this content type is a stream of events."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


def join_events(body: bytes) -> dict[str, object]:
    """Join the chunks of a stream to one reply with one choice. Raises ``CallError``."""
    message: dict[str, object] = {}
    reason: object = None
    reply: dict[str, object] = {}
    chosen = False
    for line in body.decode("utf-8", "replace").split("\n"):
        data = line.strip().removeprefix("data:").strip()
        # Other lines are comments, which keep a connection open, and names of events.
        if not line.startswith("data:") or data in ("", "[DONE]"):
            continue
        try:
            chunk: object = json.loads(data)
        except (ValueError, RecursionError):
            raise CallError("garbled", f"an event is not JSON: {data[:200]!r}", transient=True) from None
        if not isinstance(chunk, Mapping):
            continue
        for name in ("usage", "error"):
            if chunk.get(name):
                reply[name] = chunk[name]
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            continue
        chosen, choice = True, choices[0]
        reason = choice.get("finish_reason") or reason
        if isinstance(delta := choice.get("delta"), Mapping):
            _add_delta(message, delta)
    if chosen:
        reply["choices"] = [{"message": message, "finish_reason": reason}]
    return reply


def _add_delta(message: dict[str, object], delta: Mapping[str, object]) -> None:
    """Add what a chunk brings: texts and lists go on, other members take the last value."""
    for name, value in delta.items():
        before = message.get(name)
        if name == "tool_calls" and isinstance(value, list):
            calls = before if isinstance(before, list) else []
            message[name] = calls
            for call in value:
                if isinstance(call, Mapping):
                    _add_tool_call(calls, call)
        elif name != "role" and isinstance(before, str) and isinstance(value, str):
            message[name] = before + value
        elif isinstance(before, list) and isinstance(value, list):
            message[name] = [*before, *value]
        # A null does not take back what came before.
        elif value is not None or name not in message:
            message[name] = value


def _add_tool_call(calls: list[object], delta: Mapping[str, object]) -> None:
    """Add a piece of a tool call; the place in the list is its index, which the message leaves out."""
    index = delta.get("index")
    place = index if isinstance(index, int) and 0 <= index <= len(calls) else len(calls)
    if place == len(calls):
        calls.append({})
    call = calls[place]
    assert isinstance(call, dict)
    for name, value in delta.items():
        if name == "function" and isinstance(value, Mapping):
            function = call.setdefault("function", {})
            for part, text in value.items():
                before = function.get(part)
                joined = before + text if isinstance(before, str) and isinstance(text, str) else text
                if joined is not None or part not in function:
                    function[part] = joined
        # Servers repeat the id in each piece, or send it empty after the first.
        elif name != "index" and (value or name not in call):
            call[name] = value
