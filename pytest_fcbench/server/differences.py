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

    def find_entries(self, sent: Body) -> list[Entry]:
        """Return the entries that have the most texts of a request, in the order of the suites."""
        texts = _list_texts(sent.messages, "user")
        counts = Counter(key for text in set(texts) for key in self._keys.get(text, ()))
        most = max(counts.values(), default=0)
        keys = sorted(counts, key=self._places.__getitem__)
        return [self._entries[key] for key in keys if counts[key] == most]

    def find_nearest(self, sent: Body) -> Sequence[Entry]:
        """Return the entries that have the most texts of a request, else a text like its last one."""
        if same := self.find_entries(sent):
            return same[:_MOST_ENTRIES]
        texts = _list_texts(sent.messages, "user")
        if not texts:
            return []
        # Only the texts that share the most words with it are compared in full, which takes long.
        words = _find_words(texts[-1])
        self._words = self._words or {known: _find_words(known) for known in self._keys}
        shares = {
            known: len(words & others) / len(words | others)
            for known, others in self._words.items()
            if words & others
        }
        matcher = SequenceMatcher(None, b=texts[-1][:_LONGEST_TEXT], autojunk=False)
        found: dict[str, float] = {}
        for known in sorted(shares, key=lambda known: -shares[known])[:_MOST_TEXTS]:
            matcher.set_seq1(known[:_LONGEST_TEXT])
            found[known] = matcher.ratio()
        likely = [known for known, ratio in found.items() if ratio >= _LEAST_LIKENESS]
        likely.sort(key=lambda known: -found[known])
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


def choose_nearest(sent: Body, expected: Iterable[Expected]) -> Expected | None:
    """Return the request that another one resembles most; of equals the first."""
    names = set(_list_tool_names(sent.tools) or ())

    def measure_likeness(each: Expected) -> tuple[int, ...]:
        messages, tools = each.body.messages, each.body.tools
        return (
            (sent.messages == messages) + (sent.tools == tools),
            _find_position(sent.messages, messages),
            bool(sent.tools) == bool(tools),
            -len(names.symmetric_difference(_list_tool_names(tools) or ())),
            -abs(len(sent.messages) - len(messages)),
        )

    return max(expected, key=measure_likeness, default=None)


def describe_difference(sent: Body, expected: Expected) -> str:
    """Describe the difference between a request and the nearest of an entry's; empty where there is none."""
    told = []
    offered = _join_names(_list_tool_names(expected.body.tools) or ())
    system = next(iter(_list_texts(expected.body.messages, "system")), "")
    if expected.mode is Mode.PROMPT and sent.tools:
        told.append(
            "the request has tools beside the system prompt that describes them; in prompt mode leave the "
            "tools out, in function-calling mode the system prompt"
        )
    elif expected.mode is Mode.PROMPT and system and not _list_texts(sent.messages, "system"):
        return (
            "the request has neither the entry's tools nor, in their place, the system prompt that describes "
            f"them ({_cut(system)})"
        )
    elif expected.body.tools and not sent.tools:
        told.append(
            f"the request has no tools; the entry offers {offered} in function-calling mode, and describes "
            f"them in the system prompt in prompt mode"
        )
    elif sent.tools != expected.body.tools:
        told.append(_describe_tools(sent.tools, expected.body.tools))
    if sent.messages != expected.body.messages:
        told.insert(0, _describe_messages(sent.messages, expected.body.messages))
    return "; ".join(told)


def _list_texts(messages: Sequence[object], role: str) -> list[str]:
    """Return the texts of a role's messages; a content in parts is none."""
    said = [each for each in messages if isinstance(each, Mapping) and each.get("role") == role]
    return [text for each in said if isinstance(text := each.get("content"), str)]


def _find_position(sent: Sequence[object], expected: Sequence[object]) -> int:
    """Return the index of the first difference."""
    pairs = enumerate(zip(sent, expected, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(sent), len(expected)))


