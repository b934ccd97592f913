"""Checks that a suite can be read and its entries have the form of their category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_fcbench.kinds.calls.shape import find_shape
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.kinds.relevance.truth import AnyCall, NoCall
from pytest_fcbench.kinds.state.truth import Trajectory
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.findings import CERTAIN, HINT, LIKELY, Flaw, check
from pytest_fcbench.tools.audit.truths import list_expected_calls


@check("unreadable", "a category cannot be read, so it is not checked", "correct the file")
def find_unreadable_categories(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find categories that cannot be read at all, so that no other check looks at them."""
    # Categories of one file have its errors in common.
    first = {
        line: category for category, told in reversed([*facts.unread.items()]) for line in told.splitlines()
    }
    return (
        (category, Flaw(CERTAIN, line))
        for category, told in facts.unread.items()
        for line in told.splitlines()
        if first[line] == category
    )


@check(
    "shape",
    "the entry does not have the form of its category",
    "move the entry to another category, or complete it",
)
def find_misshapen_entries(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries with too few or too many calls, functions or turns for the rule they are judged by."""
    seen: Counter[str] = Counter()
    for entry in facts.entries:
        if seen[entry.id]:
            yield entry.id, Flaw(CERTAIN, "the id is used twice", "give each entry an id of its own")
        seen[entry.id] += 1
        shape, calls, functions = find_shape(entry), len(list_expected_calls(entry)), len(entry.functions)
        match entry.expectation:
            case ExpectedCalls() if calls != 1 and not shape.parallel:
                flaw = Flaw(CERTAIN, f"{calls} calls are expected, but {entry.kind} allows exactly one")
            case ExpectedCalls() if functions != 1 and shape.one_function:
                flaw = Flaw(
                    CERTAIN, f"{functions} functions are offered, but {entry.kind} uses only the first"
                )
            case ExpectedCalls() if functions < 2 and shape.several_functions:
                flaw = Flaw(LIKELY, "only one function is offered, so there is nothing to choose from")
            case ExpectedCalls() if calls < 2 and shape.parallel and not entry.category.continues:
                flaw = Flaw(LIKELY, f"{calls} call is expected in a category with several calls")
            case AnyCall() if not functions:
                flaw = Flaw(CERTAIN, "no function is offered, but a call is expected")
            case NoCall() if not functions and not entry.category.kind == "chat":
                flaw = Flaw(HINT, "no function is offered, so none can be called by mistake")
            case Trajectory(turns=turns) if len(turns) != len(entry.turns):
                flaw = Flaw(CERTAIN, f"{len(entry.turns)} turns, but expected calls for {len(turns)}")
            case Trajectory(turns=turns) if not any(turns):
                flaw = Flaw(LIKELY, "no turn expects a call")
            case GoldenPath(steps=steps) if not steps:
                flaw = Flaw(CERTAIN, "the golden path has no step")
            case _:
                continue
        yield entry.id, flaw
