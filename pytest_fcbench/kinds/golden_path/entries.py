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
from 0. ``$listing`` stands for a list that ``listings`` makes; ``prices: [20, 90]``,
``each: {currency: NOK}`` and, by place, ``with: {203: {price_total: 12}}`` say what is not left to chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, TypeAlias

import pydantic

from pytest_fcbench.codecs.function_docs.json_schema import describe_call_violation, describe_schema_violation
from pytest_fcbench.domain.entry import Category, Entry, Message
from pytest_fcbench.domain.errors import describe_unknown_name
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc, Language, Schema, conforms_to_schema
from pytest_fcbench.domain.json_values import is_larger
from pytest_fcbench.domain.transcript import RecordedCall
from pytest_fcbench.formats import function_docs
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.function_docs import AnyFunctionRow
from pytest_fcbench.formats.rows import (
    EntryRow,
    ErrorSentence,
    Given,
    One,
    OneOf,
    PlacedEntries,
    Row,
    Some,
    TextOr,
    read_row,
)
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.golden_path.listings import KINDS, make_listing
from pytest_fcbench.kinds.golden_path.truth import GoldenPath, Lookup

# A call and its reply as a JSON value.
_RecordedCall: TypeAlias = tuple[RecordedCall, object]
_Steps: TypeAlias = Sequence[Sequence[_RecordedCall]]

# The type words of JSON Schema.
_WORDS = ("string", "number", "integer", "boolean", "array", "object")
_TYPES = {word: TYPES[Language.PYTHON][word] for word in _WORDS}
_MOST_ITEMS, _MOST = 10_000, 1_000_000_000
_MOST_SIGNS = 10_000_000
"""Characters and values of a reply: one that names an earlier reply twice is twice as large."""


class LookupRow(Row):
    """A function that looks up an identifier when it is called with these arguments."""

    name: str
    where: Given[dict[str, object]] = None
    forgiven: bool = True


class ReplyRow(Row):
    """A call and its recorded reply."""

    call: One[dict[str, object] | None]
    reply: object


class PathRow(EntryRow):
    """A request, and the golden path that serves it."""

    query: str
    """The user's request."""
    steps: Some[Some[ReplyRow]]
    """Lists of calls that can be made at once."""
    cluster: Given[str] = None
    """The name of the template that paraphrases share."""
    functions: Given[list[str]] = None
    """The functions that are offered; all unless given."""
    recorded: Given[Some[ReplyRow]] = None
    """Replies to calls that are not on the path."""


class RulesRow(Row):
    """Settings that the entries of a file share."""

    lookups: Given[list[TextOr[LookupRow]]] = None
    """Functions that look up an identifier."""
    judged: Given[list[str]] = None
    """Parameters whose value can be right in several forms."""


class SharedFile(RulesRow):
    """Functions and settings that the entries of several files share."""

    functions: list[AnyFunctionRow]


