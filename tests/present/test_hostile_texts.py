"""Every writer takes every text for a text, in every field: its output has the form of a harmless one."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pytest_fcbench.domain.transcript import Completion, completion_to_json
from pytest_fcbench.domain.verdict import Difference, Failed, NotScored, Passed, Profile
from pytest_fcbench.present import run_end
from pytest_fcbench.present.board_tables import tabulate_board
from pytest_fcbench.present.comparison_tables import tabulate_comparison
from pytest_fcbench.present.explanations import OutputLine
from pytest_fcbench.present.html.board_page import render_boards
from pytest_fcbench.present.html.island import SuiteInfo
from pytest_fcbench.present.run_end import silence_commands, write_end
from pytest_fcbench.present.table_formats import FORMATS
from pytest_fcbench.present.tables import Table
from pytest_fcbench.present.terminal import write_summary
from pytest_fcbench.scorecard.compare.comparison import compare_scorecards
from pytest_fcbench.scorecard.compare.leaderboard import rank_boards
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.scorecard.run_facts import BROKEN, WORDS, RuleOutcome
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from tests.cases import each_case
from tests.factories import (
    FACTS,
    make_call_verdict,
    make_entry,
    make_path_record,
    make_path_score,
    make_record,
)
from tests.hostile_texts import HOSTILE_TEXTS
from tests.present.html.parsed import Parsed, render_report

HARMLESS = "word"

every_text = each_case("text", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS)


def make_records(text: str) -> list[Record]:
    """Make Records that hold a text wherever a model, a judge or a suite's file can bring one."""
    wrong = Failed("wrong_count", text, {"found": text, text: [text, {text: text}]})
    said = ((completion_to_json(Completion(text, reasoning=text, finish_reason=text)),),)
    call = make_call_verdict(
        name=text,
        made={text: text},
        stage=text,
        code=text,
        reason=text,
        differences=[Difference(text, text, text, text, text)],
    )
    return [
        replace(make_record(wrong, Passed()), turns=said, steps=(Usage(1.0, 10, 5, 0.01),), marks=(text,)),
        replace(make_record(NotScored(text, text), number=1), cluster=text),
        replace(make_record(wrong, number=2), entry=f"core:simple_python_{text}"),
        make_path_record(wrong, path=make_path_score(call)),
        *(make_record(number=number) for number in (3, 4)),
    ]


def make_card(text: str, name: str = "a") -> Scorecard:
    facts = replace(
        FACTS,
        model=f"{name} {text}",
        notes=(text,),
        rated_by=text,
        search=text,
        labels={text: text},
        narrowed_by=text,
        asked_as=text,
    )
    outcome = RuleOutcome("overall>=0.05", WORDS[BROKEN], text)
    return Scorecard(Path(f"{name}.json"), facts, tuple(make_records(text)), {}, gate=(outcome,))


def make_table(text: str) -> Table:
    return Table(text, (text, "x", text), ((text, text, text), ("a", text, "c")), (text, text))


@cache
def make_tables(text: str) -> list[Table]:
    """Make a table of texts, and all tables of a leaderboard and of a comparison of such runs."""
    cards = [make_card(text, "a"), make_card(text, "b")]
    boards = rank_boards(cards, Profile.OFFICIAL)
    compared = tabulate_comparison(compare_scorecards(cards[0], cards[1], Profile.OFFICIAL), 10)
    return [make_table(text), *(table for board in boards for table in tabulate_board(board)), *compared]


# Forms


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# What GitHub makes of a text beside Markdown: addresses, people, issues.
_LINKED = re.compile(r"https?://|\bwww\.\w|(?<![\w`])@\w|(?<![\w&])#\d|\w@\w", re.IGNORECASE)


