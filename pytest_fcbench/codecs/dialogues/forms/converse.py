"""Amazon Bedrock's converse."""

from __future__ import annotations

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
from pytest_fcbench.codecs.token_usage import CONVERSE, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import read_ending
from pytest_fcbench.domain.transcript import Completion, ToolCall


@dataclass(frozen=True, slots=True)
class ConverseForm:
    """Content is a list of blocks without types; the model's name stands in the address."""

    api: Api = Api.CONVERSE
    system_role: str | None = None

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request."""
        body: dict[str, object] = {
            "messages": list(spoken.items),
            "system": [] if spoken.system is None else [{"text": spoken.system}],
        }
        if spoken.tools:
            body["toolConfig"] = {"tools": list(spoken.tools)}
        return body

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        return {"role": role, "content": [{"text": text}]}

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer."""
        return completion

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Return the message as it came, with its reasoning and signature."""
        return [completion.message or self.write_message("assistant", completion.text or "")]

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write all results into one message of the user."""
        blocks = [
            {"toolResult": {"toolUseId": call.id, "content": [{"text": text}]}}
            for call, text in pair_with_ids(calls, texts)
        ]
        return [{"role": "user", "content": blocks}]

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        message = as_object(reply.get("output")).get("message")
        if not isinstance(message, Mapping):
            raise CallError("garbled", "the endpoint answered without a message", transient=True)
        blocks = list_members(message.get("content"))
        tool_uses = [as_object(block.get("toolUse")) for block in blocks]
        calls = tuple(
            ToolCall(str(each.get("name") or ""), each.get("input"), str(each.get("toolUseId") or ""))
            for each in tool_uses
            if each
        )
        texts = [str(block["text"]) for block in blocks if "text" in block]
        thoughts = [
            str(as_object(as_object(block.get("reasoningContent")).get("reasoningText")).get("text") or "")
            for block in blocks
            if "reasoningContent" in block
        ]
        reason = reply.get("stopReason")
        return Completion(
            text="\n".join(texts) if texts else None if calls else "",
            tool_calls=calls or None,
            reasoning="\n".join(thoughts) or None,
            finish_reason=read_text(reason),
            ending=read_ending(reason),
            message=message,
            **read_tokens(reply.get("usage"), CONVERSE),
        )
