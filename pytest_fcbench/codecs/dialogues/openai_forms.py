"""How an API writes a conversation and its replies are read: the contract, and the two forms of OpenAI.

With the Responses API nothing rests on the server: every request holds the whole conversation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, TypeAlias

from pytest_fcbench.codecs.chat_reply import RESPONSES, TokenCounts, read_choice, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.protocol_notes import read_ending
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import Completion, Ending, ToolCall

Item: TypeAlias = Mapping[str, object]
"""A message, or whatever else an API puts into its list."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """All that a request says, in parts."""

    name: str
    """The name by which the server knows the model."""
    system: str | None
    """The system text, where it does not stand among the items."""
    items: Sequence[Item]
    tools: Sequence[Item] | None
    """The tools; None where none are sent, as in prompting."""
    is_long: bool
    """True for conversations of several turns or steps."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a form has to know of the conversation to read and repeat an answer."""

    is_fc: bool
    texts: Sequence[str]
    """The official sentences of the family."""
    is_repaired: bool


class Form(ABC):
    """How one API writes a conversation."""

    api: ClassVar[Api]
    system_role: ClassVar[str | None] = None
    """The role of system messages among the others; None where the body has a member for them."""
    results_member: ClassVar[str | None] = None
    """The member of one message of the user that holds all results; None where each is a message."""

    @abstractmethod
    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request, without the parameters of the family."""

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        return {"role": role, "content": text}

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer as far as it is judged; a fault where the official handler raises."""
        return completion

    @abstractmethod
    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Write the answer for later requests; ``message`` is what the server sent."""

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write the results of tool calls; officially a result without a call is dropped."""
        results = [*map(self.write_result, calls, texts)]
        return results if self.results_member is None else [{"role": "user", self.results_member: results}]

    @abstractmethod
    def write_result(self, call: ToolCall, text: str) -> Item:
        """Write the result of a tool call: a message, or a part of one."""

    @abstractmethod
    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read the JSON of a reply. Raises ``CallError`` for one that is none of this API."""


def list_members(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list, or nothing where it is no list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def list_typed(items: Sequence[Item], kind: str) -> list[Item]:
    """Return the items of a type."""
    return [item for item in items if item.get("type") == kind]


def read_text(value: object) -> str | None:
    """Return a text, or None for anything else."""
    return value if isinstance(value, str) else None


def take_choice(reply: Mapping[str, object]) -> Mapping[str, object]:
    """Return the first choice of a reply. Raises ``CallError`` where it has none."""
    if not (choices := list_members(reply.get("choices"))):
        raise CallError("endpoint", "the endpoint answered without any choice", transient=True)
    return choices[0]


def make_tool_call(name: object, arguments: object, call_id: object) -> ToolCall:
    """Make a tool call of members that a server may leave out."""
    return ToolCall(str(name or ""), arguments, str(call_id or ""))


def make_completion(
    text: str | None,
    calls: Sequence[ToolCall],
    thoughts: str,
    reason: object,
    message: Mapping[str, object] | None,
    tokens: TokenCounts,
) -> Completion:
    """Make the completion of a reply from its parts."""
    return Completion(
        text=text,
        tool_calls=tuple(calls) or None,
        reasoning=thoughts or None,
        finish_reason=read_text(reason),
        ending=read_ending(reason),
        message=message,
        **tokens,
    )


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
class ChatForm(Form):
    """Chat completions."""

    repeated: Repeated = Repeated.VERBATIM
    result_ids: ResultIds = ResultIds.ID
    tools_member: str = "tools"
    api = Api.CHAT
    system_role = "system"

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request."""
        tools = {} if spoken.tools is None else {self.tools_member: list(spoken.tools)}
        return {"model": spoken.name, "messages": list(spoken.items), **tools}

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""
        message = {"role": role, "content": text}
        is_marked = self.repeated is Repeated.MISTRAL and role == "assistant"
        return {**message, "prefix": False} if is_marked else message

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

    def write_result(self, call: ToolCall, text: str) -> Item:
        """Write a message."""
        return {"role": "tool", **_CALL_MEMBERS[self.result_ids](call), "content": text}

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a reply. Raises ``CallError``."""
        return read_choice(take_choice(reply), reply.get("usage"), ())


@dataclass(frozen=True, slots=True)
class ResponsesForm(Form):
    """Items of a response go back as they came: reasoning, messages and calls."""

    api = Api.RESPONSES
    system_role = "developer"

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request."""
        tools = {} if spoken.tools is None else {"tools": list(spoken.tools)}
        return {"model": spoken.name, "input": list(spoken.items), **tools}

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Return the items of the response."""
        if completion.message is None:
            return [self.write_message("assistant", completion.text or "")]
        return list_members(completion.message.get("output"))

    def write_result(self, call: ToolCall, text: str) -> Item:
        """Write an item."""
        return {"type": "function_call_output", "call_id": call.id, "output": text}

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read a response. Raises ``CallError``."""
        if not isinstance(reply.get("output"), list):
            raise CallError("garbled", "the endpoint answered a response without output", transient=True)
        items = list_members(reply["output"])
        messages, function_calls, reasonings = (
            list_typed(items, kind) for kind in ("message", "function_call", "reasoning")
        )
        parts = [part for item in messages for part in list_members(item.get("content"))]
        calls = [
            make_tool_call(item.get("name"), item.get("arguments"), item.get("call_id"))
            for item in function_calls
        ]
        summaries = [part for item in reasonings for part in list_members(item.get("summary"))]
        thoughts = [str(part.get("text") or "") for part in summaries]
        refusal = next((read_text(part.get("refusal")) for part in parts if part.get("refusal")), None)
        reason = as_mapping(reply.get("incomplete_details")).get("reason") or reply.get("status")
        text = "".join(str(part.get("text") or "") for part in list_typed(parts, "output_text"))
        tokens = read_tokens(reply.get("usage"), RESPONSES)
        completion = make_completion(text, calls, "\n".join(thoughts), reason, {"output": items}, tokens)
        ending = completion.ending or (Ending.REFUSED if refusal else None)
        return replace(completion, ending=ending, refusal=refusal)
