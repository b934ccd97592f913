"""Split a conversation at each answer of the assistant; the question is all that came before it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.domain.entry import CATEGORIES, Message, PastCall
from pytest_fcbench.domain.errors import SuiteError
from pytest_fcbench.domain.text import as_mapping, read_json_text, shorten_text
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.kinds import entry_files
from pytest_fcbench.tools.importing.offered_tools import (
    LoggedConversation,
    LoggedMessage,
    find_parameters,
    has_parameters,
    name_tool,
)

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
    # A system text may list what stands beside the messages too.
    tools_by_name = {name_tool(tool): tool for tool in conversation.tools if name_tool(tool)}
    tools = tuple(tools_by_name.values())
    has_schema = {name: has_parameters(tool) for name, tool in tools_by_name.items()}
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
            obstacles = {
                "earlier in a conversation of which each answer has its own record": at
                < conversation.new_from,
                "marked as no example": not message.is_example,
                "no functions were offered": not tools,
                "nothing was asked before": all(each.role != "user" for each in history),
                "neither calls nor text": not calls and not message.text.strip(),
                "text that looks like a call and cannot be read as one": message.has_unread_call,
                "arguments that are not a JSON object": has_broken_call,
                "a function that was not offered": any(call.name not in has_schema for call in calls),
                "a call of a function that was logged without its parameters": any(
                    call.arguments and not has_schema.get(call.name) for call in calls
                ),
            }
            reason = stop_reason or next((why for why, applies in obstacles.items() if applies), "")
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


def hash_users(conversation: LoggedConversation) -> bytes:
    """Return a hash of what the users of a conversation say."""
    user_text = "\n".join(
        " ".join(each.text.lower().split()) for each in conversation.messages if each.role == "user"
    )
    return hashlib.blake2b(user_text.encode(errors="replace"), digest_size=8).digest()


def is_held_out(conversation: LoggedConversation, share: float) -> bool:
    """Tell whether a conversation is held out; whether it is follows from what its users say."""
    digest = hash_users(conversation)
    return int.from_bytes(digest, "big") < share * (1 << 8 * len(digest))


def draw_evenly(strata: Iterable[Hashable], orders: Sequence[int], most: int) -> Sequence[int]:
    """Draw at most this many places in turn from each stratum, lowest orders first; return them in order."""
    of_place = list(strata)
    draw_counts: Counter[Hashable] = Counter()

    def rank_places() -> Iterator[tuple[int, int, int]]:
        for at in sorted(range(len(orders)), key=orders.__getitem__):
            draw_counts[of_place[at]] += 1
            yield draw_counts[of_place[at]], orders[at], at

    return sorted(at for _, _, at in nsmallest(most, rank_places()))


Parameter: TypeAlias = tuple[str, str]
"""A function and the name of its parameter."""

_MOST_DISTINCT = 1000
_LONG_WORDS = 5


class ValueStatistics:
    """How long and how various the texts are that a log gives to each parameter."""

    def __init__(self) -> None:
        self._times, self._long, self._said = Counter[Parameter](), Counter[Parameter](), Counter[Parameter]()
        self._distinct: defaultdict[Parameter, set[int]] = defaultdict(set)

    def add_step(self, step: NextStep) -> tuple[Parameter, ...]:
        """Add the texts in the calls of a step, and return their parameters."""
        conversation_text = " ".join(message.content for message in step.said)
        schemas = {name_tool(tool): find_parameters(tool) for tool in step.tools}
        parameters = []
        for call in step.calls:
            for name, text in call.arguments.items():
                schema = as_mapping(schemas[call.name].get(name))
                # A text that the schema limits is none that can be put in many ways.
                if not isinstance(text, str) or schema.keys() & {"enum", "const", "format", "pattern"}:
                    continue
                parameters.append(parameter := (call.name, name))
                self._times[parameter] += 1
                self._long[parameter] += len(text.split()) >= _LONG_WORDS
                self._said[parameter] += text in conversation_text
                if len(self._distinct[parameter]) < _MOST_DISTINCT:
                    self._distinct[parameter].add(hash(text))
        return tuple(parameters)

    def find_free_texts(self) -> Mapping[Parameter, int]:
        """Return the parameters with free text, each with the number of its values.

        Most of their values have five words or more, most differ from each other, and most do not occur word
        for word in what was said before.
        """
        return {
            each: times
            for each, times in sorted(self._times.items())
            if 2 * self._long[each] > times
            and 2 * len(self._distinct[each]) > min(times, _MOST_DISTINCT)
            and 2 * self._said[each] < times
        }


def write_entry(step: NextStep, cluster: str) -> Mapping[str, object]:
    """Write a step as a line of a suite; its id follows from what it asks and expects."""
    entry: dict[str, object] = {"category": step.category}
    messages: list[dict[str, object]] = []
    for message in step.said:
        messages.append({"role": message.role})
        if message.content or not message.calls:
            messages[-1]["content"] = message.content
        if message.calls:
            messages[-1]["calls"] = [{call.name: dict(call.arguments)} for call in message.calls]
    entry["messages"] = messages
    entry["functions"] = list(step.tools)
    if step.calls:
        schemas = {name_tool(tool): find_parameters(tool) for tool in step.tools}
        entry["expect"] = [{call.name: list_accepted(call, schemas[call.name])} for call in step.calls]
    text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return {"category": step.category, "id": f"{step.category}_{digest}", **entry, "cluster": cluster}


def mark_free_texts(line: str, parameters: Iterable[Parameter]) -> str:
    """Mark parameters of an entry as free text, which a judge compares."""
    entry = read_json_text(line)
    for function, parameter in parameters:
        entry.setdefault("judged", {}).setdefault(function, []).append(parameter)
    return f"{json.dumps(entry, ensure_ascii=True)}\n"


def list_accepted(call: PastCall, properties: Mapping[str, object]) -> Mapping[str, object]:
    """List the accepted values of each argument: the logged one.

    A parameter with a default may be left out where the logged value is the default, and may be given with
    the default where the log leaves it out.
    """
    accepted_values: dict[str, object] = {}
    for name, value in call.arguments.items():
        is_default = "default" in (schema := as_mapping(properties.get(name))) and schema["default"] == value
        accepted_values[name] = [value, ""] if is_default and value != "" else [value]
    for name in properties:
        default = as_mapping(properties[name]).get("default")
        if name not in accepted_values and default not in (None, ""):
            accepted_values[name] = [default, ""]
    return accepted_values


def find_flaw(entry: Mapping[str, object]) -> str:
    """Return why a suite could not have an entry, or an empty text."""
    value = {key: member for key, member in entry.items() if key != "category"}
    file = Field({"category": entry["category"], "entries": [value]}, Path("log"), (), 1)
    try:
        entry_files.make_entries(file, "log", CATEGORIES[str(entry["category"])])
    except SuiteError as error:
        return str(error).partition("entries.0.")[2] or str(error)
    return ""
