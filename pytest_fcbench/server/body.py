"""The bodies of requests, read as chat requests, and the errors that answer them.

A request of OpenAI's Responses API becomes the chat request that asks the same, so both are about the same
entry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count

from pytest_fcbench.codecs.dialogues.dialogue import read_task
from pytest_fcbench.domain.text import as_list, as_mapping, read_json_text
from pytest_fcbench.environments.world import embed_by_hash

_SHORT = 2**16
"""The longest body, in bytes or characters, that is remembered."""


class RefusedRequestError(Exception):
    """An error that answers a request: HTTP status, OpenAI's code, a sentence."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class Body:
    """The parts of a request's body that the server uses."""

    digest: bytes
    """Hash of messages and tools as JSON values; missing tools count as an empty list."""
    messages: Sequence[object] = field(compare=False)
    """The messages without members that are null, and with numbers as ids of tool calls."""
    tools: object = field(compare=False)
    stream: bool = False
    include_usage: bool = False
    """True where the last event of a stream shall tell the token usage."""
    is_continued: bool = False
    """True where a base model is asked, whose last task the messages are."""

    def leave_out_results(self) -> Body:
        """Return the body without the results of calls."""
        return interpret_body({"messages": leave_out_results(self.messages), "tools": self.tools})


def leave_out_results(messages: Sequence[object]) -> list[object]:
    """Return messages without the results of calls, which the server cannot know."""
    return [
        {**message, "content": ""} if isinstance(message, Mapping) and _has_results(message) else message
        for message in messages
    ]


def _has_results(message: Mapping[object, object]) -> bool:
    # In prompting mode results are told in a message of the user.
    return message.get("role") == "tool" or str(message.get("content")).startswith("[{'role': 'tool'")


def parse_json(text: str | bytes) -> object:
    """Parse the body of a request. Raises ``RefusedRequestError`` where it is not JSON."""
    try:
        # By value, because some clients (JavaScript) write ``1`` for ``1.0``.
        body: object = read_json_text(
            text, parse_float=lambda digits: int(number) if (number := float(digits)).is_integer() else number
        )
    except (ValueError, RecursionError) as error:
        raise RefusedRequestError(400, "invalid_json", f"the body is not JSON: {error}") from None
    return body


def read_body(text: str | bytes) -> Body:
    """Read a chat request. Raises ``RefusedRequestError`` for one that is not JSON or has no messages."""
    return _read_short_body(text) if len(text) <= _SHORT else interpret_body(parse_json(text))


# Trials of an entry send the same, one soon after the other.
@lru_cache(256)
def _read_short_body(text: str | bytes) -> Body:
    return interpret_body(parse_json(text))


def interpret_body(body: object) -> Body:
    """Interpret a parsed chat request. Raises ``RefusedRequestError`` for one without messages."""
    try:
        if not isinstance(body, Mapping) or not isinstance(body.get("messages"), list):
            raise make_refusal("the body must be an object with a list of messages")
        messages = interpret_messages(body["messages"])
        # Temperature, model and the order of keys differ from client to client, so they are left out.
        tools = body.get("tools") or []
        digest = make_digest(messages, json.dumps(tools, sort_keys=True))
    except RecursionError as error:
        raise RefusedRequestError(400, "invalid_json", f"the body is not JSON: {error}") from None
    options = body.get("stream_options")
    return Body(
        digest,
        messages,
        tools,
        stream=bool(body.get("stream")),
        include_usage=isinstance(options, Mapping) and bool(options.get("include_usage")),
    )


def interpret_messages(messages: Sequence[object]) -> list[object]:
    """Return messages without what differs from client to client."""
    # Clients leave out the content of a message that has none, or send null.
    return number_call_ids(
        [
            {key: value for key, value in message.items() if value is not None}
            if isinstance(message, Mapping)
            else message
            for message in messages
        ]
    )


def make_digest(messages: Sequence[object], tools: str) -> bytes:
    """Hash interpreted messages, and tools as JSON with sorted keys."""
    return hashlib.sha256(f"[{json.dumps(messages, sort_keys=True)}, {tools}]".encode()).digest()


