"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcbench.codecs.dialogues.forms.form import (
    Item,
    Situation,
    Spoken,
    list_members,
    pair_with_ids,
    read_text,
)
from pytest_fcbench.codecs.token_usage import MESSAGES, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import read_ending
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall

_MARK = {"cache_control": {"type": "ephemeral"}}
"""Marks the end of what the server may keep for later requests."""

_MARKED_MESSAGES = 2
"""How many messages of the user, from the last one back, carry a mark on their first block."""


@dataclass(frozen=True, slots=True)
class MessagesForm:
    """Content is a list of blocks."""

    api: Api = Api.MESSAGES
    system_role: str | None = None

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request; long conversations carry cache marks."""
        mark = _MARK if spoken.is_long else {}
        messages = list(spoken.items)
        if spoken.is_long:
            user_places = [place for place, message in enumerate(messages) if message.get("role") == "user"]
            for place in user_places[-_MARKED_MESSAGES:]:
                first, *others = list_members(messages[place]["content"])
                messages[place] = {**messages[place], "content": [{**first, **_MARK}, *others]}
        body: dict[str, object] = {"model": spoken.name, "messages": messages}
        if spoken.system is not None:
            body["system"] = [{"type": "text", "text": spoken.system, **mark}]
        if spoken.tools is not None:
            *others, last = spoken.tools or ({},)
            body["tools"] = [*others, {**last, **mark}] if spoken.tools else []
        return body

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        return {"role": role, "content": [{"type": "text", "text": text}]}

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer; in prompting only a text in the first block is one."""
        if situation.is_fc or completion.fault or completion.message is None:
            return completion
        blocks = list_members(completion.message.get("content"))
        if situation.is_repaired:
            blocks = [block for block in blocks if block.get("type") == "text"]
        first = read_text(blocks[0].get("text")) if blocks else None
        if first is None and not situation.is_repaired:
            # Official: ``content[0].text`` raises, which ends the entry.
            reason = "the first block of the answer is not a text, at which the official handler fails"
            return replace(completion, text=reason, fault=Fault.INFERENCE_ERROR)
        return replace(completion, text=first or "")

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Write the answer: its blocks as they came, or in prompting its text."""
        if completion.message is None or not situation.is_fc:
            return [{"role": "assistant", "content": completion.text or ""}]
        return [{"role": "assistant", "content": list_members(completion.message.get("content"))}]

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write all results into one message of the user."""
        blocks = [
            {"type": "tool_result", "content": text, "tool_use_id": call.id}
            for call, text in pair_with_ids(calls, texts)
        ]
        return [{"role": "user", "content": blocks}]

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        if not isinstance(reply.get("content"), list):
            raise CallError("garbled", "the endpoint answered a message without content", transient=True)
        blocks = list_members(reply["content"])
        calls = tuple(
            ToolCall(str(block.get("name") or ""), block.get("input"), str(block.get("id") or ""))
            for block in blocks
            if block.get("type") == "tool_use"
        )
        texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
        thoughts = [str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"]
        reason = reply.get("stop_reason")
        return Completion(
            text="\n".join(texts) if texts else None if calls else "",
            tool_calls=calls or None,
            reasoning="\n".join(thoughts) or None,
            finish_reason=read_text(reason),
            ending=read_ending(reason),
            message={"content": blocks},
            **read_tokens(reply.get("usage"), MESSAGES),
        )
