"""A conversation of a log, whatever form it was written in, and what all forms read alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.codecs.json_objects import as_mapping


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
    only_last: bool = False
    """True where only the last answer is new, because each answer has a record of its own."""


def load_json(value: object) -> object:
    """Return a value; a text is read as JSON. Raises ValueError."""
    loaded: object = json.loads(value) if isinstance(value, str) else value
    return loaded


def load_list(value: object) -> Sequence[object]:
    """Return a list; any other value becomes a list of it. Raises ValueError."""
    loaded = load_json(value)
    return loaded if isinstance(loaded, list) else [] if loaded is None else [loaded]


def read_call(value: object) -> LoggedCall:
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


ROLES: Mapping[str, str] = {
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


def read_text(content: object) -> tuple[str, bool]:
    """Return the text of a message, and whether it has parts that are not text."""
    if isinstance(content, list):
        parts = [as_mapping(part) for part in content]
        texts = [str(part["text"]) for part in parts if isinstance(part.get("text"), str)]
        return "\n".join(texts), len(texts) < len(parts)
    return (content, False) if isinstance(content, str) else ("", False)
