"""Read conversations in OpenAI's form for chats and fine-tuning: ``messages`` and ``tools``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.logged import (
    ROLES,
    LoggedConversation,
    LoggedMessage,
    load_list,
    read_call,
    read_text,
)


def read_chat(value: Mapping[str, object], messages: Sequence[object]) -> LoggedConversation:
    """Read the messages of a line. Raises ``UnreadableLogError`` and ValueError."""
    read = []
    for message in map(as_mapping, messages):
        role = str(message.get("role"))
        text, has_other_media = read_text(message.get("content"))
        calls = [*load_list(message.get("tool_calls")), *load_list(message.get("function_call"))]
        read.append(
            LoggedMessage(
                ROLES.get(role, role),
                text,
                tuple(map(read_call, calls)),
                str(message.get("tool_call_id") or ""),
                is_example=message.get("weight") != 0,
                has_other_media=has_other_media,
            )
        )
    offered = [*load_list(value.get("tools")), *load_list(value.get("functions"))]
    return LoggedConversation(tuple(read), tuple(map(as_mapping, offered)))