def describe_markdown(lines: Iterable[str]) -> list[str]:
    """List the types of a text's elements in order, texts and invisible comments left out."""
    form: list[str] = []

    def describe_tokens(tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.type == "inline":
                describe_tokens(token.children or [])
            elif token.type == "text" or (token.type == "html_inline" and token.content == "<!-- -->"):
                continue
            else:
                form.append(f"{token.type} {token.tag}")

    text = "\n".join(lines)
    describe_tokens(MARKDOWN.parse(text))
    shown = re.sub(r"<pre>.*?</pre>", "", MARKDOWN.render(text), flags=re.DOTALL)
    assert _LINKED.search(re.sub(r"<(?!!--)[^>]*>", "", shown)) is None
    return form


def describe_page(page: str) -> list[tuple[str, list[str]]]:
    """List the elements of a page with the names of their attributes."""
    return [
        (element.tag, sorted(name for name in element.attributes if name != "open"))
        for element in Parsed(page).elements
        # Whether a name may be broken after an underline depends on the name.
        if element.tag != "wbr"
    ]


# Writers


@every_text
def test_markdown_has_the_form_of_a_harmless_table(text: str) -> None:
    for hostile, harmless in zip(make_tables(text), make_tables(HARMLESS), strict=True):
        written = list(FORMATS["markdown"]("", [hostile]))
        assert describe_markdown(written) == describe_markdown(FORMATS["markdown"]("", [harmless]))


@every_text
def test_csv_has_the_cells_of_a_harmless_table_and_no_formula(text: str) -> None:
    rows = list(csv.reader(FORMATS["csv"](text, [make_table(text)])))
    assert [len(row) for row in rows] == [3, 3, 3]
    is_number = re.compile(r"[+-]?[\d.,]*%?")
    assert not [
        cell for row in rows for cell in row if cell[:1] in set("=+-@\t\r") and not is_number.fullmatch(cell)
    ]


@every_text
def test_latex_has_the_lines_and_cells_of_a_harmless_table(text: str) -> None:
    for hostile, harmless in zip(make_tables(text), make_tables(HARMLESS), strict=True):
        written, expected = (list(FORMATS["latex"]("", [table])) for table in (hostile, harmless))
        # Signs with a meaning, but not those behind a backslash, which have lost it.
        signs = [re.findall(r"\\\\$|(?<!\\)[#$%&_^~]", line) for line in written]
        assert signs == [re.findall(r"\\\\$|(?<!\\)[#$%&_^~]", line) for line in expected]
        commands = {command for line in written for command in re.findall(r"\\[A-Za-z]+", line)}
        assert commands <= {f"\\{name}" for name in LATEX_COMMANDS}


LATEX_COMMANDS = (
    *("begin", "end", "centering", "caption", "toprule", "midrule", "bottomrule", "par", "footnotesize"),
    *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar"),
)


@every_text
def test_html_tables_have_the_elements_of_harmless_ones(text: str) -> None:
    page = "\n".join(FORMATS["html"](text, make_tables(text)))
    assert describe_page(page) == _describe_harmless_tables()


@cache
def _describe_harmless_tables() -> list[tuple[str, list[str]]]:
    return describe_page("\n".join(FORMATS["html"](HARMLESS, make_tables(HARMLESS))))


@every_text
def test_json_tables_are_whole(text: str) -> None:
    written = json.loads("\n".join(FORMATS["json"](text, [make_table(text)])))
    assert len(written["tables"][0]["rows"]) == 2


@every_text
def test_text_tables_hold_no_control_character_and_have_their_lines(text: str) -> None:
    lines = list(FORMATS["text"](text, [make_table(text)]))
    assert all(line.isprintable() for line in lines)
    "\n".join(lines).encode()


@every_text
def test_the_report_has_the_elements_of_a_harmless_one(text: str) -> None:
    assert _describe_report(text) == _describe_report(HARMLESS)


@cache
def _describe_report(said: str) -> list[tuple[str, list[str]]]:
    entry = make_entry(query=said)
    return describe_page(
        render_report([make_card(said)], SuiteInfo({entry.key: entry}, notes=(said,)), Profile.OFFICIAL)
    )


@pytest.mark.nightly
@every_text
def test_the_leaderboard_has_the_elements_of_a_harmless_one(text: str) -> None:
    page = _render_leaderboard(text)
    assert describe_page(page) == describe_page(_render_leaderboard(HARMLESS))
    (link,) = Parsed(page).find_all("a")
    assert re.fullmatch(r"x/[\w.~%/-]*\.html", link.attributes["href"], re.ASCII)


@cache
def _render_leaderboard(said: str) -> str:
    cards = [
        replace(make_card(said, name), path=Path(f"{said.replace('/', '')}{name}.json"))
        for name in ("a", "b", "c")
    ]
    boards = rank_boards(cards, Profile.OFFICIAL)
    return "\n".join(render_boards(boards, reports={str(cards[0].path): f"x/{said}.html"}))


def write_for_github(text: str) -> tuple[list[str], list[str]]:
    """Write the step summary and the annotations of a run that holds a text everywhere."""
    card = make_card(text)
    before = make_card(text, "before")
    evidence = Evidence(card.records, Profile.OFFICIAL, lambda _: 0, card.facts.suites, before, text)
    summary = list(
        run_end.write_step_summary(
            card.facts, evidence, card.gate, lambda record: iter([OutputLine(text), OutputLine(text)])
        )
    )
    return summary, list(run_end.write_annotations(card.gate))


@every_text
def test_the_summary_for_github_has_the_form_of_a_harmless_one(text: str) -> None:
    summary, annotations = write_for_github(text)
    harmless, one = write_for_github(HARMLESS)
    assert describe_markdown(summary) == describe_markdown(harmless)
    assert len(annotations) == len(one)
    assert all(line.startswith("::error title=gate overall>=0.05%3A broken::") for line in annotations)
    assert not any(set(line) & set("\r\n") for line in annotations)


@every_text
def test_the_terminal_gets_no_control_character_and_github_no_command(text: str) -> None:
    card = make_card(text)
    evidence = Evidence(card.records, Profile.OFFICIAL, lambda _: 0, card.facts.suites)
    told = (
        *silence_commands(write_summary(card.facts, evidence, card.gate, width=80, most=10)),
        *write_end(card.facts, evidence, card.gate, width=80, annotate=True),
    )
    lines = [part for line in told for part in line.text.split("\n")]
    assert all(line.isprintable() for line in lines)
    commands, token = [], None
    for line in lines:
        if token is None and line.startswith("::stop-commands::"):
            token = line[17:]
        elif line == f"::{token}::":
            token = None
        elif token is None and line.startswith("::"):
            commands.append(line)
    assert commands == list(run_end.write_annotations(card.gate))
