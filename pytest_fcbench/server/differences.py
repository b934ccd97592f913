"""Describe in which way a request differs from those of the entry that it resembles most."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.server.body import Body

_MOST_ENTRIES = 3
"""The most entries whose requests are compared in full: to list them takes a conversation in each manner."""

_MOST_TEXTS = 20
"""The most texts that are compared letter by letter."""

_LONGEST_TEXT = 1_000
"""Characters of a text that are compared letter by letter."""

_LEAST_LIKENESS = 0.75
"""The least ratio of ``difflib`` at which a text resembles another."""

_MOST_NAMES = 5
"""The most names that a sentence lists."""

_BEFORE, _EXCERPT = 20, 60
"""Characters of an excerpt: those before the difference, and all."""


class Questions:
    """The texts of users in entries, to find the entry that a request resembles."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = {entry.key: entry for entry in entries}
        self._places = {key: place for place, key in enumerate(self._entries)}
        self._keys: dict[str, list[str]] = {}
        for entry in self._entries.values():
            texts = (message.content for turn in entry.turns for message in turn if message.role == "user")
            for text in dict.fromkeys(texts):
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
        texts = _list_texts(request.messages, "user")
        if not texts:
            return []
        # Only the texts that share the most words with it are compared in full, which takes long.
        words = _find_words(texts[-1])
        self._words = self._words or {known_text: _find_words(known_text) for known_text in self._keys}
        shares = {
            known_text: len(words & others) / len(words | others)
            for known_text, others in self._words.items()
            if words & others
        }
        matcher = SequenceMatcher(None, b=texts[-1][:_LONGEST_TEXT], autojunk=False)
        ratios: dict[str, float] = {}
        for known_text in sorted(shares, key=lambda known_text: -shares[known_text])[:_MOST_TEXTS]:
            matcher.set_seq1(known_text[:_LONGEST_TEXT])
            ratios[known_text] = matcher.ratio()
        likely = [known_text for known_text, ratio in ratios.items() if ratio >= _LEAST_LIKENESS]
        likely.sort(key=lambda known_text: -ratios[known_text])
        keys = [key for text in likely for key in self._keys[text]]
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
    names = set(_list_tool_names(request.tools) or ())

    def measure_likeness(each: Expected) -> tuple[int, ...]:
        messages, tools = each.body.messages, each.body.tools
        return (
            (request.messages == messages) + (request.tools == tools),
            _find_position(request.messages, messages),
            bool(request.tools) == bool(tools),
            -len(names.symmetric_difference(_list_tool_names(tools) or ())),
            -abs(len(request.messages) - len(messages)),
        )

    return max(candidates, key=measure_likeness, default=None)


def describe_difference(request: Body, nearest: Expected) -> str:
    """Describe the difference between a request and the nearest of an entry's; empty where there is none."""
    differences = []
    tool_list = _join_names(_list_tool_names(nearest.body.tools) or ())
    system = next(iter(_list_texts(nearest.body.messages, "system")), "")
    if nearest.mode is Mode.PROMPT and request.tools:
        differences.append(
            "the request has tools beside the system prompt that describes them; in prompt mode leave the "
            "tools out, in function-calling mode the system prompt"
        )
    elif nearest.mode is Mode.PROMPT and system and not _list_texts(request.messages, "system"):
        return (
            "the request has neither the entry's tools nor, in their place, the system prompt that describes "
            f"them ({_cut(system)})"
        )
    elif nearest.body.tools and not request.tools:
        differences.append(
            f"the request has no tools; the entry offers {tool_list} in function-calling mode, and describes "
            f"them in the system prompt in prompt mode"
        )
    elif request.tools != nearest.body.tools:
        differences.append(_describe_tools(request.tools, nearest.body.tools))
    if request.messages != nearest.body.messages:
        differences.insert(0, _describe_messages(request.messages, nearest.body.messages))
    return "; ".join(differences)


def _list_texts(messages: Sequence[object], role: str) -> list[str]:
    """Return the texts of a role's messages; a content in parts is none."""
    role_messages = [each for each in messages if isinstance(each, Mapping) and each.get("role") == role]
    return [text for each in role_messages if isinstance(text := each.get("content"), str)]


def _find_position(values: Sequence[object], entry_values: Sequence[object]) -> int:
    """Return the index of the first difference."""
    pairs = enumerate(zip(values, entry_values, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(values), len(entry_values)))


