"""Replies in the form of each interface: whole, as a stream of events, or as a list of vectors."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.environments.world import embed_by_hash
from pytest_fcbench.judging.questions import MOST, RULES, read_prompt
from pytest_fcbench.kinds.golden_path.truth import PathWording
from pytest_fcbench.server.body import EmbeddingRequest, RefusedRequestError, estimate_tokens

_PIECE = 4
"""Characters of a text or of arguments in one event of a stream: about a token, as from a real server."""

_AROUND_CALL = '<tool_call>\n{"name": "", "arguments": }\n</tool_call>\n'
"""What models write around a call, of whose tokens usage tells too."""

END_OF_STREAM = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class SentCall:
    """A tool call as it is sent; the arguments are usually JSON text."""

    id: str
    name: str
    arguments: str

    def read_arguments(self) -> object:
        """Read the arguments, which some APIs send as an object; one that is cut is empty."""
        try:
            return read_json_text(self.arguments)
        except ValueError:
            return {}


@dataclass(frozen=True, slots=True)
class ServedReply:
    """A completion as it is sent, in whichever form; the token usage is an estimate."""

    model: str
    text: str | None
    calls: tuple[SentCall, ...] | None
    prompt_tokens: int
    completion_tokens: int
    ending: str | None = None
    """The reason why the model stopped, where it is not the usual one."""

    @property
    def finish_reason(self) -> str:
        """The reason why the model stopped, in OpenAI's words."""
        return self.ending or ("tool_calls" if self.calls else "stop")

    @property
    def usage(self) -> Mapping[str, int]:
        """The token usage in the form of a chat completion."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }

    def cut_in_half(self) -> ServedReply:
        """Return the reply with half of each call's arguments, and half of the text."""
        calls = self.calls and tuple(replace(call, arguments=_halve(call.arguments)) for call in self.calls)
        return replace(self, text=self.text and _halve(self.text), calls=calls)


def _halve(text: str) -> str:
    return text[: len(text) // 2]


def build_reply(model: str, completion: Completion, place: str, prompt_tokens: int) -> ServedReply:
    """Build the reply of a completion; ``place`` makes the ids of its calls, always the same ones."""
    calls = tuple(
        SentCall(
            f"call_{place}_{index}",
            call.name,
            call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
        )
        for index, call in enumerate(
            call for call in completion.tool_calls or () if isinstance(call, ToolCall)
        )
    )
    words = [completion.text or "", *(f"{_AROUND_CALL}{call.name}{call.arguments}" for call in calls)]
    return ServedReply(
        model,
        completion.text,
        None if completion.tool_calls is None else calls,
        prompt_tokens,
        estimate_tokens("".join(words)),
    )


# Whole replies


def write_reply(api: Api, reply: ServedReply) -> dict[str, object]:
    """Write a reply as the JSON of an API, without an id and a time, which differ each time it is sent."""
    return _WRITE[api](reply)


def _write_calls(reply: ServedReply) -> Mapping[str, object]:
    """Return the member of a message that lists its calls; none where there are no calls."""
    return {} if reply.calls is None else {"tool_calls": list(map(write_call, reply.calls))}


def write_call(call: SentCall) -> Mapping[str, object]:
    """Write a call as a member of a chat message."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _write_text(text: str | None, **kind: str) -> list[Mapping[str, object]]:
    """Return the text of a reply as its only part; no part where it has none."""
    return [] if text is None else [{**kind, "text": text}]


def _write_response(reply: ServedReply) -> dict[str, object]:
    """Write a response of OpenAI's Responses API."""
    # A reply of nothing is a message without words, so that a client can send it back.
    text = reply.text if reply.calls else reply.text or ""
    status = "incomplete" if reply.ending == "length" else "completed"
    message = {"type": "message", "role": "assistant", "status": status}
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in reply.calls or ()
    ]
    usage = {
        "input_tokens": reply.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
    }
    return {
        "object": "response",
        "status": status,
        "model": reply.model,
        "output": [
            *([] if text is None else [{**message, "content": [_make_text_part(text)]}]),
            *({**call, "status": status} for call in calls),
        ],
        "instructions": None,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "metadata": {},
        "usage": usage,
    }


def _make_text_part(text: str) -> dict[str, object]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


_STOP_REASONS = {"length": "max_tokens", "tool_calls": "tool_use"}
"""Reasons of Anthropic's interface by those of OpenAI's."""

# A row has the form of a whole reply, so that it can be read beside the documentation of its API.
_WRITE: Mapping[Api, Callable[[ServedReply], dict[str, object]]] = {
    Api.CHAT: lambda reply: {
        "object": "chat.completion",
        "model": reply.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.text, **_write_calls(reply)},
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": reply.usage,
    },
    Api.COMPLETIONS: lambda reply: {
        "object": "text_completion",
        "model": reply.model,
        "choices": [{"index": 0, "text": reply.text or "", "finish_reason": "stop"}],
        "usage": reply.usage,
    },
    Api.RESPONSES: _write_response,
    Api.MESSAGES: lambda reply: {
        "type": "message",
        "role": "assistant",
        "content": [
            *_write_text(reply.text, type="text"),
            *(
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.read_arguments()}
                for call in reply.calls or ()
            ),
        ],
        "stop_reason": _STOP_REASONS.get(reply.finish_reason, "end_turn"),
        "usage": {"input_tokens": reply.prompt_tokens, "output_tokens": reply.completion_tokens},
    },
    Api.GENERATE_CONTENT: lambda reply: {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        *_write_text(reply.text),
                        *(
                            {"functionCall": {"name": call.name, "args": call.read_arguments()}}
                            for call in reply.calls or ()
                        ),
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": reply.prompt_tokens,
            "candidatesTokenCount": reply.completion_tokens,
        },
    },
    Api.COHERE: lambda reply: {
        "message": {
            "role": "assistant",
            **({} if reply.text is None else {"content": _write_text(reply.text, type="text")}),
            **_write_calls(reply),
        },
        "finish_reason": "TOOL_CALL" if reply.calls else "COMPLETE",
        "usage": {
            "billed_units": {"input_tokens": reply.prompt_tokens, "output_tokens": reply.completion_tokens}
        },
    },
    Api.CONVERSE: lambda reply: {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    *_write_text(reply.text),
                    *(
                        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.read_arguments()}}
                        for call in reply.calls or ()
                    ),
                ],
            }
        },
        "stopReason": "tool_use" if reply.calls else "end_turn",
        "usage": {"inputTokens": reply.prompt_tokens, "outputTokens": reply.completion_tokens},
    },
}


