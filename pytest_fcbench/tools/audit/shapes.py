"""Checks that a suite can be read and its entries have the form of their category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_fcbench.domain.flaw import CERTAIN, Flaw
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.findings import check


@check("unreadable", "a category cannot be read, so it is not checked", "correct the file")
def find_unreadable_categories(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find categories that cannot be read at all, so that no other check looks at them."""
    # Categories of one file have its errors in common.
    first = {
        line: category
        for category, error_text in reversed([*facts.unread.items()])
        for line in error_text.splitlines()
    }
    return (
        (category, Flaw(CERTAIN, line))
        for category, error_text in facts.unread.items()
        for line in error_text.splitlines()
        if first[line] == category
    )


@check(
    "shape",
    "the entry does not have the form of its category",
    "move the entry to another category, or complete it",
)
def find_misshapen_entries(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries with too few or too many calls, functions or turns for the rule they are judged by."""
    id_counts: Counter[str] = Counter()
    for entry in facts.entries:
        if id_counts[entry.id]:
            yield entry.id, Flaw(CERTAIN, "the id is used twice", "give each entry an id of its own")
        id_counts[entry.id] += 1
        for flaw in find_kind(entry).find_flaws(entry):
            yield entry.id, flaw
