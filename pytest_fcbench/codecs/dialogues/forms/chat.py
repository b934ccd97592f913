"""OpenAI's chat completions, with what families change in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.codecs.chat_reply import read_choice
from pytest_fcbench.codecs.dialogues.forms.form import (
    Item,
    Situation,
    Spoken,
    list_members,
    pair_with_ids,
)
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.transcript import Completion, ToolCall


class Repeated(StrEnum):
    """What later requests repeat of an answer."""

    VERBATIM = "verbatim"
    """The message as it came."""
    WITHOUT_REASONING = "without_reasoning"
    """Text and calls, written anew."""
    WITH_REASONING = "with_reasoning"
    """Reasoning and calls; the text only where there are no calls."""
    CALLS_ALONE = "calls_alone"
    """The calls as they came, and an empty text whatever the answer says."""
    MISTRAL = "mistral"
    """The message as it came, marked as no beginning to go on from."""


class ResultIds(StrEnum):
    """How a result names its call."""

    ID = "id"
    NAME_AND_ID = "name_and_id"
    NONE = "none"
    NAME_AS_ID = "name_as_id"


_CALL_MEMBERS: Mapping[ResultIds, Callable[[ToolCall], Item]] = {
    ResultIds.ID: lambda call: {"tool_call_id": call.id},
    ResultIds.NAME_AND_ID: lambda call: {"tool_call_id": call.id, "name": call.name},
    ResultIds.NONE: lambda call: {},
    ResultIds.NAME_AS_ID: lambda call: {"tool_call_id": call.name},
}
"""The members of a result that name its call."""


@dataclass(frozen=True, slots=True)
class ChatForm:
    """Chat completions."""

    repeated: Repeated = Repeated.VERBATIM
    result_ids: ResultIds = ResultIds.ID
    tools_member: str = "tools"
    api: Api = Api.CHAT
    system_role: str | None = "system"

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request."""
        tools = {} if spoken.tools is None else {self.tools_member: list(spoken.tools)}
        return {"model": spoken.name, "messages": list(spoken.items), **tools}

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        message = {"role": role, "content": text}
        is_marked = self.repeated is Repeated.MISTRAL and role == "assistant"
        return {**message, "prefix": False} if is_marked else message

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer."""
        return completion

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Write the answer for later requests."""
        message = completion.message or {"role": "assistant", "content": completion.text or ""}
        calls = list_members(message.get("tool_calls"))
        match self.repeated:
            case Repeated.VERBATIM:
                return [message]
            case Repeated.MISTRAL:
                return [{**message, "prefix": False}]
            case Repeated.CALLS_ALONE:
                return [{"role": "assistant", "content": "", "tool_calls": calls}]
        new_message: dict[str, object] = {"role": "assistant", "content": message.get("content")}
        if calls:
            keys = ("id", "type", "function")
            new_message["tool_calls"] = [{key: call[key] for key in call if key in keys} for call in calls]
        if self.repeated is Repeated.WITH_REASONING:
            if calls:
                new_message["content"] = None
            new_message["reasoning_content"] = completion.reasoning or ""
        return [new_message]

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write a message for each result."""
        return [
            {"role": "tool", **_CALL_MEMBERS[self.result_ids](call), "content": text}
            for call, text in pair_with_ids(calls, texts)
        ]

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        choices = list_members(reply.get("choices"))
        if not choices:
            raise CallError("endpoint", "the endpoint answered without any choice", transient=True)
        return read_choice(choices[0], reply.get("usage"), ())
