"""What is wrong before anything is collected is a usage error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_fcbench.config.options import BY_KEY
from pytest_fcbench.models.registry import PROVIDERS
from pytest_fcbench.plugin.completion import make_completing_action
from pytest_fcbench.plugin.items import ENTRY, Benchmark
from pytest_fcbench.plugin.registration import BodyArguments
from tests.factories import make_entry
from tests.plugin.conftest import Project, size


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "--fcbench-config=nope.yaml",
            "ERROR: --fcbench-config=nope.yaml: no such file; name a configuration file, or "
            "leave the option out",
        ),
        ("--fcbench-concurrency=0", "ERROR: *concurrency*"),
    ],
)
def test_a_wrong_option_is_a_usage_error(project: Project, option: str, told: str) -> None:
    result = project.run_apart(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("--fcbench-ga", "--fcbench-gate "),
        ("--fcbench-mode=pr", "--fcbench-mode=prompt "),
        ("--fcbench-suite=sh", "--fcbench-suite=shop "),
        ("--fcbench-category=multi_turn_b", "--fcbench-category=multi_turn_base "),
    ],
)
def test_a_shell_completes_options_and_their_values(tmp_path: Path, typed: str, word: str) -> None:
    (tmp_path / "fcbench.yaml").write_text("suites: {shop: shop.yaml}\n")
    words = tmp_path / "words"
    line = f"pytest {typed}"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_STDOUT_FILENAME": str(words), "COMP_LINE": line}
    environment = {**os.environ, **asked, "COMP_POINT": str(len(line))}
    command = [sys.executable, "-m", "pytest"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert words.read_text() == word


def test_the_models_that_are_completed_are_those_that_need_no_argument() -> None:
    completer = make_completing_action(BY_KEY["model"]).__dict__["completer"]
    alone = [name for name, of in PROVIDERS.items() if not of.argument or of.argument_is_optional]
    assert [*completer.__func__()] == alone


ONE_CATEGORY = ("benchmarks", "--fcbench-category=parallel", "-n", "0")

WRAPPED = {
    "ask": "lambda entry: note(ask(entry), entry)",
    "judge": "lambda entry, transcript: note(judge(entry, transcript), entry)",
    "score": "lambda judgement: note(score(judgement), request.node.callspec.params['entry'])",
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", WRAPPED)
def test_a_fixture_that_a_project_replaces_is_the_projects(project: Project, name: str) -> None:
    project.write(
        "conftest.py",
        f"""
import pathlib, pytest

def note(outcome, entry):
    with pathlib.Path("noted.txt").open("a") as file:
        print(entry.item_id, file=file)
    return outcome

@pytest.fixture
def {name}({name}, request):
    return {WRAPPED[name]}
""",
    )
    assert project.run(*ONE_CATEGORY).ret == 0
    noted = (project.path / "noted.txt").read_text().split()
    assert sorted(noted) == sorted(project.records())
    assert len(noted) == size("parallel")


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", ["0", "2"])
def test_other_fixtures_get_the_entry_of_their_test(project: Project, workers: str) -> None:
    project.write(
        "conftest.py",
        """
import pytest

@pytest.fixture(autouse=True)
def named(entry, request):
    assert f"[{entry.item_id}]" in request.node.nodeid
    return entry.item_id

@pytest.fixture
def asked_twice(entry, ask):
    return ask(entry), ask(entry)
""",
    )
    project.write(
        "test_own.py",
        """
import pytest

@pytest.mark.fcbench("parallel")
def test_own(entry, named, asked_twice, judge, score):
    first, second = asked_twice
    assert (named, first) == (entry.item_id, second)
    assert score(judge(entry, first)).passed
""",
    )
    result = project.run("test_own.py", "-n", workers)
    result.assert_outcomes(passed=size("parallel"))


def test_a_fixture_of_the_same_name_replaces_no_entry(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import pytest

@pytest.fixture
def entry():
    return "mine"
""",
    )
    project.write("test_own.py", "def test_own(entry): assert entry == 'mine'")
    project.run(*ONE_CATEGORY, "test_own.py").assert_outcomes(passed=size("parallel") + 1)


def test_a_test_may_have_an_entry_of_its_own(project: Project) -> None:
    project.write(
        "test_own.py",
        """
import pytest

@pytest.mark.parametrize("entry", ["mine"])
def test_own(entry, ask):
    assert entry == "mine" and callable(ask)
""",
    )
    project.run("test_own.py", "-n", "0").assert_outcomes(passed=1)


def test_setups_are_shown(project: Project) -> None:
    result = project.run(*ONE_CATEGORY, "--fcbench-limit=1", "--setup-show")
    assert result.ret == 0
    shown = result.stdout.str()
    for line in ("SETUP    S ask", "SETUP    S judge", "SETUP    S score", "SETUP    F entry["):
        assert line in shown


@pytest.mark.few(1)
@pytest.mark.parametrize(("private", "filled"), [({}, {"ask", "judge", "score", "entry"}), (None, set())])
def test_with_a_pytest_that_works_otherwise_all_is_left_to_it(private: object, filled: set[str]) -> None:
    benchmark = SimpleNamespace(ask_model=1, record_judgement=2, session=SimpleNamespace(judge=3))
    item = object.__new__(pytest.Function)
    item.stash, item.funcargs = pytest.Stash(), {}
    item.stash[ENTRY] = make_entry()
    item.config = cast(pytest.Config, SimpleNamespace(option=SimpleNamespace(setupshow=False)))
    vars(item)["_fixtureinfo"] = SimpleNamespace(name2fixturedefs=private)
    BodyArguments(cast(Benchmark, benchmark)).pytest_runtest_setup(item)
    assert set(item.funcargs) == filled
