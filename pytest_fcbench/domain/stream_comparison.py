"""Ask for each reply of a model whole and as a stream, and tell where the two differ.

Both requests are equal but for ``stream``. Where the replies differ, each is asked for once more: what
differs between equal requests too is noise, and the rest is the server's doing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_fcbench.domain.json_values import DESCRIBED
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import (
    AuxiliaryCall,
    Completion,
    Conversation,
    Fault,
    Party,
    ToolCall,
    Transcript,
)

PARTS = ("calls", "text", "reasoning", "ending", "usage")
"""The parts of a reply that are compared."""


def ask_streamed_too(conversation: Conversation) -> Conversation:
    """Hold a conversation and ask for each reply of the model as a stream too; it goes on with whole ones."""
    streamed_calls: list[AuxiliaryCall] = []
    reply: Completion | None = None
    while True:
        try:
            request = conversation.send(reply) if reply is not None else next(conversation)
        except StopIteration as end:
            transcript: Transcript = end.value
            return replace(transcript, asides=(*transcript.asides, *streamed_calls))
        reply = yield request
        if request.party is not Party.MODEL or reply.fault:
            continue
        defaults = {**request.defaults, "stream": True}
        streamed_request = replace(request, party=Party.STREAM, defaults=defaults)
        streamed = yield streamed_request
        streamed_calls.append(AuxiliaryCall(Party.STREAM, streamed_request.digest, streamed))
        if list_differences(reply, streamed):
            streamed_again = replace(streamed_request, attempt=request.attempt + 1)
            for again_request in (replace(request, party=Party.STREAM), streamed_again):
                again = yield again_request
                streamed_calls.append(AuxiliaryCall(Party.STREAM, again_request.digest, again))


def list_differences(one: Completion, other: Completion) -> tuple[str, ...]:
    """List the parts in which two replies differ; all of them where just one of the two is none."""
    failed = [each.fault is Fault.INFERENCE_ERROR for each in (one, other)]
    if any(failed):
        return () if all(failed) else PARTS
    parts, other_parts = _list_parts(one), _list_parts(other)
    # What one of the two does not tell, such as the tokens, is no difference.
    return tuple(
        name
        for name in PARTS
        if parts[name] != other_parts[name] and None not in (parts[name], other_parts[name])
    )


def _list_parts(completion: Completion) -> Mapping[str, object]:
    calls = [part for part in completion.tool_calls or () if isinstance(part, ToolCall)]
    # Parsers leave other white space at the ends of a whole reply than of a stream.
    return {
        "calls": [(call.name, _read_arguments(call.arguments)) for call in calls],
        "text": (completion.text or "").strip(),
        "reasoning": (completion.reasoning or "").strip(),
        "ending": completion.finish_reason,
        "usage": completion.output_tokens and (completion.input_tokens, completion.output_tokens),
    }


def _read_arguments(arguments: object) -> object:
    # How JSON is laid out says nothing.
    try:
        return read_json_text(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments


@dataclass(frozen=True, slots=True)
class ComparedStream:
    """Where the stream of a reply differs from the whole one; names of ``PARTS``."""

    __pydantic_config__ = DESCRIBED

    differences: tuple[str, ...]
    noise: tuple[str, ...]
    """The differences that two whole replies, or two streams, have too."""


def compare_streams(transcript: Transcript) -> tuple[ComparedStream, ...]:
    """Compare each reply of a conversation with its stream; nothing where none was asked for."""
    rest = iter([aside.completion for aside in transcript.asides if aside.party is Party.STREAM])
    compared: list[ComparedStream] = []
    for whole in transcript.completions:
        if whole.fault or (streamed := next(rest, None)) is None:
            continue
        differences = list_differences(whole, streamed)
        noise: set[str] = set()
        for each in (whole, streamed) if differences else ():
            noise.update(list_differences(each, next(rest, each)))
        compared.append(ComparedStream(differences, tuple(name for name in differences if name in noise)))
    return tuple(compared)
