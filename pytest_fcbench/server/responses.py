"""OpenAI's Responses API: its requests as chat requests, and replies in its form.

A request becomes the chat request that asks the same, so both are about the same entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from pytest_fcbench.server.body import Body, RefusedRequestError, interpret_body, parse_json
from pytest_fcbench.server.replies import ServedReply, serialize_event, split_text

_TEXT_PARTS = ("input_text", "output_text", "text")

_STATEFUL = ("previous_response_id", "conversation", "prompt")
"""Members that name what an earlier request has stored."""


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A request of the Responses API: the chat request that asks the same, and what the reply repeats."""

    body: Body
    instructions: object
    tools: object


def read_response_request(text: str | bytes) -> ResponseRequest:
    """Read a request. Raises ``RefusedRequestError`` for one that no chat request can ask."""
    value = parse_json(text)
    if not isinstance(value, Mapping) or not isinstance(value.get("input"), (str, list)):
        raise _make_refusal("the body must be an object with 'input', a text or a list of items")
    for name in _STATEFUL:
        if value.get(name) is not None:
            raise _make_refusal(
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
        raise _make_refusal("'tools' must be a list")
    # The tools in the form of a chat request, without ``strict``, which no entry has.
    chat_tools = []
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping) or tool.get("type") != "function" or "name" not in tool:
            raise _make_refusal(
                f'tools[{index}] must be {{"type": "function", "name": ..., "parameters": ...}}; this server '
                f"takes no other tools",
                "unsupported",
            )
        function = {name: tool[name] for name in tool if name not in ("type", "strict")}
        chat_tools.append({"type": "function", "function": function})
    chat_body = {"messages": messages, "tools": chat_tools, "stream": value.get("stream")}
    return ResponseRequest(interpret_body(chat_body), instructions, tools)


def _make_refusal(message: str, code: str = "invalid_request") -> RefusedRequestError:
    return RefusedRequestError(400, code, message)


def _convert_items(items: Sequence[object]) -> Sequence[Mapping[str, object]]:
    """Convert the items of a conversation to messages; calls go with the text before them."""
    messages: list[Mapping[str, object]] = []
    for index, item in enumerate(items):
        place = f"input[{index}]"
        if not isinstance(item, Mapping):
            raise _make_refusal(f"{place} must be an object")
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
                raise _make_refusal(
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
        raise _make_refusal(f"{place} must have a text or a list of parts")
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in _TEXT_PARTS or not isinstance(part.get("text"), str):
            raise _make_refusal(
                f"{place} has a part of the type {kind!r}; this server takes input_text and output_text",
                "unsupported",
            )
        texts.append(part["text"])
    return "".join(texts)


def build_response(
    reply: ServedReply, request: ResponseRequest, number: int, created: int
) -> dict[str, object]:
    """Build the response with a reply; ``number`` makes its ids unique."""
    output: list[object] = []
    # A reply of nothing is a message without words, so that a client can send it back.
    if reply.text is not None or not reply.calls:
        output.append(
            {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "status": "completed",
                "content": [_make_text_part(reply.text or "")],
            }
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{number}_{index}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        for index, call in enumerate(reply.calls or ())
    ]
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": created,
        "status": "completed",
        "model": reply.model,
        "output": output,
        "instructions": request.instructions,
        "tools": request.tools,
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "error": None,
        "incomplete_details": None,
        "metadata": {},
        "usage": {
            "input_tokens": reply.prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": reply.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        },
    }


def _make_text_part(text: str) -> dict[str, object]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def stream_response(response: Mapping[str, object]) -> Iterator[bytes]:
    """Yield a response as server-sent events, its texts and arguments in pieces."""
    for number, event in zip(count(), _list_events(response), strict=False):
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
    yield {"type": "response.completed", "response": response}
