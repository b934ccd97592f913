"""Replies, and their serialization as a chat completion: whole, or as a stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypedDict

from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.server.body import Body
from pytest_fcbench.server.lookup import FoundRequest, estimate_tokens

_PIECE = 4
"""Characters of a text or of arguments in one event of a stream: about a token, as from a real server."""

END_OF_STREAM = b"data: [DONE]\n\n"


class SentFunction(TypedDict, total=False):
    """What a piece of a tool call brings of its function."""

    name: str
    arguments: object
    """A piece of JSON text."""


class CallPiece(TypedDict, total=False):
    """A piece of a tool call in a stream."""

    index: int | str
    id: str
    type: str
    function: SentFunction


class Delta(TypedDict, total=False):
    """What a chunk of a stream adds to the message."""

    role: str
    content: str | None
    tool_calls: list[CallPiece]


class ChunkChoice(TypedDict, total=False):
    """The one choice of a chunk of a stream."""

    index: int
    delta: Delta
    message: Delta
    """A whole message, which only a server with a fault sends."""
    finish_reason: str | None


@dataclass(frozen=True, slots=True)
class SentCall:
    """A tool call as it is sent; the arguments are usually JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ServedReply:
    """A completion as it is sent, in whichever form; the token usage is an estimate."""

    model: str
    text: str | None
    calls: tuple[SentCall, ...] | None
    prompt_tokens: int
    completion_tokens: int

    @property
    def finish_reason(self) -> str:
        """The reason why the model stopped, in OpenAI's words."""
        return "tool_calls" if self.calls else "stop"

    @property
    def usage(self) -> Mapping[str, int]:
        """The token usage in the form of a chat completion."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


def build_reply(
    model: str, found_request: FoundRequest, completion: Completion, *, broken: bool
) -> ServedReply:
    """Build the reply to a request; in a ``broken`` one the arguments, or the text, are cut in half."""
    calls = [call for call in completion.tool_calls or () if isinstance(call, ToolCall)]
    text, arguments = completion.text, [str(call.arguments) for call in calls]
    if broken:
        text, arguments = text and _cut_in_half(text), [_cut_in_half(argument) for argument in arguments]
    sent_calls = tuple(
        SentCall(f"call_{found_request.entry.key}_{index}", call.name, argument)
        for index, (call, argument) in enumerate(zip(calls, arguments, strict=True))
    )
    tokens = estimate_tokens("".join([text or "", *(call.name for call in calls), *arguments]))
    return ServedReply(
        model,
        text,
        None if completion.tool_calls is None else sent_calls,
        found_request.prompt_tokens,
        tokens,
    )


def build_text_reply(model: str, body: Body, text: str, *, broken: bool) -> ServedReply:
    """Build the reply with a text to a request that is not about an entry."""
    text = _cut_in_half(text) if broken else text
    prompt = estimate_tokens(json.dumps([body.messages, body.tools], ensure_ascii=False))
    return ServedReply(model, text, None, prompt, estimate_tokens(text))


def serialize_reply(reply: ServedReply) -> bytes:
    """Serialize a reply without its opening brace, id and time, which differ each time it is sent."""
    message: dict[str, object] = {"role": "assistant", "content": reply.text}
    if reply.calls is not None:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in reply.calls
        ]
    body = {
        "object": "chat.completion",
        "model": reply.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": reply.usage,
    }
    return json.dumps(body).encode()[1:]


def list_choices(reply: ServedReply) -> list[ChunkChoice]:
    """Return what the chunks of a stream say: the role, the text and the tool calls in pieces, the end.

    An empty list of tool calls has no form in a stream.
    """
    deltas: list[Delta] = [{"role": "assistant", "content": None if reply.text is None else ""}]
    deltas += [{"content": piece} for piece in split_text(reply.text or "")]
    for index, call in enumerate(reply.calls or ()):
        function: SentFunction = {"name": call.name, "arguments": ""}
        deltas.append(
            {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
        )
        for piece in split_text(call.arguments):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    choices: list[ChunkChoice] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    return [*choices, {"index": 0, "delta": {}, "finish_reason": reply.finish_reason}]


def write_stream(
    choices: Iterable[ChunkChoice], reply: ServedReply, reply_id: str, created: int, *, include_usage: bool
) -> list[bytes]:
    """Write a reply as server-sent events, a chunk for each choice."""
    events = []
    # The last chunk, which is for the usage, has no choice.
    for chunk_choices in (*([choice] for choice in choices), []):
        chunk: dict[str, object] = {
            "id": reply_id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": reply.model,
            "choices": chunk_choices,
        }
        # OpenAI sends a null in all chunks but the last one.
        if include_usage:
            chunk["usage"] = None if chunk_choices else reply.usage
        if chunk_choices or include_usage:
            events.append(serialize_event(chunk))
    return [*events, END_OF_STREAM]


def serialize_event(value: Mapping[str, object], name: str | None = None) -> bytes:
    """Serialize a value as a server-sent event, with the event's name if it has one."""
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def split_text(text: str) -> Iterator[str]:
    """Yield a text in the pieces in which it is streamed."""
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def _cut_in_half(text: str) -> str:
    return text[: len(text) // 2]
