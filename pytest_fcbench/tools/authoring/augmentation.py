"""Many entries from a few: all the ways of ``combining`` and ``generalising``, by a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from random import Random

from pytest_fcbench.domain.entry import Entry, ExpectedCalls, Rule
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.tools.authoring import combination
from pytest_fcbench.tools.authoring.combination import with_one_call
from pytest_fcbench.tools.authoring.generalization import variants

_TRIES = 20
"""For each entry that is wanted. What is made twice, or cannot be made, is tried again with others."""

_FROM_THE_SAME = 3
"""At most so many entries of a kind are made from the same parents."""


@dataclass(frozen=True, slots=True)
class Material:
    """What entries are made from."""

    parents: tuple[Entry, ...]
    """Entries with one call, in Python."""
    pool: tuple[FunctionDoc, ...]
    """Distractors are taken from these."""
    variants: Mapping[str, tuple[Entry, ...]]
    """By the key of an entry with calls in any language, where it has some."""
    alike: Mapping[str, tuple[Entry, ...]]
    """By parent, itself with its variants and the other parents with the same function."""


def material(entries: Sequence[Entry], draw: Random) -> Material:
    """What entries can be used: those that were not made themselves. Raises ValueError where none can."""
    written = [entry for entry in entries if not entry.parents]
    python = [entry for entry in written if entry.category.language is Language.PYTHON]
    parents = tuple(filter(with_one_call, python))
    if not parents:
        raise ValueError("no entry asks one question that one call of a Python function answers")
    pool = {doc.name: doc for entry in python for doc in entry.functions if _can_distract(entry, doc)}
    varied = {entry.key: tuple(variants(entry, draw)) for entry in written}
    alike = {
        entry.key: tuple(
            each for other in parents if _doc(other) == _doc(entry) for each in (other, *varied[other.key])
        )
        for entry in parents
    }
    return Material(parents, tuple(pool.values()), {key: made for key, made in varied.items() if made}, alike)


def _can_distract(entry: Entry, doc: FunctionDoc) -> bool:
    """Whether a call of the function can be written as Python, and would be wrong.

    One that asks a database, an API or the web could answer many a question.
    """
    asks_anything = entry.category.rule in (Rule.SQL, Rule.REST) or "query" in doc.properties
    return not asks_anything and not any(map(iskeyword, doc.name.split(".")))


def _variant(given: Material, draw: Random) -> Entry | None:
    return draw.choice(given.variants[draw.choice(list(given.variants))]) if given.variants else None


def _multiple(given: Material, draw: Random) -> Entry | None:
    """From an entry with one function: with another's functions it would be much the same as its variant."""
    entry = _any(given, draw)
    return (
        combination.multiple(entry, given.pool, draw, draw.randint(1, 3))
        if entry.rule is Rule.SIMPLE
        else None
    )


def _parallel(given: Material, draw: Random) -> Entry | None:
    alike = given.alike[draw.choice(given.parents).key]
    count = draw.randint(2, 4)
    return combination.parallel(draw.sample(alike, count), draw) if len(alike) >= count else None


def _parallel_multiple(given: Material, draw: Random) -> Entry | None:
    count = draw.randint(2, 3)
    if len(given.parents) < count:
        return None
    chosen = draw.sample(given.parents, count)
    return combination.parallel_multiple([draw.choice(given.alike[each.key]) for each in chosen], draw)


def _irrelevance(given: Material, draw: Random) -> Entry | None:
    entry = _any(given, draw)
    if draw.random() < 0.5 and (poorer := combination.without_parameters(entry)):
        return poorer
    return combination.irrelevance(entry, given.pool, draw, draw.randint(1, 3))


def _any(given: Material, draw: Random) -> Entry:
    return draw.choice(given.alike[draw.choice(given.parents).key])


KINDS: Mapping[str, Callable[[Material, Random], Entry | None]] = {
    "variants": _variant,
    "multiple": _multiple,
    "parallel": _parallel,
    "parallel_multiple": _parallel_multiple,
    "irrelevance": _irrelevance,
}
"""What can be made. Each draws one entry, or None where the draw came to nothing."""


def augmented(
    entries: Sequence[Entry], kinds: Sequence[str], count: int, seed: int, suite: str
) -> Iterator[tuple[str, list[Entry]]]:
    """At most ``count`` new entries of each kind, numbered; fewer where there is not material enough.

    The same entries, kinds, count and seed give the same. Raises ValueError where nothing can be used.
    """
    given = material(entries, Random(f"{seed}:material"))  # noqa: S311 - chance that can be repeated
    free = _first_free(entries)
    for kind in kinds:
        drawn = _drawn(KINDS[kind], given, count, Random(f"{seed}:{kind}"))  # noqa: S311
        made = combination.numbered(drawn, suite, free)
        for entry in made:
            free[entry.category.name] = free.get(entry.category.name, 0) + 1
        yield kind, made


def _drawn(
    make: Callable[[Material, Random], Entry | None], given: Material, count: int, draw: Random
) -> list[Entry]:
    found: dict[object, Entry] = {}
    families: Counter[tuple[str, ...]] = Counter()
    for _ in range(_TRIES * min(count, 10 * len(given.parents))):
        if len(found) == count:
            break
        entry = make(given, draw)
        if entry is None or families[entry.parents] == _FROM_THE_SAME:
            continue
        key = _asking(entry), frozenset(doc.name for doc in entry.functions)
        if key not in found:
            found[key] = entry
            families[entry.parents] += 1
    return list(found.values())


def _asking(entry: Entry) -> object:
    """What two entries have alike that ask for the same, be it in another order."""
    if isinstance(entry.expectation, ExpectedCalls):
        return frozenset((call.name, repr(sorted(call.accepted.items()))) for call in entry.expectation.calls)
    return entry.turns


def _first_free(entries: Sequence[Entry]) -> dict[str, int]:
    free: dict[str, int] = {}
    for entry in entries:
        number = entry.id.rpartition("_")[2]
        if number.isdecimal():
            free[entry.category.name] = max(free.get(entry.category.name, 0), int(number) + 1)
    return free


def _doc(entry: Entry) -> FunctionDoc | None:
    assert isinstance(entry.expectation, ExpectedCalls)
    return entry.function(entry.expectation.calls[0].name)
