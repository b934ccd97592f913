"""``fcbench run view``: its pages, and the process that serves them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.cli.main import make_parser
from pytest_fcbench.cli.run.pages import RunPages
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.run.progress_file import ProgressFile
from tests.factories import FACTS, make_record, write_scorecard
from tests.processes import listening_to_ctrl_c
from tests.run.test_progress_file import PROGRESS

NAMES = ("20270115-080000-first", "20270116-080000-second")


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunPages:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FCBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "runs").mkdir()
    for name, verdict in zip(NAMES, (make_record(), make_record(Failed("a", "b"))), strict=True):
        facts = replace(FACTS, model=name[16:])
        write_scorecard(tmp_path / "runs" / f"{name}.json", [verdict], facts)
    (tmp_path / "rendered").mkdir()
    chosen = make_parser(["run view"]).parse_args(["run", "view"])
    return RunPages(tmp_path / "runs", tmp_path / "rendered", chosen)


def read_page(pages: RunPages, path: str, query: Mapping[str, Sequence[str]] | None = None) -> str:
    page = pages.find_page(path, query or {})
    assert page is not None
    return page.content if isinstance(page.content, str) else page.content.read_text(encoding="utf-8")


def test_the_first_page_lists_the_runs_the_newest_first(pages: RunPages) -> None:
    text = read_page(pages, "/")
    assert text.index(f"/run/{NAMES[1]}") < text.index(f"/run/{NAMES[0]}")


def test_a_run_is_opened_and_its_report_is_kept(pages: RunPages, tmp_path: Path) -> None:
    assert "<h1><bdi>second</bdi></h1>" in read_page(pages, f"/run/{NAMES[1]}")
    read_page(pages, f"/run/{NAMES[1]}")
    assert len([*(tmp_path / "rendered").iterdir()]) == 1


def test_two_runs_are_compared_with_the_older_one(pages: RunPages) -> None:
    text = read_page(pages, "/compare", {"run": [NAMES[1], NAMES[0]]})
    assert "2 runs side by side" in text
    assert "the change is against <bdi>first</bdi>" in text


@pytest.mark.parametrize("path", ["/run/nothing", "/run/../20270115-080000-first", "/run/"])
def test_only_kept_runs_are_found(pages: RunPages, path: str) -> None:
    with pytest.raises(UsageError, match=r"unknown run .*20270115-080000-first"):
        pages.find_page(path, {})


@pytest.mark.parametrize("names", [[], [NAMES[0]] * 9])
def test_a_comparison_has_one_run_to_eight(pages: RunPages, names: list[str]) -> None:
    with pytest.raises(UsageError, match=f"{len(names)} runs: choose 1 to 8"):
        pages.find_page("/compare", {"run": names})


def test_other_addresses_have_no_page(pages: RunPages) -> None:
    assert pages.find_page("/etc/passwd", {}) is None


def test_a_run_that_is_going_on_is_followed(pages: RunPages, tmp_path: Path) -> None:
    assert json.loads(read_page(pages, "/running.json")) == []
    ProgressFile(tmp_path / "runs", "gpt", ["core"]).write_progress(PROGRESS)
    (running,) = json.loads(read_page(pages, "/running.json"))
    assert (running["model"], running["passed"], running["total"]) == ("gpt", 3, 10)


def run_refused_view(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main(["run", "view", *words])
    assert ended.value.code == 4
    return capsys.readouterr().err


def test_what_cannot_be_shown_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nothing: not a folder; give one that holds scorecards" in run_refused_view(capsys, "nothing")
    Path("fcbench.yaml").write_text("runs: none\n")
    assert "no runs are kept; name a folder with 'runs' in fcbench.yaml" in run_refused_view(capsys)


@pytest.mark.parametrize("port", ["65536", "-1"])
def test_a_port_that_cannot_be_had_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    assert main.main(["run", "view", str(tmp_path), f"--port={port}"]) == 1
    assert f"--port={port}: " in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_in_order(
    pages: RunPages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: int
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    command = [sys.executable, "-m", "pytest_fcbench.cli.main", "run", "view", "runs", "--port", "0"]
    with listening_to_ctrl_c():
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        with urlopen(f"{address}run/{NAMES[0]}", timeout=60) as page:
            assert "first" in page.read().decode()
        assert [*temporary.glob("fcbench-*/*")], "the page is kept while the command runs"
        time.sleep(0.1)
        process.send_signal(ending)
        assert process.wait(60) == 0
    assert not [*temporary.iterdir()]
