"""Multi-turn entries written by hand in YAML.

category: multi_turn_base
functions: [...]                   # optional: docs in any form, in place of those made of the code
entries:
  - id: multi_turn_base_0
    domains:                       # what calls act on, each with what differs from its default state
      file_system: {root: {home: {type: directory, contents: {}}}}
      math: {}
      shop:Shop: {stock: {tea: 4}}    # a class of your own; what is told here is given to it
    turns:
      - user: Make a folder called drafts.
        calls: ["mkdir(dir_name='drafts')"]     # what does it, as Python text
      - user: Now rename it.
        calls: []                  # nothing can be called yet: the new name is missing
      - user: To finals.
        calls: ["mv(source='drafts', destination='finals')"]
    withhold: {turn: 0, functions: [mkdir]}     # optional: what comes late (derived_entries)
    parents: [core:multi_turn_base_1]           # optional: whose environments it was sampled in
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Annotated

import pydantic

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.entry import Category, Entry, Message, Scene
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import TYPES, FunctionDoc
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.environments.environment import adapt_class, document_domain
from pytest_fcbench.environments.execution import DOMAINS
from pytest_fcbench.formats.fields import Field, ListPart, read_each
from pytest_fcbench.formats.function_docs import AnyFunctionRow, read_function_docs
from pytest_fcbench.formats.rows import AtLeastOne, EntryRow, ErrorSentence, Given, PlacedEntries, Row, Some
from pytest_fcbench.kinds.state.derived_entries import withhold_functions
from pytest_fcbench.kinds.state.verdict import Trajectory, Withheld

UNWORDED = "TODO:"
"""The beginning of a sampled turn's question until somebody has worded it."""


class TurnRow(Row):
    """A request of the user, and the calls that serve it."""

    user: str
    """The user's request."""
    calls: list[str]
    """Calls as Python text."""


class WithheldRow(Row):
    """Functions that come late when an entry about missing functions is made of it."""

    turn: Annotated[int, pydantic.Field(ge=0), ErrorSentence("must be the index of a turn, from 0")]
    functions: Some[str]


class TrajectoryRow(EntryRow):
    """Turns, and the calls that serve them."""

    domains: AtLeastOne[dict[str, object] | None]
    """The environments of calls with their initial states: a domain, or a class as module:Class."""
    turns: Some[TurnRow]
    """Requests, and the calls that serve them."""
    withhold: Given[WithheldRow] = None
    """Functions that come late when an entry about missing functions is made of it."""
    parents: Given[list[str]] = None
    """Keys of the entries that it was made from."""


class TrajectoryFile(Row):
    """Entries of several turns."""

    category: str
    entries: list[TrajectoryRow]
    functions: Given[list[AnyFunctionRow]] = None
    """Docs that models are sent in place of those that are made of the code."""


