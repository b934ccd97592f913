"""Read conversations in ShareGPT's form and that of Hermes, with calls and tools as JSON or between tags."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.tools.importing.logged import (
    ROLES,
    LoggedCall,
    LoggedConversation,
    LoggedMessage,
    load_json,
    load_list,
    read_call,
    read_text,
)

_TAGGED_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_TAGGED_RESULT = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_TAGGED_TOOLS = re.compile(r"<tools>\s*(.*?)\s*</tools>", re.DOTALL)


def read_sharegpt(value: Mapping[str, object], messages: Sequence[object]) -> LoggedConversation:
    """Read the messages of a line. Raises ``UnreadableLogError`` and ValueError."""
    read: list[LoggedMessage] = []
    tools = [*load_list(value.get("tools") or [])]
    for message in map(as_mapping, messages):
        said = str(message.get("from", message.get("role")))
        role = ROLES.get(said, said)
        text, has_other_media = read_text(message.get("value", message.get("content")))
        calls: tuple[LoggedCall, ...] = ()
        if role == "system" and (listed := _TAGGED_TOOLS.findall(text)):
            # Such a text tells a model how to call; a run tells it in the manner of the model under test.
            tools += [tool for each in listed for tool in load_tagged_tools(each)]
            continue
        if said == "function_call":
            calls, text = tuple(map(read_call, load_list(text))), ""
        elif role == "assistant" and (tagged := _TAGGED_CALL.findall(text)):
            calls = tuple(map(read_call, map(load_json, tagged)))
            text = _TAGGED_CALL.sub("", text).strip()
        if role == "tool" and (results := _TAGGED_RESULT.findall(text)):
            read += [LoggedMessage("tool", result) for result in results]
            continue
        read.append(LoggedMessage(role, text, calls, has_other_media=has_other_media))
    if system := value.get("system"):
        read.insert(0, LoggedMessage("system", str(system)))
    return LoggedConversation(tuple(read), tuple(map(as_mapping, tools)))


def load_tagged_tools(text: str) -> Sequence[object]:
    """Read tools between tags: a list, or one object after the other. Raises ValueError."""
    if text.lstrip().startswith("["):
        return load_list(text)
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text):
        tool, end = decoder.raw_decode(text, at)
        found.append(tool)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found
