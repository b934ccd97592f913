"""Tables: each format can be read back, and hostile cells stay cells."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.text import make_printable
from pytest_fcbench.present.table_formats import FORMATS, render_page
from pytest_fcbench.present.tables import Table, render_csv, render_markdown, render_text
from tests.cases import each_case

TABLE = Table(
    "Scores",
    ("category", "n", "accuracy", "note"),
    (("parallel", "24", "91.67%", "few"), ("simple_python", "400", "7.00%", "")),
    ("A note.",),
    frozenset({"note"}),
)


def test_text_has_equal_columns() -> None:
    assert list(render_text(TABLE)) == [
        "Scores",
        "category         n  accuracy  note",
        "----------------------------------",
        "parallel        24    91.67%  few",
        "simple_python  400     7.00%",
        "A note.",
    ]


def test_text_keeps_to_a_terminal_where_it_can() -> None:
    rows = (("core:parallel_1", "why " * 60), ("core:parallel_2", "short"))
    table = Table("title " * 30, ("entry", "reason"), rows, ("note " * 50,), frozenset({"reason"}))
    lines = list(render_text(table))
    assert max(map(len, lines)) == 100
    assert [line for line in lines if line.endswith("…")] == [f"core:parallel_1  {('why ' * 60)[:82]}…"]
    assert " ".join(lines).count("note") == 50


def test_a_last_column_of_text_keeps_some_characters() -> None:
    table = Table("", ("a" * 120, "reason"), (("x", "y" * 50),), left=frozenset({"reason"}))
    *_, line, left_out = render_text(table)
    assert line.endswith(f" {'y' * 19}…")
    assert left_out == ("left out to fit 100 characters: the ends of 'reason'; COLUMNS=172 shows them")


def test_columns_that_a_narrow_terminal_leaves_out_are_named_and_not_explained() -> None:
    meanings = {"first": "of one", "second": "of two", "third": "of two"}
    columns, row = ("name", "first", "second", "third"), ("a", "1", "2", "3")
    table = Table("", columns, (row,), optional=("first",), legend=meanings)
    assert list(render_text(table))[-1] == "first: of one; second, third: of two"
    *_, legend, left_out, way = render_text(table, 20)
    assert legend == "second, third: of two"
    assert (left_out, way) == (
        "left out to fit 20 characters: first;",
        "COLUMNS=26 shows them",
    )


def test_long_texts_side_by_side_stand_below_each_other_where_there_is_no_room() -> None:
    long = "x" * 40
    table = Table(
        "Runs", ("", "before", "after"), (("file", long, f"{long}y"),), (), frozenset({"before", "after"})
    )
    assert list(render_text(table, 60)) == ["Runs", "file", f"  before  {long}", f"  after   {long}y"]
    assert list(render_text(table, 120))[1].split() == ["before", "after"]


def test_names_of_rows_are_repeated_before_numbers_that_follow_below() -> None:
    table = Table(
        "T", ("rank", "model", "x", "y"), (("1", "m", "2" * 20, "3" * 20),), left=frozenset({"model"})
    )
    assert [line.split() for line in render_text(table, 40)][1::3] == [
        ["rank", "model", "x"],
        ["rank", "model", "y"],
    ]


def test_numbers_without_room_follow_below_behind_the_first_column() -> None:
    table = Table("T", ("name", "first", "second", "third"), (("a", "1", "2", "3"),), ("A note.",))
    assert list(render_text(table, 20)) == [
        "T",
        "name  first  second",
        "-------------------",
        "a         1       2",
        "name  third",
        "-----------",
        "a         3",
        "A note.",
    ]
    # The groups are about equally wide, and one column always stands beside the first.
    four = Table("T", ("name", *("other",) * 4), (("a", *"1234"),))
    assert [line.count("other") for line in render_text(four, 26)][1::3] == [2, 2]
    assert list(render_text(table, 5))[1] == "name  first"


def test_short_texts_stay_in_columns_where_the_last_one_is_cut() -> None:
    table = Table("Runs", ("", "why"), (("a" * 20, "b" * 90),), (), frozenset({"why"}))
    assert f"{'a' * 20}  {'b' * 19}…" in render_text(table, 40)
    assert list(render_text(replace(table, whole=True), 40)) == ["Runs", "a" * 20, f"  why  {'b' * 90}"]


def test_a_page_may_have_figures() -> None:
    lines = list(render_page("Scores", [TABLE], ["<svg></svg>"]))
    assert '<figure class="chart alone"><svg></svg></figure>' in lines


def test_markdown_is_githubs() -> None:
    assert list(render_markdown(TABLE)) == [
        "### Scores",
        "",
        "| category | n | accuracy | note |",
        "|:--|--:|--:|:--|",
        "| parallel | 24 | 91.67% | few |",
        "| simple\\_python | 400 | 7.00% |  |",
        "",
        "A note.",
    ]


def test_csv_has_only_cells() -> None:
    lines = list(render_csv(TABLE))
    assert lines == ["category,n,accuracy,note", "parallel,24,91.67%,few", "simple_python,400,7.00%,"]


@each_case("cell", ["=1+1", "+cmd", "-x", "@SUM(A1)", " =1+1", " \uff1d1+1"])
def test_a_formula_is_text_in_a_spreadsheet(cell: str) -> None:
    (_, line) = render_csv(Table("", ("a",), ((cell,),)))
    assert next(csv.reader([line]))[0] == f"'{cell}"


@each_case("cell", ["-0.5", "+1.25%", "-3", "3", "-12.50%"])
def test_a_number_stays_a_number(cell: str) -> None:
    (_, line) = render_csv(Table("", ("a",), ((cell,),)))
    assert line == cell


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="t: 2 columns, a row with 1"):
        Table("t", ("a", "b"), (("x",),))


def test_several_tables_stand_apart() -> None:
    lines = list(FORMATS["text"]("both", [TABLE, TABLE]))
    assert lines == [*render_text(TABLE), "", *render_text(TABLE)]


class _Reader(HTMLParser):
    """The cells of a page, and every tag it has."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.cells: list[str] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell &= tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.cells[-1] += data


