"""How a suite is spread (BFCL paper, Patil et al. 2025, Figure 10): sizes, types, languages, by category."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pytest_fcbench.domain.entry import Entry, ExpectedCalls, ExpectedResults, GoldenPath, Trajectory
from pytest_fcbench.tools.audit.duplicates import question
from pytest_fcbench.tools.audit.function_docs import offered
from pytest_fcbench.tools.authoring.languages import language

MEASURES = ("functions", "parameters", "calls", "turns")
"""Functions of an entry, parameters of a function, calls of an answer, turns of a conversation."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How often each value occurs in a category."""

    entries: int = 0
    functions: Counter[int] = field(default_factory=Counter)
    parameters: Counter[int] = field(default_factory=Counter)
    calls: Counter[int] = field(default_factory=Counter)
    turns: Counter[int] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    """Declared types of parameters, in the words of the docs."""
    languages: Counter[str] = field(default_factory=Counter)
    """Of questions, as far as script and common words tell."""

    def of(self, measure: str) -> Counter[int]:
        """The counts of one of ``MEASURES``."""
        counts: Counter[int] = getattr(self, measure)
        return counts


def spreads(entries: Sequence[Entry]) -> Mapping[str, Spread]:
    """By category, in the order of the entries. Functions that several entries offer count each time."""
    grouped: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        grouped[entry.category.name].append(entry)
    return {name: _spread(found) for name, found in grouped.items()}


def _spread(entries: Sequence[Entry]) -> Spread:
    docs = [doc for entry in entries for doc in offered(entry)]
    schemas = [schema for doc in docs for schema in doc.properties.values()]
    return Spread(
        entries=len(entries),
        functions=Counter(len(offered(entry)) for entry in entries),
        parameters=Counter(len(doc.properties) for doc in docs),
        calls=Counter(map(calls, entries)),
        turns=Counter(len(entry.turns) for entry in entries),
        types=Counter(str(schema.get("type")) for schema in schemas if isinstance(schema, dict)),
        languages=Counter(language(question(entry).text) for entry in entries),
    )


def calls(entry: Entry) -> int:
    """Calls that a right answer makes, in all turns and steps; 1 where any call will do."""
    match entry.expectation:
        case ExpectedCalls(calls=found) | ExpectedResults(calls=found) | GoldenPath(calls=found):
            return len(found)
        case Trajectory(turns=turns):
            return sum(map(len, turns))
    return int(entry.category.rule == "relevance")


def summary(counts: Counter[int]) -> str:
    """Mean, and least to most."""
    if not counts:
        return "-"
    low, high = min(counts), max(counts)
    mean = f"{fmean(counts.elements()):.1f}"
    return f"{low}" if low == high else f"{mean} ({low}-{high})"
