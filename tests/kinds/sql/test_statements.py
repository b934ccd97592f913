"""What calls become as statements, and what none can become."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import suppress

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from pytest_fcbench.kinds.sql.corrected import carry_out
from pytest_fcbench.kinds.sql.statements import Keyword, NoStatement, translate
from tests.cases import each_case
from tests.codecs.hostile import HOSTILE, wild_text
from tests.kinds.sql.shop import SCHEMA, TABLES, make_arguments, make_statement

WRITTEN = {
    # id: (call, statement)
    "all": (make_arguments(), 'SELECT * FROM "tools"'),
    "star": (make_arguments(columns=["*"]), 'SELECT * FROM "tools"'),
    "empty arguments": (
        make_arguments(columns=[], conditions=[], insert_values="", limit=None),
        'SELECT * FROM "tools"',
    ),
    "columns": (make_arguments(columns=["id", "name"]), 'SELECT "id", "name" FROM "tools"'),
    "a text with commas": (make_arguments(columns="id, name"), 'SELECT "id", "name" FROM "tools"'),
    "commas within a part": (
        make_arguments(columns=["COALESCE(name, 'a, b'), id"], order_by="price DESC, id"),
        """SELECT COALESCE("name", 'a, b'), "id" FROM "tools" ORDER BY "price" DESC, "id\"""",
    ),
    "groups with commas": (
        make_arguments(
            columns="shelf, room, COUNT(*)", joins=["JOIN shelves s ON s.id = shelf"], group_by="shelf, room"
        ),
        'SELECT "shelf", "room", COUNT(*) FROM "tools" JOIN "shelves" AS "s" ON "s"."id" = "shelf" '
        'GROUP BY "shelf", "room"',
    ),
    "filled columns with commas": (
        make_arguments("INSERT", columns="id, name", insert_values=[[1, "saw"]]),
        'INSERT INTO "tools" ("id", "name") VALUES (1, \'saw\')',
    ),
    "created columns with commas": (
        make_arguments("CREATE", "crates", columns="id INTEGER, weight DECIMAL(10, 2)"),
        'CREATE TABLE "crates" ("id" INTEGER, "weight" REAL(10, 2))',
    ),
    "a single text": (
        make_arguments(columns="id", conditions="id = 1"),
        'SELECT "id" FROM "tools" WHERE "id" = 1',
    ),
    "expressions": (
        make_arguments(columns=["COUNT(*) AS n", "price * 2"]),
        'SELECT COUNT(*) AS "n", "price" * 2 FROM "tools"',
    ),
    "distinct": (make_arguments(columns=["distinct shelf"]), 'SELECT DISTINCT "shelf" FROM "tools"'),
    "conditions": (
        make_arguments(conditions=["id > 1", "price < 5 OR shelf = 2"]),
        'SELECT * FROM "tools" WHERE "id" > 1 AND ("price" < 5 OR "shelf" = 2)',
    ),
    "nested conditions": (
        make_arguments(conditions=[["id > 1"], ["id < 3"]]),
        'SELECT * FROM "tools" WHERE "id" > 1 AND "id" < 3',
    ),
    "a word without quotes": (
        make_arguments(conditions=["name = saw", 'name = "saw"']),
        """SELECT * FROM "tools" WHERE "name" = 'saw' AND "name" = 'saw'""",
    ),
    "words without quotes": (
        make_arguments(conditions=["name = Old plane"]),
        """SELECT * FROM "tools" WHERE "name" = 'Old plane'""",
    ),
    "a column on the right": (
        make_arguments(conditions=["id = shelf"]),
        'SELECT * FROM "tools" WHERE "id" = "shelf"',
    ),
    "a comment": (make_arguments(conditions=["id = 1 -- or not"]), 'SELECT * FROM "tools" WHERE "id" = 1'),
    "nested query": (
        make_arguments(conditions=["shelf IN (SELECT id FROM shelves WHERE room = 'attic')"]),
        """SELECT * FROM "tools" WHERE "shelf" IN (SELECT "id" FROM "shelves" WHERE "room" = 'attic')""",
    ),
    "from a query": (
        make_arguments(table="(SELECT name FROM tools) AS t"),
        'SELECT * FROM (SELECT "name" FROM "tools") AS "t"',
    ),
    "joins": (
        make_arguments(columns=["room"], joins=["LEFT JOIN shelves ON shelves.id = tools.shelf"]),
        'SELECT "room" FROM "tools" LEFT JOIN "shelves" ON "shelves"."id" = "tools"."shelf"',
    ),
    "joined tables": (
        make_arguments(table="tools t JOIN shelves s ON s.id = t.shelf", columns=["t.name"]),
        'SELECT "t"."name" FROM "tools" AS "t" JOIN "shelves" AS "s" ON "s"."id" = "t"."shelf"',
    ),
    "groups": (
        make_arguments(columns=["shelf"], group_by=["shelf"], having=["COUNT(*) > 1"]),
        'SELECT "shelf" FROM "tools" GROUP BY "shelf" HAVING COUNT(*) > 1',
    ),
    "order and limit": (
        make_arguments(order_by=["price DESC", "id"], limit=2),
        'SELECT * FROM "tools" ORDER BY "price" DESC, "id" LIMIT 2',
    ),
    "insert": (
        make_arguments("INSERT", columns=["id", "name"], insert_values=[[5, "O'Hara's axe"], ["6", None]]),
        """INSERT INTO "tools" ("id", "name") VALUES (5, 'O''Hara''s axe'), ('6', NULL)""",
    ),
    "one row": (
        make_arguments("insert into", insert_values=[5, "axe", 2.5, True]),
        """INSERT INTO "tools" VALUES (5, 'axe', 2.5, 1)""",
    ),
    "a date is no calculation": (
        make_arguments("INSERT", columns=["name"], insert_values=[["2026-05-01"], ["id + 1"], ["'axe'"]]),
        """INSERT INTO "tools" ("name") VALUES ('2026-05-01'), ('id + 1'), ('axe')""",
    ),
    "update": (
        make_arguments(
            "UPDATE", columns=["name", "price"], update_values=["name", "price + 1"], conditions=["id = 1"]
        ),
        """UPDATE "tools" SET "name" = 'name', "price" = "price" + 1 WHERE "id" = 1""",
    ),
    "update by a query": (
        make_arguments("UPDATE", columns="price", update_values="(SELECT MAX(price) FROM tools)"),
        'UPDATE "tools" SET "price" = (SELECT MAX("price") FROM "tools")',
    ),
    "delete": (
        make_arguments("DELETE FROM", columns=["id", "name"], conditions=["price BETWEEN 1 AND 5"]),
        'DELETE FROM "tools" WHERE "price" BETWEEN 1 AND 5',
    ),
    "create": (
        make_arguments(
            "CREATE TABLE", "crates", columns=["id INTEGER PRIMARY KEY", "label", "weight REAL NOT NULL"]
        ),
        'CREATE TABLE "crates" ("id" INTEGER PRIMARY KEY, "label", "weight" REAL NOT NULL)',
    ),
    "a word of SQL as a name": (
        make_arguments("CREATE", "order", columns=["group"]),
        'CREATE TABLE "order" ("group")',
    ),
}


