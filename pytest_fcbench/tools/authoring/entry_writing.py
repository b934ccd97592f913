"""Read function docs, and write entries about them as the YAML that ``kinds`` reads.

First entries of a suite, from examples in a text: a question, and below it the calls that answer it.

    What do three bags of salt cost?
    >>> price(item="salt", count=3)
    4.5

The question is the line above; what follows the call is not read. Several calls below one question are all
needed. A README or a docstring may hold such lines among others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import yaml

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.codecs.function_docs import openapi, python_code
from pytest_fcbench.codecs.function_docs.schema_keywords import list_unapplied_patterns
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message, Scene
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc, conforms_to_schema
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.calls.truth import (
    ExpectedCall,
    ExpectedCalls,
    list_alternatives,
    list_expected_calls,
)
from pytest_fcbench.kinds.state.entries import UNWORDED
from pytest_fcbench.mcp_servers.open_server import ToolListing
from pytest_fcbench.tools.authoring.sampling import Walk


def describe_gaps(doc: FunctionDoc) -> Iterator[str]:
    """Describe what a function doc does not tell a model."""
    if not doc.description:
        yield "has no description"
    for name, schema in doc.properties.items():
        if not schema.get("description"):
            yield f"{name} has no description"
        if schema.get("type") == "any":
            yield f"{name} has no type, or one of several"
    for pattern in list_unapplied_patterns(doc.shown_schema):
        yield f"the pattern {pattern!r} is sent unchanged, but not enforced: Python has no form for it"


def read_functions(
    sources: Sequence[str], servers: Mapping[str, ToolListing] | None = None
) -> Mapping[str, FunctionDoc]:
    """Read the docs of all functions in the sources, by name. Raises ``FcbenchError``.

    ``servers`` has the tools of those that are MCP servers.
    """
    docs: dict[str, FunctionDoc] = {}
    for source in sources:
        path, listing = Path(source), (servers or {}).get(source)
        if path.suffix == ".py" and not listing:
            raise UsageError(
                f"{source}: this is a file; name the module: {path.stem} or {path.stem}:function"
            )
        doc_iterator: Iterable[FunctionDoc]
        if listing:
            doc_iterator = openapi.read_tools(list(listing.tools), source)
        elif path.suffix in (".json", ".yaml", ".yml"):
            doc_iterator = openapi.read_functions(read_yaml(path), source)
        else:
            doc_iterator = python_code.document_named(source, Path.cwd())
        source_docs = list(doc_iterator)
        if not source_docs:
            raise UsageError(
                f"{source}: there are 0 functions, because its list of tools or operations is empty; "
                "name a source that has some"
            )
        for doc in source_docs:
            if doc.name in docs:
                raise UsageError(f"{source}: the function {doc.name!r} is given twice; leave one of them out")
            docs[doc.name] = doc
    return docs


def format_entries(entries: Sequence[Entry]) -> Mapping[str, str]:
    """Write a file for each category, by its name, of entries that are a single question."""
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
            ((message,),) = entry.turns
            record: dict[str, object] = {"id": entry.id, "query": message.content}
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
    scene: Scene, walks: Sequence[Walk], parent: str, first: int, questions: Mapping[tuple[int, int], str]
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


_PROMPT = ">>>"
_ORNAMENT = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+|^[\s\"'`*_]+|[\s\"'`*_]+$")
"""List marks, quotes and emphasis around a question."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the text of the calls that answer it, each with its place (``file:line``)."""

    question: str
    calls: tuple[tuple[str, str], ...]


def find_examples(text: str, where: str) -> Iterator[Example]:
    """Yield all examples of a text, in its order; calls without a question above them are skipped."""
    question, calls = "", list[tuple[str, str]]()
    for number, line in enumerate((*text.splitlines(), ""), 1):
        if (call := line.strip()).startswith(_PROMPT):
            calls.append((f"{where}:{number}", call.removeprefix(_PROMPT).strip()))
            continue
        # A call may go on in other lines.
        if calls and call.startswith("... "):
            place, beginning = calls.pop()
            calls.append((place, f"{beginning}\n{call[4:]}"))
            continue
        if question and calls:
            yield Example(question, tuple(calls))
        if calls:
            question, calls = "", []
        # Twice, because a list mark can stand before quotes.
        plain = _ORNAMENT.sub("", _ORNAMENT.sub("", line))
        if re.search(r"\w{2}", plain):
            question = plain


