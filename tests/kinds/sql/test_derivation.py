"""Tables that follow from a truth show what it does."""

from __future__ import annotations

import pytest

from pytest_fcbench.kinds.sql.corrected import derive_tables
from pytest_fcbench.kinds.sql.statements import NoStatement, translate
from tests.kinds.sql.shop import make_arguments


def test_columns_are_those_that_the_truth_names_and_one_more() -> None:
    (table,) = derive_tables(
        translate(make_arguments(columns=["Name"], conditions=["price > 5", "kind = 'saw'"]))
    )
    assert table.name == "tools"
    assert list(table.columns) == ["name", "price", "kind", "a further column"]
    assert set(table.columns.values()) == {"NUMERIC"}


def test_values_stand_beside_their_neighbours_in_all_combinations() -> None:
    (table,) = derive_tables(translate(make_arguments(conditions=["price > 5", "kind = 'saw'"])))
    prices, kinds = ({row[place] for row in table.rows} for place in (0, 1))
    assert prices == {4, 5, 6}
    assert kinds == {"saw", "sa", "saw~", "~saw"}
    assert len({row[:2] for row in table.rows}) == len(table.rows) == 12


def test_what_another_statement_compares_with_is_there_too() -> None:
    truth = translate(make_arguments(conditions=["price > 5"]))
    (table,) = derive_tables(truth, translate(make_arguments(conditions=["price > 5", "price < 900"])))
    assert {899, 900, 901} < {row[0] for row in table.rows}


def test_a_row_to_insert_has_as_many_columns_as_values() -> None:
    (named,) = derive_tables(
        translate(make_arguments("INSERT", columns=["id", "name"], insert_values=[[1, "a"]]))
    )
    assert list(named.columns) == ["id", "name"]
    (unnamed,) = derive_tables(translate(make_arguments("INSERT", insert_values=[[1, "a", 2]])))
    assert len(unnamed.columns) == 3


def test_there_is_nothing_before_something_is_created() -> None:
    assert derive_tables(translate(make_arguments("CREATE", columns=["id"]))) == ()


def test_many_conditions_make_no_endless_table() -> None:
    (table,) = derive_tables(translate(make_arguments(conditions=[f"c{n} = {n}" for n in range(14)])))
    assert len(table.rows) <= 2_000


def test_a_truth_about_several_tables_needs_tables_of_its_own() -> None:
    with pytest.raises(NoStatement, match="the truth is about several tables, and none is given"):
        derive_tables(translate(make_arguments(conditions=["id IN (SELECT id FROM shelves)"])))
