"""Cohere's chat, version 2."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.codecs.dialogues.forms.form import (
    Item,
    Situation,
    Spoken,
    as_object,
    list_members,
    pair_with_ids,
    read_text,
)
from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.codecs.token_usage import COHERE, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import read_ending
from pytest_fcbench.domain.transcript import Completion, ToolCall

_REPEATED_KEYS = ("tool_calls", "tool_plan", "content", "citations")


@dataclass(frozen=True, slots=True)
class CohereForm:
    """Calls come with a plan, and content with thinking; both go back."""

    api: Api = Api.COHERE
    system_role: str | None = "system"

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request; officially its last message is never the model's own."""
        items = list(spoken.items)
        if items and items[-1].get("role") == "assistant":
            items.append({"role": "user", "content": ""})
        tools = {} if spoken.tools is None else {"tools": list(spoken.tools)}
        return {"model": spoken.name, "messages": items, **tools}

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        return {"role": role, "content": text}

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer."""
        return completion

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Write the answer for later requests."""
        if completion.message is None:
            return [{"role": "assistant", "content": completion.text or ""}]
        message = completion.message
        return [
            {"role": "assistant", **{name: message[name] for name in _REPEATED_KEYS if message.get(name)}}
        ]

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write a message for each result."""
        items = []
        for call, text in pair_with_ids(calls, texts):
            try:
                value = read_literal(text)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                value = None
            # Official: a result that is a dict is written anew, its key ``id`` as ``ID`` and last.
            if isinstance(value, dict):
                if "id" in value:
                    value["ID"] = value.pop("id")
                text = json.dumps(value)
            content = [{"type": "text", "text": text}]
            items.append({"role": "tool", "tool_call_id": call.id, "content": content})
        return items

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        message = reply.get("message")
        if not isinstance(message, Mapping):
            raise CallError("garbled", "the endpoint answered without a message", transient=True)
        calls = tuple(
            ToolCall(
                str(as_object(call.get("function")).get("name") or ""),
                as_object(call.get("function")).get("arguments"),
                str(call.get("id") or ""),
            )
            for call in list_members(message.get("tool_calls"))
        )
        parts = list_members(message.get("content"))
        texts = [str(part.get("text") or "") for part in parts if part.get("type") != "thinking"]
        thoughts = [str(part.get("thinking") or "") for part in parts if part.get("type") == "thinking"]
        reason = reply.get("finish_reason")
        return Completion(
            text="\n".join(texts) if parts else None,
            tool_calls=calls or None,
            reasoning="".join(thoughts) or None,
            finish_reason=read_text(reason),
            ending=read_ending(reason),
            message=message,
            **read_tokens(reply.get("usage"), COHERE),
        )
