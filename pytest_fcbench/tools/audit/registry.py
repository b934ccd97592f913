"""Declare a check beside the function that does its work.

    @check("refused", "the matcher refuses the truth itself")
    def refused(facts: Facts) -> Iterator[Problem]: ...

``checks.CHECKS`` finds what is declared so in the modules that it lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import Finding, Severity


class Problem(NamedTuple):
    """What a check finds at one entry: a finding without the name of its check."""

    entry: str
    severity: Severity
    evidence: str
    advice: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check; calling it yields its findings."""

    name: str
    says: str
    """What its findings have in common."""
    find: Callable[[Facts], Iterable[Problem]]
    weak: bool
    """Whether most of what it finds is fine, so that it runs only when it is asked for."""
    needs: str | None
    """The option of ``fcbench audit`` without which there is nothing to compare with."""

    def __call__(self, facts: Facts) -> Iterator[Finding]:
        return (Finding(self.name, *problem) for problem in self.find(facts))


def check(
    name: str, says: str, *, weak: bool = False, needs: str | None = None
) -> Callable[[Callable[[Facts], Iterable[Problem]]], Check]:
    """Make a function the check of this name."""
    return lambda find: Check(name, says, find, weak, needs)