@each_case("name", WRITTEN)
def test_a_call_becomes_a_statement(name: str) -> None:
    arguments, sql = WRITTEN[name]
    assert translate(arguments, SCHEMA).sql == sql


NONE: Mapping[str, tuple[Mapping[str, object], str]] = {
    # id: (call, end of the code)
    "no keyword": ({"table_name": "tools"}, "cannot_translate"),
    "another keyword": (make_arguments("DROP"), "cannot_translate"),
    "keyword with more": (make_arguments("SELECT 1; --"), "cannot_translate"),
    "no table": ({"sql_keyword": "SELECT"}, "cannot_translate"),
    "unknown parameter": (make_arguments(pragma="x"), "cannot_translate"),
    "parameter of another statement": (make_arguments(update_values=[1]), "cannot_translate"),
    "not SQL": (make_arguments(conditions=["id === 1"]), "cannot_translate"),
    "condition of another type": (make_arguments(conditions=[{"id": 1}]), "cannot_translate"),
    "half a number": (make_arguments(conditions=["id = 1e"]), "refused"),
    "negative limit": (make_arguments(limit=-1), "cannot_translate"),
    "limit of another type": (make_arguments(limit=True), "cannot_translate"),
    "limit with more": (make_arguments(limit="1; DROP TABLE tools"), "cannot_translate"),
    "too few values for a text of columns": (
        make_arguments("INSERT", columns="id, name", insert_values=[[1]]),
        "cannot_translate",
    ),
    "nothing between commas": (make_arguments(columns="id, , name"), "cannot_translate"),
    "nothing behind a comma": (make_arguments(columns="id,"), "cannot_translate"),
    "a text of columns of which one is not there": (make_arguments(columns="id, weight"), "unknown_name"),
    "a quote that does not end": (make_arguments(columns="id, 'name"), "cannot_translate"),
    "parentheses that do not end": (make_arguments(columns="id, COUNT(name"), "cannot_translate"),
    "too few values": (
        make_arguments("INSERT", columns=["id", "name"], insert_values=[[1]]),
        "cannot_translate",
    ),
    "rows of different widths": (make_arguments("INSERT", insert_values=[[1, 2], [1]]), "cannot_translate"),
    "no rows": (make_arguments("INSERT", insert_values=[]), "cannot_translate"),
    "a row that is an object": (make_arguments("INSERT", insert_values=[{"id": 1}]), "cannot_translate"),
    "not a number": (
        make_arguments("INSERT", columns=["id"], insert_values=[[float("nan")]]),
        "cannot_translate",
    ),
    "huge number": (make_arguments("INSERT", columns=["id"], insert_values=[[10**40]]), "cannot_translate"),
    "nothing to set": (make_arguments("UPDATE", update_values=[1]), "cannot_translate"),
    "nothing to create": (make_arguments("CREATE", "crates"), "cannot_translate"),
    "a table that is not there": (make_arguments(table="crates"), "unknown_name"),
    "a column that is not there": (make_arguments(columns=["weight"]), "unknown_name"),
    "a column that is not there, compared": (make_arguments(conditions=["weight = 1"]), "unknown_name"),
}


