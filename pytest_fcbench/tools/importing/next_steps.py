"""Make an entry of each answer of the assistant: its question is all that came before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.entry import Message, PastCall
from pytest_fcbench.tools.importing.log_forms import LoggedConversation, LoggedMessage

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
    def news(self) -> str:
        """The messages since the last earlier answer, and the calls: what makes the step a new one."""
        last = max((at for at, each in enumerate(self.said) if each.role == "assistant"), default=-1)
        return "\n".join([*(message.content for message in self.said[last + 1 :]), *map(str, self.calls)])


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An answer of which no entry is made."""

    reason: str


def split_conversation(logged: LoggedConversation) -> Iterator[NextStep | LeftOut]:
    """Yield a step, or the reason why there is none, for each answer of the assistant in order."""
    tools = tuple(tool for tool in logged.tools if name_tool(tool))
    names = set(map(name_tool, tools))
    answers = [at for at, message in enumerate(logged.messages) if message.role == "assistant"]
    said: list[Message] = []
    open_calls: list[str] = []
    results: dict[int, str] = {}
    stopped = ""
    for at, message in enumerate(logged.messages):
        if not stopped:
            stopped = _find_gap(message, open_calls, results)
        if message.role == "assistant":
            broken = any(not isinstance(call.arguments, Mapping) for call in message.calls)
            calls = tuple(PastCall(call.name, as_mapping(call.arguments)) for call in message.calls)
            reason = stopped or (
                "earlier in a conversation of which each answer has its own record"
                if logged.only_last and at != answers[-1]
                else "marked as no example"
                if not message.is_example
                else "no functions were offered"
                if not tools
                else "nothing was asked before"
                if not any(each.role == "user" for each in said)
                else "neither calls nor text"
                if not calls and not message.text.strip()
                else "arguments that are no JSON object"
                if broken
                else "a function that was not offered"
                if any(call.name not in names for call in calls)
                else ""
            )
            yield LeftOut(reason) if reason else NextStep(tuple(said), message.text, calls, tools)
            if broken:
                stopped = stopped or "an earlier call cannot be read"
            said.append(Message("assistant", message.text, calls))
            open_calls, results = [call.id for call in message.calls], {}
        elif message.role == "tool" and not stopped:
            results[_find_place(message, open_calls, results)] = message.text
            if len(results) == len(open_calls):
                said += (Message("tool", results[place]) for place in sorted(results))
                open_calls, results = [], {}
        else:
            said.append(Message(message.role, message.text))


def _find_gap(message: LoggedMessage, open_calls: Sequence[str], results: Mapping[int, str]) -> str:
    """Return why nothing from this message on can be used, or an empty text."""
    if message.has_other_media:
        return "parts that are not text"
    if message.role not in ("system", "user", "assistant", "tool"):
        return f"a message of the unknown role {message.role!r:.40}"
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


def name_tool(tool: Mapping[str, object]) -> str:
    """Return the name of the function of a tool; empty for a tool of another kind."""
    function = as_mapping(tool.get("function", tool))
    name = function.get("name") or function.get("title")
    return name if isinstance(name, str) else ""


def write_entry(step: NextStep, cluster: str) -> Mapping[str, object]:
    """Write a step as a line of a suite; its id follows from what it asks and expects."""
    entry: dict[str, object] = {"category": step.category}
    if any(message.calls or message.role == "assistant" for message in step.said):
        entry["messages"] = [_write_message(message) for message in step.said]
    else:
        entry["messages"] = [{"role": each.role, "content": each.content} for each in step.said]
    entry["functions"] = list(step.tools)
    if step.calls:
        schemas = {name_tool(tool): find_parameters(tool) for tool in step.tools}
        entry["expect"] = [{call.name: _list_accepted(call, schemas[call.name])} for call in step.calls]
    text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return {"category": step.category, "id": f"{step.category}_{digest}", **entry, "cluster": cluster}


def _write_message(message: Message) -> Mapping[str, object]:
    content = {"content": message.content} if message.content or not message.calls else {}
    calls = [{call.name: dict(call.arguments)} for call in message.calls]
    return {"role": message.role, **content, **({"calls": calls} if calls else {})}


def find_parameters(tool: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schemas of a tool's parameters by name."""
    function = as_mapping(tool.get("function", tool))
    keys = ("parameters", "input_schema", "inputSchema")
    schema = next((as_mapping(function[key]) for key in keys if key in function), function)
    return as_mapping(schema.get("properties"))


def _list_accepted(call: PastCall, properties: Mapping[str, object]) -> Mapping[str, object]:
    """List the accepted values of each argument: the logged one.

    A parameter with a default may be left out where the logged value is the default, and may be given with
    the default where the log leaves it out.
    """
    accepted: dict[str, object] = {}
    for name, value in call.arguments.items():
        is_default = "default" in (schema := as_mapping(properties.get(name))) and schema["default"] == value
        accepted[name] = [value, ""] if is_default and value != "" else [value]
    for name, schema in properties.items():
        if name not in accepted and as_mapping(schema).get("default") not in (None, ""):
            accepted[name] = [as_mapping(schema)["default"], ""]
    return accepted
