"""Split a conversation at each answer of the assistant; the question is all that came before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.entry import Message, PastCall
from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.tools.importing.logged import LoggedConversation, LoggedMessage
from pytest_fcbench.tools.importing.offered_tools import has_parameters, name_tool

CALLS, WORDS = "next_call", "next_reply"
"""The categories of entries whose question has an earlier answer."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """An answer of the assistant, and all that was said and offered before."""

    said: tuple[Message, ...]
    text: str
    calls: tuple[PastCall, ...]
    """The right calls; none where words are the right answer."""
    tools: tuple[Mapping[str, object], ...]

    @property
    def category(self) -> str:
        """The category of its entry: a single-turn one where nothing was answered before."""
        if any(message.role == "assistant" for message in self.said):
            return CALLS if self.calls else WORDS
        if not self.calls:
            return "irrelevance"
        if len(self.calls) > 1:
            return "parallel" if len(self.tools) == 1 else "parallel_multiple"
        return "simple_python" if len(self.tools) == 1 else "multiple"

    @property
    def since_question(self) -> tuple[Message, ...]:
        """The last question, and what followed it."""
        return self.said[max((at for at, each in enumerate(self.said) if each.role == "user"), default=0) :]

    @property
    def new_text(self) -> str:
        """The last question, what followed it, and the calls: what makes the step a new one."""
        since = ((message.content, *map(str, message.calls)) for message in self.since_question)
        return "\n".join([*chain.from_iterable(since), *map(str, self.calls)])


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An answer of which no entry is made."""

    reason: str
    text: str = ""
    """The beginning of what it says, for a reader who wants to know what looks like a call there."""


def split_conversation(conversation: LoggedConversation) -> Iterator[NextStep | LeftOut]:
    """Yield a step, or the reason why there is none, for each answer of the assistant in order."""
    tools = tuple(tool for tool in conversation.tools if name_tool(tool))
    has_schema = {name_tool(tool): has_parameters(tool) for tool in tools}
    history: list[Message] = []
    open_calls: list[str] = []
    results: dict[int, str] = {}
    stop_reason = ""
    for at, message in enumerate(conversation.messages):
        if not stop_reason:
            stop_reason = _find_gap(message, open_calls, results)
        if message.role == "assistant":
            has_broken_call = any(not isinstance(call.arguments, Mapping) for call in message.calls)
            calls = tuple(PastCall(call.name, as_mapping(call.arguments)) for call in message.calls)
            reason = stop_reason or (
                "earlier in a conversation of which each answer has its own record"
                if at < conversation.new_from
                else "marked as no example"
                if not message.is_example
                else "no functions were offered"
                if not tools
                else "nothing was asked before"
                if not any(each.role == "user" for each in history)
                else "neither calls nor text"
                if not calls and not message.text.strip()
                else "text that looks like a call and cannot be read as one"
                if message.has_unread_call
                else "arguments that are not a JSON object"
                if has_broken_call
                else "a function that was not offered"
                if any(call.name not in has_schema for call in calls)
                else "a call of a function that was logged without its parameters"
                if any(call.arguments and not has_schema[call.name] for call in calls)
                else ""
            )
            text = shorten_text(" ".join(message.text.split()), 80) if message.has_unread_call else ""
            yield LeftOut(reason, text) if reason else NextStep(tuple(history), message.text, calls, tools)
            if has_broken_call or message.has_unread_call:
                stop_reason = stop_reason or "an earlier call cannot be read"
            history.append(Message("assistant", message.text, calls))
            open_calls, results = [call.id for call in message.calls], {}
        elif message.role == "tool" and not stop_reason:
            results[_find_place(message, open_calls, results)] = message.text
            if len(results) == len(open_calls):
                history += (Message("tool", results[place]) for place in sorted(results))
                open_calls, results = [], {}
        else:
            history.append(Message(message.role, message.text))


def _find_gap(message: LoggedMessage, open_calls: Sequence[str], results: Mapping[int, str]) -> str:
    """Return why nothing from this message on can be used, or an empty text."""
    if message.other_part:
        return f"parts that are not text ({message.other_part[:40]!r})"
    if message.role not in ("system", "user", "assistant", "tool"):
        return f"a message of an unknown role ({message.role[:40]!r})"
    if message.role == "tool" and _find_place(message, open_calls, results) < 0:
        return "a result without its call"
    if message.role != "tool" and open_calls:
        return "an earlier call without its result"
    return ""


def _find_place(message: LoggedMessage, open_calls: Sequence[str], results: Mapping[int, str]) -> int:
    """Return the place of the call that a result answers, or -1."""
    free = [place for place in range(len(open_calls)) if place not in results]
    if message.call_id in open_calls and message.call_id:
        return next((place for place in free if open_calls[place] == message.call_id), -1)
    # Logs without ids have the results in the order of the calls.
    return free[0] if free and not (message.call_id and open_calls[free[0]]) else -1
