"""Replies in the form of each API of a family, from a completion of a model that needs no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytest_fcbench.domain.family import Api
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.transcript import Completion, ToolCall

_TOKENS = 1
"""Tokens of every request and reply: a served model counts none."""

_Named: TypeAlias = tuple[str, ToolCall]
"""A call with its id."""


def build_family_reply(api: Api, completion: Completion, place: str) -> Mapping[str, object]:
    """Build the JSON of a reply; ``place`` makes the ids of its calls, always the same ones."""
    calls = [call for call in completion.tool_calls or () if isinstance(call, ToolCall)]
    calls_with_ids = [(f"call_{place}_{index}", call) for index, call in enumerate(calls)]
    return _WRITE[api](completion.text, calls_with_ids)


def write_arguments(call: ToolCall) -> str:
    """Write the arguments of a call as JSON text."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def read_arguments(call: ToolCall) -> object:
    """Read the arguments of a call as an object."""
    return read_json_text(call.arguments) if isinstance(call.arguments, str) else call.arguments


def _list_function_calls(calls: Sequence[_Named]) -> Mapping[str, object]:
    """Return the member of a message that lists its calls; none where there are no calls."""
    tool_calls = [
        {"id": key, "type": "function", "function": {"name": call.name, "arguments": write_arguments(call)}}
        for key, call in calls
    ]
    return {"tool_calls": tool_calls} if tool_calls else {}


def _list_text(text: str | None, **kind: str) -> list[Mapping[str, object]]:
    """Return the text of a reply as its only part; no part where it has none."""
    return [] if text is None else [{**kind, "text": text}]


def _count_tokens(*names: str) -> Mapping[str, int]:
    return dict.fromkeys(names, _TOKENS)


# A row has the form of a whole reply, so that it can be read beside the documentation of its API.
_WRITE: Mapping[Api, Callable[[str | None, Sequence[_Named]], Mapping[str, object]]] = {
    Api.CHAT: lambda text, calls: {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **_list_function_calls(calls)},
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": _count_tokens("prompt_tokens", "completion_tokens"),
    },
    Api.COMPLETIONS: lambda text, calls: {
        "object": "text_completion",
        "choices": [{"index": 0, "text": text or "", "finish_reason": "stop"}],
        "usage": _count_tokens("prompt_tokens", "completion_tokens"),
    },
    Api.RESPONSES: lambda text, calls: {
        "object": "response",
        "status": "completed",
        "error": None,
        "output": [
            *(
                {
                    "type": "message",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{**part, "annotations": []}],
                }
                for part in _list_text(text, type="output_text")
            ),
            *(
                {
                    "type": "function_call",
                    "call_id": key,
                    "name": call.name,
                    "arguments": write_arguments(call),
                }
                for key, call in calls
            ),
        ],
        "usage": _count_tokens("input_tokens", "output_tokens"),
    },
    Api.MESSAGES: lambda text, calls: {
        "type": "message",
        "role": "assistant",
        "content": [
            *_list_text(text, type="text"),
            *(
                {"type": "tool_use", "id": key, "name": call.name, "input": read_arguments(call)}
                for key, call in calls
            ),
        ],
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": _count_tokens("input_tokens", "output_tokens"),
    },
    Api.GENERATE_CONTENT: lambda text, calls: {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        *_list_text(text),
                        *(
                            {"functionCall": {"name": call.name, "args": read_arguments(call)}}
                            for _, call in calls
                        ),
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": _count_tokens("promptTokenCount", "candidatesTokenCount"),
    },
    Api.COHERE: lambda text, calls: {
        "message": {
            "role": "assistant",
            **({} if text is None else {"content": _list_text(text, type="text")}),
            **_list_function_calls(calls),
        },
        "finish_reason": "TOOL_CALL" if calls else "COMPLETE",
        "usage": {"billed_units": _count_tokens("input_tokens", "output_tokens")},
    },
    Api.CONVERSE: lambda text, calls: {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    *_list_text(text),
                    *(
                        {"toolUse": {"toolUseId": key, "name": call.name, "input": read_arguments(call)}}
                        for key, call in calls
                    ),
                ],
            }
        },
        "stopReason": "tool_use" if calls else "end_turn",
        "usage": _count_tokens("inputTokens", "outputTokens"),
    },
}


def is_streamed(content: bytes) -> bool:
    """Tell whether a request wants its reply as a stream of events."""
    return read_json_text(content).get("stream") is True


def make_chunk(reply: Mapping[str, object]) -> Mapping[str, object]:
    """Make the one chunk of a stream that says all of a chat reply."""
    choices = reply["choices"]
    assert isinstance(choices, list)
    message = choices[0]["message"]
    calls = [{**call, "index": index} for index, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, "tool_calls": calls} if calls else message
    chunk = {"index": 0, "delta": delta, "finish_reason": choices[0]["finish_reason"]}
    return {"object": "chat.completion.chunk", "choices": [chunk], "usage": reply["usage"]}
