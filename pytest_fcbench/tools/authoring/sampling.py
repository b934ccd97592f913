"""Random walks through an environment whose calls need each other (BFCL v3's graph sampling).

An edge leads from a function to a parameter of another when a value that the first returned makes a call of
the second succeed that fails with any other value. Nobody writes edges down: they are found by carrying calls
out. A walk is a trajectory that was carried out, with what a question about each turn has to mention.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pytest_fcbench.domain.conformance import conforms
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.environments.execution import Environments

_TRIES = 40
"""Arguments that are tried for one call, and calls for one step."""

_PHRASES = (
    "Spare keys",
    "Quarterly figures",
    "Back on Monday",
    "Please check twice",
    "Early shift",
    "All seats taken",
    "Waiting for a part",
    "Two boxes, one label",
)
_NUMBERS = (2, 3, 5, 8, 12, 25, 40, 75, 120, 250)
_NOBODY_KNOWS = {"string": "fcbench-nothing-of-the-kind", "integer": -918273, "float": -918273.5}

_IN_VAIN = re.compile(r"\b(?:errors?|invalid|not found|unknown|failed|no such)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A value that is known at some point of a walk."""

    value: object
    source: str | None
    """The function that returned it; None where it stands in the initial state."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a walk that was carried out."""

    name: str
    arguments: Mapping[str, object]
    found: Mapping[str, str]
    """By parameter, the function of an earlier call that returned its value."""
    mention: tuple[object, ...]
    """What nobody could know who does not read it in the question."""
    result: str

    @property
    def text(self) -> str:
        """As Python text."""
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass(frozen=True, slots=True)
class Walk:
    """Turns of calls."""

    turns: tuple[tuple[Call, ...], ...]

    def mention(self, turn: int) -> list[object]:
        """What the question of a turn has to say, unless an earlier question said it."""
        values = [[value for call in calls for value in call.mention] for calls in self.turns[: turn + 1]]
        said = [value for earlier in values[:-1] for value in earlier]
        return [value for at, value in enumerate(values[-1]) if value not in (*said, *values[-1][:at])]

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """From a function to ``function.parameter``."""
        return frozenset(
            (source, f"{call.name}.{name}")
            for calls in self.turns
            for call in calls
            for name, source in call.found.items()
        )


def walks(
    start: Environments, docs: Sequence[FunctionDoc], draw: Random, count: int, turns: int = 3
) -> Iterator[Walk]:
    """At most ``count`` walks of so many turns, no two with the same functions in the same order.

    ``start`` is not changed. A turn has one or two calls; at least one call needs what another returned, and
    each changes something or tells what was not known.
    """
    seen: set[tuple[str, ...]] = set()
    for _ in range(_TRIES * count):
        if len(seen) == count:
            return
        walk = _walk(start, docs, draw, turns)
        if walk is None:
            continue
        names = tuple(call.name for calls in walk.turns for call in calls)
        if names not in seen:
            seen.add(names)
            yield walk


def _walk(start: Environments, docs: Sequence[FunctionDoc], draw: Random, turns: int) -> Walk | None:
    here = _copied(start)
    known = [Value(value, None) for value in _leaves(here.snapshot())]
    docs = [doc for doc in docs if not any(map(_is_open, doc.properties.values()))]
    made: list[tuple[Call, ...]] = []
    said: set[str] = set()
    for _ in range(turns):
        calls: list[Call] = []
        for _ in range(draw.randint(1, 2)):
            call = _step(here, docs, known, draw, said)
            if call is None:
                return None
            said.add(call.text)
            calls.append(call)
            known += [Value(value, call.name) for value in _leaves(_parsed(call.result))]
        made.append(tuple(calls))
    walk = Walk(tuple(made))
    return walk if walk.edges and _is_brief(start, walk) else None


def _step(
    here: Environments, docs: Sequence[FunctionDoc], known: Sequence[Value], draw: Random, said: set[str]
) -> Call | None:
    """A call that succeeds and was not made before; carried out in ``here``."""
    for _ in range(_TRIES):
        call = _tried(here, draw.choice(docs), known, draw)
        if call and call.text not in said:
            here.perform([call.text])
            return call
    return None


