"""Whether the calls of golden paths are as their function docs say."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.conformance import conforms, misfit
from pytest_fcbench.domain.entry import GoldenPath
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import Finding, Severity, shown


def off_schema(facts: Facts) -> Iterator[Finding]:
    """Golden calls that violate the schema of their function: officially such a call cannot be right."""
    for entry in facts.entries:
        if not isinstance(entry.expectation, GoldenPath):
            continue
        docs = {doc.name: doc for doc in entry.functions}
        for number, step in enumerate(entry.expectation.steps, 1):
            for call in step:
                why = misfit(call.name, call.arguments, docs)
                severity = Severity.CERTAIN
                if why is None and (why := misfit(call.name, call.arguments, docs, conforms)):
                    severity = Severity.LIKELY
                if why:
                    evidence = f"step {number}: {why} The call gives {shown(dict(call.arguments))}"
                    advice = "correct the call, or set the entry aside"
                    yield Finding("off_schema", entry.id, severity, evidence, advice)
