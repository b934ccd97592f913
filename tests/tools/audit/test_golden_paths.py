"""Golden calls are held against the schemas of their functions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcbench.suites import complexfuncbench
from pytest_fcbench.tools.audit import golden_paths
from tests.factories import make_entry, make_golden_path
from tests.tools.audit.made import found, make_facts


@pytest.mark.parametrize(
    ("arguments", "severity", "why"),
    [
        ({"city": "Bergen"}, None, ""),
        ({"city": "Bergen", "days": "2"}, "certain", "The parameter days of find must be of type integer"),
        ({"days": 2}, "certain", "find needs city, which the call does not give."),
        ({"city": "Bergen", "star": 5}, "certain", "find has no parameter star."),
    ],
)
def test_golden_calls(arguments: dict[str, object], severity: str | None, why: str) -> None:
    told = found(golden_paths.off_schema, make_facts(make_golden_path([("find", arguments, {"ok": True})])))
    assert [found for _, found, _ in told] == ([severity] if severity else [])
    assert all(why in evidence and evidence.startswith("step 1: ") for *_, evidence in told)


def test_other_entries_are_left_alone() -> None:
    assert found(golden_paths.off_schema, make_facts(make_entry())) == []


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
    (entry,) = complexfuncbench.read(json.dumps(record).encode(), Path("records.jsonl"))
    ((_, severity, evidence),) = found(golden_paths.off_schema, make_facts(entry))
    assert severity == "certain"
    assert entry.set_aside
    assert entry.set_aside.removeprefix("a golden call has a wrong form: ") in evidence
