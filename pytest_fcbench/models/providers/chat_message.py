"""Read the reply of a chat interface: a choice with its message, as any server may write them.

The message is kept as it came, because later requests repeat it; what is judged is read from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.redaction import mask_secrets_within
from pytest_fcbench.domain.transcript import Completion, Ending, ToolCall

_ENDINGS: Mapping[str, Ending] = {
    "length": Ending.CUT,
    "max_tokens": Ending.CUT,
    "content_filter": Ending.FILTERED,
    "refusal": Ending.REFUSED,
    "function_call": Ending.FUNCTION_CALL,
}
"""Endings by the words of OpenAI's interface, and of servers that pass on a word of their own."""


def read_choice(choice: Mapping[str, object], usage: object, secrets: Sequence[str]) -> Completion:
    """Read a choice of a reply and the tokens that it used.

    Secrets are masked in all of it: an endpoint that repeats a key must not bring it into a file. Raises
    ``CallError`` for a choice without a message.
    """
    message = mask_secrets_within(choice.get("message"), secrets)
    if not isinstance(message, Mapping):
        raise CallError("garbled", "the endpoint answered a choice without a message", transient=True)
    content, calls = message.get("content"), message.get("tool_calls")
    # ``reasoning`` is what OpenRouter and newer vLLM call it.
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    refusal, reason = message.get("refusal"), choice.get("finish_reason")
    input_tokens, output_tokens = (
        _read_count(usage.get(name)) if isinstance(usage, Mapping) else None
        for name in ("prompt_tokens", "completion_tokens")
    )
    return Completion(
        text=_read_text(content),
        # Official: an empty list is a list of no calls, where a text beside it is not looked at.
        tool_calls=tuple(map(_read_tool_call, calls)) if isinstance(calls, list) else None,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        finish_reason=reason if isinstance(reason, str) else None,
        ending=_find_ending(reason, message),
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        in_parts=isinstance(content, list) and bool(content),
        message=message,
    )


def _find_ending(reason: object, message: Mapping[str, object]) -> Ending | None:
    # Servers send "stop" beside a refusal, and some beside a legacy call.
    if isinstance(reason, str) and (ending := _ENDINGS.get(reason.lower())):
        return ending
    if message.get("refusal"):
        return Ending.REFUSED
    return Ending.FUNCTION_CALL if isinstance(message.get("function_call"), Mapping) else None


def _read_text(content: object) -> str | None:
    """Read the content of a message: a text, or a list of parts whose texts are joined."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else None


def _read_tool_call(call: object) -> ToolCall:
    """Read a tool call. Raises ``CallError`` for one without a function."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping):
        raise CallError("garbled", "the endpoint answered a tool call without a function", transient=True)
    # What is not text reaches the decoder as it is: whether a server may do so is a matter of judging.
    return ToolCall(str(function.get("name") or ""), function.get("arguments"), str(call.get("id") or ""))


def _read_count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
