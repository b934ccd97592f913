"""What calls become as statements, and what none can become."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from pytest_fcbench.matchers.sql.database import carry_out
from pytest_fcbench.matchers.sql.statements import Keyword, NoStatement, translate
from tests.codecs.hostile import HOSTILE, wild_text
from tests.matchers.sql.shop import SCHEMA, TABLES, call, statement

WRITTEN = {
    # id: (call, statement)
    "all": (call(), 'SELECT * FROM "tools"'),
    "star": (call(columns=["*"]), 'SELECT * FROM "tools"'),
    "empty arguments": (
        call(columns=[], conditions=[], insert_values="", limit=None),
        'SELECT * FROM "tools"',
    ),
    "columns": (call(columns=["id", "name"]), 'SELECT "id", "name" FROM "tools"'),
    "a text with commas": (call(columns="id, name"), 'SELECT "id", "name" FROM "tools"'),
    "commas within a part": (
        call(columns=["COALESCE(name, 'a, b'), id"], order_by="price DESC, id"),
        """SELECT COALESCE("name", 'a, b'), "id" FROM "tools" ORDER BY "price" DESC, "id\"""",
    ),
    "groups with commas": (
        call(
            columns="shelf, room, COUNT(*)", joins=["JOIN shelves s ON s.id = shelf"], group_by="shelf, room"
        ),
        'SELECT "shelf", "room", COUNT(*) FROM "tools" JOIN "shelves" AS "s" ON "s"."id" = "shelf" '
        'GROUP BY "shelf", "room"',
    ),
    "filled columns with commas": (
        call("INSERT", columns="id, name", insert_values=[[1, "saw"]]),
        'INSERT INTO "tools" ("id", "name") VALUES (1, \'saw\')',
    ),
    "created columns with commas": (
        call("CREATE", "crates", columns="id INTEGER, weight DECIMAL(10, 2)"),
        'CREATE TABLE "crates" ("id" INTEGER, "weight" REAL(10, 2))',
    ),
    "a single text": (call(columns="id", conditions="id = 1"), 'SELECT "id" FROM "tools" WHERE "id" = 1'),
    "expressions": (
        call(columns=["COUNT(*) AS n", "price * 2"]),
        'SELECT COUNT(*) AS "n", "price" * 2 FROM "tools"',
    ),
    "distinct": (call(columns=["distinct shelf"]), 'SELECT DISTINCT "shelf" FROM "tools"'),
    "conditions": (
        call(conditions=["id > 1", "price < 5 OR shelf = 2"]),
        'SELECT * FROM "tools" WHERE "id" > 1 AND ("price" < 5 OR "shelf" = 2)',
    ),
    "nested conditions": (
        call(conditions=[["id > 1"], ["id < 3"]]),
        'SELECT * FROM "tools" WHERE "id" > 1 AND "id" < 3',
    ),
    "a word without quotes": (
        call(conditions=["name = saw", 'name = "saw"']),
        """SELECT * FROM "tools" WHERE "name" = 'saw' AND "name" = 'saw'""",
    ),
    "words without quotes": (
        call(conditions=["name = Old plane"]),
        """SELECT * FROM "tools" WHERE "name" = 'Old plane'""",
    ),
    "a column on the right": (call(conditions=["id = shelf"]), 'SELECT * FROM "tools" WHERE "id" = "shelf"'),
    "a comment": (call(conditions=["id = 1 -- or not"]), 'SELECT * FROM "tools" WHERE "id" = 1'),
    "nested query": (
        call(conditions=["shelf IN (SELECT id FROM shelves WHERE room = 'attic')"]),
        """SELECT * FROM "tools" WHERE "shelf" IN (SELECT "id" FROM "shelves" WHERE "room" = 'attic')""",
    ),
    "from a query": (
        call(table="(SELECT name FROM tools) AS t"),
        'SELECT * FROM (SELECT "name" FROM "tools") AS "t"',
    ),
    "joins": (
        call(columns=["room"], joins=["LEFT JOIN shelves ON shelves.id = tools.shelf"]),
        'SELECT "room" FROM "tools" LEFT JOIN "shelves" ON "shelves"."id" = "tools"."shelf"',
    ),
    "joined tables": (
        call(table="tools t JOIN shelves s ON s.id = t.shelf", columns=["t.name"]),
        'SELECT "t"."name" FROM "tools" AS "t" JOIN "shelves" AS "s" ON "s"."id" = "t"."shelf"',
    ),
    "groups": (
        call(columns=["shelf"], group_by=["shelf"], having=["COUNT(*) > 1"]),
        'SELECT "shelf" FROM "tools" GROUP BY "shelf" HAVING COUNT(*) > 1',
    ),
    "order and limit": (
        call(order_by=["price DESC", "id"], limit=2),
        'SELECT * FROM "tools" ORDER BY "price" DESC, "id" LIMIT 2',
    ),
    "insert": (
        call("INSERT", columns=["id", "name"], insert_values=[[5, "O'Hara's axe"], ["6", None]]),
        """INSERT INTO "tools" ("id", "name") VALUES (5, 'O''Hara''s axe'), ('6', NULL)""",
    ),
    "one row": (
        call("insert into", insert_values=[5, "axe", 2.5, True]),
        """INSERT INTO "tools" VALUES (5, 'axe', 2.5, 1)""",
    ),
    "a date is no calculation": (
        call("INSERT", columns=["name"], insert_values=[["2026-05-01"], ["id + 1"], ["'axe'"]]),
        """INSERT INTO "tools" ("name") VALUES ('2026-05-01'), ('id + 1'), ('axe')""",
    ),
    "update": (
        call("UPDATE", columns=["name", "price"], update_values=["name", "price + 1"], conditions=["id = 1"]),
        """UPDATE "tools" SET "name" = 'name', "price" = "price" + 1 WHERE "id" = 1""",
    ),
    "update by a query": (
        call("UPDATE", columns="price", update_values="(SELECT MAX(price) FROM tools)"),
        'UPDATE "tools" SET "price" = (SELECT MAX("price") FROM "tools")',
    ),
    "delete": (
        call("DELETE FROM", columns=["id", "name"], conditions=["price BETWEEN 1 AND 5"]),
        'DELETE FROM "tools" WHERE "price" BETWEEN 1 AND 5',
    ),
    "create": (
        call("CREATE TABLE", "crates", columns=["id INTEGER PRIMARY KEY", "label", "weight REAL NOT NULL"]),
        'CREATE TABLE "crates" ("id" INTEGER PRIMARY KEY, "label", "weight" REAL NOT NULL)',
    ),
    "a word of SQL as a name": (call("CREATE", "order", columns=["group"]), 'CREATE TABLE "order" ("group")'),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_call_becomes_a_statement(name: str) -> None:
    arguments, sql = WRITTEN[name]
    assert translate(arguments, SCHEMA).sql == sql


