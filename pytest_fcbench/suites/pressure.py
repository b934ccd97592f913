"""Put entries under pressure: among other functions, after other turns, with long results, with errors.

*Distractors* are functions of the suites of the run. Near ones come first: likeness is the F1 of the words
that names and descriptions have in common, never less than the ROUGE-L by which an audit finds duplicates.
None may answer the entry as well, so a function is left out that, beside any function of the entry,

* has the same name, or one that only a dot or a capital letter tells apart,
* has a likeness of ``TOO_ALIKE`` or more,
* is named after the same thing: the names share a word that is no general one such as ``get`` or ``book``,
  unless an entry offers both together, which tells them apart on purpose.

Of 5,827 pairs in ``core`` of a right and a wrong function that people offered side by side, 98 % are less
alike than that, so the limit loses few.

Other *turns* are conversations of `core` with their right calls and results, about functions of other names.
Everything follows from the key of the entry, and a level contains the lower ones.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from itertools import chain, islice
from math import log
from pathlib import Path
from typing import NamedTuple, TypeVar

from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.entry import CATEGORIES, SELECTIONS, Category, Entry, Group, Message, PastCall
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.pressure import CHARACTERS_PER_TOKEN, PressureKind, PressureLevel, split_level
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.text import as_mapping, list_objects, read_json_text, split_words
from pytest_fcbench.domain.transcript import AskModel, Completion, Party, PathSettings, drive_conversation
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.kind import ConversationContext
from pytest_fcbench.kinds.table import converse, find_kind
from pytest_fcbench.suites import core
from pytest_fcbench.suites.suite import Suite

T = TypeVar("T")

TOO_ALIKE = 0.5
"""The least likeness of two functions that may do the same."""
_GENERAL = frozenset(Path(__file__).with_name("general_words.txt").read_text(encoding="utf-8").split())
"""Words of names that say nothing about the thing that a function is for."""


def press_entry(entry: Entry, levels: Sequence[PressureLevel], material: PressureMaterial) -> list[Entry]:
    """Return an entry at each level of one kind of pressure; nothing where it cannot have one of them."""
    pressed = [material.press(entry, level) for level in levels]
    return [each for each in pressed if each] if all(pressed) else []


def press_suite(suite: Suite, levels: Sequence[PressureLevel], material: PressureMaterial) -> Suite:
    """Return a suite that has its entries at these levels, too."""
    kinds = [[each for each in levels if each.kind is kind] for kind in PressureKind]

    def load(category: Category) -> tuple[Entry, ...]:
        entries = suite.load(category)
        pressed = (press_entry(entry, of_kind, material) for entry in entries for of_kind in kinds)
        return (*entries, *chain.from_iterable(pressed))

    return replace(suite, load=load)


def restore_pressure(entry: Entry, key: str) -> Entry:
    """Return an entry with the level that a key names, if any, without what cannot be known from the key."""
    return replace(entry, id=key.removeprefix(f"{entry.suite}:"), pressure=split_level(key)[1])


@dataclass
class PressureMaterial:
    """What entries are pressed with: functions of the run's suites, and conversations of ``core``."""

    suites: Collection[Suite]
    context_tokens: int = 0
    """The size of the context of which a percentage is filled."""
    _nearest: tuple[str, Iterator[FunctionDoc], list[FunctionDoc]] = ("", iter(()), [])
    """The entry that was pressed last, its further distractors and the nearest: its levels come in a row."""

    def press(self, entry: Entry, level: PressureLevel) -> Entry | None:
        """Return an entry at a level; None where it cannot have it."""
        if entry.variation or entry.category.group is Group.SERVER or not entry.expectation.is_judged:
            return None
        pressed: Entry | None = replace(entry, id=f"{entry.id}{level.suffix}", pressure=level)
        assert pressed
        match level.kind:
            case PressureKind.DISTRACTORS:
                return self._add_distractors(entry, pressed, level.amount)
            case PressureKind.CONTEXT:
                return self._add_turns(entry, pressed, level.amount)
        # Only conversations whose calls are carried out have results.
        if entry.scene is None or entry.category.group not in (Group.MULTI_TURN, Group.AGENTIC, Group.MCP):
            return None
        # In a turn in which nothing is to be called, an error would keep a wrong call from being seen.
        right_turns = find_kind(entry).list_right_calls(entry)
        if level.kind is PressureKind.ERRORS and not all(any(steps) for steps in right_turns):
            return None
        if level.kind is PressureKind.RESULTS and level.amount:
            messages = chain.from_iterable(talk.messages for talk in _list_talks())
            results = dict.fromkeys(each.content for each in messages if each.role == "tool")
            filler = tuple(_rotate_values([*results], entry.key))
            return replace(pressed, pressure=replace(level, filler=filler))
        return pressed

    def _add_distractors(self, entry: Entry, pressed: Entry, count: int) -> Entry | None:
        truth = entry.expectation
        # Where no call is right, or any, another function could change what is right.
        is_open = truth.forbids_calls or truth.takes_any_call or not truth.is_known
        if not entry.functions or is_open:
            return None
        if self._nearest[0] != entry.key:
            self._nearest = entry.key, self._list_distractors(entry), []
        _, further, distractors = self._nearest
        distractors += islice(further, max(0, count - len(distractors)))
        if len(distractors) < count:
            return None
        if not count:
            return pressed
        functions = [*entry.functions, *distractors[:count]]
        functions.sort(key=lambda doc: _draw_place(entry.key, doc.name))
        return replace(pressed, functions=tuple(functions))

    def _list_distractors(self, entry: Entry) -> Iterator[FunctionDoc]:
        """Yield the functions that an entry can be offered beside its own, the nearest first."""
        own, pool = entry.all_functions, self._pools[entry.category.language]
        ratings = [pool.rate(doc) for doc in own]
        nearest = {place: min(each.get(place, _FAR) for each in ratings) for place in set().union(*ratings)}
        too_alike = {place for each in ratings for place, of in each.items() if of.alike >= TOO_ALIKE}
        draws = [_draw_place(entry.key, doc.name) for doc in pool.docs]
        for place in sorted(range(len(draws)), key=lambda place: (*nearest.get(place, _FAR), draws[place])):
            doc = pool.docs[place]
            if place not in too_alike and not any(pool.may_do_the_same(doc, each) for each in own):
                yield doc

    @cached_property
    def _pools(self) -> dict[Language, _Functions]:
        """The functions of all entries of the suites, by language; of equal names the first."""
        docs: dict[Language, dict[str, FunctionDoc]] = {language: {} for language in Language}
        offers: set[frozenset[str]] = set()
        for suite in self.suites:
            for category in suite.categories:
                if category.group is Group.SERVER or category.varies_others:
                    continue
                for entry in suite.load(category):
                    offers.add(frozenset(_fold_name(doc.name) for doc in entry.functions))
                    for doc in entry.functions:
                        docs[category.language].setdefault(_fold_name(doc.name), doc)
        together: dict[str, set[str]] = {}
        for offer in offers:
            for name in offer:
                together.setdefault(name, set()).update(offer)
        return {language: _Functions(tuple(each.values()), together) for language, each in docs.items()}

    def _add_turns(self, entry: Entry, pressed: Entry, percent: int) -> Entry | None:
        if entry.category.group is Group.COMPLEX or not entry.turns or not entry.turns[0]:
            return None
        room = self.context_tokens * percent * CHARACTERS_PER_TOKEN // 100
        names = {doc.name for doc in entry.functions}
        talks = [talk for talk in _list_talks() if not names & talk.names]
        said: list[Message] = []
        number = 0
        order = _rotate_values(talks, entry.key)
        # The same conversations come again where all of them do not fill the room.
        while room > 0 and order:
            talk = order[number % len(order)]
            if talk.size > room:
                break
            said += talk.messages
            room -= talk.size
            number += 1
        first = entry.turns[0]
        start = next((n for n, message in enumerate(first) if message.role != "system"), len(first))
        return replace(pressed, turns=((*first[:start], *said, *first[start:]), *entry.turns[1:]))


