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
        functions: [weather.forecast, weather.history]
        expect:                # not for irrelevance and relevance
          - weather.forecast:
              city: [Bergen]   # always a list of accepted values
              unit: [celsius, ""]   # "" means it may be left out
"""

from __future__ import annotations

from collections.abc import Mapping
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
    Message,
    NoCall,
    Rule,
)
from pytest_fcbench.errors import unknown
from pytest_fcbench.suites.fields import Field, yaml_value


def read(path: Path, suite: str) -> tuple[Entry, ...]:
    """All entries of a file. Raises ``SuiteError`` with file, line and field."""
    top = Field(yaml_value(path), path).members(("category", "functions", "entries"))
    name = top["category"].text()
    if name not in CATEGORIES:
        raise top["category"].error(unknown("category", name, CATEGORIES))
    docs = _docs(top["functions"])
    entries: dict[str, Entry] = {}
    for field in top["entries"].elements():
        entry = _entry(field, suite, CATEGORIES[name], docs)
        if entry.id in entries:
            raise field.error(f"the id {entry.id!r} is taken by an entry above")
        entries[entry.id] = entry
    return tuple(entries.values())


def _docs(field: Field) -> Mapping[str, FunctionDoc]:
    docs: dict[str, FunctionDoc] = {}
    for element in field.elements():
        members = element.members(("name", "description", "parameters"), ("response",))
        name = members["name"].text()
        if name in docs:
            raise element.error(f"the function {name!r} is described twice")
        parameters = members["parameters"].members(("type", "properties", "required"))
        properties = parameters["properties"].members()
        for schema in properties.values():
            schema.members(("type", "description"), ("enum", "default", "items", "properties", "required"))
        for required in parameters["required"].elements():
            if required.text() not in properties:
                raise required.error(unknown("parameter", required.text(), properties))
        raw = {key: member.value for key, member in parameters.items()}
        extra = {"response": members["response"].value} if "response" in members else {}
        docs[name] = FunctionDoc(name, members["description"].text(), raw, extra)
    return docs


def _entry(field: Field, suite: str, category: Category, docs: Mapping[str, FunctionDoc]) -> Entry:
    required = ["id", "functions"] + (["expect"] if category.expects_calls else [])
    members = field.members(required, ("query", "messages"))
    offered = []
    for name in members["functions"].elements():
        if name.text() not in docs:
            raise name.error(unknown("function", name.text(), docs))
        offered.append(docs[name.text()])
    return Entry(
        suite=suite,
        id=members["id"].text(),
        category=category,
        turns=(_messages(field, members),),
        functions=tuple(offered),
        expectation=_expectation(category, members, {doc.name: doc for doc in offered}),
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
    return tuple(messages)


def _expectation(
    category: Category, members: Mapping[str, Field], offered: Mapping[str, FunctionDoc]
) -> Expectation:
    if not category.expects_calls:
        return NoCall() if category.rule is Rule.IRRELEVANCE else AnyCall()
    calls = tuple(_expected_call(field, offered) for field in members["expect"].elements())
    if not calls or (category.rule is not Rule.PARALLEL and len(calls) != 1):
        raise members["expect"].error(
            f"{len(calls)} calls; {category.name} takes exactly one"
            if category.rule is not Rule.PARALLEL
            else "must have a call"
        )
    return ExpectedCalls(calls)


def _expected_call(field: Field, offered: Mapping[str, FunctionDoc]) -> ExpectedCall:
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
        if not list(values.elements()):
            raise values.error("needs at least one accepted value")
    for parameter in offered[name].required:
        if parameter not in accepted:
            raise arguments.error(f"has no accepted values for the required parameter {parameter!r}")
    return ExpectedCall(name, {parameter: values.value for parameter, values in accepted.items()})
