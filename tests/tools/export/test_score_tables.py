"""Tables of scores, as Markdown and LaTeX: what readers of both make of them."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexEnvironmentNode, LatexNode, LatexWalker

from pytest_fcbench.tools.export import latex_table, markdown_table
from pytest_fcbench.tools.export.order import ExportRequest
from pytest_fcbench.tools.export.score_tables import tabulate_scores
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.test_hostile_texts import describe_markdown
from tests.tools.export.runs import make_order, make_run

every_text = pytest.mark.parametrize("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)


TABLE_MACROS = ("caption", "toprule", "midrule", "bottomrule", "\\", "par")


def render_latex(order: ExportRequest) -> str:
    return "".join(latex_table.render_text(order))


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
    assert table.notes == ("5.83 of the 100 weighted parts of BFCL's overall were run.",)


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
    assert "test (fc), core 1, official profile" in text


@every_text
def test_latex_has_the_form_of_a_harmless_table(text: str) -> None:
    order = make_order(make_run(text=text), make_run("b", "other"))
    harmless = make_order(make_run(text="word"), make_run("b", "other"))
    assert describe_latex(render_latex(order)) == describe_latex(render_latex(harmless))


@pytest.mark.parametrize("text", ["50% of $x_1$ & more", "a\\input{/etc/passwd}", "x^2 ~ {y}", "[h] *"])
def test_latex_sets_a_text_as_it_is(text: str) -> None:
    (line,) = (
        line for line in render_latex(make_order(make_run(model=text))).splitlines() if "caption" in line
    )
    shown = LatexNodes2Text().latex_to_text(line.strip().removeprefix("\\caption"))
    # The reader has its own sign for a circumflex.
    assert shown.replace("ˆ", "^").startswith(f"{text} (fc)")


def test_markdown_is_a_table() -> None:
    html = MarkdownIt("commonmark").enable("table").render("".join(markdown_table.render_text(make_order())))
    assert '<td style="text-align:left">simple_python</td>' in html
    assert '<td style="text-align:right">50.00</td>' in html


@every_text
def test_markdown_has_the_form_of_a_harmless_table(text: str) -> None:
    hostile, harmless = (
        describe_markdown("".join(markdown_table.render_text(make_order(make_run(text=said)))).splitlines())
        for said in (text, "word")
    )
    assert hostile == harmless
