"""Distributions of sizes, types and languages by category (BFCL paper, Patil et al. 2025, Figure 10)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.strata import find_stratum
from pytest_fcbench.tools.audit.facts import join_user_messages
from pytest_fcbench.tools.audit.function_docs import list_offered_docs
from pytest_fcbench.tools.audit.strata import count_expected_calls, list_features
from pytest_fcbench.tools.authoring.languages import guess_language

MEASURES: Mapping[str, str] = {
    "functions": "functions/entry",
    "parameters": "parameters/function",
    "calls": "calls/answer",
    "turns": "turns",
}
"""The counted sizes, each with the heading of its column."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The counts of each value in a category."""

    entries: int = 0
    measures: Mapping[str, Counter[int]] = field(default_factory=dict)
    """Counts by name in ``MEASURES``."""
    types: Counter[str] = field(default_factory=Counter)
    """Declared types of parameters, as the docs name them."""
    languages: Counter[str] = field(default_factory=Counter)
    """Languages of questions, guessed from script and common words."""
    strata: Counter[str] = field(default_factory=Counter)
    """Entries by stratum of difficulty."""


def count_by_category(entries: Sequence[Entry]) -> Mapping[str, Distribution]:
    """Count by category, in the order of the entries. Functions of several entries count each time."""
    entries_by_category: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        entries_by_category[entry.category.name].append(entry)
    distributions = {}
    for name, group in entries_by_category.items():
        docs_by_entry = [list_offered_docs(entry) for entry in group]
        docs = [doc for each in docs_by_entry for doc in each]
        schemas = [schema for doc in docs for schema in doc.properties.values()]
        distributions[name] = Distribution(
            entries=len(group),
            measures={
                "functions": Counter(map(len, docs_by_entry)),
                "parameters": Counter(len(doc.properties) for doc in docs),
                "calls": Counter(map(count_expected_calls, group)),
                "turns": Counter(len(entry.turns) for entry in group),
            },
            types=Counter(str(schema.get("type")) for schema in schemas if isinstance(schema, dict)),
            languages=Counter(guess_language(join_user_messages(entry)) for entry in group),
            strata=Counter(find_stratum(list_features(entry)).value for entry in group),
        )
    return distributions


def summarize_counts(counts: Counter[int]) -> str:
    """Format the mean, and least to most."""
    if not counts:
        return "-"
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{fmean(counts.elements()):.1f} ({low}-{high})"
