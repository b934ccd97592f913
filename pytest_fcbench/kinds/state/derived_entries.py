"""Entries made from others: harder multi-turn ones (BFCL v3's augmentations), and prompt formats."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pytest_fcbench.codecs.python_syntax import parse_expression
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Variation
from pytest_fcbench.domain.prompting import FORMATS, PromptFormat
from pytest_fcbench.kinds.state.verdict import Trajectory

MADE_OF = {
    "multi_turn_miss_func": "multi_turn_base",
    "multi_turn_long_context": "multi_turn_base",
    "multi_turn_composite": "multi_turn_miss_param",
}
"""The category from whose entries code makes those of another category."""


def derive_multi_turn(category: str, entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries of a category of ``MADE_OF``, made from those of the category that it names."""
    for entry in entries:
        # A long context needs only the category: the environments fill themselves by it.
        if category == "multi_turn_long_context":
            yield move_to_category(entry, category)
        elif isinstance(entry.expectation, Trajectory) and (withheld := entry.expectation.withheld):
            yield move_to_category(withhold_functions(entry, withheld.turn, withheld.functions), category)


def withhold_functions(entry: Entry, turn: int, names: Sequence[str]) -> Entry:
    """Return the entry with some functions withheld until they have been needed once.

    The request of ``turn`` cannot be served in it; a new turn after it offers the functions. Raises
    ValueError where the truth calls one of them before, or none in that turn.
    """
    scene, truth = entry.scene, entry.expectation
    if scene is None or not isinstance(truth, Trajectory):
        raise ValueError(f"{entry.key} is not a multi-turn entry")
    if not 0 <= turn < len(truth.turns):
        raise ValueError(f"{entry.key}: the entry has no turn {turn}")
    names_by_turn = [
        {
            node.func.id
            for call in calls
            for node in ast.walk(parse_expression(call))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        for calls in truth.turns
    ]
    if any(set(names) & before for before in names_by_turn[:turn]) or not set(names) & names_by_turn[turn]:
        raise ValueError(f"{entry.key}: turn {turn} is not the first that calls {', '.join(names)}")
    late_docs = tuple(doc for doc in entry.functions if doc.name in names)
    # BFCL v3: the truth of the turn is empty, and the turn after it has no message.
    next_turn = turn + 1
    return replace(
        entry,
        turns=(*entry.turns[:next_turn], (), *entry.turns[next_turn:]),
        functions=tuple(doc for doc in entry.functions if doc.name not in names),
        expectation=Trajectory((*truth.turns[:turn], (), *truth.turns[turn:])),
        scene=replace(scene, withheld={next_turn: late_docs}),
    )


def move_to_category(entry: Entry, category: str) -> Entry:
    """Move an entry to another category, whose rules then apply; its number stays.

    An id that does not name its category gets the new one's name in front, so that the two ids differ.
    """
    name = entry.category.name
    new_id = entry.id.replace(name, category, 1) if name in entry.id else f"{category}_{entry.id}"
    return replace(entry, id=new_id, category=CATEGORIES[category], cluster=entry.cluster or entry.id)


def join_clusters(entries: Sequence[Entry], others: Iterable[str] = ()) -> tuple[Entry, ...]:
    """Put each entry that a cluster is named after into that cluster; ``others`` are clusters not in them."""
    names = {*(entry.cluster for entry in entries), *others}
    return tuple(
        replace(entry, cluster=entry.id) if entry.id in names and not entry.cluster else entry
        for entry in entries
    )


def vary_format(entries: Iterable[Entry], category: Category) -> Iterator[Entry]:
    """Yield each entry in all prompt formats, as a cluster; ids count them all."""
    for number, entry in enumerate(entries):
        for index, prompt_format in enumerate(FORMATS, number * len(FORMATS)):
            yield replace(
                entry,
                id=make_variation_id(category, index, prompt_format, entry.id),
                category=category,
                cluster=entry.cluster or entry.id,
                variation=Variation(entry.category, prompt_format),
            )


def make_variation_id(category: Category, index: int, prompt_format: PromptFormat, entry_id: str) -> str:
    """Return an id of the official form, ``format_sensitivity_0:ret_fmt=...:simple_python_58``."""
    return f"{category.name}_{index}:{prompt_format.name}:{entry_id}"
