"""Google's generateContent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcbench.codecs.dialogues.forms.form import (
    Item,
    Situation,
    Spoken,
    as_object,
    list_members,
    pair_with_ids,
    read_text,
)
from pytest_fcbench.codecs.token_usage import GENERATE_CONTENT, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import read_ending
from pytest_fcbench.domain.transcript import Completion, Fault, ToolCall

_MOST_PARTS = 2
_NO_ANSWER = 2
"""The place of the sentence that stands for an answer without any part."""


@dataclass(frozen=True, slots=True)
class GenerateContentForm:
    """Content is a list of parts; the model's name stands in the address."""

    api: Api = Api.GENERATE_CONTENT
    system_role: str | None = None

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

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write all results into one content of the user, each as it is."""
        parts = [
            {"functionResponse": {"name": call.name, "response": {"result": text}}}
            for call, text in pair_with_ids(calls, texts)
        ]
        return [{"parts": parts, "role": "user"}]

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        if "candidates" not in reply and "promptFeedback" not in reply and "usageMetadata" not in reply:
            raise CallError("garbled", "the endpoint answered without any candidate", transient=True)
        candidates = list_members(reply.get("candidates")) or [{}]
        content = as_object(candidates[0].get("content"))
        parts = list_members(content.get("parts"))
        function_calls = [as_object(part.get("functionCall")) for part in parts]
        calls = tuple(
            ToolCall(str(call["name"]), call.get("args") or {}, str(call.get("id") or ""))
            for call in function_calls
            if call.get("name")
        )
        texts = [
            str(part["text"])
            for part, call in zip(parts, function_calls, strict=True)
            if "text" in part and not call and not part.get("thought")
        ]
        thoughts = [str(part.get("text") or "") for part in parts if part.get("thought")]
        reason = candidates[0].get("finishReason") or as_object(reply.get("promptFeedback")).get(
            "blockReason"
        )
        return Completion(
            text=None if calls and not texts else "\n".join(texts),
            tool_calls=calls or None,
            reasoning="\n".join(thoughts) or None,
            finish_reason=read_text(reason),
            ending=read_ending(reason),
            message=dict(content),
            **read_tokens(reply.get("usageMetadata"), GENERATE_CONTENT),
        )
