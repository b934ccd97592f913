"""Harder kinds of multi-turn entries, made from plain ones (BFCL v3's augmentations)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pytest_fcbench.codecs.python_syntax import parse_expression
from pytest_fcbench.domain.entry import CATEGORIES, Category, Entry, Trajectory


def missing_function(entry: Entry, turn: int, names: Sequence[str]) -> Entry:
    """The entry without these functions until they have been missed.

    What is asked in ``turn`` cannot be done in it; in a new turn after it the functions are offered, and
    then it can. Raises ValueError where the truth calls one of them before, or none in that turn.
    """
    scene, truth = entry.scene, entry.expectation
    if scene is None or not isinstance(truth, Trajectory):
        raise ValueError(f"{entry.key} is no multi-turn entry")
    if not 0 <= turn < len(truth.turns):
        raise ValueError(f"{entry.key}: there is no turn {turn}")
    called = [set().union(*map(_called, calls)) for calls in truth.turns]
    if any(set(names) & before for before in called[:turn]) or not set(names) & called[turn]:
        raise ValueError(f"{entry.key}: turn {turn} is not the first that calls {', '.join(names)}")
    late = tuple(doc for doc in entry.functions if doc.name in names)
    following = turn + 1
    return replace(
        entry,
        turns=(*entry.turns[:following], (), *entry.turns[following:]),
        functions=tuple(doc for doc in entry.functions if doc.name not in names),
        expectation=Trajectory((*truth.turns[:turn], (), *truth.turns[turn:])),
        scene=replace(scene, withheld={following: late}),
    )


def _called(call: str) -> set[str]:
    """Names of the functions that a call needs, also inside its arguments."""
    return {
        node.func.id
        for node in ast.walk(parse_expression(call))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def of_category(entry: Entry, category: str) -> Entry:
    """The entry under a category's name and rules, such as a long context; its number stays.

    An id that does not name its category gets the new one's name in front, so that it stays another's.
    """
    new: Category = CATEGORIES[category]
    named = entry.category.name in entry.id
    new_id = entry.id.replace(entry.category.name, new.name, 1) if named else f"{new.name}_{entry.id}"
    return replace(entry, id=new_id, category=new)


MADE_OF = {
    "multi_turn_miss_func": "multi_turn_base",
    "multi_turn_long_context": "multi_turn_base",
    "multi_turn_composite": "multi_turn_miss_param",
}
"""From the entries of which category those of another are made by code."""


def made(category: str, plain: Iterable[tuple[Entry, int | None, Sequence[str]]]) -> Iterator[Entry]:
    """The entries of such a category.

    Each plain one comes with a turn, None where nothing can be missed, and functions that can be in it.
    """
    for entry, turn, names in plain:
        if category == "multi_turn_long_context":
            yield of_category(entry, category)
        elif turn is not None:
            yield of_category(missing_function(entry, turn, names), category)
