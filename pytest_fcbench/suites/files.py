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
their own (``trajectories``, ``golden_paths``, ``executable``, ``rest``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fcbench.entries import (
    CATEGORIES,
    AnyCall,
    Category,
    Entry,
    Expectation,
    ExpectedCall,
    ExpectedCalls,
    FunctionDoc,
    Language,
    Message,
    NoCall,
    Rule,
    Schema,
    Table,
)
from pytest_fcbench.environments.world import World
from pytest_fcbench.errors import unknown
from pytest_fcbench.schemas import TYPES, conforms
from pytest_fcbench.suites import executable, function_docs, golden_paths, rest, tables, trajectories
from pytest_fcbench.suites.fields import Field, yaml_value
from pytest_fcbench.suites.trajectories import Withheld


def read(path: Path, suite: str, world: World | None = None) -> tuple[Entry, ...]:
    """All entries of a file. Raises ``SuiteError`` with file, line and field."""
    file = Field(yaml_value(path), path)
    optional = ("functions", "tables", "endpoints", *golden_paths.RULES)
    category = _category(file.members(("category", "entries"), optional)["category"])
    if category.rule is Rule.STATE:
        return tuple(entry for entry, _ in read_trajectories(path, suite, world))
    if category.rule is Rule.PATH:
        return tuple(_unique(list(golden_paths.entries(file, suite, category))))
    if category.rule is Rule.EXECUTION:
        return tuple(_unique(list(executable.entries(file, suite, category))))
    if category.rule is Rule.REST:
        return tuple(_unique(list(rest.entries(file, suite, category))))
    needed = ("tables",) if category.rule is Rule.SQL else ()
    top = file.members(("category", *needed, "entries"), () if category.rule is Rule.CHAT else ("functions",))
    docs = function_docs.read(top["functions"], TYPES[category.language]) if "functions" in top else {}
    held = tables.read(top["tables"]) if "tables" in top else ()
    entries = [(field, _entry(field, suite, category, docs, held)) for field in top["entries"].elements()]
    return tuple(_unique(entries))


def read_trajectories(
    path: Path, suite: str, world: World | None = None
) -> Sequence[tuple[Entry, Withheld | None]]:
    """All entries of a file of multi-turn entries. Raises ``SuiteError`` with file, line and field."""
    top = Field(yaml_value(path), path).members(("category", "entries"))
    found = list(trajectories.entries(top["entries"], suite, _category(top["category"]), world))
    entries = _unique(list(zip(top["entries"].elements(), [entry for entry, _ in found], strict=True)))
    return list(zip(entries, [withheld for _, withheld in found], strict=True))


def _category(field: Field) -> Category:
    name = field.text()
    if name not in CATEGORIES:
        raise field.error(unknown("category", name, CATEGORIES))
    return CATEGORIES[name]


def _unique(entries: Sequence[tuple[Field, Entry]]) -> list[Entry]:
    """The entries, each under an id of its own."""
    found: dict[str, Entry] = {}
    for field, entry in entries:
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
