"""Lines of logs in every form, about the same two functions."""

from __future__ import annotations

import json
from collections.abc import Mapping

WEATHER: Mapping[str, object] = {
    "name": "weather",
    "description": "Forecast the weather.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["city"],
    },
}
MAIL: Mapping[str, object] = {
    "name": "send_mail",
    "parameters": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "body": {"type": "string"}},
        "required": ["to"],
    },
}
TOOLS = [{"type": "function", "function": WEATHER}, {"type": "function", "function": MAIL}]


def make_call(name: str = "weather", call_id: str = "", **arguments: object) -> dict[str, object]:
    """Make a call in the chat form."""
    return {"id": call_id, "function": {"name": name, "arguments": json.dumps(arguments)}}


def say(role: str, text: str | None = None, **members: object) -> dict[str, object]:
    """Make a message in the chat form."""
    return {"role": role, "content": text, **members}


def make_chat(*messages: Mapping[str, object], **members: object) -> dict[str, object]:
    """Make a line in the chat form, in which both functions are offered."""
    return {"messages": list(messages), "tools": TOOLS, **members}


TWO_ANSWERS = make_chat(
    say("user", "Weather in Bergen?"),
    say("assistant", tool_calls=[make_call(call_id="a", city="Bergen")]),
    say("tool", "rain", tool_call_id="a"),
    say("assistant", "It rains."),
)
"""A call, and then words."""


def to_lines(*values: object) -> list[tuple[str, bytes]]:
    """Write values as JSON and texts as they are, each with a place."""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return [(f"log:{number}", text.encode()) for number, text in enumerate(texts, 1)]
