"""Entries written by hand in YAML: the format of ``core``.

A file holds one category:

    category: multiple
    functions:                 # docs, offered by name
      - name: weather.forecast
        description: ...
        parameters: {type: dict, properties: {...}, required: [...]}
    entries:
      - id: multiple_0
        query: ...             # or messages: [{role: ..., content: ...}]
        functions: [weather.forecast, weather.history]    # or a doc itself, in place of a name
        expect:                # not for irrelevance and relevance
          - weather.forecast:
              city: [Bergen]   # always a list of accepted values
              unit: [celsius, ""]   # "" means it may be left out
        cluster: forecast      # optional: what paraphrases of one template share
        parents: [core:simple_python_0]    # optional: what code made it from

Where words are the answer (``chatable``) there are neither functions nor an expectation; where a call is one
of SQL there are ``tables`` (``suites/tables``) beside the functions. Entries of other shapes have a format of
their own (``trajectories``, ``golden_paths``, ``executable``, ``rest``, ``memories``, ``web_questions``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from pytest_fcbench.domain.conformance import TYPES, conforms
from pytest_fcbench.domain.entry import (
    CATEGORIES,
    SELECTIONS,
    AnyCall,
    Category,
    Entry,
    Expectation,
    ExpectedCall,
    ExpectedCalls,
    Message,
    NoCall,
    Rule,
    Table,
)
from pytest_fcbench.domain.errors import unknown
from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema
from pytest_fcbench.environments.world import World
from pytest_fcbench.suites.formats import (
    executable,
    function_docs,
    golden_paths,
    memory,
    multi_turn,
    rest,
    tables,
    web_questions,
)
from pytest_fcbench.suites.formats.fields import Field, yaml_value
from pytest_fcbench.suites.formats.multi_turn import Withheld


def read(path: Path, suite: str, world: World | None = None) -> tuple[Entry, ...]:
    """All entries of a file. Raises ``SuiteError`` with file, line and field."""
    file = Field(yaml_value(path), path)
    return tuple(entry for category in categories_of(file) for entry in entries(file, suite, category, world))


def entries(file: Field, suite: str, category: Category, world: World | None = None) -> tuple[Entry, ...]:
    """The entries of what a file holds in one of its categories. Raises ``SuiteError``."""
    if category.rule is Rule.STATE:
        return tuple(entry for entry, _ in trajectories_of(file, suite, world))
    found = _READERS.get(category.rule, _single_turn)(file, suite, category)
    return tuple(_unique(list(found)))


def trajectories_of(
    file: Field, suite: str, world: World | None = None
) -> Sequence[tuple[Entry, Withheld | None]]:
    """All multi-turn entries of what a file holds, with what can be withheld. Raises ``SuiteError``."""
    (category,) = categories_of(file)
    top = file.members(("category", "entries"))
    found = list(multi_turn.entries(top["entries"], suite, category, world))
    unique = _unique(list(zip(top["entries"].elements(), [entry for entry, _ in found], strict=True)))
    return list(zip(unique, [withheld for _, withheld in found], strict=True))


AT_TOP = ("functions", "tables", "endpoints", *golden_paths.RULES)
"""What can stand in a file beside its category and its entries."""

_SEVERAL = ("memory", "web_search")

WRITTEN: Mapping[str, tuple[Category, ...]] = {
    **{name: (each,) for name, each in CATEGORIES.items() if each.rule not in (Rule.ANSWER, Rule.VARIATION)},
    **{name: tuple(CATEGORIES[each] for each in SELECTIONS[name]) for name in _SEVERAL},
}
"""The categories that entries are written for, by the word that stands in the file: those about memories and
the web are written once for all of their kind."""


def categories_of(file: Field) -> tuple[Category, ...]:
    """The categories of a file's entries. Raises ``SuiteError``."""
    field = file.members(("category", "entries"), AT_TOP)["category"]
    name = field.text()
    if name not in WRITTEN:
        raise field.error(unknown("category", name, WRITTEN))
    return WRITTEN[name]


