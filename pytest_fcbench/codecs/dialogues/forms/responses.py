"""OpenAI's Responses API. Nothing rests on the server: every request holds the whole conversation."""

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
from pytest_fcbench.codecs.token_usage import RESPONSES, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import read_ending
from pytest_fcbench.domain.transcript import Completion, Ending, ToolCall


@dataclass(frozen=True, slots=True)
class ResponsesForm:
    """Items of a response go back as they came: reasoning, messages and calls."""

    api: Api = Api.RESPONSES
    system_role: str | None = "developer"

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request."""
        tools = {} if spoken.tools is None else {"tools": list(spoken.tools)}
        return {"model": spoken.name, "input": list(spoken.items), **tools}

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        return {"role": role, "content": text}

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer."""
        return completion

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Return the items of the response."""
        if completion.message is None:
            return [self.write_message("assistant", completion.text or "")]
        return list_members(completion.message.get("output"))

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write an item for each result."""
        return [
            {"type": "function_call_output", "call_id": call.id, "output": text}
            for call, text in pair_with_ids(calls, texts)
        ]

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a response. Raises ``CallError``."""
        if not isinstance(reply.get("output"), list):
            raise CallError("garbled", "the endpoint answered a response without output", transient=True)
        items = list_members(reply["output"])
        parts = [
            part
            for item in items
            if item.get("type") == "message"
            for part in list_members(item.get("content"))
        ]
        calls = [
            ToolCall(str(item.get("name") or ""), item.get("arguments"), str(item.get("call_id") or ""))
            for item in items
            if item.get("type") == "function_call"
        ]
        thoughts = [
            str(part.get("text") or "")
            for item in items
            if item.get("type") == "reasoning"
            for part in list_members(item.get("summary"))
        ]
        refusal = next((read_text(part.get("refusal")) for part in parts if part.get("refusal")), None)
        reason = as_object(reply.get("incomplete_details")).get("reason") or reply.get("status")
        return Completion(
            text="".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text"),
            tool_calls=tuple(calls) or None,
            reasoning="\n".join(thoughts) or None,
            finish_reason=read_text(reason),
            ending=read_ending(reason) or (Ending.REFUSED if refusal else None),
            refusal=refusal,
            message={"output": items},
            **read_tokens(reply.get("usage"), RESPONSES),
        )