@each_case("name", NONE)
def test_a_call_that_is_no_statement(name: str) -> None:
    arguments, code = NONE[name]
    with pytest.raises(NoStatement) as caught:
        translate(arguments, SCHEMA)
    assert caught.value.code == f"sql:{code}"


def _nest_list(value: object, depth: int) -> object:
    for _ in range(depth):
        value = [value]
    return value


ATTACKS: Mapping[str, tuple[Mapping[str, object], str]] = {
    # what: (arguments, reason of the refusal)
    "second statement": (
        make_arguments(conditions=["id = 1; DROP TABLE tools; --"]),
        "not SQL: 'id = 1; DROP TABLE tools; --'",
    ),
    "end of a text": (
        make_arguments(conditions=["name = 'x'; DROP TABLE tools; --'"]),
        "not SQL: \"name = 'x'; DROP TABLE tools; --'\"",
    ),
    "end of a parenthesis": (
        make_arguments(conditions=["id = 1) OR (1 = 1"]),
        "not SQL: 'id = 1) OR (1 = 1'",
    ),
    "second statement behind the table": (
        make_arguments(table="tools; DROP TABLE tools"),
        "not SQL: 'FROM tools; DROP TABLE tools'",
    ),
    "end of the statement": (
        make_arguments(table="tools WHERE 1 = 1 --"),
        "not SQL: 'FROM tools WHERE 1 = 1 --'",
    ),
    "attach": (
        make_arguments(conditions=["ATTACH DATABASE '/tmp/x' AS x"]),
        "not SQL: \"ATTACH DATABASE '/tmp/x' AS x\"",
    ),
    "attach by keyword": (
        make_arguments("ATTACH", "x"),
        "sql_keyword is none of SELECT, INSERT, UPDATE, DELETE, CREATE",
    ),
    "pragma": (
        make_arguments(conditions=["PRAGMA writable_schema = 1"]),
        "not SQL: 'PRAGMA writable_schema = 1'",
    ),
    "pragma as a table": (make_arguments(table="pragma_table_list"), "there is no table pragma_table_list"),
    "pragma as a function": (
        make_arguments(conditions=["id IN (SELECT name FROM pragma_table_info('tools'))"]),
        "a table must be named by its name alone",
    ),
    "vacuum": (make_arguments(conditions=["VACUUM INTO '/tmp/x'"]), "not SQL: \"VACUUM INTO '/tmp/x'\""),
    "catalogue": (make_arguments(table="sqlite_master"), "there is no table sqlite_master"),
    "catalogue in a query": (
        make_arguments(conditions=["name IN (SELECT name FROM sqlite_master)"]),
        "there is no table sqlite_master",
    ),
    "catalogue in a query of a column": (
        make_arguments(columns=["(SELECT name FROM sqlite_master)"]),
        "there is no table sqlite_master",
    ),
    "catalogue behind IN": (make_arguments(conditions=["name IN sqlite_master"]), "In is not allowed here"),
    "catalogue by union": (
        make_arguments(conditions=["id IN (SELECT id FROM tools UNION SELECT name FROM sqlite_master)"]),
        "there is no table sqlite_master",
    ),
    "catalogue by union with a condition": (
        make_arguments(conditions=["1 = 1 UNION SELECT name FROM sqlite_master"]),
        "there is no column 1",
    ),
    "catalogue in a value": (
        make_arguments("INSERT", columns=["name"], insert_values=[["(SELECT name FROM sqlite_master)"]]),
        "there is no table sqlite_master",
    ),
    "another database": (make_arguments(table="temp.tools"), "a table must be named by its name alone"),
    "another database of a column": (
        make_arguments(conditions=["temp.tools.id = 1"]),
        "a column must be named by its name and its table's",
    ),
    "extension": (make_arguments(columns=["load_extension('/tmp/x')"]), "Anonymous is not allowed here"),
    "file": (make_arguments(conditions=["readfile('/etc/passwd') = 'x'"]), "Anonymous is not allowed here"),
    "table of a function": (
        make_arguments(table="generate_series(1, 1000000000)"),
        "a table must be named by its name alone",
    ),
    "huge value": (make_arguments(columns=["zeroblob(1000000000)"]), "Anonymous is not allowed here"),
    "huge text": (make_arguments(columns=["printf('%1000000000d', 1)"]), "Anonymous is not allowed here"),
    "chance": (make_arguments(conditions=["random() > 0"]), "Rand is not allowed here"),
    "clock": (make_arguments(conditions=["date('now') > name"]), "Date is not allowed here"),
    "recursion": (
        make_arguments(
            conditions=[
                "id IN (WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id FROM c)"
            ]
        ),
        "With is not allowed here",
    ),
    "recursion as a table": (
        make_arguments(
            table="(WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id FROM c) AS t"
        ),
        "With is not allowed here",
    ),
    "parameter": (make_arguments(conditions=["id = ?"]), "Placeholder is not allowed here"),
    "named parameter": (make_arguments(conditions=["id = :x"]), "Placeholder is not allowed here"),
    "row id": (make_arguments(columns=["rowid"]), "there is no column rowid"),
    "type of one's own": (
        make_arguments("CREATE", "t", columns=["a x"]),
        "a type is none of SQLite's usual ones",
    ),
    "default with a function": (
        make_arguments("CREATE", "t", columns=["a TEXT DEFAULT (load_extension('x'))"]),
        "DefaultColumnConstraint is not allowed here",
    ),
    "reference": (
        make_arguments("CREATE", "t", columns=["a INTEGER REFERENCES tools(id)"]),
        "Reference is not allowed here",
    ),
    "created from a query": (
        make_arguments("CREATE", "t AS SELECT 1", columns=["a"]),
        "not SQL: 't AS SELECT 1'",
    ),
    "created in another database": (make_arguments("CREATE", "temp.t", columns=["a"]), "not SQL: 'temp.t'"),
    "null character": (
        make_arguments(conditions=["name = '\0'"]),
        "the call has characters that no statement can have",
    ),
    "lone surrogate": (
        make_arguments(conditions=["name = '\ud800'"]),
        "the call has characters that no statement can have",
    ),
    "long": (
        make_arguments(conditions=["id = 1" + " OR id = 1" * 3_000]),
        "the call is longer than 8,000 characters",
    ),
    "many parts": (
        make_arguments(conditions=["id = 1" + " OR id = 1" * 700]),
        "the call has more than 2,000 parts",
    ),
    "deep": (
        make_arguments(conditions=["(" * 3_000 + "id" + ")" * 3_000 + " = 1"]),
        "the call is nested too deeply",
    ),
    "many columns": (make_arguments(columns=["id"] * 1_500), "the call has more than 2,000 parts"),
    "deep lists": (make_arguments(conditions=_nest_list("id = 1", 5_000)), "the call is nested too deeply"),
}


