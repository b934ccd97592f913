"""Entries with a golden path, written by hand in YAML.

category: hotels
uses: [stays.yaml]             # files beside this one with functions, lookups and judged of their own
functions:                     # docs as in other files, in JSON Schema's words
  - name: search_stays
    description: ...
    parameters: {type: object, properties: {...}, required: [...]}
lookups:                       # calls that find out an identifier: at any time, or not at all
  - find_place
  - {name: search_stays, where: {scope: stay}}   # only calls with these arguments
  - {name: geocode, forgiven: false}             # officially it may not be left out
judged: [query]                # parameters whose value can be right in several forms
entries:
  - id: hotels_0
    cluster: hotels-a          # optional: the template that it shares with others
    query: Which of the ...
    functions: [find_place]    # optional: which are offered, else all
    steps:                     # each a list of calls that can be made at once
      - - call: {find_place: {query: Lofoten}}
          reply: {places: [{place_id: pl_1}]}    # any JSON value
      - - call: {search_stays: {place_id: {$from: [0, 0, places, 0, place_id]}}}
          reply: {stays: {$listing: {of: stays, seed: 7, items: 400}}}
    recorded:                  # optional: replies to calls that are not on the path
      - call: {find_place: {query: "Lofoten, Norway"}}
        reply: {$from: [0, 0]}

``$from`` stands for what an earlier reply holds: the step, the call in it and the way to the value, counted
from 0. ``$listing`` stands for a list that ``build.listings`` makes; ``prices: [20, 90]``,
``each: {currency: NOK}`` and, by place, ``with: {203: {price_total: 12}}`` say what is not left to chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pytest_fcbench.domain.conformance import TYPES, conforms
from pytest_fcbench.domain.entry import Category, Entry, GoldenPath, Lookup, Message, PathCall
from pytest_fcbench.domain.errors import unknown
from pytest_fcbench.domain.function_doc import FunctionDoc, Language, Schema
from pytest_fcbench.suites.formats import function_docs
from pytest_fcbench.suites.formats.fields import Field, yaml_value
from pytest_fcbench.suites.formats.listings import KINDS, Listing

_Made: TypeAlias = tuple[PathCall, object]
"""A call and its reply as a JSON value."""
_Steps: TypeAlias = Sequence[Sequence[_Made]]

RULES = ("uses", "functions", "lookups", "judged")
"""Keys of a file that say what its entries share."""

_JSON_SCHEMA = ("string", "number", "integer", "boolean", "array", "object")
_TYPES = {word: TYPES[Language.PYTHON][word] for word in _JSON_SCHEMA}
_MOST_ITEMS, _MOST = 10_000, 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Rules:
    docs: Mapping[str, FunctionDoc]
    lookups: tuple[Lookup, ...]
    judged: frozenset[str]


def entries(file: Field, suite: str, category: Category) -> Iterator[tuple[Field, Entry]]:
    """The entries of a file and where each stands. Raises ``SuiteError``."""
    top = file.members(("category", "entries"), RULES)
    rules = _rules([*_used(top), top])
    for element in top["entries"].elements():
        yield element, _entry(element, suite, category, rules)


def _used(top: Mapping[str, Field]) -> Iterator[Mapping[str, Field]]:
    for name in top["uses"].elements() if "uses" in top else ():
        beside = {path.name: path for path in sorted(name.path.parent.glob("*.yaml"))}
        if name.text() not in beside:
            raise name.error(unknown("file", name.text(), beside))
        path = beside[name.text()]
        yield Field(yaml_value(path), path).members(("functions",), RULES[2:])


def _rules(files: Sequence[Mapping[str, Field]]) -> _Rules:
    docs: dict[str, FunctionDoc] = {}
    for field in (file["functions"] for file in files if "functions" in file):
        described = function_docs.read(field, _TYPES)
        for element, doc in zip(field.elements(), described.values(), strict=True):
            if doc.name in docs:
                raise element.error(f"the function {doc.name!r} is described twice")
            docs[doc.name] = _checked(element, doc)
    return _Rules(
        docs,
        tuple(_lookup(element, docs) for element in _elements(files, "lookups")),
        frozenset(_judged(element, docs) for element in _elements(files, "judged")),
    )


def _elements(files: Sequence[Mapping[str, Field]], key: str) -> Iterator[Field]:
    return (element for file in files if key in file for element in file[key].elements())


def _checked(field: Field, doc: FunctionDoc) -> FunctionDoc:
    """A doc that is JSON, describes an object and has only defaults that it allows."""
    _value(field, ())
    parameters = field.members()["parameters"].members()
    if parameters["type"].value != "object":
        raise parameters["type"].error(unknown("type", parameters["type"].text(), ("object",)))
    for name, schema in parameters["properties"].members().items():
        if "default" in (members := schema.members()):
            _check_value(members["default"], doc.properties[name])
    return doc


def _lookup(field: Field, docs: Mapping[str, FunctionDoc]) -> Lookup:
    if isinstance(field.value, str):
        return Lookup(_doc(field, field.value, docs).name)
    members = field.members(("name",), ("where", "forgiven"))
    doc = _doc(members["name"], members["name"].text(), docs)
    where = _arguments(members["where"], doc, ()) if "where" in members else {}
    forgiven = members["forgiven"].value if "forgiven" in members else True
    if not isinstance(forgiven, bool):
        raise members["forgiven"].error("must be true or false")
    return Lookup(doc.name, where, forgiven)


def _judged(field: Field, docs: Mapping[str, FunctionDoc]) -> str:
    parameters = {name for doc in docs.values() for name in doc.properties}
    if field.text() not in parameters:
        raise field.error(unknown("parameter", field.text(), sorted(parameters)))
    return field.text()


def _doc(field: Field, name: str, docs: Mapping[str, FunctionDoc]) -> FunctionDoc:
    if name not in docs:
        raise field.error(unknown("function", name, docs))
    return docs[name]


def _entry(field: Field, suite: str, category: Category, rules: _Rules) -> Entry:
    members = field.members(("id", "query", "steps"), ("cluster", "functions", "recorded"))
    offered = function_docs.chosen(members["functions"], rules.docs) if "functions" in members else rules.docs
    if not offered:
        raise members.get("functions", field).error("needs a function")
    steps: list[list[_Made]] = []
    for step in members["steps"].elements():
        steps.append(_calls(step, offered, steps, ()))
    if not steps:
        raise members["steps"].error("needs a step")
    made = [call for step in steps for call, _ in step]
    recorded = _calls(members["recorded"], offered, steps, made) if "recorded" in members else ()
    path = GoldenPath(
        steps=tuple(tuple(call for call, _ in step) for step in steps),
        lookups=tuple(lookup for lookup in rules.lookups if lookup.name in offered),
        judged=rules.judged,
        recorded=tuple(call for call, _ in recorded),
    )
    return Entry(
        suite=suite,
        id=members["id"].text(),
        category=category,
        turns=((Message("user", members["query"].text()),),),
        functions=tuple(offered.values()),
        expectation=path,
        cluster=members["cluster"].text() if "cluster" in members else None,
    )


def _calls(
    field: Field, offered: Mapping[str, FunctionDoc], earlier: _Steps, made: Sequence[PathCall]
) -> list[_Made]:
    """The calls of a list, which are made once: none is equal to another or to those of ``made``."""
    calls: list[_Made] = []
    for element in field.elements():
        call, reply = _call(element, offered, earlier)
        above = (*made, *(other for other, _ in calls))
        if any((call.name, call.arguments) == (other.name, other.arguments) for other in above):
            raise element.error(f"the same call of {call.name} stands above")
        calls.append((call, reply))
    if not calls:
        raise field.error("needs a call")
    return calls


def _call(field: Field, offered: Mapping[str, FunctionDoc], earlier: _Steps) -> _Made:
    members = field.members(("call", "reply"))
    named = members["call"].members()
    if len(named) != 1:
        raise members["call"].error("must be one function name with its arguments")
    ((name, given),) = named.items()
    doc = _doc(given, name, offered)
    arguments = _arguments(given, doc, earlier)
    for parameter in doc.required:
        if parameter not in arguments:
            raise given.error(f"{name} needs the parameter {parameter!r}")
    reply = _value(members["reply"], earlier)
    return PathCall.replied(name, arguments, reply), reply


def _arguments(field: Field, doc: FunctionDoc, earlier: _Steps) -> Mapping[str, object]:
    arguments = {}
    for name, given in field.members().items() if field.value is not None else ():
        if name not in doc.properties:
            raise given.error(unknown("parameter", name, doc.properties))
        arguments[name] = _value(given, earlier)
        _check_value(replace(given, value=arguments[name]), doc.properties[name])
    return arguments


def _check_value(field: Field, schema: Schema) -> None:
    """A value has the declared type; inside an object, its members are those that are described."""
    if not conforms(field.value, schema):
        allowed = schema.get("enum") or schema.get("type")
        raise field.error(f"{field.value!r:.60} is not what the function doc declares ({allowed})")
    items, properties, required = schema.get("items"), schema.get("properties"), schema.get("required")
    if isinstance(field.value, list) and isinstance(items, Mapping):
        for element in field.elements():
            _check_value(element, items)
    elif isinstance(field.value, Mapping) and isinstance(properties, Mapping) and properties:
        needed = required if isinstance(required, list) else ()
        for name, member in field.members(needed, tuple(properties)).items():
            _check_value(member, properties[name])


def _value(field: Field, earlier: _Steps) -> object:
    """A JSON value, with what stands for other values replaced by them."""
    match field.value:
        case {"$from": _}:
            return _from(field.members(("$from",))["$from"], earlier)
        case {"$listing": _}:
            return _listing(field.members(("$listing",))["$listing"], earlier)
        case Mapping():
            return {name: _value(member, earlier) for name, member in field.members().items()}
        case list():
            return [_value(element, earlier) for element in field.elements()]
        case None | str() | int():
            return field.value
        case float(number) if math.isfinite(number):
            return number
    raise field.error(f"{str(field.value)[:40]} is no JSON value; a text needs quotes")


def _from(field: Field, earlier: _Steps) -> object:
    """What an earlier reply holds."""
    found: object = [[reply for _, reply in step] for step in earlier]
    way = list(field.elements())
    if len(way) < 2:
        raise field.error("must be a step, a call in it and the way to a value in its reply")
    for key in way:
        match found, key.value:
            case Mapping(), str(name) if name in found:
                found = found[name]
            case Mapping(), _:
                raise key.error(unknown("member", str(key.value), found))
            case list(), int(place) if 0 <= place < len(found):
                found = found[place]
            case list(), _:
                raise key.error(f"must be a place in a list of {len(found)}, from 0")
            case _:
                raise key.error(f"there is nothing in {found!r:.40}")
    return found


def _listing(field: Field, earlier: _Steps) -> object:
    members = field.members(("of", "seed", "items"), ("prices", "each", "with"))
    kind = members["of"].text()
    if kind not in KINDS:
        raise members["of"].error(unknown("listing", kind, KINDS))
    items = _whole(members["items"], _MOST_ITEMS)
    each = _members(members["each"], earlier) if "each" in members else {}
    changed = {}
    for place, item in members["with"].members().items() if "with" in members else ():
        if place not in map(str, range(items)):
            raise item.error(f"must be the place of an item, from 0 to {items - 1}")
        changed[int(place)] = _members(item, earlier)
        for name in changed[int(place)]:
            if name not in (*KINDS[kind], *each):
                raise item.error(unknown("member", name, (*KINDS[kind], *each)))
    prices = _prices(members["prices"]) if "prices" in members else None
    return Listing(kind, _whole(members["seed"]), items, prices, each, changed).made()


def _members(field: Field, earlier: _Steps) -> Mapping[str, object]:
    return {name: _value(member, earlier) for name, member in field.members().items()}


def _whole(field: Field, most: int = _MOST) -> int:
    value = field.value
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise field.error(f"must be a whole number from 0 to {most}")
    return value


def _prices(field: Field) -> tuple[float, float]:
    match field.value:
        case [int() | float() as low, int() | float() as high] if 0 <= low <= high <= _MOST:
            return low, high
    raise field.error(f"must be the lowest and the highest price, between 0 and {_MOST}")
