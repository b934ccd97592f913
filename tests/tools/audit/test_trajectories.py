"""Trajectories that cannot be gone, and turns that could be served."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.entry import Entry, Scene
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.environments.environment import document_domain
from pytest_fcbench.environments.execution import DOMAINS
from pytest_fcbench.suites import complexfuncbench
from pytest_fcbench.tools.audit import trajectories
from tests.cases import each_case
from tests.factories import make_entry, make_golden_path, make_multi_turn
from tests.tools.audit.made import list_findings, make_facts

DOCS = {doc.name: doc for doc in document_domain(DOMAINS["file_system"])}


def make_files_entry(
    *turns: tuple[str, Sequence[str]], late: dict[int, Sequence[str]] | None = None
) -> Entry:
    """Make an entry in an empty file system; ``late`` names functions that come late, by turn."""
    withheld: dict[int, list[FunctionDoc]] = {
        turn: [DOCS[name] for name in names] for turn, names in (late or {}).items()
    }
    names = {doc.name for docs in withheld.values() for doc in docs}
    offered = [doc for doc in DOCS.values() if doc.name not in names]
    return make_multi_turn(*turns, functions=offered, domains=["file_system"], withheld=withheld)


def test_a_sound_trajectory_has_no_finding() -> None:
    entry = make_files_entry(
        ("Make drafts", ["mkdir(dir_name='drafts')"]),
        ("Now rename it", []),
        ("To finals", ["mv(source='drafts', destination='finals')", "ls(True)"]),
        ("Sort it", []),
        ("", ["touch('a.txt')", "sort('a.txt')"]),
        late={4: ["sort"]},
    )
    for check in (
        trajectories.find_unmakeable_calls,
        trajectories.find_erring_calls,
        trajectories.find_callable_turns,
    ):
        assert list_findings(check, make_facts(entry)) == []


@each_case(
    ("call", "severity", "why"),
    [
        ("mkdir(dir_name='x)", "certain", "not Python calls"),
        ("fly(to='Oslo')", "certain", "fly is offered in no turn"),
        ("sort('a.txt')", "certain", "sort is offered only from turn 2 on"),
        ("mkdir()", "certain", "mkdir needs dir_name, which the call does not give."),
        ("mkdir(name='x', dir_name='y')", "certain", "mkdir has no parameter name."),
        ("mkdir('x', 'y')", "certain", "'y' matches no parameter"),
        ("ls(), pwd()", "certain", "2 calls in place of one"),
        ("tail(file_name='a', lines=[3])", "likely", "The parameter lines of tail must be of type integer"),
    ],
)
def test_calls_that_cannot_be_made(call: str, severity: str, why: str) -> None:
    facts = make_facts(make_files_entry(("Go", [call]), ("", ["ls()"]), late={1: ["sort"]}))
    ((entry, found_severity, evidence),) = list_findings(trajectories.find_unmakeable_calls, facts)
    assert (entry, found_severity) == ("multi_turn_base_0", severity)
    assert evidence.startswith("turn 1: ")
    assert why in evidence


def test_a_call_inside_a_call_is_no_wrong_type() -> None:
    assert (
        list_findings(
            trajectories.find_unmakeable_calls, make_facts(make_files_entry(("Go", ["echo(content=pwd())"])))
        )
        == []
    )


def test_calls_that_return_an_error() -> None:
    facts = make_facts(make_files_entry(("Go", ["cd(folder='x')", "mkdir('a')", "mkdir(1, 2, 3)"])))
    ((entry, severity, evidence),) = list_findings(trajectories.find_erring_calls, facts)
    assert (entry, severity) == ("multi_turn_base_0", "likely")
    assert evidence.startswith("turn 1: \"cd(folder='x')\" returns ")


def test_a_call_that_breaks_is_certain() -> None:
    facts = make_facts(make_files_entry(("Go", ["echo(content='x', file_name=[1])"])))
    assert [severity for _, severity, _ in list_findings(trajectories.find_erring_calls, facts)] == [
        "certain"
    ]


def test_a_state_that_cannot_be_opened() -> None:
    entry = replace(
        make_files_entry(("Go", ["ls()"])), scene=Scene(("file_system",), {"file_system": {"root": 3}})
    )
    ((_, severity, evidence),) = list_findings(trajectories.find_erring_calls, make_facts(entry))
    assert severity == "certain"
    assert evidence.startswith("the initial state cannot be opened: ")


def test_a_function_that_nothing_waits_for() -> None:
    facts = make_facts(make_files_entry(("Sort a.txt", []), ("", ["cat('a.txt')"]), late={1: ["sort"]}))
    ((_, severity, evidence),) = list_findings(trajectories.find_callable_turns, facts)
    assert severity == "likely"
    assert evidence == "turn 1 waits for ['sort'], which turn 2 does not call: [\"cat('a.txt')\"]"


def test_values_that_were_said_before() -> None:
    facts = make_facts(make_files_entry(("Show a.txt", []), ("Yes, a.txt", ["cat('a.txt')"])))
    ((_, severity, evidence),) = list_findings(trajectories.find_callable_turns, facts)
    assert severity == "hint"
    assert evidence == "turn 1 already says every value of turn 2: [\"cat('a.txt')\"]"


def test_a_turn_after_which_nothing_comes() -> None:
    facts = make_facts(make_files_entry(("Show a.txt", ["cat('a.txt')"]), ("And the invoice", [])))
    ((_, severity, evidence),) = list_findings(trajectories.find_callable_turns, facts)
    assert (severity, evidence[:26]) == ("likely", "no turn from 2 on makes a ")


@each_case(
    ("arguments", "severity", "why"),
    [
        ({"city": "Bergen"}, None, ""),
        ({"city": "Bergen", "days": "2"}, "certain", "The parameter days of find must be of type integer"),
        ({"days": 2}, "certain", "find needs city, which the call does not give."),
        ({"city": "Bergen", "star": 5}, "certain", "find has no parameter star."),
    ],
)
def test_golden_calls_are_compared_with_their_schemas(
    arguments: dict[str, object], severity: str | None, why: str
) -> None:
    told = list_findings(
        trajectories.find_calls_off_schema, make_facts(make_golden_path([("find", arguments, {"ok": True})]))
    )
    assert [found for _, found, _ in told] == ([severity] if severity else [])
    assert all(why in evidence and evidence.startswith("step 1: ") for *_, evidence in told)


def test_entries_without_a_golden_path_are_left_alone() -> None:
    assert list_findings(trajectories.find_calls_off_schema, make_facts(make_entry())) == []


def test_what_the_suite_sets_aside_is_found() -> None:
    """ComplexFuncBench has such calls; its reader sets those entries aside, for the same reason."""
    record = {
        "id": "Hotels-3",
        "conversations": [
            {"role": "user", "content": "A hotel in Bergen"},
            {"role": "assistant", "function_call": [{"name": "find", "arguments": {"city": 5}}]},
            {"role": "observation", "content": [{"ok": True}]},
            {"role": "assistant", "content": ""},
        ],
        "functions": [
            {
                "name": "find",
                "description": "Find a hotel.",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                },
            }
        ],
    }
    (entry,) = complexfuncbench.read_golden_paths(json.dumps(record).encode(), Path("records.jsonl"))
    ((_, severity, evidence),) = list_findings(trajectories.find_calls_off_schema, make_facts(entry))
    assert severity == "certain"
    assert entry.set_aside
    assert entry.set_aside.removeprefix("a golden call has a wrong form: ") in evidence
