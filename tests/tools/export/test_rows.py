"""Rows as CSV, JSON lines and Parquet, and scores as tables: what their readers make of them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexNode, LatexWalker

from pytest_fcbench.tools.export import rows as row_formats
from pytest_fcbench.tools.export.formats import ExportRequest
from pytest_fcbench.tools.export.rows import (
    render_csv,
    render_json_lines,
    render_latex_table,
    render_markdown_table,
    tabulate_scores,
)
from tests.cases import each_case
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.test_hostile_texts import describe_markdown
from tests.tools.export.runs import EARLY, ENDED_EARLY, make_order, make_run

every_text = pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)


def read_frame(**chosen: object) -> pd.DataFrame:
    return pd.read_csv(io.StringIO("".join(render_csv(make_order(**chosen)))))


def test_pandas_reads_outcomes_as_numbers() -> None:
    frame = read_frame()
    assert frame.passed.dropna().tolist() == [1, 0, 1, 1, 1, 0]
    assert frame.groupby("category").passed.mean().to_dict() == {
        "simple_python": 0.5,
        "multiple": 1.0,
        "parallel": 0.5,
    }
    assert frame.latency_s.iloc[0] == 2.0
    assert frame.usd.iloc[0] == pytest.approx(0.003)


def test_what_was_not_scored_has_a_cause_and_no_number() -> None:
    row = read_frame().iloc[2]
    assert (row.official, row.official_code) == ("not_scored", "timeout")
    assert pd.isna(row.passed)


def test_the_corrected_profile_has_columns_of_its_own() -> None:
    row = read_frame().iloc[1]
    assert (row.official, row.official_code, row.corrected) == ("failed", "wrong_count", "passed")


def test_scores_have_their_intervals_as_columns() -> None:
    frame = read_frame(per="score").set_index(["profile", "score"])
    parallel = frame.loc[("official", "parallel")]
    assert (parallel.n, parallel.passed, parallel.accuracy) == (2, 1, 0.5)
    assert 0 <= parallel.low < 0.5 < parallel.high <= 1
    assert frame.loc[("official", "simple_python")].not_scored == 1
    assert frame.loc[("corrected", "simple_python")].accuracy == 1.0


def test_several_runs_stand_below_each_other() -> None:
    text = "".join(render_csv(make_order(make_run("a", "one"), make_run("b", "two"))))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["run"] for row in rows] == ["a"] * 7 + ["b"] * 7
    assert {row["run"]: row["model"] for row in rows} == {"a": "test", "b": "test"}


@pytest.mark.few(8)
@every_text
@each_case("per", ["entry", "score"])
def test_every_text_is_a_cell_and_no_formula(text: str, per: str) -> None:
    written = "".join(render_csv(make_order(make_run(text=text), per=per)))
    rows = list(csv.reader(io.StringIO(written)))
    harmless = list(csv.reader(io.StringIO("".join(render_csv(make_order(make_run(text="word"), per=per))))))
    assert list(map(len, rows)) == list(map(len, harmless))
    is_number = re.compile(r"[+-]?[\d.,]*%?")
    formulas = [cell for row in rows for cell in row if cell[:1] in set("=+-@\t\r")]
    assert [cell for cell in formulas if not is_number.fullmatch(cell)] == []


def test_pandas_reads_the_lines() -> None:
    frame = pd.read_json(io.StringIO("".join(render_json_lines(make_order()))), lines=True)
    assert frame.passed.sum() == 4
    assert frame.official.tolist().count("not_scored") == 1


def test_scores_are_fractions() -> None:
    rows = [json.loads(line) for line in render_json_lines(make_order(per="score"))]
    accuracies = {row["score"]: row["accuracy"] for row in rows if row["profile"] == "official"}
    assert accuracies["multiple"] == 1.0
    assert accuracies["parallel"] == 0.5


@pytest.mark.few(8)
@every_text
def test_every_text_in_json_comes_back_on_a_line_of_its_own(text: str) -> None:
    rows = [json.loads(line) for line in render_json_lines(make_order(make_run(text=text)))]
    assert len(rows) == 7
    assert rows[6]["marks"] == f"slow,{text}"


def test_columns_have_types(tmp_path: Path) -> None:
    path = tmp_path / "entries.parquet"
    assert row_formats.write_parquet(make_order(), path) == ["7 rows"]
    schema = pq.read_schema(path)
    types = {name: str(schema.field(name).type) for name in ("entry", "passed", "latency_s", "trial")}
    assert types == {"entry": "string", "passed": "int64", "latency_s": "double", "trial": "int64"}


def test_what_was_not_scored_is_null(tmp_path: Path) -> None:
    path = tmp_path / "entries.parquet"
    row_formats.write_parquet(make_order(), path)
    assert pq.read_table(path).column("passed").to_pylist() == [1, 0, None, 1, 1, 1, 0]


def test_pandas_reads_scores(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    row_formats.write_parquet(make_order(per="score"), path)
    frame = pd.read_parquet(path).set_index(["profile", "score"])
    assert frame.loc[("official", "parallel"), "accuracy"] == 0.5


def test_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_formats, "_AT_ONCE", 3)
    path = tmp_path / "entries.parquet"
    row_formats.write_parquet(make_order(), path)
    groups = pq.read_metadata(path)
    assert [groups.row_group(number).num_rows for number in range(groups.num_row_groups)] == [3, 3, 1]


@pytest.mark.few(8)
@every_text
def test_every_text_in_parquet_comes_back(text: str, tmp_path: Path) -> None:
    path = tmp_path / "entries.parquet"
    row_formats.write_parquet(make_order(make_run(text=text)), path)
    (*_, last) = pq.read_table(path).column("marks").to_pylist()
    # UTF-8 has no lone surrogates, so they come back as their escapes.
    assert last == f"slow,{text}".encode("utf-8", "backslashreplace").decode()


TABLE_MACROS = ("caption", "toprule", "midrule", "bottomrule", "\\", "par")


def render_latex(order: ExportRequest) -> str:
    return "".join(render_latex_table(order))


def describe_latex(text: str) -> list[str]:
    """List the environments and the macros of tables in order; refuse what is broken."""

    def describe_nodes(nodes: list[LatexNode]) -> list[str]:
        found: list[str] = []
        for node in nodes:
            kind = type(node).__name__
            name = getattr(node, "environmentname", getattr(node, "macroname", ""))
            if kind == "LatexEnvironmentNode" or name in TABLE_MACROS:
                found.append(f"{kind} {name}")
            found += describe_nodes(getattr(node, "nodelist", None) or [])
        return found

    nodes, _, _ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    return describe_nodes(nodes)


def test_a_run_has_counts_and_percentages() -> None:
    table = tabulate_scores(make_order())
    assert table.columns == ("score", "scored", "not scored", "accuracy (%)", "95% interval")
    rows = {row[0]: row[1:4] for row in table.rows}
    assert rows["simple_python"] == ("2", "1", "50.00")
    assert rows["multiple"] == ("2", "0", "100.00")
    assert [row[0] for row in table.rows] == ["simple_python", "multiple", "parallel", "all"]
    assert table.notes == ("categories with 5.83% of the weight of BFCL's overall score were run.",)


@pytest.mark.parametrize("count", [1, 2])
def test_a_table_says_what_sets_its_scores_apart(count: int) -> None:
    run = make_run()
    early = replace(run, facts=replace(run.facts, against=EARLY))
    assert tabulate_scores(make_order(*[early] * count)).notes[-1] == f"{ENDED_EARLY}."


def test_a_table_says_which_run_is_narrowed() -> None:
    runs = [make_run("a", "one"), make_run("b", "two")]
    runs[1] = replace(runs[1], facts=replace(runs[1].facts, narrowed_by="-k"))
    assert tabulate_scores(make_order(*runs)).notes[-1] == "two: only the entries selected by -k."


def test_several_runs_stand_side_by_side() -> None:
    table = tabulate_scores(make_order(make_run("a", "one"), make_run("b", "two")))
    assert table.columns == ("score", "one", "95% interval", "two", "95% interval")
    assert "Entries not scored, which count for no model: one 1, two 1." in table.notes


def test_latex_is_a_table_of_booktabs() -> None:
    rows = len(tabulate_scores(make_order()).rows)
    assert describe_latex(render_latex(make_order())) == [
        "LatexEnvironmentNode table",
        "LatexMacroNode caption",
        "LatexEnvironmentNode tabular",
        "LatexMacroNode toprule",
        "LatexMacroNode \\",
        "LatexMacroNode midrule",
        *["LatexMacroNode \\"] * rows,
        "LatexMacroNode bottomrule",
        "LatexMacroNode par",
    ]


def test_latex_reads_as_the_table() -> None:
    (table,) = (
        node
        for node in LatexWalker(render_latex(make_order())).get_latex_nodes()[0]
        if isinstance(node, LatexEnvironmentNode)
    )
    text = " ".join(LatexNodes2Text().nodelist_to_text(table.nodelist).split())
    assert "simple_python 2 1 50.00" in text
    assert "test (fc), core version 1, official profile" in text


@pytest.mark.few(8)
@every_text
def test_latex_has_the_form_of_a_harmless_table(text: str) -> None:
    order = make_order(make_run(text=text), make_run("b", "other"))
    harmless = make_order(make_run(text="word"), make_run("b", "other"))
    assert describe_latex(render_latex(order)) == describe_latex(render_latex(harmless))


@each_case("text", ["50% of $x_1$ & more", "a\\input{/etc/passwd}", "x^2 ~ {y}", "[h] *"])
def test_latex_sets_a_text_as_it_is(text: str) -> None:
    (line,) = (
        line for line in render_latex(make_order(make_run(model=text))).splitlines() if "caption" in line
    )
    shown = LatexNodes2Text().latex_to_text(line.strip().removeprefix("\\caption"))
    # The reader has its own sign for a circumflex.
    assert shown.replace("ˆ", "^").startswith(f"{text} (fc)")


def test_markdown_is_a_table() -> None:
    html = MarkdownIt("commonmark").enable("table").render("".join(render_markdown_table(make_order())))
    assert '<td style="text-align:left">simple_python</td>' in html
    assert '<td style="text-align:right">50.00</td>' in html


@pytest.mark.few(8)
@every_text
def test_markdown_has_the_form_of_a_harmless_table(text: str) -> None:
    hostile, harmless = (
        describe_markdown("".join(render_markdown_table(make_order(make_run(text=said)))).splitlines())
        for said in (text, "word")
    )
    assert hostile == harmless