@each_case("name", ATTACKS)
def test_an_attack_is_refused(name: str) -> None:
    arguments, reason = ATTACKS[name]
    with pytest.raises(NoStatement) as caught:
        translate(arguments, SCHEMA)
    assert str(caught.value) == reason


QUOTED = {
    "a statement as a value": "'; DROP TABLE tools; --",
    "unicode quotes": "‘x’ OR ‘1’=‘1",
    "backslash": "\\'; DROP TABLE tools; --",
    "a comment": "x /* y */ --",
    "a function": "load_extension('x')",
}


@each_case("text", QUOTED.values(), ids=QUOTED)
def test_a_value_stays_a_value(text: str) -> None:
    made = make_statement("INSERT", columns=["name"], insert_values=[[text]])
    (tree,) = sqlglot.parse(made.sql, read="sqlite")
    assert tree is not None
    assert [literal.name for literal in tree.find_all(exp.Literal)] == [text]


def test_what_is_known_of_a_statement() -> None:
    made = make_statement(
        conditions=["id > -1", "name IN ('a', 'b')", "price BETWEEN 1 AND 2.5"], order_by=["id"]
    )
    assert (made.keyword, made.tables, made.ordered) == (Keyword.SELECT, frozenset(["tools"]), True)
    assert made.compared == {"id": (-1,), "name": ("a", "b"), "price": (1, 2.5)}
    made = make_statement("UPDATE", columns=["Name"], update_values=["x"], conditions=["shelf IS NULL"])
    assert (made.columns, made.compared, made.ordered) == (("Name",), {"shelf": (None,)}, False)


