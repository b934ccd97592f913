"""Random walks through an environment whose calls need each other (BFCL v3's graph sampling).

An edge leads from a function to a parameter of another if a call of the second succeeds with a value that the
first returned, and fails with any other value. Edges are not declared but found by executing calls. A walk is
an executed trajectory, with the values that a question about each turn has to mention.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pytest_fcbench.domain.conformance import conforms_to_schema
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema
from pytest_fcbench.environments.execution import Environments

_TRIES = 40
"""The most tries of arguments for one call, and of calls for one step."""

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
_IMPROBABLE_VALUES = {"string": "fcbench-nothing-of-the-kind", "integer": -918273, "float": -918273.5}

_FAILURE = re.compile(r"\b(?:errors?|invalid|not found|unknown|failed|no such)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A known value at some point of a walk."""

    value: object
    source: str | None
    """The function that returned the value; None for one of the initial state."""


@dataclass(frozen=True, slots=True)
class WalkCall:
    """An executed call of a walk."""

    name: str
    arguments: Mapping[str, object]
    found: Mapping[str, str]
    """The function of an earlier call that returned the value of a parameter, by parameter."""
    mention: tuple[object, ...]
    """The values that only the question can tell a model."""
    result: str

    @property
    def text(self) -> str:
        """The call as Python text."""
        return _format_call(self.name, self.arguments)


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk: the calls of each turn."""

    turns: tuple[tuple[WalkCall, ...], ...]

    def list_mentions(self, turn: int) -> list[object]:
        """List the values that the question of a turn has to mention, unless an earlier question did."""
        values = [[value for call in calls for value in call.mention] for calls in self.turns[: turn + 1]]
        said = [value for earlier in values[:-1] for value in earlier]
        return [value for at, value in enumerate(values[-1]) if value not in (*said, *values[-1][:at])]

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """The edges of the walk, from a function to ``function.parameter``."""
        return frozenset(
            (source, f"{call.name}.{name}")
            for calls in self.turns
            for call in calls
            for name, source in call.found.items()
        )


def draw_walks(
    start: Environments, docs: Sequence[FunctionDoc], draw: Random, count: int, turns: int = 3
) -> Iterator[Walk]:
    """Yield at most ``count`` walks of ``turns`` turns, no two with the same functions in the same order.

    ``start`` is not changed. A turn has one or two calls; at least one call needs a result of another, and
    each call changes something or returns something new.
    """
    seen: set[tuple[str, ...]] = set()
    for _ in range(_TRIES * count):
        if len(seen) == count:
            return
        walk = _draw_walk(start, docs, draw, turns)
        # Without an edge the calls could come in any order, and the entry would only test single calls.
        if walk is None or not walk.edges:
            continue
        names = tuple(call.name for calls in walk.turns for call in calls)
        if names not in seen:
            seen.add(names)
            yield walk


def _draw_walk(start: Environments, docs: Sequence[FunctionDoc], draw: Random, turns: int) -> Walk | None:
    """Draw a walk each of whose calls changes a state or returns something new."""
    here = _copy_environments(start)
    known = [Value(value, None) for value in _iterate_leaves(here.copy_state())]
    # A dict without declared properties gives nothing to draw from.
    docs = [
        doc
        for doc in docs
        if all(schema.get("type") != "dict" or schema.get("properties") for schema in doc.properties.values())
    ]
    walked: list[tuple[WalkCall, ...]] = []
    made: set[str] = set()
    results: set[str] = set()
    is_idle = False
    for _ in range(turns):
        calls: list[WalkCall] = []
        for _ in range(draw.randint(1, 2)):
            tries = (_draw_call(here, draw.choice(docs), known, draw) for _ in range(_TRIES))
            call = next((call for call in tries if call and call.text not in made), None)
            if call is None:
                return None
            before = here.copy_state()
            here.perform_calls([call.text])
            made.add(call.text)
            calls.append(call)
            returned = [Value(value, call.name) for value in _iterate_leaves(_parse_result(call.result))]
            known += returned
            is_known = call.result in results or not returned
            is_idle |= is_known and here.copy_state() == before
            results.add(call.result)
        walked.append(tuple(calls))
    # Refused only here, because ending early would change what the same seed draws for later walks.
    return None if is_idle else Walk(tuple(walked))


def _draw_call(here: Environments, doc: FunctionDoc, known: Sequence[Value], draw: Random) -> WalkCall | None:
    """Draw a call of the function that succeeds."""
    given = [name for name in doc.properties if name in doc.required or draw.random() < 0.3]
    for _ in range(_TRIES):
        values = {name: _draw_value(doc.properties[name], known, draw) for name in given}
        arguments = {name: value.value for name, value in values.items()}
        # Tried on a copy, because a call that fails can still change something.
        if not _does_succeed(_try_call(here, doc.name, arguments)):
            continue
        arguments, needed = _replace_needless_values(here, doc, arguments, draw)
        result = _try_call(here, doc.name, arguments)
        if not _does_succeed(result):
            continue
        found = {name: source for name in needed if (source := values[name].source)}
        mention = tuple(value for name, value in arguments.items() if name not in found)
        return WalkCall(doc.name, arguments, found, mention, result)
    return None


def _replace_needless_values(
    here: Environments, doc: FunctionDoc, arguments: Mapping[str, object], draw: Random
) -> tuple[dict[str, object], list[str]]:
    """Replace arguments by plain values where any succeeds; also list the parameters that need theirs."""
    needed, replaced = [], dict(arguments)

    def does_succeed_with(name: str, value: object) -> bool:
        return _does_succeed(_try_call(here, doc.name, {**replaced, name: value}))

    for name, value in arguments.items():
        schema = doc.properties[name]
        kind = str(schema.get("type"))
        if kind not in _IMPROBABLE_VALUES or "enum" in schema:
            continue
        if does_succeed_with(name, _IMPROBABLE_VALUES[kind]):
            replaced[name] = _draw_plain_value(schema, draw)
        # An improbable number may fail only for its size; then any number near it would do.
        elif isinstance(value, (int, float)) and does_succeed_with(name, value + 1):
            plain = _draw_plain_value(schema, draw)
            replaced[name] = plain if does_succeed_with(name, plain) else value
        else:
            needed.append(name)
    return replaced, needed


def _draw_value(schema: Schema, known: Sequence[Value], draw: Random) -> Value:
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return Value(draw.choice(options), None)
    if schema.get("type") == "boolean":
        return Value(draw.random() < 0.5, None)
    fitting = [value for value in known if conforms_to_schema(value.value, schema)]
    returned = [value for value in fitting if value.source]
    if returned and draw.random() < 0.6:
        return draw.choice(returned)
    if fitting and draw.random() < 0.8:
        return draw.choice(fitting)
    return Value(_draw_plain_value(schema, draw), None)


def _draw_plain_value(schema: Schema, draw: Random) -> object:
    items, properties = schema.get("items"), schema.get("properties")
    match schema.get("type"):
        case "array":
            return [_draw_plain_value(items, draw)] if isinstance(items, Mapping) else []
        case "dict":
            members = properties.items() if isinstance(properties, Mapping) else ()
            return {name: _draw_plain_value(member, draw) for name, member in members}
        case "boolean":
            return draw.random() < 0.5
        case "integer":
            return draw.choice(_NUMBERS)
        case "float":
            return float(draw.choice(_NUMBERS))
    return draw.choice(_PHRASES)


def _try_call(here: Environments, name: str, arguments: Mapping[str, object]) -> str:
    """Return the result of a call; ``here`` is not changed."""
    (result,) = _copy_environments(here).perform_calls([_format_call(name, arguments)])
    return result


def _does_succeed(result: str) -> bool:
    """Tell whether a call succeeded, as far as its result shows."""
    parsed = _parse_result(result)
    if isinstance(parsed, Mapping):
        # Environments have no common form of errors, so words decide.
        words = [str(key) for key in parsed] + [value for value in parsed.values() if isinstance(value, str)]
        is_empty = bool(parsed) and all(value in ([], {}, "", None) for value in parsed.values())
        return not is_empty and False not in parsed.values() and not any(map(_FAILURE.search, words))
    return not _FAILURE.search(result)


def _format_call(name: str, arguments: Mapping[str, object]) -> str:
    return f"{name}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


def _copy_environments(environments: Environments) -> Environments:
    return Environments(copy.deepcopy(environments.by_domain))


def _parse_result(result: str) -> object:
    try:
        value: object = json.loads(result)
    except ValueError:
        return result
    return value


def _iterate_leaves(value: object) -> Iterator[object]:
    """Yield the texts and numbers in a value, and the keys of its members, which identify rows of tables."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield key
            yield from _iterate_leaves(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _iterate_leaves(member)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        yield value