def _describe_messages(sent: Sequence[object], expected: Sequence[object]) -> str:
    """Describe the first message that differs."""
    at = _find_position(sent, expected)
    number = f"message {at + 1}"
    if at == len(sent):
        return f"the request ends before {number}, {_show_message(expected[at])}"
    if at == len(expected):
        return f"the request continues with {number}, {_show_message(sent[at])}, where the entry ends"
    one, other = sent[at], expected[at]
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return _contrast(number, one, other)
    if one.get("role") == other.get("role"):
        return _describe_member(f"{number} ({one.get('role')})", one, other)
    if sent[at : at + 1] == expected[at + 1 : at + 2]:
        return f"before {number} the request lacks {_show_message(other)}"
    if sent[at + 1 : at + 2] == expected[at : at + 1]:
        return f"{number}, {_show_message(one)}, is not in the entry; leave it out"
    return f"{number} is {_show_message(one)} where the entry has {_show_message(other)}"


def _describe_member(what: str, sent: Mapping[str, object], expected: Mapping[str, object]) -> str:
    """Describe the first member that differs, the content of a message before all others."""
    names = sorted(sent.keys() | expected.keys(), key=lambda name: (name != "content", name))
    name = next((name for name in names if sent.get(name) != expected.get(name)), "")
    return _contrast(what if name == "content" else f"{name!r} of {what}", sent.get(name), expected.get(name))


def _show_message(message: object) -> str:
    if not isinstance(message, Mapping):
        return _cut(_write(message))
    shown = message.get("content") or message.get("tool_calls") or ""
    return f"a message of the role {message.get('role')!r} ({_cut(_write(shown))})"


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


def _describe_tools(sent: object, expected: object) -> str:
    """Describe the first difference: in the names, then in a description, a parameter or another member."""
    names, others = _list_tool_names(sent), _list_tool_names(expected)
    if names is None:
        return 'the tools must be a list of {"type": "function", "function": {"name": ...}}'
    if others is None or not isinstance(sent, list) or not isinstance(expected, list):
        return _contrast("the list of tools", sent, expected)
    if told := _describe_names("tool", names, others):
        return f"the request {told}"
    if names != others:
        return f"the tools are in another order, the entry offers {_join_names(others)}"
    at = _find_position(sent, expected)
    tool, mine, theirs = f"tool {names[at]!r}", sent[at]["function"], expected[at]["function"]
    if mine == theirs:
        return _describe_member(tool, sent[at], expected[at])
    one, other = mine.get("parameters"), theirs.get("parameters")
    if (
        mine.get("description") != theirs.get("description")
        or one == other
        or not isinstance(one, Mapping)
        or not isinstance(other, Mapping)
    ):
        return _describe_member(tool, mine, theirs)
    given, wanted = one.get("properties"), other.get("properties")
    if given == wanted or not isinstance(given, Mapping) or not isinstance(wanted, Mapping):
        return _describe_member(f"the parameters of {tool}", one, other)
    if told := _describe_names("parameter", given, wanted):
        return f"{tool} {told}"
    parameter = next((each for each in wanted if given[each] != wanted[each]), "")
    return _contrast(f"the parameter {parameter!r} of {tool}", given[parameter], wanted[parameter])


def _describe_names(kind: str, sent: Iterable[str], expected: Iterable[str]) -> str:
    """Describe which names are missing and which are too many; empty where all are there."""
    given, wanted = list(sent), list(expected)
    parts = []
    for verb, names in (
        ("lacks", [name for name in wanted if name not in given]),
        ("has", [name for name in given if name not in wanted]),
    ):
        if names:
            plural = "s" if len(names) > 1 else ""
            parts.append(f"{verb} the {kind}{plural} {_join_names(names)}")
    return " and ".join(parts)


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(map(repr, names[:_MOST_NAMES])) + (f" and {more} more" if more > 0 else "")


def _contrast(what: str, sent: object, expected: object) -> str:
    """Contrast two values by excerpts from where they begin to differ."""
    one, other = _write(sent), _write(expected)
    start = max(0, _find_position(one, other) - _BEFORE)
    shown = "nothing" if sent is None else _cut(one, start)
    wanted = "nothing" if expected is None else _cut(other, start)
    return f"{what} is {shown} where the entry has {wanted}"


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str, start: int = 0) -> str:
    """Return an excerpt in quotes, with dots where text is left out."""
    end = start + _EXCERPT
    return repr(f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}")