def _agentic(file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    about_memory = category.name in SELECTIONS["memory"]
    return (memory.entries if about_memory else web_questions.entries)(file, suite, category)


def _single_turn(file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    needed = ("tables",) if category.rule is Rule.SQL else ()
    top = file.members(("category", *needed, "entries"), () if category.rule is Rule.CHAT else ("functions",))
    docs = function_docs.read(top["functions"], TYPES[category.language]) if "functions" in top else {}
    held = tables.read(top["tables"]) if "tables" in top else ()
    for field in top["entries"].elements():
        yield field, _entry(field, suite, category, docs, held)


Reader: TypeAlias = Callable[[Field, str, Category], Iterator[tuple[Field, Entry]]]
"""The entries of a file for a suite in a category, and where each stands."""

_READERS: Mapping[Rule, Reader] = {
    Rule.PATH: golden_paths.entries,
    Rule.EXECUTION: executable.entries,
    Rule.REST: rest.entries,
    Rule.ANSWER: _agentic,
}


_UNFIT = re.compile(r"[\[\]\x00-\x1f\ud800-\udfff]")
"""What an id cannot have, because it stands in brackets in that of its test, which files and workers get."""


def _unique(entries: Sequence[tuple[Field, Entry]]) -> list[Entry]:
    """The entries, each under an id of its own."""
    found: dict[str, Entry] = {}
    for field, entry in entries:
        if not entry.id or _UNFIT.search(entry.id):
            raise field.error(
                f"the id {entry.id!r} must have a character, no bracket, line break or half of one"
            )
        if entry.id in found:
            raise field.error(f"the id {entry.id!r} is taken by an entry above")
        found[entry.id] = entry
    return list(found.values())


def _entry(
    field: Field, suite: str, category: Category, docs: Mapping[str, FunctionDoc], held: tuple[Table, ...]
) -> Entry:
    required = ["id"] + ["functions"] * (category.rule is not Rule.CHAT) + ["expect"] * category.expects_calls
    members = field.members(required, ("query", "messages", "cluster", "parents"))
    types = TYPES[category.language]
    offered = function_docs.chosen(members["functions"], docs, types) if "functions" in members else {}
    if not offered and category.rule not in (Rule.IRRELEVANCE, Rule.CHAT):
        raise members["functions"].error("needs a function")
    return Entry(
        suite=suite,
        id=members["id"].text(),
        category=category,
        turns=(_messages(field, members),),
        functions=tuple(offered.values()),
        expectation=_expectation(category, members, offered),
        tables=held,
        cluster=members["cluster"].text() if "cluster" in members else None,
        parents=tuple(key.text() for key in members["parents"].elements()) if "parents" in members else (),
    )


def _messages(field: Field, members: Mapping[str, Field]) -> tuple[Message, ...]:
    if ("query" in members) == ("messages" in members):
        raise field.error("needs either 'query' or 'messages'")
    if "query" in members:
        return (Message("user", members["query"].text()),)
    messages = []
    for element in members["messages"].elements():
        message = element.members(("role", "content"))
        role = message["role"].text()
        if role not in ("system", "user", "assistant"):
            raise message["role"].error(unknown("role", role, ("system", "user", "assistant")))
        messages.append(Message(role, message["content"].text()))
    if not messages:
        raise members["messages"].error("needs a message")
    return tuple(messages)


def _expectation(
    category: Category, members: Mapping[str, Field], offered: Mapping[str, FunctionDoc]
) -> Expectation:
    if not category.expects_calls:
        return AnyCall() if category.rule is Rule.RELEVANCE else NoCall()
    language = category.language
    calls = tuple(_expected_call(field, offered, language) for field in members["expect"].elements())
    if not calls or (category.rule is not Rule.PARALLEL and len(calls) != 1):
        raise members["expect"].error(
            f"{len(calls)} calls; {category.name} takes exactly one"
            if category.rule is not Rule.PARALLEL
            else "must have a call"
        )
    return ExpectedCalls(calls)


def _expected_call(field: Field, offered: Mapping[str, FunctionDoc], language: Language) -> ExpectedCall:
    calls = field.members()
    if len(calls) != 1:
        raise field.error("must have exactly one function name")
    name, arguments = next(iter(calls.items()))
    if name not in offered:
        raise arguments.error(unknown("function", name, offered))
    accepted = arguments.members() if arguments.value else {}
    for parameter, values in accepted.items():
        if parameter not in offered[name].properties:
            raise values.error(unknown("parameter", parameter, offered[name].properties))
        options = list(values.elements())
        if not options:
            raise values.error("needs at least one accepted value")
        for option in options:
            _check_accepted(option, offered[name].properties[parameter], language)
    for parameter in offered[name].required:
        if parameter not in accepted:
            raise arguments.error(f"has no accepted values for the required parameter {parameter!r}")
    return ExpectedCall(name, {parameter: values.value for parameter, values in accepted.items()})


def _check_accepted(field: Field, schema: Schema, language: Language) -> None:
    """An accepted value has the declared type; inside a dict, each key has a list of accepted values."""
    value, properties = field.value, schema.get("properties")
    if value == "":
        return
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        for element in field.elements():
            _check_accepted(element, items, language)
    elif isinstance(value, Mapping) and TYPES[language].get(str(schema.get("type"))) is dict:
        for key, options in field.members().items():
            known = properties if isinstance(properties, Mapping) else {}
            if known and key not in known:
                raise options.error(unknown("key", key, known))
            for option in options.elements():
                _check_accepted(option, known.get(key, {}), language)
    elif not conforms(value, schema, language):
        allowed = schema.get("enum") or schema.get("type")
        raise field.error(f"{value!r} is not what the function doc declares ({allowed})")
