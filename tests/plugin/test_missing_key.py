"""A run without a key ends before litellm is imported, and one that needs none does not ask for it."""

from __future__ import annotations

import pytest

from pytest_fcbench.models.providers.litellm import import_litellm
from tests.plugin.conftest import Project

ASKED = ("benchmarks", "--fcbench-model=gpt-4o", "--fcbench-category=simple_python", "--fcbench-limit=3")

SAYS_WHAT_WAS_IMPORTED = """\
import sys

def pytest_unconfigure():
    print("litellm was", "imported" if "litellm" in sys.modules else "left out")
"""


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model", "variable"),
    [("gpt-4o", "OPENAI_API_KEY"), ("claude-haiku-4-5-20251001", "ANTHROPIC_API_KEY")],
    ids=["through litellm", "family"],
)
def test_a_missing_key_ends_a_run_without_litellm(
    project: Project, model: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    project.write("conftest.py", SAYS_WHAT_WAS_IMPORTED)
    result = project.run_fresh(*ASKED, f"--fcbench-model={model}", "-s")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            f"ERROR: no call was made: authentication: {model}: no API key is set in {variable}",
            "put a valid key there, or name the variable that holds one with --fcbench-api-key-env; *",
        ]
    )
    assert "litellm was left out" in result.stdout.str()


@pytest.mark.nightly
def test_a_key_brings_litellm_in(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    project.write("conftest.py", SAYS_WHAT_WAS_IMPORTED)
    result = project.run_fresh(*ASKED, "--fcbench-param=api_base=http://127.0.0.1:1/v1", "-s")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "litellm was imported" in result.stdout.str()


def test_a_plan_needs_no_key(project: Project) -> None:
    result = project.run(*ASKED, "--fcbench-plan")
    assert result.ret == pytest.ExitCode.OK
    assert "API key" not in result.stdout.str() + result.stderr.str()


@pytest.mark.nightly
def test_a_missing_key_is_told_before_entries_are_read(project: Project) -> None:
    project.write("entries/broken.yaml", "category: simple_python\nentries: 1")
    project.write("fcbench.yaml", "suites: {own: entries}")
    broken = project.run("benchmarks", "--fcbench-model=oracle", "--fcbench-suite=own")
    broken.stderr.fnmatch_lines(["*broken.yaml*"])
    result = project.run("benchmarks", "--fcbench-model=gpt-4o", "--fcbench-suite=own")
    result.stderr.fnmatch_lines(["*no API key is set in OPENAI_API_KEY"])


@pytest.mark.few(1)
@pytest.mark.parametrize("processes", [("-n", "0"), ("-n", "2")], ids=["-n 0", "-n 2"])
def test_workers_end_without_a_key(project: Project, processes: tuple[str, str]) -> None:
    result = project.run(*ASKED, *processes)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: no call was made: authentication: gpt-4o: no API key is set in *"])


def test_what_asks_nothing_needs_no_key(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass")
    project.run("test_own.py", "--fcbench-model=gpt-4o").assert_outcomes(passed=1)
    assert project.run(*ASKED, "--collect-only").ret == pytest.ExitCode.OK
    project.run(*ASKED, "--fcbench-no-preflight").assert_outcomes(errors=3)


def test_answers_in_the_store_need_no_key(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = import_litellm()
    acompletion = litellm.acompletion

    async def answer(**asked: object) -> object:
        return await acompletion(**{**asked, "mock_response": "no"})

    monkeypatch.setattr(litellm, "acompletion", answer)
    with monkeypatch.context() as with_key:
        with_key.setenv("OPENAI_API_KEY", "unused")
        project.run(*ASKED).assert_outcomes(failed=3)
    project.run(*ASKED).assert_outcomes(failed=3)
    # Here the same run has to ask.
    result = project.run(*ASKED, "--fcbench-refresh")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no API key is set in OPENAI_API_KEY"])
