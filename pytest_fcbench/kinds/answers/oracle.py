"""The oracle's use of a memory: store what later conversations ask for, answer from what is found.

It really calls the tools, so it fails an entry whose memory does not work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcbench.codecs.python_syntax import read_literal
from pytest_fcbench.domain.categories import SELECTIONS
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call
from pytest_fcbench.kinds.answers.truth import Answers, Facts

UNKNOWN = "I do not know"
"""The answer that entries ask for where nothing is known."""


def store_facts(entry: Entry, facts: Facts, turn: int) -> Sequence[Call]:
    """Return the calls that store the facts of a turn."""
    texts = facts.turns[turn]
    match entry.category.name:
        case "memory_kv":
            key = f"fact_{len(entry.earlier)}_{turn}"
            return [
                Call("archival_memory_add", {"key": f"{key}_{number}", "value": fact})
                for number, fact in enumerate(texts)
            ]
        case "memory_vector":
            return [Call("archival_memory_add", {"text": fact}) for fact in texts]
    return [Call("memory_append", {"text": f"{fact}\n"}) for fact in texts]


def search_memory(entry: Entry, request: AskModel) -> Sequence[Call]:
    """Return the calls that find stored facts, and no call once all were read."""
    match entry.category.name, request.step:
        case "memory_kv", 0:
            return [Call("archival_memory_list_keys", {})]
        case "memory_kv", 1:
            keys = dict.fromkeys(re.findall(r"\bfact_[0-9_]+", " ".join(collect_results(request.messages))))
            return [Call("archival_memory_retrieve", {"key": key}) for key in keys]
        case "memory_vector", 0:
            query = entry.turns[0][-1].content
            return [Call("archival_memory_retrieve", {"query": query, "top_k": 50})]
        case "memory_rec_sum", 0:
            return [Call("memory_retrieve", {})]
    return []


def write_answer(entry: Entry, right: Answers, request: AskModel) -> str:
    """Write the final answer in the form that entries ask for: a right answer that was found, or ``UNKNOWN``.

    Where the entry does not say where on the web the answer stands, it counts as found.
    """
    is_known = entry.category.name in SELECTIONS["web_search"] and not right.trail
    known_texts = right.texts if is_known else collect_results(request.messages)
    answer = next((text for text in right.texts if any(text in part for part in known_texts)), UNKNOWN)
    context = UNKNOWN if answer == UNKNOWN else "This is what my functions returned."
    return str({"answer": answer, "context": context})


def collect_results(messages: Sequence[Mapping[str, object]]) -> list[str]:
    """Return all texts in the results of calls, in either mode."""
    contents: list[object] = []
    for message in messages:
        if message["role"] == "tool":
            contents.append(message["content"])
        # In prompting mode results come as a Python list in the text of a user message, as officially.
        elif message["role"] == "user" and str(message["content"]).startswith("[{'role': 'tool'"):
            results = read_literal(str(message["content"]))
            contents += [result["content"] for result in results] if isinstance(results, list) else []
    texts: list[str] = []
    for content in contents:
        try:
            texts += _find_texts(read_json_text(str(content)))
        except ValueError:
            texts.append(str(content))
    return texts


def _find_texts(value: object) -> Iterator[str]:
    """Yield the texts of a JSON value, at any depth."""
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _find_texts(member)
    else:
        yield str(value)