def test_without_a_schema_a_call_names_its_own_columns() -> None:
    made = translate(make_arguments(columns=["name"], conditions=["kind = saw", "name = kind"]))
    assert made.sql == """SELECT "name" FROM "tools" WHERE "kind" = 'saw' AND "name" = "kind\""""


_NAMES = (*SCHEMA, *SCHEMA["tools"], "room", "sqlite_master", "t", "*", "x")
_WORDS = st.sampled_from(
    [
        *_NAMES,
        *(
            "SELECT",
            "FROM",
            "WHERE",
            "IN",
            "AND",
            "OR",
            "NOT",
            "LIKE",
            "BETWEEN",
            "JOIN",
            "ON",
            "AS",
            "UNION",
        ),
        *(
            "WITH",
            "RECURSIVE",
            "CASE",
            "WHEN",
            "END",
            "(",
            ")",
            ",",
            ";",
            "--",
            "/*",
            "*/",
            "'",
            '"',
            "`",
            "[",
            "]",
        ),
        *(
            "=",
            "<",
            "||",
            "+",
            "-",
            "1",
            "0.5",
            "1e999",
            "NULL",
            "TRUE",
            "COUNT(",
            "::",
            "?",
            ":a",
            ".",
            "\0",
            "é",
        ),
    ]
)
_TEXTS = st.lists(_WORDS, max_size=12).map(" ".join) | wild_text
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=2),
    max_leaves=6,
)
_PARAMETERS = (
    *("columns", "insert_values", "update_values", "conditions", "joins", "group_by", "having", "order_by"),
    *("limit", "x"),
)
_WILD = st.fixed_dictionaries(
    {"sql_keyword": st.sampled_from(Keyword) | _ANY, "table_name": st.sampled_from(list(SCHEMA)) | _ANY},
    optional={name: st.lists(_TEXTS, max_size=3) | _ANY for name in _PARAMETERS},
)
_COLUMN = st.sampled_from([*SCHEMA["tools"], "room", "tools.id", "shelves.id", "x"])
_OPERAND = _COLUMN | st.sampled_from(
    [
        *("1", "-2.5", "'saw'", "saw", "NULL", "1e999", "COUNT(*)", "LOWER(name)", "random()", "?"),
        *("(SELECT id FROM shelves)", "(SELECT name FROM sqlite_master)", "(1, 2)", "'%a%'", "id + 1"),
    ]
)
_CONDITION = st.tuples(
    _OPERAND,
    st.sampled_from(["=", "<", "<>", "LIKE", "IN", "NOT IN", "IS", "IS NOT", "||", "AND", "OR", "=="]),
    _OPERAND,
).map(" ".join)
_USUAL = st.fixed_dictionaries(
    {
        "sql_keyword": st.sampled_from(Keyword),
        "table_name": st.sampled_from(
            [*SCHEMA, "tools AS t", "tools, shelves", "(SELECT * FROM tools) AS t"]
        ),
    },
    optional={
        "columns": st.lists(_OPERAND | st.sampled_from(["*", "DISTINCT id", "a INT", "id AS x"]), max_size=3),
        "insert_values": st.lists(st.lists(_OPERAND | st.integers(), min_size=1, max_size=3), max_size=2),
        "update_values": st.lists(_OPERAND | st.integers(), max_size=3),
        "conditions": st.lists(_CONDITION, max_size=3),
        "joins": st.lists(_CONDITION.map("JOIN shelves ON {}".format), max_size=1),
        "group_by": st.lists(_OPERAND, max_size=2),
        "having": st.lists(_CONDITION, max_size=2),
        "order_by": st.lists(_OPERAND.map("{} DESC".format), max_size=2),
        "limit": st.integers(-1, 10**10),
    },
)


