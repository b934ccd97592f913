"""Entries as the YAML that ``suites/formats`` read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import yaml

from pytest_fcbench.domain.entry import Entry, ExpectedCalls, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.suites.formats.multi_turn import UNWORDED
from pytest_fcbench.tools.authoring.sampling import Walk

Turn: TypeAlias = tuple[int, int]
"""A walk, and a turn of it."""


def written(entries: Sequence[Entry]) -> Mapping[str, str]:
    """The text of a file for each category, by its name. Raises ValueError for an entry of another shape."""
    by_category: dict[str, list[Entry]] = {}
    for entry in entries:
        by_category.setdefault(entry.category.name, []).append(entry)
    return {name: _file(name, group) for name, group in by_category.items()}


def _file(category: str, entries: Sequence[Entry]) -> str:
    docs: dict[str, FunctionDoc] = {}
    for entry in entries:
        for doc in entry.functions:
            docs.setdefault(doc.name, doc)
    whole = {
        "category": category,
        "functions": list(map(function, docs.values())),
        "entries": [_entry(entry, docs) for entry in entries],
    }
    return yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def drafted(
    scene: Scene, walks: Sequence[Walk], parent: str, first: int, questions: Mapping[Turn, str]
) -> str:
    """Walks as multi-turn entries, numbered from ``first``.

    A turn without a question, by walk and number, says what one would have to mention; such a file cannot be
    read until it is worded (``trajectories.UNWORDED``).
    """
    entries = [
        {
            "id": f"multi_turn_base_{first + at}",
            "domains": {domain: dict(scene.config.get(domain, {})) for domain in scene.domains},
            "turns": [
                {
                    "user": questions.get((at, number)) or _to_word(walk, number),
                    "calls": [call.text for call in calls],
                }
                for number, calls in enumerate(walk.turns)
            ],
            "parents": [parent],
        }
        for at, walk in enumerate(walks)
    ]
    whole = {"category": "multi_turn_base", "entries": entries}
    return yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _to_word(walk: Walk, number: int) -> str:
    says = ", ".join(map(repr, walk.mention(number))) or "nothing in particular"
    return f"{UNWORDED} ask for what these calls do; mention: {says}"


def function(doc: FunctionDoc) -> dict[str, object]:
    """A function doc as the format has it."""
    extra = {"response": doc.extra["response"]} if "response" in doc.extra else {}
    parameters = {key: doc.parameters[key] for key in ("type", "properties", "required")}
    return {"name": doc.name, "description": doc.description, "parameters": parameters, **extra}


def _entry(entry: Entry, docs: Mapping[str, FunctionDoc]) -> dict[str, object]:
    if len(entry.turns) != 1 or entry.scene or entry.tables:
        raise ValueError(f"{entry.key} is not of a single turn")
    (messages,) = entry.turns
    plain = [message.role for message in messages] == ["user"]
    record: dict[str, object] = {"id": entry.id}
    if plain:
        record["query"] = messages[0].content
    else:
        record["messages"] = [{"role": message.role, "content": message.content} for message in messages]
    # A doc that differs from the one of that name above stands in the entry itself.
    record["functions"] = [doc.name if docs[doc.name] == doc else function(doc) for doc in entry.functions]
    if isinstance(entry.expectation, ExpectedCalls):
        record["expect"] = [{call.name: dict(call.accepted)} for call in entry.expectation.calls]
    if entry.cluster:
        record["cluster"] = entry.cluster
    if entry.parents:
        record["parents"] = list(entry.parents)
    return record


class _Dumper(yaml.SafeDumper):
    """Tuples as lists, and nothing by reference: each entry can be read by itself."""

    def ignore_aliases(self, data: object) -> bool:
        """Always."""
        return True


_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)
