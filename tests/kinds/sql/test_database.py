"""What statements do to tables, and what no statement can do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.entry import DatabaseTable
from pytest_fcbench.kinds.sql.corrected import carry_out, has_same_rows, has_same_state
from pytest_fcbench.kinds.sql.statements import Keyword, NoStatement, Statement
from tests.cases import each_case
from tests.kinds.sql.shop import TABLES, make_statement, run_statement


def test_a_query_returns_rows_and_changes_nothing() -> None:
    found = run_statement(columns=["name"], conditions=["price > 10"], order_by=["price DESC"])
    assert found.rows == (("plane",), ("saw",))
    assert has_same_state(found, run_statement())


def test_a_join_reaches_the_other_table() -> None:
    joins = ["JOIN shelves ON shelves.id = tools.shelf"]
    assert run_statement(columns=["room", "COUNT(*)"], joins=joins, group_by=["room"]).rows == (
        ("attic", 1),
        ("shed", 2),
    )


def test_a_change_shows_in_the_state() -> None:
    before = run_statement().state["tools"].rows
    inserted = run_statement("INSERT", columns=["id", "name"], insert_values=[["5", "axe"]])
    assert inserted.state["tools"].rows - before == {(5, "axe", None, None): 1}
    updated = run_statement("UPDATE", columns=["price"], update_values=["price * 2"], conditions=["id = 2"])
    assert updated.state["tools"].rows - before == {(2, "file", 8.0, 1): 1}
    deleted = run_statement("DELETE", conditions=["shelf = 1"])
    assert before - deleted.state["tools"].rows == {(1, "saw", 12.5, 1): 1, (2, "file", 4.0, 1): 1}
    created = run_statement("CREATE", "crates", columns=["id INTEGER PRIMARY KEY", "label TEXT UNIQUE", "x"])
    assert created.state["crates"].columns == (("id", "integer"), ("label", "text"), ("x", ""))


def test_each_statement_has_a_database_of_its_own() -> None:
    run_statement("DELETE")
    assert len(run_statement().rows) == 4


def test_rows_are_compared_in_order_only_where_it_counts() -> None:
    up, down = run_statement(order_by=["id"]), run_statement(order_by=["id DESC"])
    assert has_same_rows(up, down, ordered=False)
    assert not has_same_rows(up, down, ordered=True)
    assert not has_same_rows(
        run_statement(columns=["shelf"]), run_statement(columns=["DISTINCT shelf"]), ordered=False
    )


def test_a_type_counts_where_one_is_expected() -> None:
    typed, other, bare = (run_statement("CREATE", "t", columns=[c]) for c in ("a INTEGER", "a TEXT", "a"))
    assert has_same_state(bare, typed)
    assert not has_same_state(typed, bare)
    assert not has_same_state(typed, other)
    assert has_same_state(typed, run_statement("CREATE", "T", columns=["A BIGINT PRIMARY KEY"]))
    assert not has_same_state(bare, run_statement("CREATE", "u", columns=["a"]))
    assert not has_same_state(bare, run_statement("CREATE", "t", columns=["b"]))


CONTAINED = {
    # what: (arguments, code)
    "rows without end": (
        {"table": "tools, tools b, tools c, tools d, tools e, tools f, tools g"},
        "sql:too_much",
    ),
    "work without end": (
        {"table": ", ".join(f"tools t{n}" for n in range(12)), "columns": ["COUNT(*)"]},
        "sql:too_much",
    ),
    "a long row": ({"columns": ["name || '" + "x" * 3_000 + "'"] * 2, "conditions": ["id = 1"]}, None),
    "a text that grows": (
        {"columns": ["a||a||a||a||a"], "table": f"(SELECT '{'x' * 3_000}' AS a FROM tools) AS t"},
        "sql:too_much",
    ),
    "a slow pattern": ({"conditions": [f"name LIKE '{'%a' * 90}'"]}, None),
    "a long pattern": ({"conditions": [f"name LIKE '{'%a' * 900}'"]}, "sql:error"),
    "a deep sum": ({"columns": [f"id{' + 1' * 600}"]}, "sql:error"),
    "a huge limit": ({"limit": 999_999_999}, None),
    "a misused function": ({"conditions": ["COUNT(*) > 1"]}, "sql:error"),
    "the same table again": ({"keyword": "CREATE", "table": "tools", "columns": ["a"]}, "sql:error"),
    "a reserved name": ({"keyword": "CREATE", "table": "sqlite_t", "columns": ["a"]}, "sql:error"),
}


@each_case("what", CONTAINED)
def test_what_goes_too_far_ends_with_a_code(what: str) -> None:
    arguments, code = CONTAINED[what]
    made = make_statement(**arguments)  # type: ignore[arg-type]
    if code is None:
        carry_out(made, TABLES)
        return
    with pytest.raises(NoStatement) as caught:
        carry_out(made, TABLES)
    assert caught.value.code == code


BEYOND = (
    "SELECT * FROM sqlite_master",
    "SELECT * FROM shelves",
    "SELECT name FROM pragma_table_info('tools')",
    "SELECT * FROM tools WHERE id IN sqlite_master",
    "SELECT * FROM json_each('[1]')",
    "SELECT load_extension('/tmp/x')",
    "SELECT zeroblob(1000000000)",
    "SELECT printf('%1000000000d', 1)",
    "SELECT random()",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
    "ATTACH DATABASE ':memory:' AS x",
    "PRAGMA writable_schema = 1",
    "VACUUM INTO '/tmp/x'",
    "DROP TABLE tools",
    "ALTER TABLE tools RENAME TO t",
    "CREATE TABLE t (a)",
    "CREATE TEMP TABLE t (a)",
    "CREATE VIEW v AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON tools BEGIN DELETE FROM tools; END",
    "INSERT INTO shelves VALUES (9, 'x')",
    "UPDATE sqlite_master SET sql = ''",
    "DELETE FROM tools",
    "SELECT 1; SELECT 2",
    "BEGIN",
    "EXPLAIN SELECT * FROM shelves",
)

NOT_LET_THROUGH = (
    "^SQLite: (not authorized|authorization denied|access to .* is prohibited|vtable constructor failed"
    "|table sqlite_master may not be modified|You can only execute one statement at a time)"
)


@each_case("sql", BEYOND)
@each_case("keyword", [Keyword.SELECT, Keyword.INSERT, Keyword.UPDATE])
def test_the_database_itself_lets_nothing_else_through(keyword: Keyword, sql: str) -> None:
    """As if the translator had let it pass."""
    with pytest.raises(NoStatement, match=NOT_LET_THROUGH):
        carry_out(replace(make_statement(), keyword=keyword, sql=sql), TABLES)


def test_a_creation_creates_nothing_else() -> None:
    made = make_statement("CREATE", "crates", columns=["a"])
    for sql in (
        "CREATE TABLE crates AS SELECT * FROM tools",
        "DROP TABLE tools",
        "CREATE VIEW crates AS SELECT 1",
    ):
        with pytest.raises(NoStatement, match=NOT_LET_THROUGH):
            carry_out(replace(made, sql=sql), TABLES)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40))
def test_a_value_reaches_the_database_as_it_is(text: str) -> None:
    """Unless it is one of SQL's own texts, quotes and all, or a query."""
    text = f"~{text}"
    made = make_statement("INSERT", columns=["name"], insert_values=[[text]])
    assert (None, text, None, None) in carry_out(made, TABLES).state["tools"].rows


def test_odd_names_and_cells() -> None:
    table = DatabaseTable(
        'a "b"; --', {"select": "TEXT", "é x": "NUMERIC"}, (("x", "5"), (None, "2026-05-01"))
    )
    made = Statement("SELECT 1", Keyword.SELECT, frozenset(), (), 0, {}, ordered=False)
    content = carry_out(made, (table,)).state['a "b"; --']
    assert content.columns == (("select", "text"), ("é x", "numeric"))
    assert set(content.rows) == {("x", 5), (None, "2026-05-01")}