CALL_ARGUMENTS = _WILD | _USUAL
"""Arguments of any call, and of calls that could be meant."""


@settings(max_examples=3 * settings().max_examples)
@given(arguments=CALL_ARGUMENTS)
def test_any_arguments_become_a_statement_about_known_tables_or_none(arguments: dict[str, object]) -> None:
    """And any statement is carried out, or is said not to be."""
    for schema in (SCHEMA, None):
        try:
            made = translate(arguments, schema)
        except NoStatement:
            continue
        (tree,) = sqlglot.parse(made.sql, read="sqlite")
        assert tree is not None
        named = {table.name.lower() for table in tree.find_all(exp.Table)}
        assert named <= made.tables
        assert schema is None or made.keyword is Keyword.CREATE or made.tables <= SCHEMA.keys()
        if schema:
            with suppress(NoStatement):
                carry_out(made, TABLES)


@each_case("text", HOSTILE.values(), ids=HOSTILE)
@each_case("name", ["sql_keyword", "table_name", "columns", "conditions", "limit"])
def test_hostile_texts_do_no_harm(name: str, text: str) -> None:
    try:
        made = translate({**make_arguments(), name: text}, SCHEMA)
    except NoStatement:
        return
    before = copy.deepcopy(TABLES)
    assert made.tables <= SCHEMA.keys()
    assert made.sql.count(";") == (text.count(";") if name == "conditions" else 0)
    carry_out(made, TABLES)
    assert before == TABLES
