"""Multi-turn entries written by hand in YAML.

category: multi_turn_base
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
    withhold: {turn: 0, functions: [mkdir]}     # optional: what build.missing_function takes away
    parents: [core:multi_turn_base_1]           # optional: whose environments it was sampled in
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.registry import Offer
from pytest_fcbench.codecs.function_docs import python_code
from pytest_fcbench.domain.entry import Category, Entry, Message, Scene, Trajectory
from pytest_fcbench.domain.errors import UsageError, unknown
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.prompting import Names
from pytest_fcbench.environments import DOMAINS, OWN, opened
from pytest_fcbench.environments.custom import adapted
from pytest_fcbench.environments.function_docs import documented
from pytest_fcbench.environments.world import World
from pytest_fcbench.suites.derived_multi_turn import missing_function
from pytest_fcbench.suites.formats.fields import Field

UNWORDED = "TODO:"
"""How the question of a sampled turn begins until somebody has worded it."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Functions without which a turn cannot be answered."""

    turn: int
    functions: tuple[str, ...]


def missable(written: tuple[Entry, Withheld | None]) -> tuple[Entry, int | None, Sequence[str]]:
    """An entry with the turn and the functions that can be missed in it (``build.multi_turn.made``)."""
    entry, withheld = written
    return (entry, withheld.turn, withheld.functions) if withheld else (entry, None, ())


def entries(
    field: Field, suite: str, category: Category, world: World | None
) -> Iterator[tuple[Entry, Withheld | None]]:
    """The entries of a file and what can be withheld from each. Raises ``SuiteError``.

    Where the world is known, each entry's environments are opened to see that they can be.
    """
    for element in field.elements():
        members = element.members(("id", "domains", "turns"), ("withhold", "parents"))
        entry = _entry(members, suite, category)
        if world is not None:
            _check_state(members["domains"], entry, world)
        yield entry, _withheld(members["withhold"], entry) if "withhold" in members else None


def _entry(members: Mapping[str, Field], suite: str, category: Category) -> Entry:
    config: dict[str, Mapping[str, object]] = {}
    for name, state in members["domains"].members().items():
        _check_domain(name, state)
        given = {} if state.value is None else state.members()
        config[name] = {key: field.value for key, field in given.items()}
    if not config:
        raise members["domains"].error("needs a domain")
    docs = tuple(doc for name in config for doc in _docs(name))
    turns = list(members["turns"].elements())
    if not turns:
        raise members["turns"].error("needs a turn")
    asked, calls = zip(*(_turn(turn, docs) for turn in turns), strict=True)
    return Entry(
        suite=suite,
        id=members["id"].text(),
        category=category,
        turns=asked,
        functions=docs,
        expectation=Trajectory(calls),
        scene=Scene(tuple(config), config),
        parents=tuple(key.text() for key in members["parents"].elements()) if "parents" in members else (),
    )


def _check_state(field: Field, entry: Entry, world: World) -> None:
    try:
        one, other = opened(entry, world).snapshot(), opened(entry, world).snapshot()
    except Exception as error:  # noqa: BLE001 - a state that somebody wrote can break anything
        raise field.error(f"cannot be opened: {type(error).__name__}: {error}") from None
    for domain, state in one.items():
        for name, value in state.items():
            if value != other[domain][name]:
                raise field.error(
                    f"{domain}.{name} differs from one conversation to the next; keep plain values"
                )


def _check_domain(name: str, field: Field) -> None:
    """A domain of ours, or a class of the team's, looked for in the folder of the file first."""
    if ":" not in name:
        if name not in DOMAINS:
            raise field.error(unknown("domain", name, DOMAINS))
    else:
        try:
            found = python_code.found_in(name, field.path.parent.absolute())
            if not isinstance(found, type):
                raise UsageError(f"{name} is no class")
            if name not in OWN:
                OWN[name] = adapted(found)
        except (UsageError, ValueError) as error:
            raise field.error(str(error)) from None


@cache
def _docs(name: str) -> tuple[FunctionDoc, ...]:
    if name in DOMAINS:
        return documented(DOMAINS[name])
    docs = tuple(python_code.methods(OWN[name]))
    about = " ".join((inspect.getdoc(OWN[name]) or "").split())
    return tuple(replace(doc, description=f"{about} {doc.description}".strip()) for doc in docs)


def _turn(field: Field, docs: tuple[FunctionDoc, ...]) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    members = field.members(("user", "calls"))
    calls = list(members["calls"].elements())
    for call in calls:
        check_call(call, {doc.name: doc for doc in docs})
    question = members["user"].text()
    if question.startswith(UNWORDED):
        raise members["user"].error("is not worded yet; write what a user would say")
    return (Message("user", question),), tuple(call.text() for call in calls)


def check_call(field: Field, docs: Mapping[str, FunctionDoc]) -> None:
    """A call of a function that is there, with parameters that it has."""
    try:
        python.official(field.text())  # which is stricter about what a value is
        found = python.corrected(field.text())
    except Undecodable as error:
        raise field.error(str(error)) from None
    if len(found) != 1:
        raise field.error(f"must be one call, is {len(found)}")
    (call,) = found
    if call.name not in docs:
        raise field.error(unknown("function", call.name, docs))
    doc = docs[call.name]
    placed = Offer((doc,), Names.DOTTED).own(call)
    for name in placed.arguments:
        if name not in doc.properties:
            raise field.error(unknown("parameter", name, doc.properties))
    if placed.positional:
        raise field.error(f"{call.name} is given a parameter twice, or too many")
    for name in doc.required:
        if name not in placed.arguments:
            raise field.error(f"{call.name} needs the parameter {name!r}")


def _withheld(field: Field, entry: Entry) -> Withheld:
    members = field.members(("turn", "functions"))
    turn = members["turn"].value
    if not isinstance(turn, int) or isinstance(turn, bool) or not 0 <= turn < len(entry.turns):
        raise members["turn"].error(f"must be the index of a turn, from 0 to {len(entry.turns) - 1}")
    names = tuple(name.text() for name in members["functions"].elements())
    for name in names:
        if entry.function(name) is None:
            raise members["functions"].error(unknown("function", name, [doc.name for doc in entry.functions]))
    try:
        missing_function(entry, turn, names)
    except ValueError as error:
        raise field.error(str(error)) from None
    return Withheld(turn, names)
