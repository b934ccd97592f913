"""Options are declared once; from that follow --help, the page of options, the file's keys and Settings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fcbench.config import options
from pytest_fcbench.config.options import BY_KEY, GROUPS, OPTIONS, Option, find_project, find_top
from pytest_fcbench.config.values import Layers, read_value
from pytest_fcbench.domain.prompting import Mode, Names
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.golden_path.assignment import MEASURES
from pytest_fcbench.suites.registry import SUITES
from tests.cases import each_case
from tests.conftest import ROOT
from tests.factories import write_tree


def test_each_option_is_told_in_a_line() -> None:
    """Of a wide terminal, as one sentence without an end."""
    for option in OPTIONS:
        assert 10 < len(option.help) <= 110, option.key
        assert not option.help.endswith("."), option.key
        assert option.switch == (not option.metavar), option.key


def test_each_option_is_in_one_group() -> None:
    assert len({option.key for option in OPTIONS}) == len(OPTIONS) == sum(len(g.options) for g in GROUPS)


def test_help_shows_the_groups_each_on_a_screen(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = pytester.runpytest_inprocess("--help").stdout.str()
    places = [shown.index(f"fcbench: {group.title}:") for group in GROUPS]
    assert places == sorted(places)
    for group, start, end in zip(GROUPS, places, [*places[1:], len(shown)], strict=True):
        assert all(option.flag in shown[start:end] for option in group.options)
        if end < len(shown):
            assert shown[start:end].count("\n") <= 40, group.title


def test_help_ends_with_the_default() -> None:
    def help_of(default: str | None = None, otherwise: str = "", note: str = "") -> str:
        option = Option("N", "how many", default=default, otherwise=otherwise, note=note, type="int")
        return option.help

    assert help_of() == "how many"
    assert help_of(default="8") == "how many (default: 8)"
    assert help_of(default="8", note="; both count") == "how many (default: 8; both count)"
    assert help_of(otherwise="no limit") == "how many (default: no limit)"
    many = Option("NAME", "which", type="tuple[str, ...]", default="core")
    assert many.help == "which (repeatable; default: core)"
    assert Option("NAME", "which", type="tuple[str, ...]").help == "which (repeatable)"


@each_case("option", OPTIONS, ids=lambda option: option.key)
def test_a_default_is_in_no_text(option: Option) -> None:
    assert "default" not in option.text
    assert "repeatable" not in option.text


@each_case("option", OPTIONS, ids=lambda option: option.key)
def test_each_option_can_be_read(option: Option) -> None:
    """Its type or its key has a reader, its default keeps its own rule, and only an optional one is None."""
    value = None if option.type == "Settings" else read_value(Layers({}, {}, {}), option)
    assert (value is None) <= option.optional


@each_case(
    ("key", "words"),
    [
        ("mode", Mode),
        ("names", Names),
        ("profile", Profile),
        ("suite", SUITES),
        ("similarity", MEASURES),
        ("responses", BY_KEY["responses"].choices),
    ],
)
def test_help_names_what_may_be_given(key: str, words: list[str]) -> None:
    assert [word for word in words if word not in BY_KEY[key].text] == []


GROWN = """
import sys, types
from argparse import ArgumentParser
from pathlib import Path
source = Path(sys.argv[1]).read_text(encoding="utf-8")
line = (
    "    patience: float = option('SECONDS', 'how long to wait', "
    "default='3', positive=True, of_model=True)\\n"
)
place = source.index("    failures: int = option(")
module = types.ModuleType("pytest_fcbench.config.options")
sys.modules[module.__name__] = module
exec(source[:place] + line + source[place:], module.__dict__)

from _pytest.config.argparsing import Parser
from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.plugin import pytest_addoption
sys.path.insert(0, "docs/_ext")
from generated import options

parser = Parser(_ispytest=True)
pytest_addoption(parser)
given = parser.parse(["--fcbench-patience=5"]).fcbench_patience
file = Path(sys.argv[2])
file.write_text("patience: 7\\nmodels: {mine: {model: x/y, patience: 9}}\\n", encoding="utf-8")
print(*(build_settings(*each).patience for each in (({}, None), ({"patience": given}, file), ({}, file))))
print(build_settings({"model": "mine"}, file).patience)
print(*(row for row in options() if "patience" in row))
file.write_text("patience: 0\\n", encoding="utf-8")
build_settings({}, file)
"""


def test_a_new_option_is_one_line(tmp_path: Path) -> None:
    """With one line more in ``Settings`` there is a flag, a key of the file and of profiles, its check, a
    setting and a row of docs/options.md."""
    file = tmp_path / "fcbench.yaml"
    command = [sys.executable, "-c", GROWN, options.__file__, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "3.0 5.0 7.0",
        "9.0",
        "| `--fcbench-patience=SECONDS` | `patience`, also in a model profile | "
        "how long to wait (default: 3) |",
    ]
    assert done.stderr.splitlines()[-1].endswith(f"UsageError: {file}:1: patience: must be more than 0")


def test_the_nearest_file_of_the_first_place_counts(tmp_path: Path) -> None:
    write_tree(tmp_path, {"fcbench.yaml": "", "one/fcbench.yaml": "", "other/deep/test.py": ""})
    assert find_project([tmp_path / "one/deep", tmp_path], tmp_path) == tmp_path / "one"
    assert find_project([tmp_path / "other/deep", tmp_path / "one"], tmp_path) == tmp_path
    assert find_project([tmp_path / "other/deep"], tmp_path / "other") is None


def test_the_top_is_that_of_the_repository_or_one_folder_above(tmp_path: Path) -> None:
    deep = tmp_path / "one" / "two" / "three"
    assert find_top(deep) == deep.parent
    (tmp_path / "one/.git").mkdir(parents=True)
    assert find_top(deep) == tmp_path / "one"
