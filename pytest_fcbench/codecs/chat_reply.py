"""Read the reply of a chat interface: a choice with its message, as any server may write them.

The message is kept as it came, because later requests repeat it; what is judged is read from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.protocol_notes import ProtocolNote, merge_notes, read_ending
from pytest_fcbench.domain.redaction import mask_secrets, mask_secrets_within
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


SERVED = ("provider", "model", "system_fingerprint")
"""The members of a reply that say who served it; ``provider`` is OpenRouter's."""
_LONGEST_NAME = 100


def read_served(reply: Mapping[str, object], secrets: Sequence[str]) -> tuple[str, ...]:
    """Read who served a reply, as ``name=value`` each, without secrets."""
    members = ((name, reply.get(name)) for name in SERVED)
    # A terminal would obey what it cannot print.
    return tuple(
        f"{name}={''.join(filter(str.isprintable, mask_secrets(value, secrets)))[:_LONGEST_NAME]}"
        for name, value in members
        if isinstance(value, str) and value
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


class TokenCounts(TypedDict):
    """The counts of tokens of a completion, by the names of its fields."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None


@dataclass(frozen=True, slots=True)
class UsageForm:
    """The places of counts in the usage of a reply: members, with dots between the levels.

    Of several places the first that has a count is read.
    """

    input: str
    output: str
    cached: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    total: str = "total_tokens"
    counts_cache_apart: bool = False
    """True where the input does not contain the tokens read from a cache and written to one."""


CHAT = UsageForm(
    "prompt_tokens",
    "completion_tokens",
    # The second is Moonshot's, the third DeepSeek's.
    ("prompt_tokens_details.cached_tokens", "cached_tokens", "prompt_cache_hit_tokens"),
    ("prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_tokens"),
    ("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
)
RESPONSES = UsageForm(
    "input_tokens",
    "output_tokens",
    ("input_tokens_details.cached_tokens",),
    ("input_tokens_details.cache_write_tokens",),
    ("output_tokens_details.reasoning_tokens",),
)
MESSAGES = UsageForm(
    "input_tokens",
    "output_tokens",
    ("cache_read_input_tokens",),
    ("cache_creation_input_tokens",),
    counts_cache_apart=True,
)
CONVERSE = UsageForm(
    "inputTokens",
    "outputTokens",
    ("cacheReadInputTokens",),
    ("cacheWriteInputTokens",),
    counts_cache_apart=True,
)
COHERE = UsageForm("billed_units.input_tokens", "billed_units.output_tokens")
GENERATE_CONTENT = UsageForm(
    "promptTokenCount",
    "candidatesTokenCount",
    ("cachedContentTokenCount",),
    reasoning=("thoughtsTokenCount",),
    total="totalTokenCount",
)


def read_tokens(usage: object, form: UsageForm) -> TokenCounts:
    """Read the counts that a reply states; None for each that it does not state."""
    input_tokens, output_tokens = _read_count(usage, form.input), _read_count(usage, form.output)
    cached_tokens, cache_write_tokens, reasoning_tokens = (
        _read_count(usage, *places) for places in (form.cached, form.cache_write, form.reasoning)
    )
    if input_tokens is not None and form.counts_cache_apart:
        input_tokens += (cached_tokens or 0) + (cache_write_tokens or 0)
    # Gemini and xAI count reasoning apart from the answer, which only their total tells. Where reasoning is
    # all that was written, Gemini leaves the count of the answer out.
    beside = (_read_count(usage, form.total) or 0) - (input_tokens or 0) - (output_tokens or 0)
    if input_tokens is not None and reasoning_tokens and beside > 0:
        output_tokens = (output_tokens or 0) + min(reasoning_tokens, beside)
    # A part that is larger than the whole would have a price below zero.
    cached_tokens = _limit_count(cached_tokens, input_tokens or 0)
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cached_tokens": cached_tokens,
        "cache_write_tokens": _limit_count(cache_write_tokens, (input_tokens or 0) - (cached_tokens or 0)),
        "reasoning_tokens": _limit_count(reasoning_tokens, output_tokens or 0),
    }


def _limit_count(count: int | None, most: int) -> int | None:
    return None if count is None else min(count, most)


def _read_count(usage: object, *places: str) -> int | None:
    """Return the count in the first of these places that has one."""
    for place in places:
        count = usage
        for name in place.split("."):
            count = count.get(name) if isinstance(count, Mapping) else None
        # To Python ``true`` is the number 1.
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
            return count
    return None
