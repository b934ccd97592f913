"""Checks and their findings. A check is declared by a decorator of the function that does its work:

    @entry_check("refused", "the matcher refuses the truth itself", "correct the truth")
    def find_refused_truths(facts: Facts, entry: Entry) -> Iterator[Flaw]: ...

``checks.CHECKS`` collects the declared checks of the modules that it lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.flaw import Flaw, Severity
from pytest_fcbench.domain.text import make_printable, shorten_text
from pytest_fcbench.tools.audit.facts import SuiteFacts


@dataclass(frozen=True, slots=True)
class Finding:
    """A single finding of a check."""

    check: str
    """A name of ``checks.CHECKS``."""
    entry: str
    """The id within the suite; the name of a category that cannot be read."""
    severity: Severity
    evidence: str
    """A sentence with the values themselves."""
    advice: str
    """The way to correct it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", format_on_one_line(self.evidence))


@dataclass(frozen=True, slots=True)
class Check:
    """A check; calling it yields its findings."""

    name: str
    says: str
    """The common sentence of its findings."""
    advice: str
    find: Callable[[SuiteFacts], Iterable[tuple[str, Flaw]]]
    """Yields the id of an entry with each flaw."""
    weak: bool
    """True where most findings are no mistakes, so that the check runs only on request."""
    needs: str | None
    """The option of ``fcbench audit`` without which there is nothing to compare with."""

    def __call__(self, facts: SuiteFacts) -> Iterator[Finding]:
        for entry, (severity, evidence, advice) in self.find(facts):
            yield Finding(self.name, entry, severity, evidence, advice or self.advice)


def check(
    name: str, says: str, advice: str, *, weak: bool = False, needs: str | None = None
) -> Callable[[Callable[[SuiteFacts], Iterable[tuple[str, Flaw]]]], Check]:
    """Declare a check that looks at all entries together."""
    return lambda find: Check(name, says, advice, find, weak, needs)


def entry_check(
    name: str, says: str, advice: str, *, weak: bool = False
) -> Callable[[Callable[[SuiteFacts, Entry], Iterable[Flaw]]], Check]:
    """Declare a check that looks at each entry by itself."""

    def declare(find: Callable[[SuiteFacts, Entry], Iterable[Flaw]]) -> Check:
        def find_all(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
            return ((entry.id, flaw) for entry in facts.entries for flaw in find(facts, entry))

        return Check(name, says, advice, find_all, weak, None)

    return declare


def format_on_one_line(text: str) -> str:
    """Make a text from a suite safe for any terminal and page, on one line."""
    return make_printable(text).replace("\n", "\\n")


def format_value(value: object, longest: int = 160) -> str:
    """Format a value for a sentence, cut to so many characters."""
    # Cut before repr, which would write all of a text of megabytes.
    text = repr(value[: longest + 1] if isinstance(value, str) else value)
    return shorten_text(text, longest)
