"""Replies in the form of each API of a family, from a completion of a model that needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fcbench.domain.family import Api
from pytest_fcbench.domain.transcript import Completion, ToolCall

_TOKENS = 1
"""Tokens of every request and reply: a served model counts none."""


def build_family_reply(api: Api, completion: Completion, place: str) -> Mapping[str, object]:
    """Build the JSON of a reply; ``place`` makes the ids of its calls, always the same ones."""
    calls = [call for call in completion.tool_calls or () if isinstance(call, ToolCall)]
    ids = [f"call_{place}_{index}" for index in range(len(calls))]
    return _BUILDERS[api](completion.text, calls, ids)


def write_arguments(call: ToolCall) -> str:
    """Write the arguments of a call as JSON text."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def read_arguments(call: ToolCall) -> object:
    """Read the arguments of a call as an object."""
    return json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments


def _list_function_calls(calls: Sequence[ToolCall], ids: Sequence[str]) -> list[Mapping[str, object]]:
    return [
        {"id": given, "type": "function", "function": {"name": call.name, "arguments": write_arguments(call)}}
        for call, given in zip(calls, ids, strict=True)
    ]


def _build_chat_reply(
    text: str | None, calls: Sequence[ToolCall], ids: Sequence[str]
) -> Mapping[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = _list_function_calls(calls, ids)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"object": "chat.completion", "choices": [choice], "usage": _count_tokens("prompt", "completion")}


def _build_completion(
    text: str | None, calls: Sequence[ToolCall], ids: Sequence[str]
) -> Mapping[str, object]:
    choice = {"index": 0, "text": text or "", "finish_reason": "stop"}
    return {"object": "text_completion", "choices": [choice], "usage": _count_tokens("prompt", "completion")}


def _build_response(text: str | None, calls: Sequence[ToolCall], ids: Sequence[str]) -> Mapping[str, object]:
    output: list[Mapping[str, object]] = []
    if text is not None:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output.append({"type": "message", "role": "assistant", "status": "completed", "content": content})
    output += [
        {"type": "function_call", "call_id": given, "name": call.name, "arguments": write_arguments(call)}
        for call, given in zip(calls, ids, strict=True)
    ]
    usage = {"input_tokens": _TOKENS, "output_tokens": _TOKENS}
    return {"object": "response", "status": "completed", "error": None, "output": output, "usage": usage}


def _build_message(text: str | None, calls: Sequence[ToolCall], ids: Sequence[str]) -> Mapping[str, object]:
    blocks: list[Mapping[str, object]] = [] if text is None else [{"type": "text", "text": text}]
    blocks += [
        {"type": "tool_use", "id": given, "name": call.name, "input": read_arguments(call)}
        for call, given in zip(calls, ids, strict=True)
    ]
    usage = {"input_tokens": _TOKENS, "output_tokens": _TOKENS}
    stopped = "tool_use" if calls else "end_turn"
    return {"type": "message", "role": "assistant", "content": blocks, "stop_reason": stopped, "usage": usage}


def _build_content(text: str | None, calls: Sequence[ToolCall], ids: Sequence[str]) -> Mapping[str, object]:
    parts: list[Mapping[str, object]] = [] if text is None else [{"text": text}]
    parts += [{"functionCall": {"name": call.name, "args": read_arguments(call)}} for call in calls]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": _TOKENS, "candidatesTokenCount": _TOKENS}
    return {"candidates": [candidate], "usageMetadata": usage}


def _build_cohere_reply(
    text: str | None, calls: Sequence[ToolCall], ids: Sequence[str]
) -> Mapping[str, object]:
    message: dict[str, object] = {"role": "assistant"}
    if text is not None:
        message["content"] = [{"type": "text", "text": text}]
    if calls:
        message["tool_calls"] = _list_function_calls(calls, ids)
    usage = {"billed_units": {"input_tokens": _TOKENS, "output_tokens": _TOKENS}}
    return {"message": message, "finish_reason": "TOOL_CALL" if calls else "COMPLETE", "usage": usage}


def _build_converse_reply(
    text: str | None, calls: Sequence[ToolCall], ids: Sequence[str]
) -> Mapping[str, object]:
    blocks: list[Mapping[str, object]] = [] if text is None else [{"text": text}]
    blocks += [
        {"toolUse": {"toolUseId": given, "name": call.name, "input": read_arguments(call)}}
        for call, given in zip(calls, ids, strict=True)
    ]
    usage = {"inputTokens": _TOKENS, "outputTokens": _TOKENS}
    stopped = "tool_use" if calls else "end_turn"
    output = {"message": {"role": "assistant", "content": blocks}}
    return {"output": output, "stopReason": stopped, "usage": usage}


def _count_tokens(*names: str) -> Mapping[str, int]:
    return {f"{name}_tokens": _TOKENS for name in names}


_BUILDERS = {
    Api.CHAT: _build_chat_reply,
    Api.COMPLETIONS: _build_completion,
    Api.RESPONSES: _build_response,
    Api.MESSAGES: _build_message,
    Api.GENERATE_CONTENT: _build_content,
    Api.COHERE: _build_cohere_reply,
    Api.CONVERSE: _build_converse_reply,
}


def is_streamed(content: bytes) -> bool:
    """Tell whether a request wants its reply as a stream of events."""
    return json.loads(content).get("stream") is True


def make_chunk(reply: Mapping[str, object]) -> Mapping[str, object]:
    """Make the one chunk of a stream that says all of a chat reply."""
    choices = reply["choices"]
    assert isinstance(choices, list)
    message = choices[0]["message"]
    calls = [{**call, "index": index} for index, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, "tool_calls": calls} if calls else message
    chunk = {"index": 0, "delta": delta, "finish_reason": choices[0]["finish_reason"]}
    return {"object": "chat.completion.chunk", "choices": [chunk], "usage": reply["usage"]}
