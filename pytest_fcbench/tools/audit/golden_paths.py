"""Whether the calls of golden paths are as their function docs say."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.conformance import conforms, misfit
from pytest_fcbench.domain.entry import GoldenPath
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, LIKELY, shown
from pytest_fcbench.tools.audit.registry import Problem, check


@check("off_schema", "a golden call violates its schema")
def off_schema(facts: Facts) -> Iterator[Problem]:
    """Golden calls that violate the schema of their function: officially such a call cannot be right."""
    for entry in facts.entries:
        if not isinstance(entry.expectation, GoldenPath):
            continue
        docs = {doc.name: doc for doc in entry.functions}
        for number, step in enumerate(entry.expectation.steps, 1):
            for call in step:
                why = misfit(call.name, call.arguments, docs)
                severity = CERTAIN
                if why is None and (why := misfit(call.name, call.arguments, docs, conforms)):
                    severity = LIKELY
                if why:
                    evidence = f"step {number}: {why} The call gives {shown(dict(call.arguments))}"
                    advice = "correct the call, or set the entry aside"
                    yield Problem(entry.id, severity, evidence, advice)
