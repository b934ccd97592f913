"""The kind of entries that one statement of SQL answers.

Official rule (BFCL v1, category ``sql``): the call is compared with the possible answer as any other
(``kinds/calls``), so ``age>30`` is not ``30 < age``, and ``INSERT`` is not ``INSERT INTO``.

Corrected: the call and the accepted ones are written as statements (``statements``) and carried out, each in
a database of its own with the entry's tables, or with tables that follow from the truth (``corrected``).
Right is what returns the same rows, in the same order where the truth orders them, and leaves the same tables
behind. Where no accepted call can be carried out, the comparison as written decides.

To what questions with calls have (``calls.entries``) come tables, which the statements of all entries act on:

tables:
  books:
    columns: {id: INTEGER, title: TEXT, price: REAL}
    rows:
      - [1, The Salt Road, 12.5]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated

from pytest_fcbench.codecs.decoders.syntax import Calls
from pytest_fcbench.domain.entry import Category, DatabaseTable, Entry
from pytest_fcbench.domain.explanation import CallPair, Divergence, FailedEntry
from pytest_fcbench.domain.function_doc import FunctionDoc
from pytest_fcbench.domain.transcript import Call, Transcript
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, PathScore, Profile
from pytest_fcbench.formats.fields import Field
from pytest_fcbench.formats.questions import read_questions
from pytest_fcbench.formats.rows import AtLeastOne, OneOf, PlacedEntries, Row
from pytest_fcbench.kinds.answered_entry import classify_answer
from pytest_fcbench.kinds.calls import verdict as calls_verdict
from pytest_fcbench.kinds.calls.entries import ExpectingFile, ExpectingRow, read_expected_calls
from pytest_fcbench.kinds.calls.kind import CallsKind
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls, list_expected_calls
from pytest_fcbench.kinds.kind import Resources, read_last_answer

COLUMN_TYPES = ("INTEGER", "REAL", "TEXT", "NUMERIC")


class DatabaseTableRow(Row):
    """A table: its columns with their types, and its rows."""

    columns: AtLeastOne[Annotated[str, OneOf("type", COLUMN_TYPES)]]
    rows: list[list[object]]
    """Values by column."""


class SqlFile(ExpectingFile):
    """Questions that statements of SQL answer."""

    tables: dict[str, DatabaseTableRow]
    """The tables that the statement acts on."""


def read_entries(row: SqlFile, file: Field, suite: str, category: Category) -> PlacedEntries:
    """Yield the entries of a file with their places. Raises ``SuiteError``."""

    def read_truth(question: ExpectingRow, place: Field, docs: Mapping[str, FunctionDoc]) -> ExpectedCalls:
        # A judge of texts knows nothing of what a statement does.
        if question.judged:
            rule = f"is not for {category.name}, whose statements are carried out; leave it out"
            raise place.at("judged").error(rule)
        return read_expected_calls(category, question, place, docs)

    # The tables last, so that an error in them does not hide those of the rest.
    without_tables = list(read_questions(row, file, suite, category, read_truth))
    tables = read_tables(row.tables, file.at("tables"))
    for place, entry in without_tables:
        yield place, replace(entry, tables=tables)


def read_tables(rows: Mapping[str, DatabaseTableRow], at: Field) -> tuple[DatabaseTable, ...]:
    """Return the tables, in their order. Raises ``SuiteError``."""
    columns = (("columns", row.columns, at.at(name, "columns")) for name, row in rows.items())
    for kind, names, place in (("tables", rows, at), *columns):
        # SQL does not tell names apart by the case of letters.
        if len({name.lower() for name in names}) != len(names):
            raise place.error(f"two {kind} have the same name, apart from upper and lower case")
    tables = []
    for name, row in rows.items():
        for place, values in zip(at.at(name, "rows").elements(), row.rows, strict=True):
            if len(values) != len(row.columns):
                raise place.error(f"has {len(values)} values for {len(row.columns)} columns")
            for field in place.elements():
                # YAML also reads dates, which SQLite has no type for, and longer numbers than it has.
                if field.value is not None and not isinstance(field.value, (str, int, float)):
                    raise field.error("must be text, a number or null")
                if isinstance(field.value, int) and abs(field.value) >= 2**63:
                    raise field.error("has more than 63 bits; put it in quotes")
        tables.append(DatabaseTable(name, row.columns, tuple(map(tuple, row.rows))))
    return tuple(tables)


class SqlKind(CallsKind):
    """Exactly one call, whose arguments are the parts of a statement of SQL."""

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the statement of the last answer."""
        return judge(entry, transcript)

    def classify_failure(self, failure: FailedEntry, resources: Resources) -> Divergence:
        """Find what is wrong with the call, or with the result of its statement."""
        # The parts of a statement that was carried out may be written in any way.
        if failure.verdict.code.startswith("sql:"):
            return classify_answer(failure)
        return super().classify_failure(failure, resources)

    def pair_calls(self, failure: FailedEntry, path: PathScore | None) -> tuple[CallPair, ...]:
        """Pair the calls as written; corrected, statements are judged by their results, not by arguments."""
        return super().pair_calls(failure, path) if failure.profile is Profile.OFFICIAL else ()


SQL = SqlKind("sql.kind:SqlFile")


def judge(entry: Entry, transcript: Transcript) -> Judgement:
    """Judge the last answer's statement of SQL. ``entry`` must expect one call."""
    as_written = calls_verdict.judge(entry, transcript)
    call = None if isinstance(as_written.corrected, NotScored) else find_call(entry, transcript)
    if call is None:
        return as_written
    # Imported here so that runs without SQL do not import sqlglot.
    from pytest_fcbench.kinds.sql import corrected

    verdict = corrected.match_call(entry, get_expected_call(entry), call, as_written.corrected)
    return replace(as_written, corrected=verdict)


def get_expected_call(entry: Entry) -> ExpectedCall:
    """Return the expected call. Raises TypeError where an entry expects something else."""
    match entry.expectation:
        case ExpectedCalls(calls=(call,)):
            return call
    raise TypeError(f"{entry.key} does not expect one call")


def find_call(entry: Entry, transcript: Transcript) -> Call | None:
    """Return the last answer's call of the expected function, if it makes that and no other."""
    if transcript.last.fault:
        return None
    match read_last_answer(entry, transcript):
        case Calls(calls=(call,)) if call.name == get_expected_call(entry).name and not call.positional:
            return call
    return None


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
