"""Commands that the pages show without what they print: each is run as far as it goes here.

A run of pytest is planned instead of asked (``--fcbench-plan``), since nobody here has the models. What needs
official data, weights, a judge or a network is not run; that its options exist, ``test_agreement`` says.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from tests.docs.pages import PAGES, page, run

ELSEWHERE = re.compile(
    r"=\.\.\.|bfcl|complexfuncbench|minilm|--judge |--audit |--model my-ft"
    r"|^fcbench (pull|serve|parsers|suite contamination|run (view|export (official|inspect|mlflow|wandb)))"
    r"|^pytest tests |shop_suite|parsers\.pytest_items"
)
"""What is not to be had here, or is run by tests of its own."""
FILES = (
    *("gpt-4o-mini.json", "gpt-4o-mini-fc.json", "before.json", "after.json", "a.json", "b.json"),
    *("whole.json", "streamed.json"),
)
CONFIGURATION = """\
model: my-ft
models:
  my-ft: {model: hosted_vllm/my-ft, api_base: "http://localhost:8000/v1"}
"""


def _find_commands() -> Iterator[str]:
    for path in PAGES:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^    ((?:pytest|fcbench) .*)$", text, re.MULTILINE):
            command = re.split(r"\s+#", line)[0].strip()
            if not ELSEWHERE.search(command):
                yield command


COMMANDS = sorted(set(_find_commands()))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    run("fcbench init --ci none", folder, folder)
    # Two runs, which can be compared.
    for model in ("lexical", "oracle"):
        run(f"pytest benchmarks -m 'parallel or multi_turn_base' --fcbench-model={model}", folder, folder)
    for name in FILES:
        shutil.copy(folder / "scorecard.json", folder / name)
    (folder / "fcbench.yaml").write_text(CONFIGURATION)
    (folder / "tests").mkdir()
    (folder / "tests" / "shop.yaml").write_text(page(ROOT / "README.md").files["shop.yaml"])
    return folder


def _run_command(command: str, folder: Path) -> tuple[int, str]:
    planned = f"{command} --fcbench-plan" if command.startswith("pytest ") else command
    told = run(f"{planned}; echo code $?", folder, folder)
    return int(told.split()[-1]), told


def test_there_are_such_commands() -> None:
    assert len(COMMANDS) > 15
    assert {command.split()[0] for command in COMMANDS} == {"pytest", "fcbench"}


@pytest.mark.nightly
@each_case("command", COMMANDS)
def test_a_command_of_the_docs_runs(command: str, project: Path) -> None:
    code, told = _run_command(command, project)
    assert code == 0, told
    assert "Traceback" not in told


@pytest.mark.nightly
def test_one_that_does_not_run_is_noticed(project: Path) -> None:
    for command in ("pytest benchmarks --fcbench-model=orcale", "fcbench run compare a.json gone.json"):
        assert _run_command(command, project)[0] != 0
