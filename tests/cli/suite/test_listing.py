"""``fcbench suite list``."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench.cli.main import main

HELLO = '{"category": "chatable", "id": "chatable_0", "query": "Hello!"}'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "cache"))
    Path("hello.jsonl").write_text(HELLO)
    Path("fcbench.yaml").write_text("suites: {mine: hello.jsonl}\n")


def test_each_suite_is_told_with_its_size_or_the_way_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "list"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "core               12, 1,489 entries in 35 categories, 1,369 of them run by default"
    assert "not installed: " in told[1]
    assert "run 'fcbench pull bfcl'" in told[1]
    assert told[-1].endswith(", 1 entries in 1 categories")


def test_categories_are_told_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "list", "--categories"]) == 0
    assert "\n  chatable                      1\n" in capsys.readouterr().out


def test_a_broken_one_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("hello.jsonl").write_text(HELLO.replace("query", "quary"))
    assert main(["suite", "list"]) == 1
    assert "mine               cannot be loaded: " in capsys.readouterr().out
