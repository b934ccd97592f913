"""Random walks through an environment whose calls need each other (BFCL v3's graph sampling).

An edge leads from a function to a parameter of another if a call of the second succeeds with a value that the
first returned, and fails with any other value. Edges are not declared but found by executing calls. A walk is
an executed trajectory, with the values that a question about each turn has to mention.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from pytest_fcbench.domain.entry import PastCall
from pytest_fcbench.domain.function_doc import FunctionDoc, Schema, conforms_to_schema
from pytest_fcbench.domain.tables import WordSet, read_table
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.environments.execution import Environments
from pytest_fcbench.environments.world import World

_TRIES = 15
"""The most tries of calls for one step."""
_WALK_TRIES = 40
"""The most walks that are drawn for each one wanted."""
_ARGUMENT_TRIES = 5
"""The most tries of arguments for one call."""
_CHAIN_TRIES = 20
"""The most walks, for each one wanted, among which one with a longer chain is looked for."""

_IMPROBABLE_VALUES = {"string": "fcbench-nothing-of-the-kind", "integer": -918273, "float": -918273.5}

_FIELD = re.compile(r"[a-z][a-z0-9_]*")
_FAILURE = re.compile(r"\b(?:errors?|invalid|not found|unknown|failed|no such)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A known value at some point of a walk."""

    value: object
    source: str | None
    """The function that returned the value; None for one of the initial state, or of nowhere."""
    words: frozenset[str] = frozenset()
    """The words of the names under which it is known."""
    links: int = 0
    """The number of calls, one needing the other, that led to it."""
    is_meant: bool = False
    """True where it suits the parameter for which it was drawn."""


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
        return str(PastCall(self.name, self.arguments))


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk: the calls of each turn."""

    turns: tuple[tuple[WalkCall, ...], ...]

    def list_mentions(self, turn: int) -> list[object]:
        """List the values that the question of a turn has to mention, unless an earlier question did."""
        values = [[value for call in calls for value in call.mention] for calls in self.turns[: turn + 1]]
        earlier_values = [value for earlier in values[:-1] for value in earlier]
        return [
            value for at, value in enumerate(values[-1]) if value not in (*earlier_values, *values[-1][:at])
        ]

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        """The edges of the walk, from a function to ``function.parameter``."""
        return frozenset(
            (source, f"{call.name}.{name}")
            for calls in self.turns
            for call in calls
            for name, source in call.found.items()
        )

    @property
    def links(self) -> int:
        """The length of the longest chain of calls that need each other, 1 for a single pair."""
        depths: dict[str, int] = {}
        for call in (call for calls in self.turns for call in calls):
            # A function may be called again without what it needed before.
            known_depth = depths.get(call.name, 0)
            depths[call.name] = max(
                known_depth, *(depths.get(each, 0) + 1 for each in call.found.values()), 0
            )
        return max(depths.values(), default=0)


def draw_walks(
    start: Environments, docs: Sequence[FunctionDoc], draw: Random, count: int, turns: int = 3
) -> Iterator[Walk]:
    """Yield at most ``count`` walks of ``turns`` turns, no two with the same functions in the same order.

    ``start`` is not changed. A turn has one or two calls; at least one call needs a result of another, and
    each call changes something or returns something new. Chains of several links come first.
    """
    walks: dict[tuple[str, ...], Walk] = {}
    for attempt in range(_WALK_TRIES * count):
        chains = sum(walk.links > 1 for walk in walks.values())
        if chains >= count or (len(walks) >= count and attempt >= _CHAIN_TRIES * count):
            break
        walk = _draw_walk(start, docs, draw, turns)
        # Without an edge the calls could come in any order, and the entry would only test single calls.
        if walk is not None and walk.edges:
            walks.setdefault(tuple(call.name for calls in walk.turns for call in calls), walk)
    yield from sorted(walks.values(), key=lambda walk: -walk.links)[:count]


def _draw_walk(start: Environments, docs: Sequence[FunctionDoc], draw: Random, turns: int) -> Walk | None:
    """Draw a walk each of whose calls changes a state or returns something new."""
    here = _copy_environments(start)
    known_values = [Value(value, None, words) for value, words in _iterate_leaves(here.copy_state())]
    # A dict without declared properties gives nothing to draw from.
    docs = [
        doc
        for doc in docs
        if all(schema.get("type") != "dict" or schema.get("properties") for schema in doc.properties.values())
    ]
    walk_turns: list[tuple[WalkCall, ...]] = []
    made_texts: set[str] = set()
    results: set[str] = set()
    is_idle = False
    for _ in range(turns):
        calls: list[WalkCall] = []
        for _ in range(draw.randint(1, 2)):
            # Often a function that can use what the longest chain returned, so that it becomes longer.
            longest = max((value.links for value in known_values), default=0)
            ends = [value for value in known_values if value.links == longest and value.source]
            following = [doc for doc in docs if can_use_any(doc, ends)] if draw.random() < 0.7 else []
            tries = (
                _draw_call(here, draw.choice(following or docs), known_values, draw) for _ in range(_TRIES)
            )
            call = next((call for call in tries if call and call.text not in made_texts), None)
            if call is None:
                return None
            before = here.copy_state()
            here.perform_calls([call.text])
            made_texts.add(call.text)
            calls.append(call)
            links = 1 + max(
                (value.links for value in known_values if value.source in call.found.values()), default=0
            )
            # A result's "id" is that of what the function is named after.
            result_leaves = _iterate_leaves(_parse_result(call.result), list_words(call.name))
            news = [Value(value, call.name, words, links) for value, words in result_leaves]
            known_values = list(dict.fromkeys([*known_values, *news]))
            is_known = call.result in results or not news
            is_idle |= is_known and here.copy_state() == before
            results.add(call.result)
        walk_turns.append(tuple(calls))
    # Refused only here, because ending early would change what the same seed draws for later walks.
    return None if is_idle else Walk(tuple(walk_turns))


def _draw_call(
    here: Environments, doc: FunctionDoc, known_values: Sequence[Value], draw: Random
) -> WalkCall | None:
    """Draw a call of the function that succeeds."""
    argument_names = [name for name in doc.properties if name in doc.required or draw.random() < 0.3]
    draws = {name: _prepare_draw(name, doc.properties[name], known_values) for name in argument_names}
    for _ in range(_ARGUMENT_TRIES if argument_names else 1):
        values = {name: draw_value(draw) for name, draw_value in draws.items()}
        arguments = {name: value.value for name, value in values.items()}
        # Tried on a copy, because a call that fails can still change something.
        if not does_succeed(_try_call(here, doc.name, arguments)):
            continue
        arguments, needed_names = _replace_needless_values(here, doc, values, draw)
        result = _try_call(here, doc.name, arguments)
        if not does_succeed(result):
            continue
        sources = {name: source for name in needed_names if (source := values[name].source)}
        mention = tuple(value for name, value in arguments.items() if name not in sources)
        return WalkCall(doc.name, arguments, sources, mention, result)
    return None


def _replace_needless_values(
    here: Environments, doc: FunctionDoc, values: Mapping[str, Value], draw: Random
) -> tuple[dict[str, object], list[str]]:
    """Replace values that suit no better than any other; also list the parameters that need theirs."""
    needed_names, new_arguments = [], {name: value.value for name, value in values.items()}

    def does_succeed_with(name: str, value: object) -> bool:
        return does_succeed(_try_call(here, doc.name, {**new_arguments, name: value}))

    for name, drawn_value in values.items():
        schema, value = doc.properties[name], drawn_value.value
        kind = str(schema.get("type"))
        if kind not in _IMPROBABLE_VALUES or "enum" in schema:
            continue
        is_any = does_succeed_with(name, _IMPROBABLE_VALUES[kind])
        # An improbable number may fail only for its size; then any number near it would do.
        is_near = isinstance(value, (int, float)) and not is_any and does_succeed_with(name, value + 1)
        if not (is_any or is_near):
            needed_names.append(name)
        elif not drawn_value.is_meant:
            fresh = draw_fresh_value(name, schema, draw)
            new_arguments[name] = fresh if is_any or does_succeed_with(name, fresh) else value
    return new_arguments, needed_names


def can_use_any(doc: FunctionDoc, values: Sequence[Value]) -> bool:
    """Tell whether one of these values goes by the words of a parameter that a function needs."""
    return any(rate_fit(name, doc.properties[name], value.words) for name in doc.required for value in values)


def _prepare_draw(name: str, schema: Schema, known: Iterable[Value]) -> Callable[[Random], Value]:
    """Return how to draw what a parameter is given: a value that is known, or one that a user makes up."""
    fitting = [value for value in known if conforms_to_schema(value.value, schema)]
    weights = {value: rate_fit(name, schema, value.words) * (1 + 4 * value.links) for value in fitting}
    best = {value: weight for value, weight in weights.items() if weight}
    is_closed = bool(schema.get("enum")) or schema.get("type") == "boolean"
    others = [] if wants_fresh_value(name, schema) else fitting

    def draw_value(draw: Random) -> Value:
        if not is_closed:
            if best and draw.random() < 0.8:
                (value,) = draw.choices(list(best), list(best.values()))
                return replace(value, is_meant=True)
            if others and draw.random() < 0.5:
                return draw.choice(others)
        return Value(draw_fresh_value(name, schema, draw), None, is_meant=not is_closed)

    return draw_value


def _try_call(here: Environments, name: str, arguments: Mapping[str, object]) -> str:
    """Return the result of a call; ``here`` is not changed."""
    (result,) = _copy_environments(here).perform_calls([str(PastCall(name, arguments))])
    return result


def does_succeed(result: str) -> bool:
    """Tell whether a call succeeded, as far as its result shows."""
    data = _parse_result(result)
    if isinstance(data, Mapping):
        # Environments have no common form of errors, so words decide.
        words = [str(key) for key in data] + [value for value in data.values() if isinstance(value, str)]
        is_empty = bool(data) and all(value in ([], {}, "", None) for value in data.values())
        # By identity, because 0 equals False.
        is_refused = any(value is False for value in data.values())
        return not is_empty and not is_refused and not any(map(_FAILURE.search, words))
    return not _FAILURE.search(result)


def _copy_environments(environments: Environments) -> Environments:
    copies: dict[int, object] = {}
    for value in (value for each in environments.by_domain.values() for value in vars(each).values()):
        if isinstance(value, World):
            # It never changes, and its tables are far larger than any state.
            copies[id(value)] = value
        elif isinstance(value, Random):
            # Its state is one tuple of numbers, of which deepcopy would copy each.
            copies[id(value)] = copy.copy(value)
    return Environments(copy.deepcopy(environments.by_domain, copies))


def _parse_result(result: str) -> object:
    try:
        value: object = read_json_text(result)
    except ValueError:
        return result
    return value


def _iterate_leaves(
    value: object, words: frozenset[str] = frozenset()
) -> Iterator[tuple[object, frozenset[str]]]:
    """Yield the texts and numbers in a value, and the keys of tables, with the words above them."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            # A key that is no name of a field stands for the thing that it leads to.
            if not _FIELD.fullmatch(str(key)) or isinstance(member, Mapping):
                yield key, words | {"id", "name"}
            words_above = words if isinstance(member, str | int | float) else frozenset()
            yield from _iterate_leaves(member, list_words(str(key)) | words_above)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _iterate_leaves(member, words)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        yield value, words


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NUMBERS = (2, 3, 5, 8, 12, 25, 40, 75, 120, 250)
_FEW = re.compile(r"\b(?:count|lines?|quantity|number|days?|people|guests?|passengers?|rating|priority)\b")
_RANGE = re.compile(r"\b(\d{1,4}) ?(?:to|-|–|and) ?(\d{1,4})\b")
# Inside of a word it is an apostrophe.
_EXAMPLE = re.compile(r"(?<!\w)[\"'`‘“](\w[^\"'`’”]{0,39})[\"'`’”](?!\w)")
_CODES = re.compile(r"(?:such as|e\.g\.|one of|:) ((?:\w{1,5}(?:, | or | and ))+\w{1,5})\b")
_MADE_ANEW = re.compile(r"\bnew\b|\bnot taken\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _SampleTable:
    """The contents of ``sampling.toml``, which explains them."""

    general: WordSet
    alike: Mapping[str, WordSet]
    dates: Mapping[str, Sequence[str]]
    texts: Mapping[str, Sequence[str]]


@cache
def _read_samples() -> _SampleTable:
    return read_table(_SampleTable, __file__, "sampling.toml")


@cache
def list_words(text: str) -> frozenset[str]:
    """List the words of a name or a description, those that mean the same as one."""
    words = (word.lower() for word in _WORD.findall(text))
    single = (word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word for word in words)
    alike = _read_samples().alike
    return frozenset(next((one for one, others in alike.items() if word in others), word) for word in single)


def rate_fit(name: str, schema: Schema, label: frozenset[str]) -> int:
    """Rate how well a value suits a parameter, by the words under which it is known; 0 if none is shared."""
    if wants_fresh_value(name, schema):
        return 0
    name_words, description_words = list_words(name), list_words(str(schema.get("description", "")))
    shared_words = (name_words & label) - _read_samples().general
    return (
        3 * len(shared_words)
        + len((description_words & label) - _read_samples().general)
        + bool(shared_words and name_words & label & _read_samples().general)
    )


def wants_fresh_value(name: str, schema: Schema) -> bool:
    """Tell whether a parameter takes what a user makes up: a text to write, or the name of a new thing."""
    text_names = "title subject resolution comment message content description body note story"
    is_written = not list_words(name).isdisjoint(text_names.split()) and "id" not in list_words(name)
    return is_written or bool(_MADE_ANEW.search(str(schema.get("description", ""))))


def draw_fresh_value(name: str, schema: Schema, draw: Random) -> object:
    """Draw a value that suits a parameter by its name, its type and its description."""
    items, properties, options = schema.get("items"), schema.get("properties"), schema.get("enum")
    if isinstance(options, list) and options:
        return draw.choice(options)
    match schema.get("type"):
        case "array":
            return [draw_fresh_value(name, items, draw)] if isinstance(items, Mapping) else []
        case "dict":
            members = properties.items() if isinstance(properties, Mapping) else ()
            return {key: draw_fresh_value(key, member, draw) for key, member in members}
        case "boolean":
            return draw.random() < 0.5
        case "integer":
            return draw_number(name, schema, draw)
        case "float":
            return float(draw_number(name, schema, draw))
    return draw.choice(list_texts(name, str(schema.get("description", "")), draw))


def draw_number(name: str, schema: Schema, draw: Random) -> int:
    """Draw a number within the range that is declared or described, else a usual one."""
    description = f"{name.replace('_', ' ')} {schema.get('description', '')}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if range_match := _RANGE.search(description):
        low, high = int(range_match[1]), int(range_match[2])
    if isinstance(low, int) and isinstance(high, int) and low <= high:
        return draw.randint(low, high)
    return draw.choice(_NUMBERS[:3] if _FEW.search(description) else _NUMBERS)


def list_texts(name: str, description: str, draw: Random) -> Sequence[str]:
    """List texts that suit a parameter: examples of its description, else usual ones."""
    if examples := _EXAMPLE.findall(description):
        return list(examples)
    if codes := _CODES.search(description):
        return re.split(r", | or | and ", codes[1])
    name_words, description_words = list_words(name), list_words(description)
    for form, dates in _read_samples().dates.items():
        if re.search(form, f"{description} {' '.join(name_words)}"):
            return dates
    for words in (name_words, description_words):
        for of, texts in _read_samples().texts.items():
            if not words.isdisjoint(of.split()):
                return texts
    # Nothing is known about it but its name.
    return [f"{' '.join(_WORD.findall(name)).lower() or 'text'} {draw.choice(_NUMBERS)}"]
