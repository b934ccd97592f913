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

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Annotated

import pydantic

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.registry import OfferedFunctions
from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.categories import Category
from pytest_fcbench.domain.conformance import TYPES
from pytest_fcbench.domain.entry import Entry, Message, Scene
from pytest_fcbench.domain.errors import UsageError, describe_unknown_name
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.environments import DOMAINS, open_environments
from pytest_fcbench.environments.custom import adapt_class
from pytest_fcbench.environments.function_docs import document_domain
from pytest_fcbench.environments.world import World
from pytest_fcbench.formats.fields import Field, read_each
from pytest_fcbench.formats.function_docs import AnyFunctionRow, read_function_docs
from pytest_fcbench.formats.rows import AtLeastOne, EntryRow, ErrorSentence, Given, Row, Some, read_row
from pytest_fcbench.kinds.state.derived_entries import Withheld, withhold_functions
from pytest_fcbench.kinds.state.truth import Trajectory

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
    functions: list[str]


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


def entries(
    file: Field, suite: str, category: Category, world: World | None
) -> Iterator[tuple[Field, Entry, Withheld | None]]:
    """Yield the entries of a file with their places and functions to withhold. Raises ``SuiteError``.

    Where the world is known, each entry's environments are opened, to find errors in their state.
    """
    read = read_row(file, TrajectoryFile)
    own = read_function_docs(read.functions, file.at("functions"), TYPES[category.language])
    documented: set[str] = set()
    for row, place in zip(read.entries, file.at("entries").elements(), strict=True):
        entry = _make_entry(row, place, suite, category, own, file.at("functions"))
        if world is not None:
            _check_state(place.at("domains"), entry, world)
        withheld = None
        if row.withhold:
            at, turn, names = place.at("withhold"), row.withhold.turn, row.withhold.functions
            if turn >= len(entry.turns):
                raise at.at("turn").error(f"must be the index of a turn, from 0 to {len(entry.turns) - 1}")
            for name in names:
                if entry.find_function(name) is None:
                    offered = [doc.name for doc in entry.functions]
                    raise at.at("functions").error(describe_unknown_name("function", name, offered))
            try:
                # Made here only to see that it can be; the entry is derived when its category is loaded.
                withhold_functions(entry, turn, names)
            except ValueError as error:
                raise at.error(str(error)) from None
            withheld = Withheld(turn, tuple(names))
        documented.update(doc.name for doc in entry.functions)
        yield place, entry, withheld
    for number, name in enumerate(own):
        if name not in documented:
            raise file.at("functions", number).error(describe_unknown_name("function", name, documented))


def _make_entry(
    row: TrajectoryRow,
    at: Field,
    suite: str,
    category: Category,
    own: Mapping[str, FunctionDoc],
    at_own: Field,
) -> Entry:
    # A name with a colon is a class of the team's own; no domain of ours has one.
    classes = {name: _load_class(name, at.at("domains", name)) for name in row.domains if ":" in name}
    for name in row.domains:
        if name not in (*DOMAINS, *classes):
            raise at.at("domains", name).error(describe_unknown_name("domain", name, DOMAINS))
    offered = {
        doc.name: doc
        for name in row.domains
        for doc in (document_domain(adapt_class(classes[name])) if name in classes else _document_ours(name))
    }
    for number, doc in enumerate(own.values()):
        # A doc of the file may belong to the domains of another entry.
        if doc.name not in offered:
            continue
        for name in doc.properties:
            if name not in (taken := offered[doc.name].properties):
                raise at_own.at(number).error(describe_unknown_name("parameter", name, taken))
        offered[doc.name] = doc
    calls = [call for turn in at.at("turns").elements() for call in turn.at("calls").elements()]
    # Of a call that YAML has split, all parts are wrong; the first says why.
    for call in calls:
        call.call()
    read_each(partial(check_call, docs=offered), calls)
    for turn, place in zip(row.turns, at.at("turns").elements(), strict=True):
        if turn.user.startswith(UNWORDED):
            raise place.at("user").error("is not written yet; write the message of the user")
    return Entry(
        suite=suite,
        id=row.id,
        category=category,
        turns=tuple((Message("user", turn.user),) for turn in row.turns),
        functions=tuple(offered.values()),
        expectation=Trajectory(tuple(tuple(turn.calls) for turn in row.turns)),
        scene=Scene(
            tuple(row.domains),
            {name: state or {} for name, state in row.domains.items()},
            classes=classes,
        ),
        parents=tuple(row.parents or ()),
    )


def _check_state(field: Field, entry: Entry, world: World) -> None:
    try:
        # Opened twice: a state with a clock or chance in it would judge the same calls differently.
        one, other = (
            open_environments(entry, world).copy_state(),
            open_environments(entry, world).copy_state(),
        )
    except Exception as error:  # noqa: BLE001 - a state that somebody wrote can break anything
        raise field.error(f"cannot be opened: {type(error).__name__}: {error}") from None
    for domain, state in one.items():
        for name, value in state.items():
            if value != other[domain][name]:
                raise field.error(f"{domain}.{name} differs between conversations; use plain values")


def _load_class(name: str, field: Field) -> type:
    """Return a class of the team, looked for in the folder of the file first."""
    try:
        found = python_code.find_object(name, field.path.parent.absolute())
        if not isinstance(found, type):
            raise UsageError(f"{name} is not a class; name one")
        adapt_class(found)
    except (UsageError, ValueError) as error:
        raise field.error(str(error)) from None
    return found


@cache
def _document_ours(name: str) -> tuple[FunctionDoc, ...]:
    return document_domain(DOMAINS[name])


def check_call(field: Field, docs: Mapping[str, FunctionDoc]) -> None:
    """Check that a text is a call of a known function with its parameters. Raises ``SuiteError``."""
    try:
        # The official decoder is stricter about what a value is; both must read the call.
        python.parse_official(field.call())
        found = python.parse_corrected(field.text())
    except Undecodable as error:
        raise field.error(str(error)) from None
    if len(found) != 1:
        raise field.error(f"must be one call, not {len(found)}")
    check_known_call(field, found[0], docs)


def check_known_call(field: Field, call: Call, docs: Mapping[str, FunctionDoc]) -> None:
    """Check that a call is of a known function with its parameters. Raises ``SuiteError``."""
    if call.name not in docs:
        raise field.error(describe_unknown_name("function", call.name, docs))
    doc = docs[call.name]
    placed = OfferedFunctions((doc,), Names.DOTTED).normalise_call(call)
    for name in placed.arguments:
        if name not in doc.properties:
            raise field.error(describe_unknown_name("parameter", name, doc.properties))
    if placed.positional:
        raise field.error(f"{call.name} gets a parameter twice, or too many parameters")
    for name in doc.required:
        if name not in placed.arguments:
            raise field.error(f"{call.name} needs the parameter {name!r}")
