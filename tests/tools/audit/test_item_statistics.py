"""Entries that nobody passes, and those that better models fail more often, are told as hints."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.tools.audit import item_statistics
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.run_verdicts import RunVerdicts
from tests.factories import make_entry
from tests.tools.audit.made import list_findings, make_facts

ENTRIES = [make_entry(entry_id=f"simple_python_{number}") for number in range(21)]
FIRST = ENTRIES[0].id


def make_facts_of_runs(*runs: RunVerdicts) -> SuiteFacts:
    return replace(make_facts(*ENTRIES), results=runs)


def make_runs(*scores: int, passes_first: frozenset[int]) -> list[RunVerdicts]:
    """Make runs that pass so many of the twenty entries behind the first; some also pass the first."""
    return [
        RunVerdicts(
            f"run {run}",
            {
                entry.id: run in passes_first if number == 0 else number <= score
                for number, entry in enumerate(ENTRIES)
            },
        )
        for run, score in enumerate(scores)
    ]


def test_an_entry_that_nobody_passes_is_told() -> None:
    facts = make_facts_of_runs(*make_runs(20, 20, 20, passes_first=frozenset()))
    assert list_findings(item_statistics.find_entries_never_passed, facts) == [
        (FIRST, "hint", "0 of 3 runs pass")
    ]


def test_an_entry_that_one_of_few_runs_passes_is_not() -> None:
    facts = make_facts_of_runs(*make_runs(20, 20, 20, passes_first=frozenset({1})))
    assert list_findings(item_statistics.find_entries_never_passed, facts) == []


def test_one_of_fifty_runs_may_pass_by_chance() -> None:
    facts = make_facts_of_runs(*make_runs(*[20] * 50, passes_first=frozenset({1})))
    assert list_findings(item_statistics.find_entries_never_passed, facts) == [
        (FIRST, "hint", "1 of 50 runs pass")
    ]


def test_two_runs_prove_nothing_and_unanswered_entries_count_nowhere() -> None:
    runs = make_runs(20, 20, passes_first=frozenset())
    facts = make_facts_of_runs(*runs, RunVerdicts("empty", {}))
    assert list_findings(item_statistics.find_entries_never_passed, facts) == []


def test_an_entry_that_better_runs_fail_is_told() -> None:
    scores = [5, 6, 7, 8, 9, 11, 12, 13, 14, 15]
    facts = make_facts_of_runs(*make_runs(*scores, passes_first=frozenset(range(5))))
    assert list_findings(item_statistics.find_inverted_entries, facts)[0] == (
        FIRST,
        "hint",
        "5 of 10 runs pass; they pass 35% of the rest of simple_python, those that fail 65%",
    )


def test_an_entry_that_better_runs_pass_is_not() -> None:
    scores = [5, 6, 7, 8, 9, 11, 12, 13, 14, 15]
    facts = make_facts_of_runs(*make_runs(*scores, passes_first=frozenset(range(5, 10))))
    assert list_findings(item_statistics.find_inverted_entries, facts) == []


def test_few_runs_and_few_of_one_outcome_show_no_inversion() -> None:
    few = make_runs(1, 2, 3, 4, 5, 6, 7, 8, 9, passes_first=frozenset(range(4)))
    one_sided = make_runs(*range(1, 13), passes_first=frozenset({0, 1}))
    for runs in (few, one_sided):
        assert list_findings(item_statistics.find_inverted_entries, make_facts_of_runs(*runs)) == []
