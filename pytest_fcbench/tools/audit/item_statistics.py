"""Checks by what real runs made of each entry: nobody passes it, or better models fail it more often.

Both are hints. A hard entry looks like a wrong one; what these checks find, a person has to read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from statistics import fmean

from pytest_fcbench.domain.flaw import HINT, Flaw
from pytest_fcbench.scorecard.aggregate.correlation import correlate_pairs
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.findings import check

FEWEST_RUNS = 3
"""The fewest runs by which an entry can count as never passed."""
_PER_EXCEPTION = 50
"""So many runs allow one that passed by chance."""
_FEWEST_CORRELATED, _FEWEST_EACH = 10, 3
"""The fewest runs of a correlation, and of each outcome among them."""
_WEAKEST = -0.15
"""An entry with a lower correlation is reported: over 64 models 11 of 3,770 entries of BFCL."""


@check("never_passed", "no real run passes the entry", "read whether it can be known", needs="results")
def find_entries_never_passed(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries that no run passes, one run in fifty excepted."""
    for entry in facts.entries:
        verdicts = [run.passed[entry.id] for run in facts.results if entry.id in run.passed]
        passing_count = sum(verdicts)
        if len(verdicts) >= FEWEST_RUNS and passing_count <= len(verdicts) // _PER_EXCEPTION:
            yield entry.id, Flaw(HINT, f"{passing_count} of {len(verdicts)} runs pass")


@check(
    "inverted", "better models fail the entry more often", "read whether the answer is right", needs="results"
)
def find_inverted_entries(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries that are passed more often by runs that pass less of the rest of the category."""
    of_category: defaultdict[str, list[str]] = defaultdict(list)
    for entry in facts.entries:
        of_category[entry.category.name].append(entry.id)
    totals = {
        (run.name, category): Counter(run.passed[entry] for entry in ids if entry in run.passed)
        for run in facts.results
        for category, ids in of_category.items()
    }
    for entry in facts.entries:
        points: list[tuple[float, float]] = []
        for run in facts.results:
            counts = totals[run.name, entry.category.name]
            if entry.id in run.passed and counts.total() > 1:
                is_pass = run.passed[entry.id]
                points.append((is_pass, (counts[True] - is_pass) / (counts.total() - 1)))
        with_it, without = ([rest for is_pass, rest in points if is_pass == side] for side in (True, False))
        # Too few points correlate by chance.
        if len(points) < _FEWEST_CORRELATED or min(len(with_it), len(without)) < _FEWEST_EACH:
            continue
        r = correlate_pairs(points).pearson
        if r is not None and r <= _WEAKEST:
            evidence = (
                f"{len(with_it)} of {len(points)} runs pass; they pass {fmean(with_it):.0%} of the rest of "
                f"{entry.category.name}, those that fail {fmean(without):.0%}"
            )
            yield entry.id, Flaw(HINT, evidence)