def read_entries(rows: TrajectoryFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""
    own_docs = read_function_docs(rows.functions, file.at("functions"), TYPES[category.language])
    names_in_use: set[str] = set()
    for row, place in zip(rows.entries, file.at("entries").elements(), strict=True):
        entry = _make_entry(row, place, suite, category, own_docs, file.at("functions"))
        if row.withhold:
            at, turn, names = place.at("withhold"), row.withhold.turn, row.withhold.functions
            if turn >= len(entry.turns):
                raise at.at("turn").error(f"must be the index of a turn, from 0 to {len(entry.turns) - 1}")
            for name in names:
                if entry.find_function(name) is None:
                    known_names = [doc.name for doc in entry.functions]
                    raise at.at("functions").error(describe_unknown_name("function", name, known_names))
            try:
                # Made here only to see that it can be; the entry is derived when its category is loaded.
                withhold_functions(entry, turn, names)
            except ValueError as error:
                raise at.error(str(error)) from None
        names_in_use.update(doc.name for doc in entry.functions)
        yield place, entry
    # An entry that was left out may have been the only one with the domain of a function.
    is_whole = not isinstance(file.at("entries").value, ListPart)
    for number, name in enumerate(own_docs):
        if is_whole and name not in names_in_use:
            raise file.at("functions", number).error(describe_unknown_name("function", name, names_in_use))


def _make_entry(
    row: TrajectoryRow,
    at: Field,
    suite: str,
    category: Category,
    own_docs: Mapping[str, FunctionDoc],
    functions_field: Field,
) -> Entry:
    # A name with a colon is a class of the team's own; no domain of ours has one.
    classes = {name: _load_class(name, at.at("domains", name)) for name in row.domains if ":" in name}
    docs: dict[str, FunctionDoc] = {}
    for name in row.domains:
        if name not in (*DOMAINS, *classes):
            raise at.at("domains", name).error(describe_unknown_name("domain", name, DOMAINS))
        for doc in document_domain(adapt_class(classes[name])) if name in classes else _document_ours(name):
            if doc.name in docs:
                raise at.at("domains", name).error(f"a domain above has a function {doc.name!r} too")
            docs[doc.name] = doc
    for number, doc in enumerate(own_docs.values()):
        # A doc of the file may belong to the domains of another entry.
        if doc.name not in docs:
            continue
        for name in doc.properties:
            if name not in (parameters := docs[doc.name].properties):
                raise functions_field.at(number).error(describe_unknown_name("parameter", name, parameters))
        docs[doc.name] = doc
    calls = [call for turn in at.at("turns").elements() for call in turn.at("calls").elements()]
    # Of a call that YAML has split, all parts are wrong; the first says why.
    for field in calls:
        field.call()
    read_each(partial(check_call, docs=docs), calls)
    for turn, place in zip(row.turns, at.at("turns").elements(), strict=True):
        if turn.user.startswith(UNWORDED):
            raise place.at("user").error("is not written yet; write the message of the user")
    turns = tuple((Message("user", turn.user),) for turn in row.turns)
    withheld = Withheld(row.withhold.turn, tuple(row.withhold.functions)) if row.withhold else None
    truth = Trajectory(tuple(tuple(turn.calls) for turn in row.turns), withheld)
    states = {name: state or {} for name, state in row.domains.items()}
    scene, parents = Scene(tuple(row.domains), states, classes=classes), tuple(row.parents or ())
    return Entry(suite, row.id, category, turns, tuple(docs.values()), truth, scene, parents=parents)


def _load_class(name: str, field: Field) -> type:
    """Return a class of the team, looked for in the folder of the file first."""
    try:
        own_class = python_code.find_object(name, field.path.parent.absolute())
        if not isinstance(own_class, type):
            raise UsageError(f"{name} is not a class; name one")
        adapt_class(own_class)
    except (UsageError, ValueError) as error:
        raise field.error(str(error)) from None
    return own_class


@cache
def _document_ours(name: str) -> tuple[FunctionDoc, ...]:
    return document_domain(DOMAINS[name])


def check_call(field: Field, docs: Mapping[str, FunctionDoc]) -> None:
    """Check that a text is a call of a known function with its parameters. Raises ``SuiteError``."""
    try:
        # The official decoder is stricter about what a value is; both must read the call.
        python.parse_official(field.call())
        calls = python.parse_corrected(field.text())
    except Undecodable as error:
        raise field.error(str(error)) from None
    if len(calls) != 1:
        raise field.error(f"must be one call, not {len(calls)}")
    check_known_call(field, calls[0], docs)


def check_known_call(field: Field, call: Call, docs: Mapping[str, FunctionDoc]) -> None:
    """Check that a call is of a known function with its parameters. Raises ``SuiteError``."""
    if call.name not in docs:
        raise field.error(describe_unknown_name("function", call.name, docs))
    doc = docs[call.name]
    named_call = OfferedFunctions((doc,), Names.DOTTED).normalise_call(call)
    for name in named_call.arguments:
        if name not in doc.properties:
            raise field.error(describe_unknown_name("parameter", name, doc.properties))
    if named_call.positional:
        raise field.error(f"{call.name} gets a parameter twice, or too many parameters")
    for name in doc.required:
        if name not in named_call.arguments:
            raise field.error(f"{call.name} needs the parameter {name!r}")
