"""The expected call of SQL, whose arguments are the parts of a statement."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.calls.truth import ExpectedCall, list_expected_calls


def asks_statement(entry: Entry) -> bool:
    """Tell whether the answer to an entry is a statement of SQL."""
    return entry.kind == "sql"


def find_broken_calls(entry: Entry) -> Iterator[tuple[ExpectedCall, str]]:
    """Find calls of SQL of which no accepted form can be executed, each with the reason."""
    if not asks_statement(entry):
        return
    # Imported here so that runs without SQL do not import sqlglot.
    from pytest_fcbench.kinds.sql import corrected

    for call in list_expected_calls(entry):
        verdict = corrected.match_call(entry, call, Call(call.name, {}), Failed("", ""))
        if isinstance(verdict, Failed) and (reason := verdict.details.get("not_carried_out")):
            yield call, str(reason)
