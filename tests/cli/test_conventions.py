"""The command line as people expect it: groups, names, nearest words, endings, encodings."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main, make_parser
from pytest_fcbench.cli.tree import find_command_names, is_group, list_group, read_tree
from pytest_fcbench.dispatch.answer_store import AnswerStore
from tests.conftest import ROOT
from tests.factories import make_record, write_scorecard


def run(*words: str) -> int:
    try:
        return main(words)
    except SystemExit as ended:
        return int(str(ended.code))


@pytest.mark.parametrize(("words", "code"), [((), 4), (("run",), 4), (("suite", "-h"), 0), (("--help",), 0)])
def test_the_help_lists_all_commands_and_the_command_line_knows_them(
    words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == code
    told = capsys.readouterr().out
    assert told.startswith("usage: fcbench ")
    group = words[0] if words and is_group(words[0]) else ""
    assert [line.split()[0] for line in told.splitlines() if re.match("  [a-z]", line)] == [
        *list_group(group)
    ]
    # Those of the groups are named too.
    assert all(name.split()[-1] in told for name in find_command_names() if name.startswith(group))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show",), "unknown command 'show'; use fcbench run show"),
        (("run", "audit", "core"), "unknown command 'run audit'; use fcbench suite audit"),
        (("list",), "unknown command 'list'; use fcbench run list or fcbench suite list"),
        (
            ("runs",),
            "unknown command 'runs'. Did you mean fcbench run? 'fcbench --help' lists what is possible",
        ),
        (("run", "reprot"), "unknown command 'run reprot'. Did you mean fcbench run report"),
        (("zzz",), "unknown command 'zzz'. 'fcbench --help' lists what is possible"),
    ],
)
def test_a_command_that_is_none_is_told_with_the_one_that_is_meant(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words) == 4
    told = capsys.readouterr().err
    assert told.startswith(f"fcbench: error: {says}")
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_names_the_program(capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert run(option) == 0
    assert capsys.readouterr().out.startswith("fcbench ")


@pytest.mark.parametrize("option", ["-o", "--output", "--to"])
def test_the_option_for_the_output_has_the_usual_names(option: str) -> None:
    chosen = make_parser(["run report"]).parse_args(["run", "report", option, "x.html"])
    assert chosen.to == Path("x.html")


@pytest.mark.parametrize(("name", "code"), [("x.xlsx", 4), ("x.txt", 0), ("x.md", 0), ("x", 0)])
def test_the_ending_of_a_file_names_its_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    cards = [str(write_scorecard(tmp_path / file, [make_record()])) for file in ("a.json", "b.json")]
    assert run("run", "compare", *cards, "-o", str(tmp_path / name)) == code
    assert (
        "unknown ending '.xlsx'; use one of .md, .csv, .tex, .html, .json" in capsys.readouterr().err
    ) == bool(code)


def test_a_narrow_encoding_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows where the output goes to a file; the entry has Hindi in it."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252"))
    assert run("run", "show", "core:multiple_40", "--expected") == 0
    sys.stdout.flush()
    assert b"\\u092d" in raw.getvalue()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two runs that were kept, two scorecards and a store."""
    monkeypatch.chdir(tmp_path)
    for name in ("one.json", "two.json"):
        text = write_scorecard(tmp_path / name, [make_record()]).read_text()
        (tmp_path / ".fcbench/runs").mkdir(parents=True, exist_ok=True)
        (tmp_path / f".fcbench/runs/20260101-00000{len(name)}-{name}").write_text(text)
    AnswerStore(tmp_path / ".fcbench/answers.sqlite").close()
    return tmp_path


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", find_command_names())
def test_a_command_shows_examples_that_it_understands_and_a_page(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = read_tree()[name]
    page = command.page
    assert (ROOT / f"docs/{page}.md").is_file()
    assert command.examples
    parser = make_parser([name])
    for example in command.examples:
        assert f"{example} ".startswith(f"fcbench {name} ")
        parser.parse_args(shlex.split(example.partition(" > ")[0])[1:])
    assert run(*name.split(), "--help") == 0
    told = capsys.readouterr().out
    assert f"examples:\n  {command.examples[0]}\n" in told
    assert f"more: fcbench help {page}\n" in told


@pytest.mark.few(3)
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    "words",
    [
        ("suite", "list"),
        ("codes", "no_call"),
        ("run", "list"),
        ("gate", "one.json", "--gate=all>=0%"),
        ("doctor", "--no-calls", "--model=oracle"),
        ("suite", "audit", "core", "--check=same_name"),
        ("store", "size"),
        ("store", "list"),
        ("run", "compare", "one.json", "two.json"),
        ("run", "leaderboard", "one.json", "two.json"),
    ],
    ids=lambda words: words[0],
)
def test_json_is_a_switch(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words, "--json") in (0, 1)
    assert json.loads(capsys.readouterr().out) is not None


def test_an_unknown_option_points_at_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("run", "report", "--bad") == 4
    assert capsys.readouterr().err == (
        "fcbench run report: error: unrecognized arguments: --bad\n"
        "'fcbench run report --help' lists what is possible\n"
    )


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run leaderboard", "missing: SCORECARD; e.g. fcbench run leaderboard previous latest"),
        ("completion", "missing: shell; e.g. fcbench completion bash > "),
        ("run export svg", "For .svg: fcbench run export plot or fcbench run export badge."),
        ("codes nosuch", " valid names; 'fcbench codes' lists them."),
        ("run show core", "'core': this is a suite. Name an entry as suite:id"),
        ("run show latest", "'latest' is a run; name it with --scorecard=latest"),
        ("suite import x.jsonl --to chats", "needs the ending .jsonl; name chats.jsonl"),
        ("run compare latest latest", "this run would be compared with itself; name two runs"),
        ("store list --store=none.sqlite", "a run stores answers unless its model is built in"),
        ("gate 20260101", "20260101: 2 runs begin so; name one of 20260101-000008-two, 20260101-000008-one"),
    ],
)
def test_an_error_says_what_to_type(words: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words.split()) == 4
    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_the_newest_run_alone_is_compared_with_the_one_before(capsys: pytest.CaptureFixture[str]) -> None:
    (newest,) = Path(".fcbench/runs").glob("*two.json")
    newest.write_text(newest.read_text().replace('"created"', '"created" '))
    assert run("run", "compare", "latest") == 0
    told = capsys.readouterr().out
    assert "one.json" in told
    assert "two.json" in told
