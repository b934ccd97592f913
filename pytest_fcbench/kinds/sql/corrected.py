"""The corrected verdict on a call of SQL, by its effect on a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TypeVar

from pytest_fcbench.domain.entry import DatabaseTable, Entry
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Failed, Passed, Verdict
from pytest_fcbench.kinds.calls.truth import ExpectedCall
from pytest_fcbench.kinds.sql.database import StatementOutcome, carry_out, has_same_rows, has_same_state
from pytest_fcbench.kinds.sql.derivation import derive_tables
from pytest_fcbench.kinds.sql.statements import NoStatement, Schema, Statement, translate

T = TypeVar("T")
R = TypeVar("R")

WRONG_RESULT = "sql:wrong_result"
WRONG_STATE = "sql:wrong_state"

_MOST_ALTERNATIVES = 32
_LONGEST_DETAIL = 2_000


@dataclass(frozen=True, slots=True)
class Trial:
    """The accepted calls and an answer, carried out on the same tables."""

    tables: Sequence[DatabaseTable]
    expected: Sequence[tuple[Statement, StatementOutcome]]
    """The accepted calls that can be carried out; there is one."""
    answer: Statement | NoStatement
    found: StatementOutcome | NoStatement
    """The outcome of the answer, or of its translation where there is no statement."""


def match_call(entry: Entry, expected_call: ExpectedCall, call: Call, as_written: Verdict) -> Verdict:
    """Return the corrected verdict on a call of the expected function.

    ``as_written`` is that of the comparison with the possible answer; it decides where no accepted call can
    be carried out, and a failure then says so.
    """
    try:
        trial = try_calls(entry, expected_call, call)
    except NoStatement as error:
        if not isinstance(as_written, Failed):
            return as_written
        return replace(as_written, details={**as_written.details, "not_carried_out": str(error)})
    call_details = {"function": call.name, "expected": trial.expected[0][0].sql[:_LONGEST_DETAIL]}
    if isinstance(trial.answer, Statement):
        call_details["found"] = trial.answer.sql[:_LONGEST_DETAIL]
    if isinstance(trial.found, NoStatement):
        return Failed(trial.found.code, f"{call.name}: {trial.found}", call_details)
    failures = []
    for truth, expected_outcome in trial.expected:
        # The state first: a statement that changes tables returns no rows.
        if not has_same_state(expected_outcome, trial.found):
            failures.append(Failed(WRONG_STATE, f"the tables are not as after {truth.sql}", call_details))
        elif not has_same_rows(expected_outcome, trial.found, ordered=truth.ordered):
            numbers = f"{len(trial.found.rows)} for {len(expected_outcome.rows)}"
            failures.append(
                Failed(WRONG_RESULT, f"the rows ({numbers}) are not those of {truth.sql}", call_details)
            )
        else:
            return Passed()
    # The details show the first accepted call, so its failure is the one that is reported.
    return failures[0]


def try_calls(entry: Entry, expected_call: ExpectedCall, call: Call | None = None) -> Trial:
    """Carry out the accepted calls and an answer; without one the first accepted call takes its place.

    Raises ``NoStatement`` where no accepted call can be carried out.
    """
    schema = _list_columns(entry.tables) if entry.tables else None
    options = [
        value if isinstance(value, (list, tuple)) else [value] for value in expected_call.accepted.values()
    ]
    # "" among the accepted values of a parameter is its absence.
    accepted_arguments = (
        {name: value for name, value in zip(expected_call.accepted, values, strict=True) if value != ""}
        for values in islice(product(*options), _MOST_ALTERNATIVES)
    )
    truths = _make_possible(accepted_arguments, lambda arguments: translate(arguments, schema))
    columns = _list_columns(entry.tables or derive_tables(truths[0])) if call else schema
    answer = _attempt(lambda: translate(call.arguments, columns)) if call else truths[0]
    # Rows are derived from the answer too, so that a condition too many shows.
    statements = [truths[0], answer] if isinstance(answer, Statement) else truths[:1]
    tables = entry.tables or derive_tables(*statements)
    expected_outcomes = _make_possible(truths, lambda truth: (truth, carry_out(truth, tables)))
    if isinstance(answer, NoStatement):
        return Trial(tables, expected_outcomes, answer, answer)
    return Trial(tables, expected_outcomes, answer, _attempt(lambda: carry_out(answer, tables)))


def _attempt(make: Callable[[], R]) -> R | NoStatement:
    try:
        return make()
    except NoStatement as error:
        return error


def _make_possible(items: Iterable[T], make: Callable[[T], R]) -> Sequence[R]:
    """Make what can be made of the items. Raises ``NoStatement`` where nothing can."""
    results, cause = [], NoStatement("", "no call is accepted")
    for item in items:
        try:
            results.append(make(item))
        except NoStatement as error:
            cause = error
    if not results:
        raise cause
    return results


def _list_columns(tables: Sequence[DatabaseTable]) -> Schema:
    return {table.name: tuple(table.columns) for table in tables}
