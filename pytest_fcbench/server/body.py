"""The bodies of requests, and the errors that answer them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pytest_fcbench.domain.json_text import read_json_text

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

    def leave_out_results(self) -> Body:
        """Return the body without the results of calls."""
        return interpret_body({"messages": leave_out_results(self.messages), "tools": self.tools})


def leave_out_results(messages: Sequence[object]) -> list[object]:
    """Return messages without the results of calls, which are known only to whom the calls were made."""
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
            raise RefusedRequestError(
                400, "invalid_request", "the body must be an object with a list of messages"
            )
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
    count = 0
    numbered_messages: list[object] = []
    for message in messages:
        if isinstance(message, Mapping) and isinstance(message.get("tool_calls"), list):
            calls: list[object] = []
            for call in message["tool_calls"]:
                if isinstance(call, Mapping) and isinstance(call.get("id"), str):
                    count += 1
                    numbers[call["id"]] = f"call {count}"
                    calls.append({**call, "id": f"call {count}"})
                else:
                    calls.append(call)
            numbered_messages.append({**message, "tool_calls": calls})
        elif isinstance(message, Mapping) and isinstance(message.get("tool_call_id"), str):
            call_id = message["tool_call_id"]
            numbered_messages.append({**message, "tool_call_id": numbers.get(call_id, call_id)})
        else:
            numbered_messages.append(message)
    return numbered_messages
