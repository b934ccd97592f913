"""docs/own-suites.md keeps what it promises: five commands from a README to a score of sound entries."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

import jsonschema
import pytest

from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.formats.yaml_files import read_yaml
from pytest_fcbench.kinds.entry_files import generate_entry_schema
from pytest_fcbench.suites.custom import open_own
from tests.conftest import ROOT
from tests.docs.pages import matches, page, run, walk
from tests.plugin.test_entry_files import SHOP

PAGE = page(ROOT / "docs" / "own-suites.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where its commands were run, each of which printed what is shown."""
    folder = tmp_path_factory.mktemp("shop")
    for command, told in walk(PAGE, folder, folder):
        assert matches(command.shown, told.rstrip().splitlines()), f"$ {command.text}\n{told}"
    return folder


def test_there_are_six_commands() -> None:
    assert sorted(PAGE.files) == ["README.md", "shop.py"]
    assert PAGE.files["shop.py"].count("\ndef ") == 3
    first, *_ = PAGE.text.partition("## Is a suite sound?")
    assert len(re.findall(r"^\$ ", first, re.MULTILINE)) == 6


def test_the_score_is_of_thirty_entries_and_more(folder: Path) -> None:
    scorecard = json.loads((folder / "scorecard.json").read_text())
    overall = scorecard["fcbench"]["profiles"]["official"]["overall"]
    assert overall["n"] >= 30
    assert 0 < overall["passed"] < overall["n"]
    assert overall["not_scored"] == 0


def test_the_oracle_passes_all_in_both_modes(folder: Path) -> None:
    for more in ("", " --fcbench-mode=prompt --fcbench-profile=corrected"):
        told = run(f"pytest shop_suite --fcbench-model=oracle -q{more}; echo code $?", folder, folder)
        assert told.endswith("code 0\n"), told


@pytest.mark.few(1)
@pytest.mark.parametrize("category", ["multiple", "multi_turn_base"])
def test_examples_can_be_read(category: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = r"(?:^(?:    .*)?\n)*"
    (block,) = re.findall(rf"{lines}^    category: {category}\n{lines}", PAGE.text, re.MULTILINE)
    text = textwrap.dedent(block).replace("shop:Shop", "shop_of_the_docs:Shop")
    (tmp_path / "example.yaml").write_text(text)
    (tmp_path / "shop_of_the_docs.py").write_text(SHOP)
    monkeypatch.setattr(sys, "path", list(sys.path))
    suite = open_own("mine", tmp_path)
    assert suite.load(CATEGORIES[category])[0].id == f"{category}_0"
    jsonschema.validate(read_yaml(tmp_path / "example.yaml"), generate_entry_schema())
