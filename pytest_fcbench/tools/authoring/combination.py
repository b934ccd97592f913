"""New entries from entries with one call (BFCL, appendix B): more functions, more calls, or none that fits.

Chance comes from the ``Random`` that is given, so a seed makes the same entries again. What is made has no id
yet: ``numbered`` gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from pytest_fcbench.domain.conformance import conforms
from pytest_fcbench.domain.entry import CATEGORIES, Entry, ExpectedCall, ExpectedCalls, Group, Message, NoCall
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.tools.authoring.languages import UNKNOWN, language

JOININGS = ("{0} {1}", "{0}\n{1}", "1. {0}\n2. {1}", "- {0}\n- {1}")
"""How questions become one, in whatever language they are asked; in the first way only plain sentences do."""

_NEAREST = 3
"""Distractors are drawn from so many times as many near functions."""

_FAR, _SAME = 0.07, 0.19
"""A function that has less than this in common with another is about something else; one that has as much as
the second may do what the other does."""

_BRIEF = 140
"""Signs that a line of a list has at most."""

_PLAIN = re.compile(r"(?:[^,;:!?().،؛؟，；：。！？、\n]|(?<=\w)[.,:](?=\w))+[.?!؟。？！]?")
"""One sentence without asides, which can be said again with other values."""


def with_calls(entry: Entry) -> bool:
    """Whether an entry can be built from: one question of the user, calls as the answer."""
    truth = entry.expectation
    return (
        isinstance(truth, ExpectedCalls)
        and len(entry.turns) == 1
        and [message.role for message in entry.turns[0]] == ["user"]
        and all(entry.function(call.name) is not None for call in truth.calls)
        and not entry.tables
        and entry.variation is None
    )


def with_one_call(entry: Entry) -> bool:
    """Whether an entry can be built from and a single call is the answer."""
    truth = entry.expectation
    return with_calls(entry) and isinstance(truth, ExpectedCalls) and len(truth.calls) == 1


def multiple(entry: Entry, pool: Sequence[FunctionDoc], draw: Random, count: int) -> Entry | None:
    """The entry with ``count`` functions beside its own that are near it and no solution.

    None where the pool has not so many.
    """
    other = [doc for doc in pool if nearness(_own(entry), doc) < _SAME]
    near = _distractors(entry, other, draw, count)
    if near is None:
        return None
    offered = [_own(entry), *near]
    draw.shuffle(offered)
    return _made([entry], "multiple", tuple(offered), ExpectedCalls((_call(entry),)), _question(entry))


def irrelevance(entry: Entry, pool: Sequence[FunctionDoc], draw: Random, count: int) -> Entry | None:
    """The entry with functions that are about something else: near neither its own nor the question.

    None where the pool has not enough.
    """
    own, asked = _own(entry), {word for word in _words(_question(entry)) if len(word) > 4}
    far = [doc for doc in pool if nearness(own, doc) < _FAR and not asked & _words(_told(doc))]
    others = _distractors(entry, far, draw, count)
    if others is None:
        return None
    return _made([entry], "irrelevance", tuple(others), NoCall(), _question(entry))


def without_parameters(entry: Entry) -> Entry | None:
    """The entry whose function has lost the parameters that a right call must have.

    All of them, because a function that knows half of what it needs might do with that. None where no other
    parameter is left.
    """
    doc, accepted = _own(entry), _call(entry).accepted
    lost = {name for name, options in accepted.items() if "" not in _listed(options)}
    properties = {name: schema for name, schema in doc.properties.items() if name not in lost}
    if not lost or not properties:
        return None
    required = [name for name in doc.required if name not in lost]
    poorer = replace(doc, parameters={**doc.parameters, "properties": properties, "required": required})
    return _made([entry], "irrelevance", (poorer,), NoCall(), _question(entry))


def parallel(entries: Sequence[Entry], draw: Random) -> Entry | None:
    """Several questions about the same function as one.

    None where two of them are almost the same, or one is no plain sentence: nobody tells a story twice.
    """
    docs = [_own(entry) for entry in entries]
    calls = tuple(map(_call, entries))
    if any(doc != docs[0] for doc in docs) or not _distinct(calls):
        return None
    if not all(_PLAIN.fullmatch(_question(entry)) for entry in entries):
        return None
    return _made(entries, "parallel", (docs[0],), ExpectedCalls(calls), _joined(entries, draw))


def parallel_multiple(entries: Sequence[Entry], draw: Random) -> Entry | None:
    """Questions in one language about different functions as one.

    None where the languages differ or cannot be told, where a function could answer the question of another,
    and where a question is not one that stands in a list: long, of several lines, or asked in a chat.
    """
    docs, calls = [_own(entry) for entry in entries], tuple(map(_call, entries))
    spoken = {language(_question(entry)) for entry in entries}
    if _alike(docs) or len(spoken) > 1 or UNKNOWN in spoken or not all(map(_is_listed, entries)):
        return None
    if any(
        solves(doc, call) for doc, own in zip(docs, calls, strict=True) for call in calls if call is not own
    ):
        return None
    offered = list(docs)
    draw.shuffle(offered)
    return _made(entries, "parallel_multiple", tuple(offered), ExpectedCalls(calls), _joined(entries, draw))


def numbered(made: Sequence[Entry], suite: str, taken: Mapping[str, int] | None = None) -> list[Entry]:
    """The entries under ids of their own, ``category_n``; ``taken`` has the first free number by category."""
    free = dict(taken or {})
    named = []
    for entry in made:
        number = free.get(entry.category.name, 0)
        free[entry.category.name] = number + 1
        named.append(replace(entry, suite=suite, id=f"{entry.category.name}_{number}"))
    return named


def solves(doc: FunctionDoc, call: ExpectedCall) -> bool:
    """Whether a function takes what a right call gives, under the same names and of fitting types.

    Then it might do what is asked as well, whatever it is called.
    """
    needed = {name for name, options in call.accepted.items() if "" not in _listed(options)}
    if not set(doc.required) <= set(call.accepted) or not needed <= set(doc.properties):
        return False
    return all(
        any(conforms(option, doc.properties[name]) for option in _listed(call.accepted[name]))
        for name in needed
    )


def nearness(one: FunctionDoc, other: FunctionDoc) -> float:
    """How much the words of two docs have in common, from 0 to 1 (Jaccard)."""
    words, others = _words(_told(one)), _words(_told(other))
    return len(words & others) / (len(words | others) or 1)


def _distractors(
    entry: Entry, pool: Sequence[FunctionDoc], draw: Random, count: int
) -> list[FunctionDoc] | None:
    own, call = _own(entry), _call(entry)
    found: dict[str, FunctionDoc] = {}
    for doc in sorted(pool, key=lambda doc: (-nearness(own, doc), doc.name)):
        if not (solves(doc, call) or _clash([own, doc]) or _alike([*found.values(), doc])):
            found[doc.name] = doc
        if len(found) == count * _NEAREST:
            break
    return draw.sample(list(found.values()), count) if len(found) >= count else None


def _clash(docs: Sequence[FunctionDoc]) -> bool:
    """Whether two have one name, also where dots are not to be had."""
    return len({doc.name.replace(".", "_") for doc in docs}) < len(docs)


def _is_listed(entry: Entry) -> bool:
    question = _question(entry)
    return entry.category.group is not Group.LIVE and len(question) <= _BRIEF and "\n" not in question


def _alike(docs: Sequence[FunctionDoc]) -> bool:
    """Whether two have one name, or might do the same."""
    return _clash(docs) or any(
        nearness(doc, other) >= _SAME for at, doc in enumerate(docs) for other in docs[:at]
    )


def _distinct(calls: Sequence[ExpectedCall]) -> bool:
    """Whether no two differ in whole numbers alone.

    Such a number is a setting, of which the last would count, or how many results are wanted, and the most
    hold all others.
    """
    return all(_but_whole(one) != _but_whole(other) for at, one in enumerate(calls) for other in calls[:at])


def _but_whole(call: ExpectedCall) -> dict[str, object]:
    return {
        name: options
        for name, options in call.accepted.items()
        if not any(isinstance(option, int) and not isinstance(option, bool) for option in _listed(options))
    }


def _joined(entries: Sequence[Entry], draw: Random) -> str:
    texts = list(map(_question, entries))
    plain = all(_PLAIN.fullmatch(text) and not text[-1].isalnum() for text in texts)
    joining = draw.choice(JOININGS if plain else JOININGS[1:])
    before, between = joining.partition("{0}")[0], joining.partition("{0}")[2].partition("{1}")[0]
    joined = before + texts[0]
    for number, text in enumerate(texts[1:], 2):
        joined += re.sub(r"\d+", str(number), between) + text
    return joined


def _made(
    parents: Sequence[Entry],
    category: str,
    functions: tuple[FunctionDoc, ...],
    expectation: ExpectedCalls | NoCall,
    question: str,
) -> Entry:
    keys = tuple(dict.fromkeys(_keys(parents)))
    return Entry(
        suite=parents[0].suite,
        id="",
        category=CATEGORIES[category],
        turns=((Message("user", question),),),
        functions=functions,
        expectation=expectation,
        cluster=parents[0].cluster or parents[0].id if len(keys) == 1 else None,
        parents=keys,
    )


def _keys(parents: Sequence[Entry]) -> Iterator[str]:
    """Who they are made from at last: what was never numbered has no key of its own."""
    for parent in parents:
        yield from [parent.key] if parent.id else parent.parents


def _own(entry: Entry) -> FunctionDoc:
    doc = entry.function(_call(entry).name)
    assert doc is not None
    return doc


def _call(entry: Entry) -> ExpectedCall:
    assert isinstance(entry.expectation, ExpectedCalls)
    return entry.expectation.calls[0]


def _question(entry: Entry) -> str:
    return entry.turns[0][-1].content.strip()


def _told(doc: FunctionDoc) -> str:
    return " ".join((doc.name, doc.description, *doc.properties))


def _words(text: str) -> set[str]:
    return {
        word.lower()[:6] for word in re.findall(r"[^\W\d_]{3,}", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    }


def _listed(options: object) -> list[object]:
    return options if isinstance(options, list) else [options]
