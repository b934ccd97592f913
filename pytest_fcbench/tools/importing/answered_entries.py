"""Write a conversation about an entry as a line of a chat log, so that its answers become entries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.codecs.decoders.outcome import Calls, Prose, Unreadable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected
from pytest_fcbench.domain.entry import Entry, PastCall
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.transcript import Call, Step, Transcript
from pytest_fcbench.tools.authoring.entry_writing import convert_doc


def find_obstacle(entry: Entry) -> str:
    """Return why the conversation about an entry cannot be a line of a log, or an empty text."""
    if entry.category.language is not Language.PYTHON:
        return "values of Java or JavaScript"
    if entry.scene and entry.scene.persona:
        return "a memory, which the messages do not show"
    return ""


def write_chat(entry: Entry, transcript: Transcript) -> Mapping[str, object]:
    """Write the messages of a conversation, and the functions that were offered, in OpenAI's form for chats.

    It ends before the turn that brings further functions, since a line has the same functions throughout.
    """
    withheld = entry.scene.withheld if entry.scene else {}
    offer = OfferedFunctions(entry.functions, transcript.prompting.names)
    messages: list[Mapping[str, object]] = []
    for turn, steps in zip(entry.turns[: min(withheld, default=None)], transcript.turns, strict=False):
        for message in turn:
            messages.append({"role": message.role, "content": message.content})
            if message.calls:
                messages[-1] = {**messages[-1], "tool_calls": _write_calls(message.calls)}
        for step in steps:
            messages += _write_step(step, transcript.prompting.syntax, offer)
    return {"messages": messages, "tools": list(map(convert_doc, entry.functions))}


def _write_step(step: Step, syntax: str, offer: OfferedFunctions) -> Iterator[Mapping[str, object]]:
    """Yield an answer and the results of its calls, which follow in their order."""
    reading = read_corrected(step.completion, syntax, Language.PYTHON, offer)
    if isinstance(reading, Calls) and reading.calls:
        yield {"role": "assistant", "content": None, "tool_calls": _write_calls(reading.calls)}
    else:
        text = reading.text if isinstance(reading, Prose) else step.completion.text or ""
        # Words that try to call are no example of an answer in words.
        yield {"role": "assistant", "content": text, "weight": int(not isinstance(reading, Unreadable))}
    for result in step.results:
        yield {"role": "tool", "content": result}


def _write_calls(calls: Sequence[Call | PastCall]) -> Sequence[Mapping[str, object]]:
    tool_calls = []
    for call in calls:
        # Values without a parameter make a list, which no reader of a log takes for arguments.
        arguments = [*call.positional] if isinstance(call, Call) and call.positional else call.arguments
        function = {"name": call.name, "arguments": json.dumps(arguments, default=repr)}
        tool_calls.append({"type": "function", "function": function})
    return tool_calls
