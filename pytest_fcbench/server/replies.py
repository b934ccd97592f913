"""Completions in OpenAI's form."""

from __future__ import annotations

import json

from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.server.lookup import FoundRequest, estimate_tokens


def serialize_reply(model: str, asked: FoundRequest, completion: Completion, *, broken: bool) -> bytes:
    """Serialize a completion without its opening brace, id and time, which differ each time it is sent.

    The token usage is an estimate. In a ``broken`` reply the arguments, or the text, are cut in half.
    """
    calls = [call for call in completion.tool_calls or () if isinstance(call, ToolCall)]
    text, arguments = completion.text, [str(call.arguments) for call in calls]
    if broken:
        text, arguments = text and _cut_in_half(text), [_cut_in_half(written) for written in arguments]
    message: dict[str, object] = {"role": "assistant", "content": text}
    if completion.tool_calls is not None:
        message["tool_calls"] = [
            {
                "id": f"call_{asked.entry.key}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": written},
            }
            for index, (call, written) in enumerate(zip(calls, arguments, strict=True))
        ]
    prompt = asked.prompt_tokens
    answer = estimate_tokens("".join([text or "", *(call.name for call in calls), *arguments]))
    body = {
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
    }
    return json.dumps(body).encode()[1:]


def _cut_in_half(text: str) -> str:
    return text[: len(text) // 2]