class PathFile(RulesRow):
    """Requests with golden paths."""

    category: str
    entries: list[PathRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs of functions, which entries offer by name."""
    uses: Given[list[str]] = None
    """Files beside this one with functions of their own."""


class ListingRow(Row):
    """A generated list of items."""

    of: Annotated[str, OneOf("listing", KINDS)]
    seed: Annotated[
        int, pydantic.Field(ge=0, le=_MOST), ErrorSentence(f"must be a whole number from 0 to {_MOST}")
    ]
    items: Annotated[
        int,
        pydantic.Field(ge=0, le=_MOST_ITEMS),
        ErrorSentence(f"must be a whole number from 0 to {_MOST_ITEMS}"),
    ]
    prices: object = None
    each: Given[dict[str, object]] = None
    changed: Given[dict[str, dict[str, object]]] = pydantic.Field(None, alias="with")


_Files: TypeAlias = list[tuple[PathFile | SharedFile, Field]]


def read_entries(row: PathFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    files: _Files = []
    neighbours = {path.name: path for path in sorted(file.path.parent.glob("*.yaml"))}
    for number, name in enumerate(row.uses or ()):
        if name not in neighbours:
            raise file.at("uses", number).error(describe_unknown_name("file", name, neighbours))
        shared_field = Field(read_yaml(neighbours[name]), neighbours[name])
        files.append((read_row(shared_field, SharedFile), shared_field))
    files.append((row, file))
    # All docs first, because a file can name functions and parameters of another's.
    docs = _read_docs(files)
    parameters = sorted({name for doc in docs.values() for name in doc.properties})
    for file_row, at in files:
        for number, name in enumerate(file_row.judged or ()):
            if name not in parameters:
                raise at.at("judged", number).error(describe_unknown_name("parameter", name, parameters))
    lookups = []
    for file_row, at in files:
        for number, lookup in enumerate(file_row.lookups or ()):
            place = at.at("lookups", number)
            if isinstance(lookup, str):
                lookups.append(Lookup(_find_doc(place, lookup, docs).name))
                continue
            doc = _find_doc(place.at("name"), lookup.name, docs)
            where = _read_arguments(place.at("where"), doc, ()) if lookup.where is not None else {}
            lookups.append(Lookup(doc.name, where, lookup.forgiven))
    judged = frozenset(name for file_row, _ in files for name in file_row.judged or ())
    shared = GoldenPath((), tuple(lookups), judged)
    for entry, place in zip(row.entries, file.at("entries").elements(), strict=True):
        yield place, _make_entry(entry, place, suite, category, docs, shared)


def _read_docs(files: _Files) -> Mapping[str, FunctionDoc]:
    """Return the docs of all files, each of them JSON about an object, with defaults that it allows."""
    docs: dict[str, FunctionDoc] = {}
    for row, at in files:
        functions_field = at.at("functions")
        file_docs = function_docs.read_function_docs(row.functions, functions_field, _TYPES)
        places = functions_field.elements() if file_docs else ()
        for place, doc in zip(places, file_docs.values(), strict=True):
            if doc.name in docs:
                raise place.error(f"the function {doc.name!r} is defined twice")
            _resolve(place, ())
            if doc.given is not None:
                docs[doc.name] = doc
                continue
            if (kind := doc.parameters["type"]) != "object":
                rule = describe_unknown_name("type", str(kind), ("object",))
                raise place.at("parameters", "type").error(rule)
            for name, schema in doc.properties.items():
                if "default" in schema:
                    _check_value(place.at("parameters", "properties", name, "default"), schema)
            docs[doc.name] = doc
    return docs


def _find_doc(at: Field, name: str, docs: Mapping[str, FunctionDoc]) -> FunctionDoc:
    if name not in docs:
        raise at.error(describe_unknown_name("function", name, docs))
    return docs[name]


def _make_entry(
    row: PathRow,
    at: Field,
    suite: str,
    category: Category,
    docs: Mapping[str, FunctionDoc],
    shared: GoldenPath,
) -> Entry:
    """Make an entry; its path has the rules of one that all entries of the file share."""
    functions_field = at if row.functions is None else at.at("functions")
    if row.functions is not None:
        docs = function_docs.choose_docs(row.functions, functions_field, docs)
    if not docs:
        raise functions_field.error("needs a function")
    steps: list[list[_RecordedCall]] = []
    for step, place in zip(row.steps, at.at("steps").elements(), strict=True):
        # Step by step, because ``$from`` can only name a reply of a step above.
        steps.append(_read_calls(step, place, docs, steps, ()))
    path_calls = [call for step in steps for call, _ in step]
    recorded = row.recorded or []
    recorded_calls = _read_calls(recorded, at.at("recorded"), docs, steps, path_calls) if recorded else ()
    path = replace(
        shared,
        steps=tuple(tuple(call for call, _ in step) for step in steps),
        lookups=tuple(lookup for lookup in shared.lookups if lookup.name in docs),
        recorded=tuple(call for call, _ in recorded_calls),
    )
    turns, functions = ((Message("user", row.query),),), tuple(docs.values())
    return Entry(suite, row.id, category, turns, functions, path, cluster=row.cluster)


def _read_calls(
    rows: Sequence[ReplyRow],
    at: Field,
    offered_docs: Mapping[str, FunctionDoc],
    earlier: _Steps,
    path_calls: Sequence[RecordedCall],
) -> list[_RecordedCall]:
    """Return the calls of a list. Raises ``SuiteError`` where one equals another or one of ``path_calls``."""
    calls: list[_RecordedCall] = []
    for row, place in zip(rows, at.elements(), strict=True):
        (name,) = row.call
        call_field = place.at("call", name)
        doc = _find_doc(call_field, name, offered_docs)
        arguments = _read_arguments(call_field, doc, earlier)
        for parameter in doc.required:
            if parameter not in arguments:
                raise call_field.error(f"{name} needs the parameter {parameter!r}")
        if violation := describe_call_violation(doc, arguments):
            raise call_field.error(f"is not what the schema of {name} allows: {violation}")
        reply = _resolve(place.at("reply"), earlier)
        if is_larger(reply, _MOST_SIGNS):
            size = f"has more than {_MOST_SIGNS:,} characters and values"
            rule = f"{size}, most of which repeat earlier replies; leave some '$from' out"
            raise place.at("reply").error(rule)
        call = RecordedCall.with_reply(name, arguments, reply)
        # A reply is found by its call, so a call has one reply in the whole entry.
        above = (*path_calls, *(other for other, _ in calls))
        if any((call.name, call.arguments) == (other.name, other.arguments) for other in above):
            raise place.error(f"the same call of {call.name} is listed above")
        calls.append((call, reply))
    return calls


def _read_arguments(field: Field, doc: FunctionDoc, earlier: _Steps) -> Mapping[str, object]:
    arguments = {}
    for name, argument_field in field.members().items() if field.value is not None else ():
        if name not in doc.properties:
            raise argument_field.error(describe_unknown_name("parameter", name, doc.properties))
        arguments[name] = value = _resolve(argument_field, earlier)
        if violation := describe_schema_violation(doc, name, value):
            raise argument_field.error(f"is not what the schema of {name} allows: {violation}")
        if doc.given is None:
            _check_value(replace(argument_field, value=value), doc.properties[name])
    return arguments


def _check_value(field: Field, schema: Schema) -> None:
    """Check that a value has the declared type, and that an object has only declared members."""
    if not conforms_to_schema(field.value, schema):
        declaration = schema.get("enum") or schema.get("type")
        raise field.error(f"{field.value!r:.60} is not what the function doc declares ({declaration})")
    items, properties, required_names = schema.get("items"), schema.get("properties"), schema.get("required")
    if isinstance(field.value, list) and isinstance(items, Mapping):
        for element in field.elements():
            _check_value(element, items)
    elif isinstance(field.value, Mapping) and isinstance(properties, Mapping) and properties:
        needed_names = required_names if isinstance(required_names, list) else ()
        for name, member in field.members(needed_names, tuple(properties)).items():
            _check_value(member, properties[name])


def _resolve(field: Field, earlier: _Steps) -> object:
    """Return a JSON value with ``$from`` and ``$listing`` replaced by the values they stand for."""
    match field.value:
        case {"$from": _}:
            return _follow(field.members(("$from",))["$from"], earlier)
        case {"$listing": _}:
            return _make_listing(field.members(("$listing",))["$listing"], earlier)
        case Mapping():
            return _resolve_members(field, earlier)
        case list():
            return [_resolve(element, earlier) for element in field.elements()]
        case None | str() | int():
            return field.value
        # YAML has ``.nan`` and ``.inf``, for which JSON has no form.
        case float(number) if math.isfinite(number):
            return number
    raise field.error(f"{str(field.value)[:40]} is not a JSON value; put text in quotes")


def _resolve_members(field: Field, earlier: _Steps) -> Mapping[str, object]:
    return {name: _resolve(member, earlier) for name, member in field.members().items()}


def _follow(field: Field, earlier: _Steps) -> object:
    """Return a value of an earlier reply."""
    current_value: object = [[reply for _, reply in step] for step in earlier]
    way = list(field.elements())
    if len(way) < 2:
        raise field.error("must list a step, a call of the step and the path to a value in its reply")
    for key in way:
        match current_value, key.value:
            case Mapping(), str(name) if name in current_value:
                current_value = current_value[name]
            case Mapping(), _:
                raise key.error(describe_unknown_name("member", str(key.value), current_value))
            case list(), int(place) if 0 <= place < len(current_value):
                current_value = current_value[place]
            case list(), _:
                raise key.error(f"must be an index into a list of {len(current_value)}, from 0")
            case _:
                raise key.error(f"there is nothing inside {current_value!r:.40}")
    return current_value


def _make_listing(field: Field, earlier: _Steps) -> object:
    row = read_row(field, ListingRow)
    each = _resolve_members(field.at("each"), earlier) if row.each else {}
    changed_items = {}
    for place in row.changed or ():
        item = field.at("with", place)
        if place not in map(str, range(row.items)):
            raise item.error(f"must be the index of an item, from 0 to {row.items - 1}")
        changed_items[int(place)] = _resolve_members(item, earlier)
        for name in changed_items[int(place)]:
            if name not in (*KINDS[row.of], *each):
                raise item.error(describe_unknown_name("member", name, (*KINDS[row.of], *each)))
    prices = None
    match row.prices:
        case [int() | float() as low, int() | float() as high] if 0 <= low <= high <= _MOST:
            prices = low, high
        case given if given is not None:
            raise field.at("prices").error(f"must be the lowest and the highest price, between 0 and {_MOST}")
    return make_listing(row.of, row.seed, row.items, prices, each, changed_items)
