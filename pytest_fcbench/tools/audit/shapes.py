"""Whether a suite can be read, and its entries have the form of their category."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.entry import Entry, GoldenPath, Rule, Trajectory
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, HINT, LIKELY, Severity
from pytest_fcbench.tools.audit.registry import Problem, check
from pytest_fcbench.tools.audit.truths import expected


@check("unreadable", "a file cannot be read")
def unreadable(facts: Facts) -> Iterator[Problem]:
    """Categories that cannot be read at all."""
    for category, why in facts.unread.items():
        yield Problem(category, CERTAIN, why, "correct the file")


@check("shape", "the entry has not the form of its category")
def shapes(facts: Facts) -> Iterator[Problem]:
    """Entries with too few or too many calls, functions or turns for the rule they are judged by."""
    seen: set[str] = set()
    for entry in facts.entries:
        if entry.id in seen:
            yield Problem(entry.id, CERTAIN, "the id stands twice", "give each entry an id of its own")
        seen.add(entry.id)
        for severity, evidence in _shape(entry):
            advice = "move the entry to the category that it belongs to, or complete it"
            yield Problem(entry.id, severity, evidence, advice)


def _shape(entry: Entry) -> Iterator[tuple[Severity, str]]:
    rule, calls, functions = entry.category.rule, len(expected(entry)), len(entry.functions)
    match rule:
        case Rule.SIMPLE | Rule.MULTIPLE | Rule.SQL if calls != 1:
            yield CERTAIN, f"{calls} calls are expected; {rule} takes exactly one"
        case Rule.SIMPLE if functions != 1:
            yield CERTAIN, f"{functions} functions are offered; {rule} looks at the first only"
        case Rule.MULTIPLE if functions < 2:
            yield LIKELY, "only one function is offered, so there is nothing to choose from"
        case Rule.PARALLEL if calls < 2:
            yield LIKELY, f"{calls} call is expected where several are the point"
        case Rule.RELEVANCE if not functions:
            yield CERTAIN, "no function is offered, but a call is expected"
        case Rule.IRRELEVANCE if not functions:
            yield HINT, "no function is offered, so none can be called by mistake"
    match entry.expectation:
        case Trajectory(turns=turns) if len(turns) != len(entry.turns):
            yield CERTAIN, f"{len(entry.turns)} turns, but calls for {len(turns)}"
        case Trajectory(turns=turns) if not any(turns):
            yield LIKELY, "no turn makes a call"
        case GoldenPath(steps=steps) if not steps:
            yield CERTAIN, "the golden path has no step"
