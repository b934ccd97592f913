"""The tables that a statement acts on, and what it did beside what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.transcript import Transcript
from pytest_fcbench.kinds.calls.truth import ExpectedCall, ExpectedCalls
from pytest_fcbench.run.sql_tables import render_results, render_tables
from pytest_fcbench.suites.registry import open_suite
from tests.factories import make_transcript, tool_calls

CORE = {entry.id: entry for entry in open_suite("core", Path()).load(CATEGORIES["sql"])}
DEAR = {"sql_keyword": "SELECT", "table_name": "bikes", "columns": ["model", "price_per_day"]}


def make_answer(arguments: Mapping[str, object]) -> Transcript:
    return make_transcript(tool_calls(("rental_db_run", dict(arguments))))


def make_entry_without_tables(**accepted: str) -> Entry:
    """Make an entry without tables of its own that expects this call."""
    call = ExpectedCall("rental_db.run", {name: [value] for name, value in accepted.items()})
    return replace(CORE["sql_0"], tables=(), expectation=ExpectedCalls((call,)))


def test_tables_that_are_given() -> None:
    lines = list(render_tables(CORE["sql_0"], None))
    assert lines[1:5] == [
        "table bikes",
        "id INTEGER  model TEXT  kind TEXT  price_per_day REAL  station_id INTEGER",
        "-------------------------------------------------------------------------",
        "1           Heron       city       14                  1",
    ]
    assert [line for line in lines if line.startswith("table ")] == [
        "table bikes",
        "table stations",
        "table rentals",
    ]


def test_tables_that_follow_from_the_truth_and_the_answer() -> None:
    entry = make_entry_without_tables(
        sql_keyword="SELECT", table_name="pupils", columns="name", conditions="age > 9"
    )
    lines = list(render_tables(entry, None))
    assert lines[1:3] == ["derived table pupils", "name NUMERIC  age NUMERIC  a further column NUMERIC"]
    assert {line.split()[1] for line in lines[4:]} == {"8", "9", "10"}
    asked = {"sql_keyword": "SELECT", "table_name": "pupils", "columns": ["name"], "conditions": ["age > 12"]}
    more = list(render_tables(entry, make_answer(asked)))
    assert {line.split()[1] for line in more[4:]} == {"8", "9", "10", "11", "12", "13"}


def test_many_rows_are_cut_unless_all_are_asked_for() -> None:
    conditions = "a > 1 AND b > 1 AND c > 1"
    entry = make_entry_without_tables(
        sql_keyword="SELECT", table_name="t", columns="a", conditions=conditions
    )
    assert list(render_tables(entry, None))[-1] == "and 7 more rows; --full shows all"
    assert len(list(render_tables(entry, None, full=True))) == 27 + 4


def test_a_truth_that_cannot_be_carried_out_has_no_tables() -> None:
    lines = list(render_tables(make_entry_without_tables(sql_keyword="DROP", table_name="t"), None))
    assert lines[1].startswith(
        "no tables: the expected statement cannot be executed: sql_keyword is none of SELECT"
    )
    assert (
        list(render_results(make_entry_without_tables(sql_keyword="DROP", table_name="t"), make_answer(DEAR)))
        == []
    )


def test_rows_side_by_side() -> None:
    lines = list(render_results(CORE["sql_0"], make_answer({**DEAR, "conditions": ["price_per_day > 30"]})))
    assert lines == [
        "",
        'expected  SELECT "model", "price_per_day" FROM "bikes" WHERE "price_per_day" > 25',
        'found     SELECT "model", "price_per_day" FROM "bikes" WHERE "price_per_day" > 30',
        "",
        "rows (5 and 3)",
        "expected      found",
        "-------------------------",
        "Otter, 32.5   Otter, 32.5",
        "Ibex, 27.0    Mule, 38.0",
        "Mule, 38.0    Ox, 35.0",
        "Marmot, 29.0",
        "Ox, 35.0",
    ]


def test_what_is_left_behind_side_by_side() -> None:
    gone = {"sql_keyword": "DELETE", "table_name": "rentals", "conditions": ["days > 3"]}
    lines = list(render_results(CORE["sql_17"], make_answer(gone)))
    assert lines[4] == "differences in table rentals afterwards (1 and 1)"
    assert lines[7] == "6, 5, Tomasz, 2026-06-14, 4  1, 3, Ines, 2026-04-28, 2"


def test_a_table_that_is_made_otherwise() -> None:
    made = {"sql_keyword": "CREATE", "table_name": "repairs", "columns": "id INTEGER, cost REAL"}
    text = "\n".join(render_results(CORE["sql_19"], make_answer(made)))
    assert "differences in table repairs afterwards (1 and 1)" in text
    assert "  columns id integer, cost real" in text
    text = "\n".join(render_results(CORE["sql_19"], make_answer({**made, "table_name": "other"})))
    assert "(no such table)" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"table_name": "b\x1b[31m"}, "found     no statement: not SQL: 'FROM b\\x1b[31m'"),
        ({"table_name": "cars"}, "found     no statement: there is no table cars"),
        ({"columns": ["COUNT(*) FROM bikes; DROP TABLE bikes"]}, "found     no statement: not SQL: *"),
    ],
    ids=["hostile", "no such table", "two statements"],
)
def test_what_is_no_statement_is_said_so(arguments: Mapping[str, object], says: str) -> None:
    lines = list(render_results(CORE["sql_0"], make_answer({**DEAR, **arguments})))
    assert lines[2].startswith(says.removesuffix("*"))
    assert len(lines) == 3


def test_what_calls_nothing_has_no_results() -> None:
    assert list(render_results(CORE["sql_0"], make_transcript("I would rather not."))) == []
