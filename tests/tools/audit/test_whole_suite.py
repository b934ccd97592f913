"""What is found in a suite as a whole."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.kinds.golden_path.truth import GoldenPath
from pytest_fcbench.tools.audit import whole_suite
from pytest_fcbench.tools.audit.findings import RunVerdicts, SuiteFacts
from tests.cases import each_case
from tests.factories import make_doc, make_entry, make_golden_path, make_multi_turn
from tests.tools.audit.made import list_findings, make_facts

CALL = {"weather.forecast": {"city": ["Bergen"]}}
TWO = [make_doc(), make_doc("chess.opening")]


@each_case(
    ("entry", "severity", "evidence"),
    [
        (make_entry(expect=[CALL, CALL]), "certain", "2 calls are expected, but simple allows exactly one"),
        (make_entry(functions=TWO), "certain", "2 functions are offered, but simple uses only the first"),
        (
            make_entry("multiple"),
            "likely",
            "only one function is offered, so there is nothing to choose from",
        ),
        (make_entry("parallel"), "likely", "1 call is expected in a category with several calls"),
        (
            make_entry("live_relevance", functions=[]),
            "certain",
            "no function is offered, but a call is expected",
        ),
        (
            make_entry("irrelevance", functions=[]),
            "hint",
            "no function is offered, so none can be called by mistake",
        ),
        (
            replace(make_multi_turn(("a", ["f()"])), turns=()),
            "certain",
            "0 turns, but expected calls for 1",
        ),
        (make_multi_turn(("a", [])), "likely", "no turn expects a call"),
        (
            replace(make_golden_path([("f", {}, {})]), expectation=GoldenPath(())),
            "certain",
            "the golden path has no step",
        ),
    ],
)
def test_wrong_forms_are_found(entry: Entry, severity: str, evidence: str) -> None:
    assert list_findings(whole_suite.find_misshapen_entries, make_facts(entry)) == [
        (entry.id, severity, evidence)
    ]


def test_right_forms_have_no_finding() -> None:
    entries = [
        make_entry(),
        make_entry("multiple", functions=TWO),
        make_entry("parallel", expect=[CALL, CALL]),
        make_entry("next_call"),
        make_entry("irrelevance"),
        make_entry("live_relevance"),
        make_multi_turn(("a", ["f()"])),
        make_golden_path([("f", {}, {})]),
    ]
    assert list_findings(whole_suite.find_misshapen_entries, make_facts(*entries)) == []


def test_an_id_that_stands_twice() -> None:
    assert list_findings(
        whole_suite.find_misshapen_entries, make_facts(make_entry(), make_entry(query="Else?"))
    ) == [("simple_python_0", "certain", "the id is used twice")]


def test_what_cannot_be_read() -> None:
    facts = make_facts(unread={"multiple": "multiple.yaml:3: must be text"})
    assert list_findings(whole_suite.find_unreadable_categories, facts) == [
        ("multiple", "certain", "multiple.yaml:3: must be text")
    ]
    assert list_findings(whole_suite.find_unreadable_categories, make_facts()) == []


def test_each_error_of_a_file_is_a_finding_of_the_first_category_that_has_it() -> None:
    facts = replace(make_facts(), unread={"multiple": "a.yaml:1: x\na.yaml:2: y", "parallel": "a.yaml:1: x"})
    assert list_findings(whole_suite.find_unreadable_categories, facts) == [
        ("multiple", "certain", "a.yaml:1: x"),
        ("multiple", "certain", "a.yaml:2: y"),
    ]


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
    assert list_findings(whole_suite.find_entries_never_passed, facts) == [
        (FIRST, "hint", "0 of 3 runs pass")
    ]


def test_an_entry_that_one_of_few_runs_passes_is_not() -> None:
    facts = make_facts_of_runs(*make_runs(20, 20, 20, passes_first=frozenset({1})))
    assert list_findings(whole_suite.find_entries_never_passed, facts) == []


def test_one_of_fifty_runs_may_pass_by_chance() -> None:
    facts = make_facts_of_runs(*make_runs(*[20] * 50, passes_first=frozenset({1})))
    assert list_findings(whole_suite.find_entries_never_passed, facts) == [
        (FIRST, "hint", "1 of 50 runs pass")
    ]


def test_two_runs_prove_nothing_and_unanswered_entries_count_nowhere() -> None:
    runs = make_runs(20, 20, passes_first=frozenset())
    facts = make_facts_of_runs(*runs, RunVerdicts("empty", {}))
    assert list_findings(whole_suite.find_entries_never_passed, facts) == []


def test_an_entry_that_better_runs_fail_is_told() -> None:
    scores = [5, 6, 7, 8, 9, 11, 12, 13, 14, 15]
    facts = make_facts_of_runs(*make_runs(*scores, passes_first=frozenset(range(5))))
    assert list_findings(whole_suite.find_inverted_entries, facts)[0] == (
        FIRST,
        "hint",
        "5 of 10 runs pass; they pass 35% of the rest of simple_python, those that fail 65%",
    )
    # Runs of one model, such as one in each mode, have one name.
    same_named = [replace(run, name="model") for run in facts.results]
    assert list_findings(whole_suite.find_inverted_entries, make_facts_of_runs(*same_named)) == list_findings(
        whole_suite.find_inverted_entries, facts
    )


def test_an_entry_that_better_runs_pass_is_not() -> None:
    scores = [5, 6, 7, 8, 9, 11, 12, 13, 14, 15]
    facts = make_facts_of_runs(*make_runs(*scores, passes_first=frozenset(range(5, 10))))
    assert list_findings(whole_suite.find_inverted_entries, facts) == []


def test_few_runs_and_few_of_one_outcome_show_no_inversion() -> None:
    few = make_runs(1, 2, 3, 4, 5, 6, 7, 8, 9, passes_first=frozenset(range(4)))
    one_sided = make_runs(*range(1, 13), passes_first=frozenset({0, 1}))
    for runs in (few, one_sided):
        assert list_findings(whole_suite.find_inverted_entries, make_facts_of_runs(*runs)) == []