def _tried(here: Environments, doc: FunctionDoc, known: Sequence[Value], draw: Random) -> Call | None:
    """A call of the function with arguments that make it succeed."""
    given = [name for name in doc.properties if name in doc.required or draw.random() < 0.3]
    for _ in range(_TRIES):
        drawn = {name: _drawn(doc.properties[name], known, draw) for name in given}
        arguments = {name: value.value for name, value in drawn.items()}
        if not _succeeds(here, doc.name, arguments):
            continue
        arguments, needed = _freed(here, doc, arguments, draw)
        if not _succeeds(here, doc.name, arguments):
            continue
        found = {name: source for name in needed if (source := drawn[name].source)}
        mention = tuple(value for name, value in arguments.items() if name not in found)
        (result,) = _copied(here).perform([_text(doc.name, arguments)])
        return Call(doc.name, arguments, found, mention, result)
    return None


def _freed(
    here: Environments, doc: FunctionDoc, arguments: Mapping[str, object], draw: Random
) -> tuple[dict[str, object], list[str]]:
    """The arguments with plain values where any would do, and the names of those where none other does."""
    needed, freed = [], dict(arguments)
    for name, value in arguments.items():
        schema = doc.properties[name]
        kind = str(schema.get("type"))
        if kind not in _NOBODY_KNOWS or "enum" in schema:
            continue
        if _succeeds(here, doc.name, {**freed, name: _NOBODY_KNOWS[kind]}):
            freed[name] = _plain(schema, draw)
        elif isinstance(value, (int, float)) and _succeeds(here, doc.name, {**freed, name: value + 1}):
            plain = _plain(schema, draw)
            freed[name] = plain if _succeeds(here, doc.name, {**freed, name: plain}) else value
        else:
            needed.append(name)
    return freed, needed


def _drawn(schema: Schema, known: Sequence[Value], draw: Random) -> Value:
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return Value(draw.choice(options), None)
    if schema.get("type") == "boolean":
        return Value(draw.random() < 0.5, None)
    fitting = [value for value in known if conforms(value.value, schema)]
    returned = [value for value in fitting if value.source]
    if returned and draw.random() < 0.6:
        return draw.choice(returned)
    if fitting and draw.random() < 0.8:
        return draw.choice(fitting)
    return Value(_plain(schema, draw), None)


def _plain(schema: Schema, draw: Random) -> object:
    kind, items = schema.get("type"), schema.get("items")
    if kind == "array":
        return [_plain(items, draw)] if isinstance(items, Mapping) else []
    if kind == "dict":
        properties = schema.get("properties")
        return (
            {name: _plain(member, draw) for name, member in properties.items()}
            if isinstance(properties, Mapping)
            else {}
        )
    if kind == "boolean":
        return draw.random() < 0.5
    if kind == "integer":
        return draw.choice(_NUMBERS)
    return float(draw.choice(_NUMBERS)) if kind == "float" else draw.choice(_PHRASES)


def _is_open(schema: Schema) -> bool:
    """Whether it is a dict of which nobody says what belongs into it."""
    return schema.get("type") == "dict" and not schema.get("properties")


def _is_brief(start: Environments, walk: Walk) -> bool:
    """Whether each call does something: it changes a state, or tells what was not known before."""
    here = _copied(start)
    told: set[str] = set()
    for call in (call for calls in walk.turns for call in calls):
        before = here.snapshot()
        here.perform([call.text])
        if here.snapshot() == before and (call.result in told or not list(_leaves(_parsed(call.result)))):
            return False
        told.add(call.result)
    return True


def _succeeds(here: Environments, name: str, arguments: Mapping[str, object]) -> bool:
    """Whether a call does what it is for, as far as its result shows."""
    (result,) = _copied(here).perform([_text(name, arguments)])
    parsed = _parsed(result)
    if isinstance(parsed, Mapping):
        words = [str(key) for key in parsed] + [value for value in parsed.values() if isinstance(value, str)]
        nothing = bool(parsed) and all(value in ([], {}, "", None) for value in parsed.values())
        return not nothing and False not in parsed.values() and not any(map(_IN_VAIN.search, words))
    return not _IN_VAIN.search(result)


def _text(name: str, arguments: Mapping[str, object]) -> str:
    return Call(name, arguments, {}, (), "").text


def _copied(environments: Environments) -> Environments:
    return Environments(copy.deepcopy(environments.by_domain))


def _parsed(result: str) -> object:
    try:
        value: object = json.loads(result)
    except ValueError:
        return result
    return value


def _leaves(value: object) -> Iterator[object]:
    """The texts and numbers in a value, names of its members too: tables are kept by their keys."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield key
            yield from _leaves(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _leaves(member)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        yield value
