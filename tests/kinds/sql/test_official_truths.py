"""On the tables that follow from them the official truths show what they do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.sql import kind as sql
from pytest_fcbench.kinds.sql.corrected import carry_out, derive_tables
from pytest_fcbench.kinds.sql.statements import Keyword, translate
from pytest_fcbench.suites.registry import open_suite
from tests.factories import make_transcript, tool_calls


@pytest.fixture(scope="module")
def truths(pack_cache: Path) -> list[tuple[Entry, dict[str, object]]]:
    """Return the entries that count, each with its first accepted call."""
    entries = open_suite("bfcl", pack_cache).load(CATEGORIES["sql"])
    return [(entry, _read_truth(entry)) for entry in entries if not entry.set_aside]


def _read_truth(entry: Entry) -> dict[str, object]:
    assert isinstance(entry.expectation, ExpectedCalls)
    (wanted,) = entry.expectation.calls
    return {name: values[0] for name, values in wanted.accepted.items() if isinstance(values, list)}


def _judge_arguments(entry: Entry, arguments: Mapping[str, object]) -> str:
    judgement = sql.judge(entry, make_transcript(tool_calls(("sql_execute", arguments))))
    assert not isinstance(judgement.corrected, Failed) or "not_carried_out" not in judgement.corrected.details
    return judgement.corrected.status


def test_every_condition_holds_in_some_rows_and_not_in_others(
    truths: list[tuple[Entry, dict[str, object]]],
) -> None:
    assert len(truths) == 94
    for entry, arguments in truths:
        statement = translate(arguments)
        tables = derive_tables(statement)
        found = carry_out(statement, tables)
        after = found.state[next(iter(statement.tables))].rows
        before = {row: 1 for table in tables for row in table.rows}
        match statement.keyword:
            case Keyword.SELECT:
                assert 0 < len(found.rows) < len(before), entry.id
            case Keyword.DELETE:
                assert 0 < len(after) < len(before), entry.id
            case Keyword.UPDATE:
                assert 0 < (after - type(after)(before)).total() < len(before), entry.id
            case Keyword.INSERT:
                assert after.total() == len(before) + 1, entry.id
            case Keyword.CREATE:
                assert not after, entry.id


def test_other_ways_to_write_a_truth_pass(truths: list[tuple[Entry, dict[str, object]]]) -> None:
    for entry, arguments in truths:
        keyword = str(arguments["sql_keyword"]).split()[0]
        other = {
            **arguments,
            "sql_keyword": keyword.lower(),
            "table_name": str(arguments["table_name"]).upper(),
        }
        assert _judge_arguments(entry, other) == "passed", entry.id
        if isinstance(conditions := arguments.get("conditions"), list):
            other["conditions"] = [[condition] for condition in reversed(conditions)]
            assert _judge_arguments(entry, other) == "passed", entry.id
        if keyword == "INSERT":
            assert isinstance(arguments["insert_values"], list)
            (row,) = (
                arguments["insert_values"]
                if isinstance(arguments["insert_values"][0], list)
                else [arguments["insert_values"]]
            )
            other["insert_values"] = [[str(value) for value in row]]
            assert _judge_arguments(entry, other) == "passed", entry.id


def test_what_differs_from_a_truth_fails(truths: list[tuple[Entry, dict[str, object]]]) -> None:
    for entry, arguments in truths:
        keyword = str(arguments["sql_keyword"]).split()[0]
        assert _judge_arguments(entry, {**arguments, "table_name": "another"}) == "failed", entry.id
        if "conditions" in arguments:
            without = {name: value for name, value in arguments.items() if name != "conditions"}
            assert _judge_arguments(entry, without) == "failed", entry.id
            conditions = arguments["conditions"]
            first = conditions[0] if isinstance(conditions, list) else conditions
            assert _judge_arguments(entry, {**arguments, "conditions": [f"NOT {first}"]}) == "failed", (
                entry.id
            )
        if keyword in ("SELECT", "CREATE"):
            assert isinstance(arguments["columns"], list | str)
            assert (
                _judge_arguments(entry, {**arguments, "columns": [*arguments["columns"], "more"]}) == "failed"
            )
        if keyword == "UPDATE":
            assert _judge_arguments(entry, {**arguments, "update_values": ["something else"]}) == "failed", (
                entry.id
            )
