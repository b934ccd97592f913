"""Many entries made from a few by ``combination`` and ``generalization``, reproducible by a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from random import Random

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.kinds.calls.truth import find_shape, list_expected_calls
from pytest_fcbench.kinds.execution.truth import asks_web_api
from pytest_fcbench.kinds.sql.truth import asks_statement
from pytest_fcbench.tools.authoring import combination
from pytest_fcbench.tools.authoring.combination import get_called_doc, is_answered_by_one_call
from pytest_fcbench.tools.authoring.generalization import build_variants

_TRIES = 20
"""Tries for each wanted entry; a draw that fails or repeats an entry is tried again with other parents."""

_FROM_THE_SAME = 3
"""The most entries of a kind from the same parents."""


@dataclass(frozen=True, slots=True)
class Material:
    """The material of new entries; each method draws one entry, or None where the draw fails."""

    parents: tuple[Entry, ...]
    """Entries with one call, in Python."""
    pool: tuple[FunctionDoc, ...]
    """The functions that distractors are drawn from."""
    variants: Mapping[str, tuple[Entry, ...]]
    """Variants of an entry with calls in any language, by its key, where it has any."""
    alike: Mapping[str, tuple[Entry, ...]]
    """By parent: itself and the other parents with the same function, each with its variants."""

    def draw_variant(self, draw: Random) -> Entry | None:
        """Draw a variant of any entry with calls."""
        return draw.choice(self.variants[draw.choice(list(self.variants))]) if self.variants else None

    def draw_multiple(self, draw: Random) -> Entry | None:
        """Draw an entry with one function, and add others.

        Made from an entry with several functions, it would hardly differ from a variant of that entry.
        """
        entry = self._draw_entry(draw)
        if not find_shape(entry).one_function:
            return None
        return combination.build_multiple(entry, self.pool, draw, draw.randint(1, 3))

    def draw_parallel(self, draw: Random) -> Entry | None:
        """Draw several questions about one function."""
        alike = self.alike[draw.choice(self.parents).key]
        count = draw.randint(2, 4)
        return combination.build_parallel(draw.sample(alike, count), draw) if len(alike) >= count else None

    def draw_parallel_multiple(self, draw: Random) -> Entry | None:
        """Draw several questions about different functions."""
        count = draw.randint(2, 3)
        if len(self.parents) < count:
            return None
        entries = [draw.choice(self.alike[parent.key]) for parent in draw.sample(self.parents, count)]
        return combination.build_parallel_multiple(entries, draw)

    def draw_irrelevance(self, draw: Random) -> Entry | None:
        """Draw a question with functions that cannot answer it."""
        return combination.build_irrelevance(self._draw_entry(draw), self.pool, draw, draw.randint(1, 3))

    def _draw_entry(self, draw: Random) -> Entry:
        return draw.choice(self.alike[draw.choice(self.parents).key])


KINDS: Mapping[str, Callable[[Material, Random], Entry | None]] = {
    "variants": Material.draw_variant,
    "multiple": Material.draw_multiple,
    "parallel": Material.draw_parallel,
    "parallel_multiple": Material.draw_parallel_multiple,
    "irrelevance": Material.draw_irrelevance,
}
"""The kinds of entries that can be made."""


def collect_material(entries: Sequence[Entry], draw: Random) -> Material:
    """Collect the entries that were not themselves made by code. Raises ValueError where none can be used."""
    # Entries made by code are not material again (docs/decisions/derived-entries.md).
    original_entries = [entry for entry in entries if not entry.parents]
    python = [entry for entry in original_entries if entry.category.language is Language.PYTHON]
    parents = tuple(filter(is_answered_by_one_call, python))
    if not parents:
        raise ValueError(
            "no entry has a single question that one call of a Python function answers; use another suite"
        )
    pool = {
        doc.name: doc
        for entry in python
        # Functions that ask a database, an API or the web could answer many questions.
        if not (asks_statement(entry) or asks_web_api(entry))
        for doc in entry.functions
        # So could those with a free query. A function with a keyword in its name cannot be called in Python.
        if "query" not in doc.properties and not any(map(iskeyword, doc.name.split(".")))
    }
    variants = {entry.key: tuple(build_variants(entry, draw)) for entry in original_entries}
    alike = {
        entry.key: tuple(
            each
            for other in parents
            if get_called_doc(other) == get_called_doc(entry)
            for each in (other, *variants[other.key])
        )
        for entry in parents
    }
    return Material(
        parents,
        tuple(pool.values()),
        {key: entry_variants for key, entry_variants in variants.items() if entry_variants},
        alike,
    )


def augment_entries(
    entries: Sequence[Entry], kinds: Sequence[str], count: int, seed: int, suite: str
) -> Iterator[tuple[str, list[Entry]]]:
    """Make at most ``count`` new entries of each kind, numbered; fewer where the material does not suffice.

    The same arguments give the same entries. Raises ValueError where nothing can be used.
    """
    draw = Random(f"{seed}:material")  # noqa: S311 - chance that can be repeated
    material = collect_material(entries, draw)
    free: dict[str, int] = {}
    for entry in entries:
        if (number := entry.id.rpartition("_")[2]).isdecimal():
            free[entry.category.name] = max(free.get(entry.category.name, 0), int(number) + 1)
    for kind in kinds:
        # Each kind has a generator of its own, so that its entries do not depend on the other kinds.
        draw = Random(f"{seed}:{kind}")  # noqa: S311 - chance that can be repeated
        entries_by_key: dict[object, Entry] = {}
        siblings: Counter[tuple[str, ...]] = Counter()
        # From few parents not many different entries can come, however many are wanted.
        for _ in range(_TRIES * min(count, 10 * len(material.parents))):
            if len(entries_by_key) == count:
                break
            new_entry = KINDS[kind](material, draw)
            if new_entry is None or siblings[new_entry.parents] == _FROM_THE_SAME:
                continue
            # Entries that ask for the same calls in another order count as equal.
            question_key: object = new_entry.turns
            if calls := list_expected_calls(new_entry):
                question_key = frozenset((call.name, repr(sorted(call.accepted.items()))) for call in calls)
            key = question_key, frozenset(doc.name for doc in new_entry.functions)
            if key not in entries_by_key:
                entries_by_key[key] = new_entry
                siblings[new_entry.parents] += 1
        yield kind, combination.number_entries(list(entries_by_key.values()), suite, free)
