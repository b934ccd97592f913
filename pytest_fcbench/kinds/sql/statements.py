"""Structured calls of SQL, written as statements.

The arguments of a call are the parts of a statement (BFCL's ``sql.execute``, and parts that it lacks):

    sql_keyword     SELECT, INSERT, UPDATE, DELETE or CREATE; "INSERT INTO" and the like mean the same
    table_name      a table; what is selected from can be joined tables or a query in parentheses
    columns         what is selected (expressions too), filled, set or created; "*" or none is all
    insert_values   rows; a single row may stand without a list around it
    update_values   one for each column
    conditions      all of them hold, however they are nested in lists
    joins, group_by, having, order_by, limit    of a SELECT

One text of columns, of what is grouped or sorted by can be several with commas between them. Wherever
expressions stand a query can stand in parentheses. A value is taken as it is written, without
quotes of its own; one that calculates with columns is calculated. In a condition a word or several that
name no column are text (``name = John Doe``), because the official truths write them so.

Every text is parsed, and what reaches a database is written anew from the tree. A tree holds nothing but
the kinds of nodes that are listed here, and only tables and columns that there are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from pytest_fcbench.kinds.calls.truth import list_options

Value: TypeAlias = str | int | float | None
"""The values of a cell."""

Schema: TypeAlias = Mapping[str, Collection[str]]
"""The columns of each table."""

N = TypeVar("N", bound=exp.Expr)

CANNOT_TRANSLATE = "sql:cannot_translate"
REFUSED = "sql:refused"
UNKNOWN_NAME = "sql:unknown_name"

_MOST_TEXT = 8_000
"""Characters in all arguments of a call."""
_MOST_NODES = 2_000


class NoStatement(Exception):  # noqa: N818 - reads as what became of the call
    """A call that is not carried out, and the code of its verdict."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Keyword(StrEnum):
    """The kind of a statement."""

    SELECT = "SELECT"
    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CREATE = "CREATE"


_PARAMETERS: Mapping[Keyword, Collection[str]] = {
    Keyword.SELECT: ("columns", "conditions", "joins", "group_by", "having", "order_by", "limit"),
    Keyword.INSERT: ("columns", "insert_values"),
    Keyword.UPDATE: ("columns", "update_values", "conditions"),
    Keyword.DELETE: ("columns", "conditions"),
    Keyword.CREATE: ("columns",),
}
"""Arguments beside keyword and table that have a meaning; the columns of a DELETE are ignored."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of SQLite and the facts about it."""

    sql: str
    keyword: Keyword
    tables: frozenset[str]
    """The tables that it names, in lower case."""
    columns: tuple[str, ...]
    """The columns that the call lists, where they are nothing but names."""
    width: int
    """Values in a row of an INSERT."""
    compared: Mapping[str, tuple[Value, ...]]
    """The values that each column is compared with, by the column's name in lower case."""
    ordered: bool
    """True where the order of its rows counts."""


def translate(arguments: Mapping[str, object], schema: Schema | None = None) -> Statement:
    """Translate a call into a statement; without a schema the call's own tables and columns exist.

    Raises ``NoStatement``.
    """
    try:
        return _Translator(arguments, schema).translate()
    except RecursionError:
        raise NoStatement(REFUSED, "the call is nested too deeply") from None


_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.In, exp.Between)
_CALCULATIONS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.Case, exp.Func)
_ALLOWED = frozenset(
    [
        *_COMPARISONS,
        *(exp.Select, exp.Insert, exp.Update, exp.Delete, exp.Create, exp.Schema, exp.Values, exp.Tuple),
        *(exp.From, exp.Table, exp.TableAlias, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order),
        *(exp.Ordered, exp.Limit, exp.Distinct, exp.Subquery, exp.Union, exp.Intersect, exp.Except),
        *(exp.Column, exp.Identifier, exp.Star, exp.Alias, exp.Literal, exp.Boolean, exp.Null, exp.Paren),
        *(exp.And, exp.Or, exp.Not, exp.Is, exp.Exists, exp.Case, exp.If, exp.Cast, exp.DataType),
        *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.DPipe),
        *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Abs, exp.Round, exp.Coalesce, exp.Nullif),
        *(exp.Length, exp.Lower, exp.Upper, exp.Trim, exp.Substring),
        *(exp.ColumnDef, exp.DataTypeParam, exp.ColumnConstraint, exp.NotNullColumnConstraint),
        *(exp.PrimaryKeyColumnConstraint, exp.UniqueColumnConstraint),
    ]
)
"""Kinds of nodes that a statement can consist of."""

_TYPES = frozenset(
    getattr(exp.DType, name)
    for name in (
        *("INT", "BIGINT", "SMALLINT", "TINYINT", "BOOLEAN", "TEXT", "CHAR", "VARCHAR", "DATE", "DATETIME"),
        *("TIMESTAMP", "DECIMAL", "DOUBLE", "FLOAT"),
    )
)

