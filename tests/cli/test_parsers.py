"""``fcbench parsers``: the tables of an engine, its exit code, and what is told without an engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main
from pytest_fcbench.tools.parsers.engine import ENGINES, EngineRow
from tests.tools.parsers.fakes import FAKE


@pytest.fixture(autouse=True)
def _add_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(ENGINES, "fake", FAKE)


def _run(*words: str) -> int:
    return main(["parsers", "fake", "--limit=8", *words])


@pytest.mark.nightly
def test_a_good_parser_ends_in_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--parser=none") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "fake 1.2: right answers that come back exact"
    assert lines[3].split()[:7] == ["none", "hermes", "8", "8", "8", "8", "8"]
    assert "the smallest failures" not in lines


def test_a_broken_parser_ends_in_1_with_its_smallest_failure(tmp_path: Path) -> None:
    assert _run("--parser=leaks,novel,broken", "-o", "parsers.json") == 1
    exact, outcomes, failures = json.loads((tmp_path / "parsers.json").read_text())["tables"]
    assert exact["rows"][0][:7] == ["leaks", "hermes", "8", "8", "0", "0", "0"]
    assert exact["notes"][:2] == [
        "not examined: novel (its syntax is not written here)",
        "not examined: broken (it lacks the token <broken>)",
    ]
    columns = " ".join(outcomes["columns"])
    assert columns == "parser syntax way exact wrong lost leaked crashed slow"
    assert outcomes["rows"][0] == ["leaks", "hermes", "by token", "0", "0", "0", "8", "0", "0"]
    assert all(r"<tool_call>\n{" in text for *_, text, _ in failures["rows"])


def test_an_unknown_parser_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="4"):
        _run("--parser=leak")
    assert "--parser leak: fake 1.2: unknown parser 'leak'. Did you mean 'leaks'?" in capsys.readouterr().err


def test_without_the_engine_the_way_to_it_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENGINES, "fake", EngineRow("no_such_engine", "", {}))
    with pytest.raises(SystemExit, match="4"):
        _run()
    assert (
        "'fake': the package no_such_engine is not installed here; install pytest-fcbench[parsers] in the "
        "environment of the engine" in capsys.readouterr().err
    )


def test_an_engine_that_cannot_be_imported_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENGINES, "fake", EngineRow("pytest", "no_such_module:open", {}))
    with pytest.raises(SystemExit, match="4"):
        _run()
    told = capsys.readouterr().err
    assert "'fake': the tool parsers of the installed version cannot be imported: No module named" in told