def _read_page(lines: Sequence[str]) -> _Reader:
    reader = _Reader()
    reader.feed("\n".join(lines))
    return reader


def test_a_page_loads_nothing_and_runs_its_own_script_only() -> None:
    page = html.unescape("\n".join(render_page("Scores", [TABLE])))
    assert not {"img", "iframe", "a"} & set(_read_page(page.split("\n")).tags)
    hashes = []
    for tag in ("style", "script"):
        (block,) = re.findall(f"<{tag}>(.*)</{tag}>", page, re.DOTALL)
        hashes.append(
            f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"
        )
    assert f"default-src 'none'; {hashes[0]}; {hashes[1]}; img-src data:; base-uri 'none'" in page


def test_the_title_of_a_page_stands_once() -> None:
    page = "\n".join(render_page("Scores", [TABLE]))
    assert "<h1><bdi>Scores</bdi></h1>" in page
    assert "<h2>" not in page


@each_case("cell", ["<script>alert(1)</script>", "</td><img src=x>", "&lt;", "\u202egnp", "a|b"])
def test_hostile_cells_stay_text(cell: str) -> None:
    reader = _read_page(list(render_page(cell, [Table(cell, (cell, "x"), ((cell, cell),), (cell,))])))
    assert reader.tags.count("script") == 1
    assert "img" not in reader.tags
    assert len(reader.cells) == 4
    (_, _, row) = render_markdown(Table("", ("a", "b"), ((cell, "x"),)))
    assert row.replace("\\|", "").count("|") == 3
    assert "<" not in row.replace("\\<", "")


_CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.tuples(_CELLS, _CELLS), max_size=5))
def test_csv_and_html_give_every_cell_back(rows: list[tuple[str, str]]) -> None:
    table = Table("t", ("a", "b"), tuple(rows))
    told = [tuple(" ".join(make_printable(cell).split("\n")) for cell in row) for row in rows]
    read = [tuple(cell.removeprefix("'") for cell in row) for row in csv.reader(render_csv(table))]
    assert read == [("a", "b"), *(tuple(cell.removeprefix("'") for cell in row) for row in told)]
    assert _read_page(list(render_page("t", [table]))).cells == [
        "a",
        "b",
        *(cell for row in told for cell in row),
    ]


@given(st.lists(st.tuples(_CELLS, _CELLS), max_size=5), st.sampled_from(sorted(FORMATS)))
def test_no_cell_breaks_a_format(rows: list[tuple[str, str]], form: str) -> None:
    lines = list(FORMATS[form]("t\x00\n\u202e", [Table("t", ("a", "b"), tuple(rows))]))
    assert all(line.isprintable() for line in lines)


def test_as_json_cells_are_what_people_see() -> None:
    told = json.loads("\n".join(FORMATS["json"]("Both", [TABLE])))
    assert told == {
        "title": "Both",
        "tables": [
            {
                "title": TABLE.title,
                "columns": list(TABLE.columns),
                "rows": list(map(list, TABLE.rows)),
                "notes": list(TABLE.notes),
            }
        ],
    }