_NESTING = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BARE = re.compile(r"\s*(\w+)\s*(==?|!=|<>|<=|>=|<|>)\s*(\w[\w .,:%/+]*(?:-\w[\w .,:%/+]*)*)")
"""A comparison with words that have no quotes."""
_EQUALITIES: Mapping[str, type[exp.Binary]] = {"=": exp.EQ, "==": exp.EQ, "!=": exp.NEQ, "<>": exp.NEQ}
_ORDERS: Mapping[str, type[exp.Binary]] = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}
_OPERATORS = {**_EQUALITIES, **_ORDERS}


class _Translator:
    """The translation of one call to a statement."""

    def __init__(self, arguments: Mapping[str, object], schema: Schema | None) -> None:
        self.characters_left = _MOST_TEXT
        """The number of characters that further texts may have."""
        keyword_text = arguments.get("sql_keyword")
        words = keyword_text.upper().split() if isinstance(keyword_text, str) else []
        # The whole beginning of a statement means the same: INSERT INTO, DELETE FROM, CREATE TABLE.
        further = " ".join(words[1:])
        if not words or words[0] not in Keyword.__members__ or further not in ("", "INTO", "FROM", "TABLE"):
            raise NoStatement(CANNOT_TRANSLATE, f"sql_keyword is none of {', '.join(Keyword)}")
        self.keyword = Keyword(words[0])
        self.given = {name: value for name, value in arguments.items() if value not in (None, "", [], ())}
        for name in self.given:
            if name not in ("sql_keyword", "table_name", *_PARAMETERS[self.keyword]):
                raise NoStatement(CANNOT_TRANSLATE, f"{self.keyword} takes no {name:.40}")
        self.schema = None if schema is None else {t.lower(): {c.lower() for c in schema[t]} for t in schema}
        self.known = {column for columns in (self.schema or {}).values() for column in columns}

    def translate(self) -> Statement:
        column_texts = self._get_parts("columns")
        columns = [text for text in column_texts if text.strip() != "*"]
        conditions = [self._build_condition(text) for text in self._get_texts("conditions")]
        # Without tables the call's own words must do: columns that it lists, and left sides of comparisons.
        if self.schema is None:
            comparisons = (node for tree in conditions for node in tree.find_all(*_COMPARISONS, exp.Is))
            left_sides = (column.name for node in comparisons for column in node.this.find_all(exp.Column))
            self.known = {name.lower() for name in (*columns, *left_sides)}
        match self.keyword:
            case Keyword.SELECT:
                tree = self._build_select(column_texts or ["*"], conditions)
            case Keyword.INSERT:
                tree = self._build_insert(columns)
            case Keyword.UPDATE:
                tree = self._build_update(columns, conditions)
            case Keyword.DELETE:
                tree = exp.Delete(this=self._build_table(), where=_make_where(conditions))
            case Keyword.CREATE:
                definitions = [self._parse(text, exp.ColumnDef) for text in columns]
                kinds = exp.Identifier, exp.ColumnDef
                if not definitions or not all(isinstance(each, kinds) for each in definitions):
                    raise NoStatement(CANNOT_TRANSLATE, "columns are no names of columns")
                schema = exp.Schema(this=self._build_table(), expressions=definitions)
                tree = exp.Create(this=schema, kind="TABLE")
        self._check_tree(tree)
        # What is carried out is written from the checked tree, never the model's own text.
        try:
            sql = tree.sql(dialect="sqlite", identify=True, comments=False)
        except (SqlglotError, AttributeError, TypeError, ValueError):
            raise NoStatement(CANNOT_TRANSLATE, "the call makes no statement") from None
        return Statement(
            sql=sql,
            keyword=self.keyword,
            tables=frozenset(table.name.lower() for table in tree.find_all(exp.Table)),
            columns=tuple(text.strip() for text in columns if re.fullmatch(r"\s*\w+\s*", text)),
            width=max((len(row.expressions) for row in tree.find_all(exp.Tuple)), default=0),
            compared=_find_compared_values(tree),
            ordered=isinstance(tree, exp.Select) and "order" in tree.args,
        )

    def _build_select(self, columns: list[str], conditions: Sequence[exp.Expr]) -> exp.Expr:
        distinct = re.match(r"\s*DISTINCT\b", columns[0], re.IGNORECASE)
        if distinct:
            columns = [columns[0][distinct.end() :], *columns[1:]]
        source = self._parse(f"FROM {self._get_text('table_name')}", exp.From).this
        query = exp.Select(expressions=[self._parse(text, exp.Expr) for text in columns]).from_(source)
        if distinct:
            query.set("distinct", exp.Distinct())
        if joins := [self._parse(text, exp.Join) for text in self._get_texts("joins")]:
            query.set("joins", joins)
        query.set("where", _make_where(conditions))
        if group := [self._parse(text, exp.Expr) for text in self._get_parts("group_by")]:
            query.set("group", exp.Group(expressions=group))
        if having := [self._build_condition(text) for text in self._get_texts("having")]:
            query.set("having", exp.Having(this=exp.and_(*having)))
        if order := [self._parse(text, exp.Ordered) for text in self._get_parts("order_by")]:
            query.set("order", exp.Order(expressions=order))
        if "limit" in self.given:
            limit = str(self.given["limit"])
            if not re.fullmatch(r"\d{1,9}(\.0)?", limit):
                raise NoStatement(CANNOT_TRANSLATE, "limit is no number of rows")
            query.set("limit", exp.Limit(expression=exp.Literal.number(limit.removesuffix(".0"))))
        return query

    def _build_insert(self, columns: Sequence[str]) -> exp.Expr:
        insert_values = self.given.get("insert_values")
        rows = list(insert_values) if isinstance(insert_values, (list, tuple)) else []
        if rows and not any(isinstance(row, (list, tuple)) for row in rows):
            rows = [rows]
        if not rows or not all(isinstance(row, (list, tuple)) and row for row in rows):
            raise NoStatement(CANNOT_TRANSLATE, "insert_values are no rows of values")
        if any(len(row) != len(columns or rows[0]) for row in rows):
            raise NoStatement(CANNOT_TRANSLATE, "there are not as many insert_values as columns")
        tuples = [exp.Tuple(expressions=[*map(self._build_value, row)]) for row in rows]
        table = self._build_table()
        if names := [self._parse(name, exp.Identifier) for name in columns]:
            table = exp.Schema(this=table, expressions=names)
        return exp.Insert(this=table, expression=exp.Values(expressions=tuples))

    def _build_update(self, columns: Sequence[str], conditions: Sequence[exp.Expr]) -> exp.Expr:
        values = [self._build_value(value) for value in list_options(self.given.get("update_values"))]
        if not columns or len(values) != len(columns):
            raise NoStatement(CANNOT_TRANSLATE, "there are not as many update_values as columns")
        names = (self._parse(name, exp.Identifier) for name in columns)
        pairs = zip(names, values, strict=True)
        sets = [exp.EQ(this=exp.Column(this=name), expression=value) for name, value in pairs]
        return exp.Update(this=self._build_table(), expressions=sets, where=_make_where(conditions))

    def _build_table(self) -> exp.Expr:
        return exp.Table(this=self._parse(self._get_text("table_name"), exp.Identifier))

    def _build_condition(self, text: str) -> exp.Expr:
        try:
            return self._parse(text, exp.Condition)
        except NoStatement:
            # Official truths write text without quotes: name = John Doe.
            if bare := _BARE.fullmatch(text):
                name, operator, value = bare.groups()
                column = exp.Column(this=exp.to_identifier(name))
                return _OPERATORS[operator](this=column, expression=exp.Literal.string(value.strip()))
            raise

    def _build_value(self, value: object) -> exp.Expr:
        if value is None:
            return exp.Null()
        # SQLite has no larger integers and no booleans.
        if isinstance(value, (bool, int)) and abs(value) < 2**63:
            return exp.Literal.number(int(value))
        if isinstance(value, float) and math.isfinite(value):
            return exp.Literal.number(repr(value))
        if not isinstance(value, str):
            raise NoStatement(CANNOT_TRANSLATE, f"a value is no text and no number: {type(value).__name__}")
        text = self._check_text(value)
        try:
            tree = self._parse(text, exp.Expr)
        except NoStatement:
            return exp.Literal.string(text)
        if isinstance(tree, (exp.Null, exp.Subquery)) or (isinstance(tree, exp.Literal) and tree.is_string):
            return tree
        names = [column.name.lower() for column in tree.find_all(exp.Column)]
        # In an UPDATE a value may calculate with columns; anywhere else it is text.
        is_calculation = isinstance(tree, _CALCULATIONS) and names and self.known.issuperset(names)
        return tree if is_calculation and self.keyword is Keyword.UPDATE else exp.Literal.string(text)

    def _get_text(self, name: str) -> str:
        texts = self._get_texts(name)
        if len(texts) != 1:
            raise NoStatement(CANNOT_TRANSLATE, f"{name} is not one text")
        return texts[0]

    def _get_texts(self, name: str) -> list[str]:
        return [self._check_text(text) for text in _flatten(name, self.given.get(name))]

    def _get_parts(self, name: str) -> list[str]:
        """Return texts split at their commas, but not at those in parentheses and quotes."""
        parts = []
        for text in self._get_texts(name):
            # sqlglot's tokens know where quotes end, also doubled ones.
            try:
                tokens = sqlglot.tokenize(text, read="sqlite")
            except SqlglotError:
                tokens = []
            depth = start = 0
            for token in tokens:
                depth += _NESTING.get(token.token_type, 0)
                if token.token_type is TokenType.COMMA and not depth:
                    parts.append(text[start : token.start])
                    start = token.end + 1
            parts.append(text[start:])
        return parts

    def _check_text(self, text: str) -> str:
        """Return a text that a statement may contain. Raises ``NoStatement`` where the call is too long."""
        self.characters_left -= len(text)
        if self.characters_left < 0:
            raise NoStatement(REFUSED, f"the call is longer than {_MOST_TEXT:,} characters")
        # SQLite ends a statement at a zero byte, and lone surrogates are no UTF-8.
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise NoStatement(REFUSED, "the call has characters that no statement can have")
        return text

    def _parse(self, text: str, into: type[N]) -> N:
        try:
            return sqlglot.parse_one(text, read="sqlite", into=into)
        # sqlglot's parser raises the last four where it trips over a text.
        except (SqlglotError, AttributeError, IndexError, TypeError, ValueError):
            raise NoStatement(CANNOT_TRANSLATE, f"not SQL: {text[:200]!r}") from None

    def _check_tree(self, tree: exp.Expr) -> None:
        """Check that a tree has allowed nodes and known names only; words without quotes become text."""
        aliases = {alias.alias.lower() for alias in tree.find_all(exp.Alias, exp.TableAlias)}
        for number, node in enumerate(list(tree.walk())):
            if number > _MOST_NODES:
                raise NoStatement(REFUSED, f"the call has more than {_MOST_NODES:,} parts")
            # The exact type: a subclass may write something else.
            if type(node) not in _ALLOWED or (isinstance(node, exp.In) and node.args.get("field")):
                raise NoStatement(REFUSED, f"{type(node).__name__} is not allowed here")
            if isinstance(node, exp.DataType) and node.this not in _TYPES:
                raise NoStatement(REFUSED, "a type is none of SQLite's usual ones")
            if isinstance(node, exp.Literal) and not node.is_string and not _NUMBER.fullmatch(node.name):
                raise NoStatement(REFUSED, f"{node.name:.40} is no number")
            if isinstance(node, exp.Table):
                # With a database in front a name could reach beyond the entry's tables.
                if not isinstance(node.this, exp.Identifier) or node.db or node.catalog:
                    raise NoStatement(REFUSED, "a table must be named by its name alone")
                creates_table = self.keyword is Keyword.CREATE
                if self.schema is not None and not creates_table and node.name.lower() not in self.schema:
                    raise NoStatement(UNKNOWN_NAME, f"there is no table {node.name:.80}")
            elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                self._check_column(node, aliases)

    def _check_column(self, column: exp.Column, aliases: Collection[str]) -> None:
        name = column.name.lower()
        if column.args.get("db"):
            raise NoStatement(REFUSED, "a column must be named by its name and its table's")
        if name in self.known or name in aliases:
            return
        # A word on the right of a comparison that names no column is text.
        is_operand = isinstance(column.parent, _COMPARISONS) and column.arg_key != "this"
        if is_operand and not column.table:
            column.replace(exp.Literal.string(column.name))
        else:
            raise NoStatement(UNKNOWN_NAME, f"there is no column {column.name:.80}")


