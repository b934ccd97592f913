"""The truth of entries put through a served model by a real pytest, right and with faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugin.conftest import Project
from tests.served import served, stats

MODEL = ("--fcbench-model=openai/conforming", "--fcbench-param=api_key=unused")
PARALLEL = (*MODEL, "--fcbench-category=parallel", "--fcbench-category=irrelevance", "--fcbench-limit=4")


@pytest.fixture(scope="module")
def right_server() -> Iterator[str]:
    with served("--model", "conforming") as api_base:
        yield api_base


@pytest.mark.parametrize("how", [(), pytest.param(("-n2",), marks=pytest.mark.nightly)])
def test_a_right_server_keeps_all_and_is_asked_once(
    project: Project, right_server: str, how: tuple[str, ...]
) -> None:
    options = (*PARALLEL, "--fcbench-forced=auto", f"--fcbench-api-base={right_server}", *how)
    gate = "--fcbench-gate=server_forced.broken<=0"
    result = project.run_apart(*options, gate)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "note: * entries have no right calls, and --fcbench-forced leaves them out",
            "checks of the server: server_forced: 4 of 4 kept, 0 broken (round-trip by the*",
            "gate server_forced.broken<=0: held: 4 of 4 kept, 0 broken",
        ]
    )
    section: Any = project.scorecard()["fcbench"]
    assert section["server_checks"] == {
        "server_forced": {"checks": 4, "kept": 4, "broken": 0, "undecided": 0}
    }
    record = project.records()["core:parallel_0"]
    assert record["category"] == "server_forced"
    assert record["served"] == ["forced=round-trip by the server's template", "syntax=hermes"]
    asked = stats(right_server)["requests"]
    project.run_apart(*options, "--fcbench-offline").assert_outcomes(passed=4)
    assert stats(right_server)["requests"] == asked, "stored answers are judged without the server"


def test_a_parser_for_another_model_breaks_every_entry_and_is_shown(project: Project) -> None:
    with served("--model", "conforming", "--fault", "parser_other_syntax:1") as api_base:
        options = (*PARALLEL, "--fcbench-forced=auto", f"--fcbench-api-base={api_base}")
        result = project.run_apart(*options, "--fcbench-gate=server_forced.broken<=0")
        base = f"--fcbench-api-base={api_base}"
        alone = ("--fcbench-forced=auto", "--fcbench-scorecard=one.json")
        one = project.run_apart("core:parallel_0", *MODEL, base, *alone)
        address = f"--fcbench-model=openai/conforming --fcbench-api-base={api_base}"
        one.stdout.fnmatch_lines([f"  run again  pytest core:parallel_0 {address} * --fcbench-forced=auto"])
        one.stdout.no_fnmatch_line("*SERVER=*")
    assert 'curl -s "$SERVER/' in project.fcbench("run", "show", "core:parallel_0", "--full").stdout
    result.assert_outcomes(failed=4)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*core:parallel_0 *round-trip by the server's template, whole: 0 of *",
            "checks of the server: server_forced: 0 of 4 kept, 4 broken*",
            "gate server_forced.broken<=0: broken: *4 broken*",
        ]
    )
    shown = project.fcbench("run", "show", "core:parallel_0").stdout
    assert "core:parallel_0 · server_forced" in shown
    assert "broken: round-trip by the server's template, whole" in shown
    assert project.fcbench("run", "report").returncode == 0
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert '"said":[["user",' in page, "the page has the questions of the entries"
    again = project.run_apart("--fcbench-model=replay:scorecard.json", *PARALLEL[2:], "--fcbench-forced=auto")
    again.assert_outcomes(failed=4)


@pytest.mark.nightly
def test_a_named_syntax_is_written_in_the_place_of_the_template(project: Project, right_server: str) -> None:
    base = f"--fcbench-api-base={right_server}"
    result = project.run_apart(*PARALLEL, base, "--fcbench-forced=auto", "--fcbench-syntax=hermes")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*server_forced: 4 of 4 kept, 0 broken (derender in the*"])


def test_a_mark_that_leaves_no_test_is_said(project: Project, right_server: str) -> None:
    options = (*MODEL, f"--fcbench-api-base={right_server}", "--fcbench-forced=auto")
    result = project.run_apart(*options, "-m", "parallel")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    told = "-m leaves none of the * tests; with --fcbench-forced name categories by --fcbench-category"
    result.stdout.fnmatch_lines([told])


def test_the_calls_of_an_own_suite_are_put_through(project: Project, right_server: str) -> None:
    project.write(
        "own.yaml",
        """
category: simple_python
functions: [{name: add, description: Adds., parameters: {type: object, properties: {a: {type: integer}}}}]
entries: [{id: one, query: Add 1., functions: [add], expect: [{add: {a: 1}}]}]
""",
    )
    options = (*MODEL, f"--fcbench-api-base={right_server}")
    result = project.run_apart("own.yaml", *options, "--fcbench-forced=choice")
    result.assert_outcomes(passed=1)
    assert list(project.records()) == ["own:one"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--fcbench-forced=rondtrip", *MODEL), "*Did you mean 'round-trip'*"),
        (
            ("--fcbench-forced=auto", "--fcbench-model=oracle"),
            "*--fcbench-forced=auto: oracle has no endpoint of a known address; name one with*api-base*",
        ),
        (
            (
                *MODEL,
                "--fcbench-api-base=http://127.0.0.1:9/v1",
                "--fcbench-forced=auto",
                "--fcbench-syntax=gemini",
            ),
            "*--fcbench-syntax=gemini with --fcbench-forced: unknown native syntax 'gemini'*",
        ),
    ],
)
def test_a_run_that_cannot_force_anything_says_so(
    project: Project, options: tuple[str, ...], error: str
) -> None:
    result = project.run_apart(*options)
    assert result.ret == 4
    result.stderr.fnmatch_lines([error])