class _Rating(NamedTuple):
    """How near a function is to another one; near ones come first where these are sorted."""

    distance: float
    """1 less the F1 of common words of which rare ones weigh more."""
    alike: float
    """The F1 of common words."""


_FAR = _Rating(1.0, 0.0)


class _Functions:
    """Functions that entries can be offered, and how near they are to others."""

    def __init__(self, docs: Sequence[FunctionDoc], together: Mapping[str, Set[str]]) -> None:
        """Take functions, and for each name those that are offered beside it in some entry."""
        self.docs = docs
        self._together = together
        self._tokens = [_count_words(doc) for doc in docs]
        self._places: dict[tuple[str, int], list[int]] = {}
        for place, tokens in enumerate(self._tokens):
            for token in tokens:
                self._places.setdefault(token, []).append(place)
        self._weights = [self._weigh_words(tokens) for tokens in self._tokens]
        self._rated: dict[tuple[str, str], dict[int, _Rating]] = {}

    def rate(self, doc: FunctionDoc) -> dict[int, _Rating]:
        """Rate the functions that share a word with another one, by place."""
        key = doc.name, doc.description
        if key not in self._rated:
            tokens, common, weights = _count_words(doc), Counter[int](), defaultdict[int, float](float)
            weight = self._weigh_words(tokens)
            for token in tokens:
                places, own_weight = self._places.get(token, ()), self._weigh_words((token,))
                common.update(places)
                for place in places:
                    weights[place] += own_weight
            self._rated[key] = {
                place: _Rating(
                    1 - 2 * weights[place] / (weight + self._weights[place]),
                    2 * shared / (len(tokens) + len(self._tokens[place])),
                )
                for place, shared in common.items()
            }
        return self._rated[key]

    def may_do_the_same(self, doc: FunctionDoc, own: FunctionDoc) -> bool:
        """Tell whether a function may do what another one does, by their names."""
        name, own_name = _fold_name(doc.name), _fold_name(own.name)
        if name == own_name:
            return True
        are_told_apart = name in self._together.get(own_name, ())
        return not are_told_apart and not _find_things(doc.name).isdisjoint(_find_things(own.name))

    def _weigh_words(self, tokens: Iterable[tuple[str, int]]) -> float:
        """Add up the weights of words, which are higher the fewer functions have them."""
        return sum(log(1 + len(self.docs) / (1 + len(self._places.get(token, ())))) for token in tokens)