def number_call_ids(messages: Sequence[object]) -> list[object]:
    """Replace the ids of tool calls by numbers, because each client has its own.

    Some send back what the server gave, others make new ones, and a server may give an id again.
    """
    numbers: dict[object, str] = {}
    places = count(1)
    numbered_messages: list[object] = []
    for message in messages:
        members = as_mapping(message)
        if isinstance(members.get("tool_calls"), list):
            calls = as_list(members["tool_calls"])[:]
            for at, call in enumerate(calls):
                if isinstance(call, Mapping) and isinstance(call.get("id"), str):
                    numbers[call["id"]] = number = f"call {next(places)}"
                    calls[at] = {**call, "id": number}
            message = {**members, "tool_calls": calls}
        elif isinstance(call_id := members.get("tool_call_id"), str):
            message = {**members, "tool_call_id": numbers.get(call_id, call_id)}
        numbered_messages.append(message)
    return numbered_messages


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: one for four bytes of UTF-8, one at least."""
    return max(1, len(text.encode(errors="replace")) // 4)


def make_refusal(message: str, code: str = "invalid_request") -> RefusedRequestError:
    """Make the error that answers a wrong request with status 400."""
    return RefusedRequestError(400, code, message)


def read_completion_request(text: str | bytes) -> Body:
    """Read a request of a base model, whose last task becomes messages. Raises ``RefusedRequestError``."""
    value = parse_json(text)
    prompt = value.get("prompt") if isinstance(value, Mapping) else None
    if not isinstance(prompt, str):
        raise make_refusal("the body must be an object with a text as 'prompt'")
    return replace(interpret_body({"messages": [*read_task(prompt)]}), is_continued=True)


# The Responses API

_TEXT_PARTS = ("input_text", "output_text", "text")

_STATEFUL = ("previous_response_id", "conversation", "prompt")
"""Members that name what an earlier request has stored."""


def read_response_request(text: str | bytes) -> Body:
    """Read a request. Raises ``RefusedRequestError`` for one that no chat request can ask."""
    value = parse_json(text)
    if not isinstance(value, Mapping) or not isinstance(value.get("input"), (str, list)):
        raise make_refusal("the body must be an object with 'input', a text or a list of items")
    for name in _STATEFUL:
        if value.get(name) is not None:
            raise make_refusal(
                f"this server stores nothing between requests; leave {name!r} out and send the whole "
                f"conversation as 'input'",
                "unsupported",
            )
    instructions, tools = value.get("instructions"), value.get("tools") or []
    messages: list[Mapping[str, object]] = []
    if instructions is not None:
        messages.append({"role": "system", "content": instructions})
    if isinstance(value["input"], str):
        messages.append({"role": "user", "content": value["input"]})
    else:
        messages += _convert_items(value["input"])
    if not isinstance(tools, list):
        raise make_refusal("'tools' must be a list")
    # The tools in the form of a chat request, without ``strict``, which no entry has.
    chat_tools = []
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping) or tool.get("type") != "function" or "name" not in tool:
            raise make_refusal(
                f'tools[{index}] must be {{"type": "function", "name": ..., "parameters": ...}}; this server '
                f"takes no other tools",
                "unsupported",
            )
        function = {name: tool[name] for name in tool if name not in ("type", "strict")}
        chat_tools.append({"type": "function", "function": function})
    chat_body = {"messages": messages, "tools": chat_tools, "stream": value.get("stream")}
    return interpret_body(chat_body)


def _convert_items(items: Sequence[object]) -> Sequence[Mapping[str, object]]:
    """Convert the items of a conversation to messages; calls go with the text before them."""
    messages: list[Mapping[str, object]] = []
    for index, item in enumerate(items):
        place = f"input[{index}]"
        if not isinstance(item, Mapping):
            raise make_refusal(f"{place} must be an object")
        match item.get("type", "message"):
            case "message":
                # Both roles are for whoever deploys the model; entries have the older one.
                role = "system" if item.get("role") == "developer" else item.get("role")
                messages.append({"role": role, "content": _join_parts(item.get("content"), place)})
            case "function_call":
                function = {"name": item.get("name"), "arguments": item.get("arguments")}
                call = {"id": item.get("call_id"), "type": "function", "function": function}
                last_message = messages.pop() if messages and messages[-1]["role"] == "assistant" else None
                earlier = last_message.get("tool_calls") if last_message else None
                calls = [*(earlier if isinstance(earlier, list) else ()), call]
                messages.append({**(last_message or {"role": "assistant"}), "tool_calls": calls})
            case "function_call_output":
                output = _join_parts(item.get("output"), place)
                messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
            case "reasoning":
                # Clients send back all items of a reply. The models of this server do not reason.
                pass
            case kind:
                raise make_refusal(
                    f"{place} is of the type {kind!r}; this server takes message, function_call, "
                    f"function_call_output and reasoning",
                    "unsupported",
                )
    return messages


def _join_parts(content: object, place: str) -> str:
    """Return the text of a content: a text itself, or a list of parts that are texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise make_refusal(f"{place} must have a text or a list of parts")
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in _TEXT_PARTS or not isinstance(part.get("text"), str):
            raise make_refusal(
                f"{place} has a part of the type {kind!r}; this server takes input_text and output_text",
                "unsupported",
            )
        texts.append(part["text"])
    return "".join(texts)


# Embeddings

_FORMATS = ("float", "base64")


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A request for vectors: the texts, and whether the vectors are written in base64."""

    texts: Sequence[str]
    in_base64: bool


def read_embedding_request(text: str | bytes) -> EmbeddingRequest:
    """Read a request. Raises ``RefusedRequestError`` for one that asks for other vectors."""
    value = parse_json(text)
    raw_input = value.get("input") if isinstance(value, Mapping) else None
    texts = [raw_input] if isinstance(raw_input, str) else raw_input
    if not isinstance(value, Mapping) or not isinstance(texts, list) or not texts:
        raise make_refusal("the body must be an object with 'input', a text or a list of texts")
    if not all(isinstance(each, str) for each in texts):
        raise make_refusal("'input' must be a text or a list of texts; this server takes no token ids")
    size = len(embed_by_hash(texts[:1])[0])
    if value.get("dimensions") not in (None, size):
        raise make_refusal(f"the vectors of this server have {size} dimensions; leave 'dimensions' out")
    encoding = value.get("encoding_format") or _FORMATS[0]
    if encoding not in _FORMATS:
        raise make_refusal(f"'encoding_format' must be {' or '.join(_FORMATS)}, not {encoding!r}")
    return EmbeddingRequest(texts, encoding == "base64")