def _describe_messages(messages: Sequence[object], entry_messages: Sequence[object]) -> str:
    """Describe the first message that differs."""
    at = _find_position(messages, entry_messages)
    number = f"message {at + 1}"
    if at == len(messages):
        return f"the request ends before {number}, {_show_message(entry_messages[at])}"
    if at == len(entry_messages):
        return f"the request continues with {number}, {_show_message(messages[at])}, where the entry ends"
    one, other = messages[at], entry_messages[at]
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return _contrast(number, one, other)
    if one.get("role") == other.get("role"):
        return _describe_member(f"{number} ({one.get('role')})", one, other)
    if messages[at : at + 1] == entry_messages[at + 1 : at + 2]:
        return f"before {number} the request lacks {_show_message(other)}"
    if messages[at + 1 : at + 2] == entry_messages[at : at + 1]:
        return f"{number}, {_show_message(one)}, is not in the entry; leave it out"
    return f"{number} is {_show_message(one)} where the entry has {_show_message(other)}"


def _describe_member(what: str, request_part: Mapping[str, object], entry_part: Mapping[str, object]) -> str:
    """Describe the first member that differs, the content of a message before all others."""
    names = sorted(request_part.keys() | entry_part.keys(), key=lambda name: (name != "content", name))
    name = next((name for name in names if request_part.get(name) != entry_part.get(name)), "")
    return _contrast(
        what if name == "content" else f"{name!r} of {what}", request_part.get(name), entry_part.get(name)
    )


def _show_message(message: object) -> str:
    if not isinstance(message, Mapping):
        return _cut(_write(message))
    content = message.get("content") or message.get("tool_calls") or ""
    return f"a message of the role {message.get('role')!r} ({_cut(_write(content))})"


def _list_tool_names(tools: object) -> list[str] | None:
    """Return the names of tools, None where they are not functions in the form of a chat request."""
    if not isinstance(tools, list):
        return None
    names = []
    for tool in tools:
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            return None
        names.append(function["name"])
    return names


def _describe_tools(request_tools: object, entry_tools: object) -> str:
    """Describe the first difference: in the names, then in a description, a parameter or another member."""
    names, others = _list_tool_names(request_tools), _list_tool_names(entry_tools)
    if names is None:
        return 'the tools must be a list of {"type": "function", "function": {"name": ...}}'
    if others is None or not isinstance(request_tools, list) or not isinstance(entry_tools, list):
        return _contrast("the list of tools", request_tools, entry_tools)
    if name_difference := _describe_names("tool", names, others):
        return f"the request {name_difference}"
    if names != others:
        return f"the tools are in another order, the entry offers {_join_names(others)}"
    at = _find_position(request_tools, entry_tools)
    tool, mine, theirs = f"tool {names[at]!r}", request_tools[at]["function"], entry_tools[at]["function"]
    if mine == theirs:
        return _describe_member(tool, request_tools[at], entry_tools[at])
    one, other = mine.get("parameters"), theirs.get("parameters")
    if (
        mine.get("description") != theirs.get("description")
        or one == other
        or not isinstance(one, Mapping)
        or not isinstance(other, Mapping)
    ):
        return _describe_member(tool, mine, theirs)
    properties, entry_properties = one.get("properties"), other.get("properties")
    if (
        properties == entry_properties
        or not isinstance(properties, Mapping)
        or not isinstance(entry_properties, Mapping)
    ):
        return _describe_member(f"the parameters of {tool}", one, other)
    if name_difference := _describe_names("parameter", properties, entry_properties):
        return f"{tool} {name_difference}"
    parameter = next((each for each in entry_properties if properties[each] != entry_properties[each]), "")
    return _contrast(
        f"the parameter {parameter!r} of {tool}", properties[parameter], entry_properties[parameter]
    )


def _describe_names(kind: str, request_names: Iterable[str], entry_names: Iterable[str]) -> str:
    """Describe which names are missing and which are too many; empty where all are there."""
    request_list, entry_list = list(request_names), list(entry_names)
    parts = []
    for verb, names in (
        ("lacks", [name for name in entry_list if name not in request_list]),
        ("has", [name for name in request_list if name not in entry_list]),
    ):
        if names:
            plural = "s" if len(names) > 1 else ""
            parts.append(f"{verb} the {kind}{plural} {_join_names(names)}")
    return " and ".join(parts)


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(map(repr, names[:_MOST_NAMES])) + (f" and {more} more" if more > 0 else "")


def _contrast(what: str, request_value: object, entry_value: object) -> str:
    """Contrast two values by excerpts from where they begin to differ."""
    one, other = _write(request_value), _write(entry_value)
    start = max(0, _find_position(one, other) - _BEFORE)
    request_excerpt = "nothing" if request_value is None else _cut(one, start)
    entry_excerpt = "nothing" if entry_value is None else _cut(other, start)
    return f"{what} is {request_excerpt} where the entry has {entry_excerpt}"


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str, start: int = 0) -> str:
    """Return an excerpt in quotes, with dots where text is left out."""
    end = start + _EXCERPT
    return repr(f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}")
