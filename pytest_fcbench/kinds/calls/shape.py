"""How many functions a category of calls offers, and how many calls it expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.flaw import CERTAIN, LIKELY, Flaw
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls, list_expected_calls


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


def expect_only(entry: Entry, call: ExpectedCall) -> Entry:
    """Copy an entry with this call as the only expected one, so that verdicts name a parameter."""
    # A rule for several calls would say only that no call matches.
    category = replace(entry.category, kind="simple" if find_shape(entry).one_function else "multiple")
    return replace(entry, category=category, expectation=ExpectedCalls((call,)), tables=())


def find_flaws(entry: Entry) -> Iterator[Flaw]:
    """Find the first thing in which an entry differs from its shape."""
    shape, calls, functions = find_shape(entry), len(list_expected_calls(entry)), len(entry.functions)
    if calls != 1 and not shape.parallel:
        yield Flaw(CERTAIN, f"{calls} calls are expected, but {entry.kind} allows exactly one")
    elif functions != 1 and shape.one_function:
        yield Flaw(CERTAIN, f"{functions} functions are offered, but {entry.kind} uses only the first")
    elif functions < 2 and shape.several_functions:
        yield Flaw(LIKELY, "only one function is offered, so there is nothing to choose from")
    elif calls < 2 and shape.parallel and not entry.category.continues:
        yield Flaw(LIKELY, f"{calls} call is expected in a category with several calls")