def _count_words(doc: FunctionDoc) -> frozenset[tuple[str, int]]:
    """Return the words of a name and a description, each with the number of those before it."""
    times: Counter[str] = Counter()
    tokens = set()
    for word in split_words(f"{_split_capitals(doc.name)} {doc.description}"):
        times[word] += 1
        tokens.add((word, times[word]))
    return frozenset(tokens)


def _split_capitals(name: str) -> str:
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", name)


@lru_cache(8192)
def _fold_name(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


@lru_cache(8192)
def _find_things(name: str) -> frozenset[str]:
    """Return the words of a name that say what the function is about, in the singular."""
    words = split_words(_split_capitals(name))
    return frozenset(word.removesuffix("s") for word in words if word not in _GENERAL)


def _draw_place(key: str, name: str) -> bytes:
    """Draw the place of a name in an order that follows from a key."""
    return sha256(f"{key} {name}".encode("utf-8", "surrogatepass")).digest()


def _rotate_values(values: Sequence[T], key: str) -> Sequence[T]:
    """Begin a sequence at a place that follows from a key."""
    start = int.from_bytes(_draw_place(key, "")[:4]) % len(values) if values else 0
    return (*values[start:], *values[:start])


@dataclass(frozen=True, slots=True)
class _Talk:
    """A conversation with right answers, which stands before a question."""

    messages: tuple[Message, ...]
    names: frozenset[str]
    """Names of the functions that it was offered."""
    size: int
    """Characters of its messages."""


@cache
def _list_talks() -> Sequence[_Talk]:
    """Hold the conversations of ``core`` that others are filled with, in an order that mixes their kinds."""
    suite = core.open_suite(Path())
    names = ("multi_turn_base", *SELECTIONS["complex"])
    entries = [entry for name in names for entry in suite.load(CATEGORIES[name])]
    entries.sort(key=lambda entry: _draw_place(entry.key, ""))
    return [_hold_talk(entry, suite) for entry in entries]


def _hold_talk(entry: Entry, suite: Suite) -> _Talk:
    kind, prompting = find_kind(entry), Prompting.make_default(Mode.FC)
    last: list[AskModel] = []

    def answer(request: AskModel) -> Completion:
        if request.party is not Party.MODEL:
            return Completion(text="")
        last[:] = [request]
        calls = kind.answer_rightly(entry, request).calls
        return render_completion(calls, entry, prompting, request.tools) if calls else Completion("")

    setting = ConversationContext(ModelPresentation("", prompting), suite, PathSettings(Profile.CORRECTED))
    drive_conversation(converse(entry, setting), answer)
    end = Message("assistant", kind.answer_rightly(entry, last[0]).words)
    messages = (*map(_read_message, last[0].messages), end)
    size = sum(len(each.content) + sum(len(str(call)) for call in each.calls) for each in messages)
    return _Talk(messages, frozenset(doc.name for doc in entry.functions), size)


def _read_message(message: object) -> Message:
    """Read a message of a request back."""
    members = as_mapping(message)
    functions = [as_mapping(call["function"]) for call in list_objects(members.get("tool_calls"))]
    past_calls = tuple(
        PastCall(str(each["name"]), as_mapping(read_json_text(str(each["arguments"])))) for each in functions
    )
    return Message(str(members["role"]), str(members.get("content") or ""), past_calls)
