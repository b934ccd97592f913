"""Writing of entries as the YAML that ``kinds`` reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import yaml

from pytest_fcbench.domain.entry import Entry, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.kinds.calls.truth import list_expected_calls
from pytest_fcbench.kinds.state.entries import UNWORDED
from pytest_fcbench.tools.authoring.sampling import Walk


def format_entries(entries: Sequence[Entry]) -> Mapping[str, str]:
    """Write a file for each category, by its name. Raises ValueError for an entry that is not single-turn."""
    by_category: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_category[entry.category.name].append(entry)
    files = {}
    for category, group in by_category.items():
        docs: dict[str, FunctionDoc] = {}
        for doc in (doc for entry in group for doc in entry.functions):
            # The first doc of a name stands at the top of the file, and entries refer to it.
            docs.setdefault(doc.name, doc)
        records = []
        for entry in group:
            if len(entry.turns) != 1 or entry.scene or entry.tables:
                raise ValueError(
                    f"{entry.key}: only entries of one turn, without environment and tables, can be written"
                )
            (messages,) = entry.turns
            record: dict[str, object] = {"id": entry.id}
            if [message.role for message in messages] == ["user"]:
                record["query"] = messages[0].content
            else:
                record["messages"] = [{"role": each.role, "content": each.content} for each in messages]
            # A doc that differs from the one of that name above stands in the entry itself.
            record["functions"] = [
                doc.name if docs[doc.name] == doc else convert_doc(doc) for doc in entry.functions
            ]
            if calls := list_expected_calls(entry):
                record["expect"] = [{call.name: dict(call.accepted)} for call in calls]
                if judged_parameters := {call.name: list(call.judged) for call in calls if call.judged}:
                    record["judged"] = judged_parameters
            if entry.cluster:
                record["cluster"] = entry.cluster
            if entry.parents:
                record["parents"] = list(entry.parents)
            records.append(record)
        files[category] = _dump(category, records, functions=list(map(convert_doc, docs.values())))
    return files


def write_walks(
    scene: Scene,
    walks: Sequence[Walk],
    parent: str,
    first: int,
    questions: Mapping[tuple[int, int], str],
) -> str:
    """Write walks as multi-turn entries, numbered from ``first``.

    A turn without a question, by walk and number, lists what a question must mention; such a file cannot be
    read until its questions are worded (``kinds.state.entries.UNWORDED``).
    """
    entries = []
    for at, walk in enumerate(walks):
        turns = []
        for number, calls in enumerate(walk.turns):
            mention = ", ".join(map(repr, walk.list_mentions(number))) or "nothing in particular"
            to_word = f"{UNWORDED} ask for what these calls do; mention: {mention}"
            question = questions.get((at, number)) or to_word
            turns.append({"user": question, "calls": [call.text for call in calls]})
        domains = {domain: dict(scene.config.get(domain, {})) for domain in scene.domains}
        name = f"multi_turn_base_{first + at}"
        entries.append({"id": name, "domains": domains, "turns": turns, "parents": [parent]})
    return _dump("multi_turn_base", entries)


class _Dumper(yaml.SafeDumper):
    """A dumper that writes tuples as lists and nothing by reference, so that each entry reads alone."""

    def ignore_aliases(self, data: object) -> bool:
        """Return True, so that nothing is written by reference."""
        return True


_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)


def _dump(category: str, entries: Sequence[object], **members: object) -> str:
    content = {"category": category, **members, "entries": entries}
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def convert_doc(doc: FunctionDoc) -> dict[str, object]:
    """Convert a function doc to the form in which files of entries have it."""
    if doc.given is not None:
        return {"name": doc.name, "description": doc.description, "inputSchema": dict(doc.given)}
    extra = {"response": doc.extra["response"]} if "response" in doc.extra else {}
    parameters = {key: doc.parameters[key] for key in ("type", "properties", "required")}
    return {"name": doc.name, "description": doc.description, "parameters": parameters, **extra}
