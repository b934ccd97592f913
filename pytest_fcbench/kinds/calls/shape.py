"""How many functions a category of calls offers, and how many calls it expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry


@dataclass(frozen=True, slots=True)
class CallShape:
    """The shape of the entries of a kind."""

    one_function: bool = False
    """True where only the right function is offered."""
    several_functions: bool = False
    """True where exactly one of several offered functions is to be called."""
    parallel: bool = False
    """True where several calls are expected, in any order."""


SHAPES: Mapping[str, CallShape] = {
    "simple": CallShape(one_function=True),
    "multiple": CallShape(several_functions=True),
    "parallel": CallShape(parallel=True),
    "next_call": CallShape(parallel=True),
}
"""Shapes by the name of the kind; any other expects exactly one call."""


def find_shape(entry: Entry) -> CallShape:
    """Return the shape of an entry."""
    return SHAPES.get(entry.judged_category.kind, CallShape())