NONE: Mapping[str, tuple[Mapping[str, object], str]] = {
    # id: (call, end of the code)
    "no keyword": ({"table_name": "tools"}, "cannot_translate"),
    "another keyword": (call("DROP"), "cannot_translate"),
    "keyword with more": (call("SELECT 1; --"), "cannot_translate"),
    "no table": ({"sql_keyword": "SELECT"}, "cannot_translate"),
    "unknown parameter": (call(pragma="x"), "cannot_translate"),
    "parameter of another statement": (call(update_values=[1]), "cannot_translate"),
    "not SQL": (call(conditions=["id === 1"]), "cannot_translate"),
    "condition of another type": (call(conditions=[{"id": 1}]), "cannot_translate"),
    "half a number": (call(conditions=["id = 1e"]), "refused"),
    "negative limit": (call(limit=-1), "cannot_translate"),
    "limit of another type": (call(limit=True), "cannot_translate"),
    "limit with more": (call(limit="1; DROP TABLE tools"), "cannot_translate"),
    "too few values for a text of columns": (
        call("INSERT", columns="id, name", insert_values=[[1]]),
        "cannot_translate",
    ),
    "nothing between commas": (call(columns="id, , name"), "cannot_translate"),
    "nothing behind a comma": (call(columns="id,"), "cannot_translate"),
    "a text of columns of which one is not there": (call(columns="id, weight"), "unknown_name"),
    "a quote that does not end": (call(columns="id, 'name"), "cannot_translate"),
    "parentheses that do not end": (call(columns="id, COUNT(name"), "cannot_translate"),
    "too few values": (call("INSERT", columns=["id", "name"], insert_values=[[1]]), "cannot_translate"),
    "rows of different widths": (call("INSERT", insert_values=[[1, 2], [1]]), "cannot_translate"),
    "no rows": (call("INSERT", insert_values=[]), "cannot_translate"),
    "a row that is an object": (call("INSERT", insert_values=[{"id": 1}]), "cannot_translate"),
    "not a number": (call("INSERT", columns=["id"], insert_values=[[float("nan")]]), "cannot_translate"),
    "huge number": (call("INSERT", columns=["id"], insert_values=[[10**40]]), "cannot_translate"),
    "nothing to set": (call("UPDATE", update_values=[1]), "cannot_translate"),
    "nothing to create": (call("CREATE", "crates"), "cannot_translate"),
    "a table that is not there": (call(table="crates"), "unknown_name"),
    "a column that is not there": (call(columns=["weight"]), "unknown_name"),
    "a column that is not there, compared": (call(conditions=["weight = 1"]), "unknown_name"),
}


@pytest.mark.parametrize("name", NONE)
def test_a_call_that_is_no_statement(name: str) -> None:
    arguments, code = NONE[name]
    with pytest.raises(NoStatement) as caught:
        translate(arguments, SCHEMA)
    assert caught.value.code == f"sql:{code}"


def _deep(value: object, depth: int) -> object:
    for _ in range(depth):
        value = [value]
    return value


