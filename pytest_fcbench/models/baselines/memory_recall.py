"""How the oracle uses a memory: it keeps what later conversations ask for, and answers from what it finds.

It really goes through the tools, so an entry whose memory does not work is one that it misses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.entry import SELECTIONS, Answers, Entry, Facts
from pytest_fcbench.domain.transcript import AskModel, Call

UNKNOWN = "I do not know"
"""The answer that is asked for where there is none."""


def keeping(entry: Entry, facts: Facts, turn: int) -> Sequence[Call]:
    """Calls that keep the facts of a turn."""
    conversation = len(entry.earlier)
    return [
        _kept(entry.category.name, f"fact_{conversation}_{turn}_{number}", fact)
        for number, fact in enumerate(facts.turns[turn])
    ]


def _kept(domain: str, key: str, fact: str) -> Call:
    match domain:
        case "memory_kv":
            return Call("archival_memory_add", {"key": key, "value": fact})
        case "memory_vector":
            return Call("archival_memory_add", {"text": fact})
    return Call("memory_append", {"text": f"{fact}\n"})


def looking(entry: Entry, request: AskModel) -> Sequence[Call]:
    """Calls that find what was kept, none as soon as all was looked at."""
    match entry.category.name, request.step:
        case "memory_kv", 0:
            return [Call("archival_memory_list_keys", {})]
        case "memory_kv", 1:
            keys = dict.fromkeys(re.findall(r"\bfact_[0-9_]+", " ".join(returned(request.messages))))
            return [Call("archival_memory_retrieve", {"key": key}) for key in keys]
        case "memory_vector", 0:
            query = entry.turns[0][-1].content
            return [Call("archival_memory_retrieve", {"query": query, "top_k": 50})]
        case "memory_rec_sum", 0:
            return [Call("memory_retrieve", {})]
    return []


def answered(entry: Entry, right: Answers, request: AskModel) -> str:
    """The final answer in the form that is asked for: a right one that was found, or that none was.

    Where nobody knows where on the web it stands, it is known without being found.
    """
    known = entry.category.name in SELECTIONS["web_search"] and not right.trail
    found = right.texts if known else returned(request.messages)
    answer = next((text for text in right.texts if any(text in part for part in found)), UNKNOWN)
    context = UNKNOWN if answer == UNKNOWN else "This is what my functions returned."
    return str({"answer": answer, "context": context})


def returned(messages: Sequence[Mapping[str, object]]) -> list[str]:
    """All texts in what calls returned, in either mode."""
    contents: list[object] = []
    said = [message for message in messages if message["role"] != "system"]
    for message in said:
        if message["role"] == "tool":
            contents.append(message["content"])
        elif message["role"] == "user" and str(message["content"]).startswith("[{'role': 'tool'"):
            results = read_literal(str(message["content"]))
            contents += [result["content"] for result in results] if isinstance(results, list) else []
    return [text for content in contents for text in _texts(_value(str(content)))]


def _value(content: str) -> object:
    try:
        value: object = json.loads(content)
    except ValueError:
        return content
    return value


def _texts(value: object) -> Iterator[str]:
    """The texts of a JSON value, at any depth."""
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)
    else:
        yield str(value)