def _flatten(name: str, value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flatten(name, item)
    elif value is not None:
        raise NoStatement(CANNOT_TRANSLATE, f"{name} has something that is no text")


def _make_where(conditions: Sequence[exp.Expr]) -> exp.Where | None:
    return exp.Where(this=exp.and_(*conditions)) if conditions else None


def _find_compared_values(tree: exp.Expr) -> Mapping[str, tuple[Value, ...]]:
    values_by_column: dict[str, tuple[Value, ...]] = {}
    for node in tree.find_all(*_COMPARISONS, exp.Is):
        if isinstance(node.this, exp.Column) and not isinstance(node.parent, exp.Update):
            others = [node.args.get(key) for key in ("expression", "low", "high")] + node.expressions
            name = node.this.name.lower()
            values = (value for other in others for value in _read_constant(other))
            values_by_column[name] = tuple(dict.fromkeys((*values_by_column.get(name, ()), *values)))
    return values_by_column


def _read_constant(node: object) -> Iterator[Value]:
    """Return the value of a node, where it is one."""
    if isinstance(node, exp.Null):
        yield None
    elif isinstance(node, exp.Neg):
        yield from (-value for value in _read_constant(node.this) if isinstance(value, (int, float)))
    elif isinstance(node, exp.Literal) and node.is_string:
        yield node.name
    elif isinstance(node, exp.Literal):
        number = float(node.name)
        # Beyond 2**53 not every whole number is a float.
        whole = "." not in node.name and abs(number) < 2**53
        yield int(number) if whole else number
