"""The request of an entry that another request resembles most, and the first difference between both."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.text import list_objects
from pytest_fcbench.server.body import Body

_MOST_ENTRIES = 3
"""The most entries whose requests are compared in full: to list them takes a conversation in each manner."""

_LEAST_LIKENESS = 0.5
"""The least share of common words at which a text resembles another."""

_BEFORE, _EXCERPT = 20, 60
"""Characters of an excerpt: those before the difference, and all."""


class Questions:
    """The texts of users in entries, to find the entry that a request resembles."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = {entry.key: entry for entry in entries}
        self._places = {key: place for place, key in enumerate(self._entries)}
        self._keys: dict[str, list[str]] = {}
        for entry in self._entries.values():
            for text in dict.fromkeys(entry.user_texts):
                self._keys.setdefault(text, []).append(entry.key)
        with_texts = {key for keys in self._keys.values() for key in keys}
        self.without_texts = [entry for key, entry in self._entries.items() if key not in with_texts]
        """Entries in which no user says anything."""
        self._words: Mapping[str, frozenset[str]] = {}

    def find_entries(self, request: Body) -> list[Entry]:
        """Return the entries that have the most texts of a request, in the order of the suites."""
        texts = _list_texts(request.messages, "user")
        counts = Counter(key for text in set(texts) for key in self._keys.get(text, ()))
        most = max(counts.values(), default=0)
        keys = sorted(counts, key=self._places.__getitem__)
        return [self._entries[key] for key in keys if counts[key] == most]

    def find_nearest(self, request: Body) -> Sequence[Entry]:
        """Return the entries that have the most texts of a request, else a text like its last one."""
        if same := self.find_entries(request):
            return same[:_MOST_ENTRIES]
        words = _find_words("".join(_list_texts(request.messages, "user")[-1:]))
        self._words = self._words or {text: _find_words(text) for text in self._keys}
        shared = {text: words & others for text, others in self._words.items()}
        likeness = {text: len(each) / len(words | self._words[text]) for text, each in shared.items() if each}
        ranked_texts = sorted(likeness, key=lambda text: -likeness[text])
        keys = [key for text in ranked_texts if likeness[text] >= _LEAST_LIKENESS for key in self._keys[text]]
        return [self._entries[key] for key in keys[:_MOST_ENTRIES]]


def _find_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


@dataclass(frozen=True, slots=True)
class Expected:
    """A request about an entry: its key, and the mode in which it is put."""

    key: str
    body: Body
    mode: Mode


def choose_nearest(request: Body, candidates: Iterable[Expected]) -> Expected | None:
    """Return the request that another one resembles most; of equals the first."""
    names = _find_tool_names(request.tools)

    def measure_likeness(each: Expected) -> tuple[int, ...]:
        messages, tools = each.body.messages, each.body.tools
        return (
            (request.messages == messages) + (request.tools == tools),
            _find_position(request.messages, messages),
            bool(request.tools) == bool(tools),
            -len(names ^ _find_tool_names(tools)),
            -abs(len(request.messages) - len(messages)),
        )

    return max(candidates, key=measure_likeness, default=None)


def describe_difference(request: Body, nearest: Expected) -> str:
    """Describe the difference between a request and the nearest of an entry's; empty where there is none."""
    system = next(iter(_list_texts(nearest.body.messages, "system")), "")
    has_system = bool(_list_texts(request.messages, "system"))
    if nearest.mode is Mode.PROMPT and system and not request.tools and not has_system:
        return (
            "the request has neither the entry's tools nor, in their place, the system prompt that "
            f"describes them ({_cut(system)})"
        )
    differences = []
    if request.messages != nearest.body.messages:
        differences.append(_contrast("messages", request.messages, nearest.body.messages))
    if nearest.mode is Mode.PROMPT and request.tools:
        differences.append(
            "the request has tools beside the system prompt that describes them; in prompt mode leave the "
            "tools out, in function-calling mode the system prompt"
        )
    elif nearest.body.tools and not request.tools:
        differences.append(
            "the request has no tools; the entry offers them in function-calling mode, and describes them in "
            "the system prompt in prompt mode"
        )
    elif request.tools != nearest.body.tools:
        differences.append(_contrast("tools", request.tools, nearest.body.tools))
    return "; ".join(differences)


def _list_texts(messages: Sequence[object], role: str) -> list[str]:
    """Return the texts of a role's messages; a content in parts is none."""
    role_messages = [each for each in messages if isinstance(each, Mapping) and each.get("role") == role]
    return [text for each in role_messages if isinstance(text := each.get("content"), str)]


def _find_tool_names(tools: object) -> frozenset[str]:
    """Return the names of functions in the form of a chat request."""
    functions = (tool.get("function") for tool in list_objects(tools))
    return frozenset(str(each.get("name")) for each in functions if isinstance(each, Mapping))


def _find_position(values: Sequence[object], entry_values: Sequence[object]) -> int:
    """Return the index of the first difference."""
    pairs = enumerate(zip(values, entry_values, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(values), len(entry_values)))


def _contrast(place: str, value: object, entry_value: object) -> str:
    """Contrast two JSON values where they first differ, by excerpts; ``...`` is a missing one."""
    match value, entry_value:
        case (Mapping(), Mapping()):
            names = sorted(value.keys() | entry_value.keys())
            # What is missing differs from null, which some clients send.
            members = {name: (value.get(name, ...), entry_value.get(name, ...)) for name in names}
            name = next(name for name, (one, other) in members.items() if one != other)
            return _contrast(f"{place}.{name}", *members[name])
        case (list(), list()):
            at = _find_position(value, entry_value)
            elements = (each[at] if at < len(each) else ... for each in (value, entry_value))
            return _contrast(f"{place}[{at}]", *elements)
    one, other = (
        "" if part is ... else part if isinstance(part, str) else json.dumps(part)
        for part in (value, entry_value)
    )
    start = max(0, _find_position(one, other) - _BEFORE)
    excerpts = (
        "nothing" if part is ... else _cut(text, start) for part, text in ((value, one), (entry_value, other))
    )
    return f"{place} is {' where the entry has '.join(excerpts)}"


def _cut(text: str, start: int = 0) -> str:
    """Return an excerpt in quotes, with dots where text is left out."""
    end = start + _EXCERPT
    return repr(f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}")