ATTACKS = {
    "second statement": call(conditions=["id = 1; DROP TABLE tools; --"]),
    "end of a text": call(conditions=["name = 'x'; DROP TABLE tools; --'"]),
    "end of a parenthesis": call(conditions=["id = 1) OR (1 = 1"]),
    "second statement behind the table": call(table="tools; DROP TABLE tools"),
    "end of the statement": call(table="tools WHERE 1 = 1 --"),
    "attach": call(conditions=["ATTACH DATABASE '/tmp/x' AS x"]),
    "attach by keyword": call("ATTACH", "x"),
    "pragma": call(conditions=["PRAGMA writable_schema = 1"]),
    "pragma as a table": call(table="pragma_table_list"),
    "pragma as a function": call(conditions=["id IN (SELECT name FROM pragma_table_info('tools'))"]),
    "vacuum": call(conditions=["VACUUM INTO '/tmp/x'"]),
    "catalogue": call(table="sqlite_master"),
    "catalogue in a query": call(conditions=["name IN (SELECT name FROM sqlite_master)"]),
    "catalogue in a query of a column": call(columns=["(SELECT name FROM sqlite_master)"]),
    "catalogue behind IN": call(conditions=["name IN sqlite_master"]),
    "catalogue by union": call(conditions=["1 = 1 UNION SELECT name FROM sqlite_master"]),
    "catalogue in a value": call(
        "INSERT", columns=["name"], insert_values=[["(SELECT name FROM sqlite_master)"]]
    ),
    "another database": call(table="temp.tools"),
    "another database of a column": call(conditions=["temp.tools.id = 1"]),
    "extension": call(columns=["load_extension('/tmp/x')"]),
    "file": call(conditions=["readfile('/etc/passwd') = 'x'"]),
    "table of a function": call(table="generate_series(1, 1000000000)"),
    "huge value": call(columns=["zeroblob(1000000000)"]),
    "huge text": call(columns=["printf('%1000000000d', 1)"]),
    "chance": call(conditions=["random() > 0"]),
    "clock": call(conditions=["date('now') > name"]),
    "recursion": call(
        conditions=[
            "id IN (WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id FROM c)"
        ]
    ),
    "recursion as a table": call(
        table="(WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id FROM c) AS t"
    ),
    "parameter": call(conditions=["id = ?"]),
    "named parameter": call(conditions=["id = :x"]),
    "row id": call(columns=["rowid"]),
    "type of one's own": call("CREATE", "t", columns=["a x"]),
    "default with a function": call("CREATE", "t", columns=["a TEXT DEFAULT (load_extension('x'))"]),
    "reference": call("CREATE", "t", columns=["a INTEGER REFERENCES tools(id)"]),
    "created from a query": call("CREATE", "t AS SELECT 1", columns=["a"]),
    "created in another database": call("CREATE", "temp.t", columns=["a"]),
    "null character": call(conditions=["name = '\0'"]),
    "lone surrogate": call(conditions=["name = '\ud800'"]),
    "long": call(conditions=["id = 1" + " OR id = 1" * 3_000]),
    "many parts": call(conditions=["id = 1" + " OR id = 1" * 700]),
    "deep": call(conditions=["(" * 3_000 + "id" + ")" * 3_000 + " = 1"]),
    "many columns": call(columns=["id"] * 5_000),
    "deep lists": call(conditions=_deep("id = 1", 5_000)),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(name: str) -> None:
    with pytest.raises(NoStatement):
        translate(ATTACKS[name], SCHEMA)


QUOTED = {
    "a statement as a value": "'; DROP TABLE tools; --",
    "unicode quotes": "‘x’ OR ‘1’=‘1",
    "backslash": "\\'; DROP TABLE tools; --",
    "a comment": "x /* y */ --",
    "a function": "load_extension('x')",
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_a_value_stays_a_value(text: str) -> None:
    made = statement("INSERT", columns=["name"], insert_values=[[text]])
    (tree,) = sqlglot.parse(made.sql, read="sqlite")
    assert tree is not None
    assert [literal.name for literal in tree.find_all(exp.Literal)] == [text]


def test_what_is_known_of_a_statement() -> None:
    made = statement(conditions=["id > -1", "name IN ('a', 'b')", "price BETWEEN 1 AND 2.5"], order_by=["id"])
    assert (made.keyword, made.tables, made.ordered) == (Keyword.SELECT, frozenset(["tools"]), True)
    assert made.compared == {"id": (-1,), "name": ("a", "b"), "price": (1, 2.5)}
    made = statement("UPDATE", columns=["Name"], update_values=["x"], conditions=["shelf IS NULL"])
    assert (made.columns, made.compared, made.ordered) == (("Name",), {"shelf": (None,)}, False)


def test_without_a_schema_a_call_names_its_own_columns() -> None:
    made = translate(call(columns=["name"], conditions=["kind = saw", "name = kind"]))
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


@settings(max_examples=300)
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


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", ["sql_keyword", "table_name", "columns", "conditions", "limit"])
def test_hostile_texts_do_no_harm(name: str, text: str) -> None:
    with suppress(NoStatement):
        translate({**call(), name: text}, SCHEMA)
