"""Read the reply of a chat interface: a choice with its message, as any server may write them.

The message is kept as it came, because later requests repeat it; what is judged is read from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcbench.codecs.token_usage import CHAT, read_tokens
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote, merge_notes, read_ending
from pytest_fcbench.domain.redaction import mask_secrets_within
from pytest_fcbench.domain.transcript import Completion, Ending, ToolCall


def read_choice(choice: Mapping[str, object], usage: object, secrets: Sequence[str]) -> Completion:
    """Read a choice of a reply and the tokens that it used.

    Secrets are masked in all of it: an endpoint that repeats a key must not bring it into a file. Raises
    ``CallError`` for a choice without a message.
    """
    choice = {name: mask_secrets_within(member, secrets) for name, member in choice.items()}
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise CallError("garbled", "the endpoint answered a choice without a message", transient=True)
    content, calls = message.get("content"), message.get("tool_calls")
    text = content if isinstance(content, str) else None
    if isinstance(content, list):
        # Parts, whose texts are joined; officially an empty list reads as an empty list of calls.
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        text = "".join(each for each in texts if isinstance(each, str)) or ("" if not content else None)
    tool_calls, protocol = _read_calls(calls) if isinstance(calls, list) else (None, ())
    # ``reasoning`` is what OpenRouter and newer vLLM call it.
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    refusal, reason = message.get("refusal"), choice.get("finish_reason")
    # Servers send "stop" beside a refusal, and some beside a legacy call.
    ending = read_ending(reason)
    if ending is None and refusal:
        ending = Ending.REFUSED
    elif ending is None and isinstance(message.get("function_call"), Mapping):
        ending = Ending.FUNCTION_CALL
    elif ending is None and tool_calls is None and protocol:
        ending = Ending.MALFORMED
    # llama-cpp-python sends a call in both fields.
    if ending is Ending.FUNCTION_CALL and tool_calls:
        ending = None
    return Completion(
        text=text,
        # Official: an empty list is a list of no calls, where a text beside it is not looked at.
        tool_calls=tool_calls,
        reasoning=reasoning if isinstance(reasoning, str) else None,
        finish_reason=reason if isinstance(reason, str) else None,
        ending=ending,
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        in_parts=isinstance(content, list),
        protocol=merge_notes(protocol),
        message=message,
        # Moonshot states the usage in the choice.
        **read_tokens(usage or choice.get("usage"), CHAT),
    )


def _read_calls(calls: Sequence[object]) -> tuple[tuple[ToolCall, ...] | None, tuple[ProtocolNote, ...]]:
    """Read the list of tool calls; None, as officially, where one of them has no function with a name."""
    tool_calls: list[ToolCall] = []
    notes: set[ProtocolNote] = set()
    for call in calls:
        members = call if isinstance(call, Mapping) else {}
        function = members.get("function")
        if not isinstance(function, Mapping) or isinstance(function.get("name"), (list, dict)):
            return None, (ProtocolNote.CALL_WITHOUT_FUNCTION,)
        if not function.get("name"):
            notes.add(ProtocolNote.CALL_WITHOUT_FUNCTION)
        # What is not text reaches the decoder as it is: whether a server may do so is a matter of judging.
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            notes.add(ProtocolNote.ARGUMENTS_NOT_TEXT)
        tool_calls.append(ToolCall(str(function.get("name") or ""), arguments, str(members.get("id") or "")))
    return tuple(tool_calls), tuple(notes)
