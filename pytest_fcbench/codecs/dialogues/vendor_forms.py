"""The forms of other vendors' APIs, and the form of each API.

They are Cohere's chat (version 2), Bedrock's converse, Google's generateContent and Anthropic's Messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcbench.codecs.chat_reply import CHAT, COHERE, CONVERSE, GENERATE_CONTENT, MESSAGES, read_tokens
from pytest_fcbench.codecs.dialogues import openai_forms
from pytest_fcbench.codecs.dialogues.openai_forms import (
    Form,
    Item,
    Situation,
    Spoken,
    list_members,
    list_typed,
)
from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall

_REPEATED_KEYS = ("tool_calls", "tool_plan", "content", "citations")


@dataclass(frozen=True, slots=True)
class CohereForm(Form):
    """Calls come with a plan, and content with thinking; both go back."""

    api = Api.COHERE
    system_role = "system"

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request; officially its last message is never the model's own."""
        items = list(spoken.items)
        if items and items[-1].get("role") == "assistant":
            items.append({"role": "user", "content": ""})
        tools = {} if spoken.tools is None else {"tools": list(spoken.tools)}
        # Official: of two names in the registry the ending is cut only here.
        return {"model": spoken.name.replace("-FC", ""), "messages": items, **tools}

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Write the answer for later requests."""
        if completion.message is None:
            return [{"role": "assistant", "content": completion.text or ""}]
        message = completion.message
        return [
            {"role": "assistant", **{name: message[name] for name in _REPEATED_KEYS if message.get(name)}}
        ]

    def write_result(self, call: ToolCall, text: str) -> Item:
        """Write a message."""
        try:
            value = read_literal(text)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            value = None
        # Official: a result that is a dict is written anew, its key ``id`` as ``ID`` and last.
        if isinstance(value, dict):
            if "id" in value:
                value["ID"] = value.pop("id")
            text = json.dumps(value)
        return {"role": "tool", "tool_call_id": call.id, "content": [{"type": "text", "text": text}]}

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        message = reply.get("message")
        if not isinstance(message, Mapping):
            raise CallError("garbled", "the endpoint answered without a message", transient=True)
        pairs = [(call, as_mapping(call.get("function"))) for call in list_members(message.get("tool_calls"))]
        calls = [
            openai_forms.make_tool_call(function.get("name"), function.get("arguments"), call.get("id"))
            for call, function in pairs
        ]
        parts = list_members(message.get("content"))
        texts = [str(part.get("text") or "") for part in parts if part.get("type") != "thinking"]
        thoughts = [str(part.get("thinking") or "") for part in parts if part.get("type") == "thinking"]
        text, reason = "\n".join(texts) if parts else None, reply.get("finish_reason")
        tokens = read_tokens(reply.get("usage"), COHERE)
        return openai_forms.make_completion(text, calls, "".join(thoughts), reason, message, tokens)


@dataclass(frozen=True, slots=True)
class ConverseForm(Form):
    """Content is a list of blocks without types; the model's name stands in the address."""

    api = Api.CONVERSE
    results_member = "content"

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

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Return the message as it came, with its reasoning and signature."""
        return [completion.message or self.write_message("assistant", completion.text or "")]

    def write_result(self, call: ToolCall, text: str) -> Item:
        """Write a block."""
        return {"toolResult": {"toolUseId": call.id, "content": [{"text": text}]}}

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        message = as_mapping(reply.get("output")).get("message")
        if not isinstance(message, Mapping):
            raise CallError("garbled", "the endpoint answered without a message", transient=True)
        blocks = list_members(message.get("content"))
        tool_uses = [as_mapping(block.get("toolUse")) for block in blocks]
        calls = tuple(
            openai_forms.make_tool_call(each.get("name"), each.get("input"), each.get("toolUseId"))
            for each in tool_uses
            if each
        )
        texts = [str(block["text"]) for block in blocks if "text" in block]
        thoughts = [
            str(as_mapping(as_mapping(block.get("reasoningContent")).get("reasoningText")).get("text") or "")
            for block in blocks
            if "reasoningContent" in block
        ]
        text, reason = "\n".join(texts) if texts else None if calls else "", reply.get("stopReason")
        tokens = read_tokens(reply.get("usage"), CONVERSE)
        return openai_forms.make_completion(text, calls, "\n".join(thoughts), reason, message, tokens)


_MOST_PARTS = 2
_NO_ANSWER = 2
"""The place of the sentence that stands for an answer without any part."""


@dataclass(frozen=True, slots=True)
class GenerateContentForm(Form):
    """Content is a list of parts; the model's name stands in the address."""

    api = Api.GENERATE_CONTENT
    results_member = "parts"

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request."""
        body: dict[str, object] = {"contents": list(spoken.items)}
        if spoken.system is not None:
            body["systemInstruction"] = {"parts": [{"text": spoken.system}], "role": "user"}
        if spoken.tools is not None:
            body["tools"] = [{"functionDeclarations": list(spoken.tools)}]
        return body

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        return {"parts": [{"text": text}], "role": "model" if role == "assistant" else role}

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer; a sentence stands for one without parts."""
        if completion.fault or completion.message is None:
            return completion
        parts = list_members(completion.message.get("parts"))
        if not parts:
            return replace(completion, text=situation.texts[_NO_ANSWER])
        if situation.is_fc:
            return completion
        if len(parts) > _MOST_PARTS and not situation.is_repaired:
            # Official: an assertion, which ends the entry.
            reason = f"the answer has {len(parts)} parts, at which the official handler fails"
            return replace(completion, text=reason, fault=Fault.INFERENCE_ERROR)
        answer_parts = [part for part in parts if not part.get("thought")]
        return replace(completion, text=str(answer_parts[-1].get("text") or "") if answer_parts else "")

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Write the answer: its parts as they came with thoughts and signatures, or in prompting its text."""
        parts = list_members(completion.message.get("parts")) if completion.message else []
        if situation.is_fc and completion.message and parts:
            return [completion.message]
        return [{"parts": [{"text": completion.text or ""}], "role": "model"}]

    def write_result(self, call: ToolCall, text: str) -> Item:
        """Write a part."""
        return {"functionResponse": {"name": call.name, "response": {"result": text}}}

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        if "candidates" not in reply and "promptFeedback" not in reply and "usageMetadata" not in reply:
            raise CallError("garbled", "the endpoint answered without any candidate", transient=True)
        candidates = list_members(reply.get("candidates")) or [{}]
        content = as_mapping(candidates[0].get("content"))
        parts = list_members(content.get("parts"))
        function_calls = [as_mapping(part.get("functionCall")) for part in parts]
        calls = tuple(
            openai_forms.make_tool_call(call["name"], call.get("args") or {}, call.get("id"))
            for call in function_calls
            if call.get("name")
        )
        texts = [
            str(part["text"])
            for part, call in zip(parts, function_calls, strict=True)
            if "text" in part and not call and not part.get("thought")
        ]
        thoughts = [str(part.get("text") or "") for part in parts if part.get("thought")]
        reason = candidates[0].get("finishReason") or as_mapping(reply.get("promptFeedback")).get(
            "blockReason"
        )
        text = None if calls and not texts else "\n".join(texts)
        tokens = read_tokens(reply.get("usageMetadata"), GENERATE_CONTENT)
        return openai_forms.make_completion(text, calls, "\n".join(thoughts), reason, dict(content), tokens)


_MARK = {"cache_control": {"type": "ephemeral"}}
"""Marks the end of what the server may keep for later requests."""

_MARKED_MESSAGES = 2
"""How many messages of the user, from the last one back, carry a mark on their first block."""


@dataclass(frozen=True, slots=True)
class MessagesForm(Form):
    """Content is a list of blocks."""

    api = Api.MESSAGES
    results_member = "content"

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
            blocks = list_typed(blocks, "text")
        first = openai_forms.read_text(blocks[0].get("text")) if blocks else None
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

    def write_result(self, call: ToolCall, text: str) -> Item:
        """Write a block."""
        return {"type": "tool_result", "content": text, "tool_use_id": call.id}

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        if not isinstance(reply.get("content"), list):
            raise CallError("garbled", "the endpoint answered a message without content", transient=True)
        blocks = list_members(reply["content"])
        calls = [
            openai_forms.make_tool_call(block.get("name"), block.get("input"), block.get("id"))
            for block in list_typed(blocks, "tool_use")
        ]
        texts = [str(block.get("text") or "") for block in list_typed(blocks, "text")]
        thoughts = [str(block.get("thinking") or "") for block in list_typed(blocks, "thinking")]
        text, reason = "\n".join(texts) if texts else None if calls else "", reply.get("stop_reason")
        tokens = read_tokens(reply.get("usage"), MESSAGES)
        return openai_forms.make_completion(
            text, calls, "\n".join(thoughts), reason, {"content": blocks}, tokens
        )


_OPENAI_FORMS = (openai_forms.ChatForm, openai_forms.ResponsesForm)
_VENDOR_FORMS = (CohereForm, ConverseForm, GenerateContentForm, MessagesForm)
FORMS: Mapping[Api, Form] = {form.api: form() for form in (*_OPENAI_FORMS, *_VENDOR_FORMS)}
"""The form of each API with messages."""


def read_family_reply(api: Api, reply: Mapping[str, object]) -> Completion:
    """Read the JSON of a reply. Raises ``CallError`` for one that is none of this API."""
    if api is not Api.COMPLETIONS:
        return FORMS[api].read_reply(reply)
    choice = openai_forms.take_choice(reply)
    text, reason = openai_forms.read_text(choice.get("text")), choice.get("finish_reason")
    return openai_forms.make_completion(text, (), "", reason, None, read_tokens(reply.get("usage"), CHAT))