def draft_entries(examples: Iterable[Example], docs: Sequence[FunctionDoc], suite: str) -> Iterator[Entry]:
    """Draft an entry for each example, with the functions that it needs; ``generalization`` can add others.

    Other code, such as an import, is skipped. Raises ``UsageError`` with the place of a call that does not
    fit the docs.
    """
    questions = (
        DraftedQuestion(
            example.question,
            tuple(call for place, text in example.calls for call in _read_calls(place, text, docs)),
        )
        for example in examples
    )
    return draft_questions((question for question in questions if question.calls), suite)


@dataclass(frozen=True, slots=True)
class DraftedQuestion:
    """A question, and the calls that answer it, each with the doc of its function."""

    text: str
    calls: tuple[tuple[Call, FunctionDoc], ...]


def draft_questions(questions: Iterable[DraftedQuestion], suite: str) -> Iterator[Entry]:
    """Draft an entry for each question, numbered within its category."""
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    for question in questions:
        offered_docs = {doc.name: doc for _, doc in question.calls}
        expected_calls = []
        for call, doc in question.calls:
            # Of parameters that are not given, the default or leaving them out is accepted.
            accepted_values: dict[str, object] = {}
            for name, schema in doc.properties.items():
                if name in call.arguments:
                    accepted_values[name] = [list_alternatives(call.arguments[name])]
                elif "default" in schema:
                    accepted_values[name] = [schema["default"], ""]
            expected_calls.append(ExpectedCall(call.name, accepted_values))
        several = "parallel" if len(offered_docs) == 1 else "parallel_multiple"
        category = "simple_python" if len(question.calls) == 1 else several
        yield Entry(
            suite=suite,
            id=f"{category}_{next(numbers[category])}",
            category=CATEGORIES[category],
            turns=((Message("user", question.text),),),
            functions=tuple(offered_docs.values()),
            expectation=ExpectedCalls(tuple(expected_calls)),
        )


def _read_calls(place: str, text: str, docs: Sequence[FunctionDoc]) -> Iterator[tuple[Call, FunctionDoc]]:
    """Yield the calls of a line, positional arguments under their names; none where the line has none."""
    try:
        calls = python.parse_corrected(text)
    # A line such as an import is not a call, but no mistake either.
    except Undecodable:
        return
    # Reversed, so that the first of several functions with one name is taken.
    by_name = {_drop_module(doc.name): doc for doc in reversed(docs)}
    for call in calls:
        name = _drop_module(call.name)
        if name not in by_name:
            known_names = [_drop_module(doc.name) for doc in docs]
            raise UsageError(f"{place}: {describe_unknown_name('function', name, known_names)}")
        doc = by_name[name]
        normalised_call = OfferedFunctions((doc,), Names.DOTTED).normalise_call(replace(call, name=doc.name))
        where = f"{place}: {doc.name}"
        if normalised_call.positional:
            raise UsageError(
                f"{where} gets a parameter twice, or too many parameters; give each parameter once"
            )
        for parameter, value in normalised_call.arguments.items():
            if parameter not in doc.properties:
                raise UsageError(f"{where}: {describe_unknown_name('parameter', parameter, doc.properties)}")
            schema = doc.properties[parameter]
            if not conforms_to_schema(value, schema):
                declaration = schema.get("enum") or schema.get("type")
                raise UsageError(
                    f"{where}: {parameter} is {value!r:.60}, but the function doc declares {declaration}; "
                    "correct one of them"
                )
        for parameter in doc.required:
            if parameter not in normalised_call.arguments:
                raise UsageError(f"{where} needs the parameter {parameter!r}")
        yield normalised_call, doc


def _drop_module(name: str) -> str:
    return name.rpartition(".")[2]
