"""docs/own-suites.md is true: its five commands, run in a folder with its files, print what it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from fnmatch import fnmatchcase
from pathlib import Path

import jsonschema
import pytest

from pytest_fcbench.entries import CATEGORIES
from pytest_fcbench.suites.entry_schema import entry_schema
from pytest_fcbench.suites.fields import yaml_value
from pytest_fcbench.suites.own import open_own
from tests.conftest import ROOT
from tests.plugin.test_pointed import SHOP

TEXT = (ROOT / "docs" / "own-suites.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
SESSIONS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [
    (command, shown.splitlines())
    for session in SESSIONS
    for command, _, shown in (part.partition("\n") for part in re.split(r"^\$ ", session, flags=re.M)[1:])
]


def matches(shown: list[str], told: list[str]) -> bool:
    """Whether the lines are those that are shown; ``...`` stands for any lines, or for any end of one."""
    if not shown:
        return not told
    if shown[0] == "...":
        return any(matches(shown[1:], told[at:]) for at in range(len(told) + 1))
    literal = "*".join(part.replace("[", "[[]") for part in shown[0].split("..."))
    return bool(told) and fnmatchcase(told[0], literal) and matches(shown[1:], told[1:])


def run(command: str, folder: Path) -> tuple[int, str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[int, str]]]:
    folder = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder, [run(command, folder) for command, _ in COMMANDS]


def test_there_are_five_commands() -> None:
    assert sorted(FILES) == ["README.md", "shop.py"]
    assert FILES["shop.py"].count("\ndef ") == 3
    assert [len(re.findall(r"^\$ ", session, re.M)) for session in SESSIONS] == [5, 1]


def test_they_print_what_is_shown(walked: tuple[Path, list[tuple[int, str]]]) -> None:
    for (command, shown), (_, told) in zip(COMMANDS, walked[1], strict=True):
        assert matches(shown, told.splitlines()), f"{command}\n{told}"
    assert [code for code, _ in walked[1]] == [0, 0, 0, 0, 1, 0]


def test_the_score_is_of_thirty_entries_and_more(walked: tuple[Path, list[tuple[int, str]]]) -> None:
    scorecard = json.loads((walked[0] / "scorecard.json").read_text())
    overall = scorecard["fcbench"]["profiles"]["official"]["overall"]
    assert overall["n"] >= 30
    assert 0 < overall["passed"] < overall["n"]
    assert overall["not_scored"] == 0


def test_the_oracle_passes_all_in_both_modes(walked: tuple[Path, list[tuple[int, str]]]) -> None:
    for more in ("", " --fcbench-mode=prompt --fcbench-profile=corrected"):
        code, told = run(f"pytest shop_suite --fcbench-model=oracle -q{more}", walked[0])
        assert code == 0, told


@pytest.mark.parametrize("category", ["multiple", "multi_turn_base"])
def test_examples_can_be_read(category: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = r"(?:^(?:    .*)?\n)*"
    (block,) = re.findall(rf"{lines}^    category: {category}\n{lines}", TEXT, re.MULTILINE)
    text = textwrap.dedent(block).replace("shop:Shop", "shop_of_the_docs:Shop")
    (tmp_path / "example.yaml").write_text(text)
    (tmp_path / "shop_of_the_docs.py").write_text(SHOP)
    monkeypatch.setattr(sys, "path", list(sys.path))
    suite = open_own("mine", tmp_path)
    assert suite.load(CATEGORIES[category])[0].id == f"{category}_0"
    jsonschema.validate(yaml_value(tmp_path / "example.yaml"), entry_schema())


def test_what_is_not_shown_would_be_noticed() -> None:
    assert matches(["a ...", "...", "z"], ["a b", "c", "d", "z"])
    assert not matches(["a ...", "...", "z"], ["a b", "c", "d"])
    assert not matches(["a", "z"], ["a", "b", "z"])
    assert not matches(["a"], ["a", "b"])