# Streams of a chat completion


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


def split_text(text: str, length: int = _PIECE) -> Iterator[str]:
    """Yield a text in pieces of a length, by default that of a streamed piece."""
    return (text[start : start + length] for start in range(0, len(text), length))


# Responses of OpenAI's Responses API


def build_response(reply: ServedReply, number: int, created: int) -> dict[str, object]:
    """Build the response with a reply; ``number`` makes its ids unique."""
    response = write_reply(Api.RESPONSES, reply)
    output = response["output"]
    assert isinstance(output, list)
    heads = {"message": "msg", "function_call": "fc"}
    items = [{**item, "id": f"{heads[item['type']]}_{number}_{index}"} for index, item in enumerate(output)]
    return {**response, "id": f"resp_{number}", "created_at": created, "output": items}


def stream_response(response: Mapping[str, object]) -> Iterator[bytes]:
    """Yield a response as server-sent events, its texts and arguments in pieces."""
    for number, event in enumerate(_list_events(response)):
        yield serialize_event({**event, "sequence_number": number}, str(event["type"]))


def _list_events(response: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    initial_response = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": initial_response}
    yield {"type": "response.in_progress", "response": initial_response}
    output = response["output"]
    for index, item in enumerate(output if isinstance(output, list) else ()):
        where = {"output_index": index}
        empty: dict[str, object] = {"content": []} if item["type"] == "message" else {"arguments": ""}
        initial_item = {**item, **empty, "status": "in_progress"}
        yield {"type": "response.output_item.added", **where, "item": initial_item}
        where |= {"item_id": item["id"]}
        if item["type"] == "message":
            (part,) = item["content"]
            inside = where | {"content_index": 0}
            yield {"type": "response.content_part.added", **inside, "part": _make_text_part("")}
            for piece in split_text(part["text"]):
                yield {"type": "response.output_text.delta", **inside, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.done", **inside, "text": part["text"], "logprobs": []}
            yield {"type": "response.content_part.done", **inside, "part": part}
        else:
            kind = "response.function_call_arguments"
            for piece in split_text(item["arguments"]):
                yield {"type": f"{kind}.delta", **where, "delta": piece}
            yield {"type": f"{kind}.done", **where, "name": item["name"], "arguments": item["arguments"]}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


# Vectors


def build_embeddings(model: str, request: EmbeddingRequest, *, broken: bool) -> Mapping[str, object]:
    """Build the list of vectors; in a ``broken`` one the second half of them is missing."""
    vectors = embed_by_hash(request.texts)
    tokens = sum(map(estimate_tokens, request.texts))
    return {
        "object": "list",
        "model": model,
        "data": [
            {
                "object": "embedding",
                "index": index,
                # In base64 OpenAI sends 32-bit floats, the lowest byte first.
                "embedding": base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
                if request.in_base64
                else list(vector),
            }
            for index, vector in enumerate(vectors[: len(vectors) // 2] if broken else vectors)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


# Judges

_REASON = "This server agrees with everything."
_SAME, _EQUAL, _RATING = (
    json.dumps({**opinion, "reason": _REASON})
    for opinion in ({"same": True}, {"is_equal": True}, {"score": MOST})
)

_OPINIONS: Mapping[str, str] = {
    **dict.fromkeys(("equivalence", "free_text"), _SAME),
    **dict.fromkeys(("completeness", "correctness", "relevance"), _RATING),
}
"""The reply to each kind of question, by the name of its prompt."""


class Judge:
    """A judge who agrees with everything, or gives one reply to every question."""

    def __init__(self, wording: PathWording | None = None, reply: str | None = None) -> None:
        """Know our questions, and the official ones of the wording, where there is one."""
        self._reply = reply
        self._official: dict[object, str] = {}
        if wording:
            self._official = {
                wording.equivalence.system: _EQUAL,
                wording.completeness.system: _RATING,
                wording.correctness.system: _RATING,
            }

    def answer_question(self, messages: Sequence[object]) -> str | None:
        """Return the reply to a question to a judge, None for any other request.

        Raises ``RefusedRequestError`` for a question of a kind that is not known.
        """
        first = messages[0] if messages else None
        text = first.get("content") if isinstance(first, Mapping) else None
        if not isinstance(text, str):
            return None
        opinion = self._official.get(text)
        # Also the question that repeats a refused reply begins with the task.
        if opinion is None and not text.endswith(RULES):
            return None
        if self._reply is not None:
            return self._reply
        task = text.removesuffix(RULES).rstrip()
        opinion = opinion or next(
            (reply_text for name, reply_text in _OPINIONS.items() if task == read_prompt(name)), None
        )
        if opinion is None:
            raise RefusedRequestError(
                404,
                "unknown_request",
                "this question to a judge is of a kind unknown to this server; give a reply with "
                "--judge-reply",
            )
        return opinion
