"""The command line as people expect it: groups, names, nearest words, endings, encodings."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import GROUPS, find_command_names, main, make_parser
from tests.factories import make_record, write_scorecard


def run(*words: str) -> int:
    try:
        return main(words)
    except SystemExit as ended:
        return int(str(ended.code))


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(find_command_names())


def test_the_help_lists_the_commands_by_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("compare and decide:")
    assert lines[place + 1].startswith("  compare        compare two scorecards")


def test_a_command_that_is_none_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("reprot") == 2
    told = capsys.readouterr().err
    assert told.startswith("fcbench: error: unknown command 'reprot'. Did you mean 'report'")
    assert "usage:" not in told


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_names_the_program(capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert run(option) == 0
    assert capsys.readouterr().out.startswith("fcbench ")


@pytest.mark.parametrize("option", ["-o", "--output", "--to"])
def test_the_option_for_the_output_has_the_usual_names(option: str) -> None:
    chosen = make_parser(["report"]).parse_args(["report", option, "x.html"])
    assert chosen.to == Path("x.html")


@pytest.mark.parametrize(("name", "code"), [("x.xlsx", 2), ("x.txt", 0), ("x.md", 0), ("x", 0)])
def test_the_ending_of_a_file_names_its_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    card = str(write_scorecard(tmp_path / "a.json", [make_record()]))
    assert run("compare", card, card, "-o", str(tmp_path / name)) == code
    assert ("unknown ending '.xlsx'; use one of .md, .csv, .html, .json" in capsys.readouterr().err) == bool(
        code
    )


def test_a_narrow_encoding_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows where the output goes to a file; the entry has Hindi in it."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252"))
    assert run("show", "core:multiple_40", "--expected") == 0
    sys.stdout.flush()
    assert b"\\u092d" in raw.getvalue()
