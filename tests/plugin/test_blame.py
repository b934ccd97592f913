"""A run that says below its scorecard who lost its points."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Project
from tests.served import served, stats

MODEL = "--fcbench-model=hosted_vllm/my-ft"
OPTIONS = (MODEL, "--fcbench-blame", "--fcbench-category=parallel", "--fcbench-limit=3")


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_failed_entries_are_asked_again_when_the_run_has_ended(project: Project, workers: str) -> None:
    with served("--model=oracle:hermes", "--name=my-ft", "--fault=parser_drop_brace:1") as api_base:
        options = (*OPTIONS, f"--fcbench-api-base={api_base}", "-n0" if workers == "-n0" else workers)
        result = project.run_apart(*options, "--fcbench-gate=parallel>=0.9")
    result.assert_outcomes(failed=3)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "about * answers of hosted_vllm/my-ft are asked for; what is stored already is not asked again",
            "lost by  points  share  entries*",
            "parser        3   100%  core:parallel_0, core:parallel_1, core:parallel_2",
            "  core:parallel_0: the server breaks the right calls: *",
            "    function calling, whole, in the run: unreadable: add_reminder({*",
            "  … and 2 more; fcbench blame --failures=N shows N",
            "report saved to: scorecard.json",
            "gate parallel>=0.9: broken: *",
        ]
    )
    shown = project.fcbench("blame", f"--api-base={api_base}", "--offline", "--failures=3")
    assert shown.stdout.count("the server breaks the right calls") == 3, "all answers are stored"


def test_a_run_without_failures_asks_and_says_nothing(project: Project) -> None:
    with served("--model=oracle:hermes", "--name=my-ft") as api_base:
        result = project.run_apart(*OPTIONS, f"--fcbench-api-base={api_base}")
        assert stats(api_base)["requests"] == 3
    result.assert_outcomes(passed=3)
    result.stdout.no_fnmatch_line("lost by*")
    result.stdout.no_fnmatch_line("about *")


def test_an_endpoint_that_is_gone_is_named_below_the_tables(project: Project) -> None:
    options = (*OPTIONS, "--fcbench-api-base=http://127.0.0.1:1/v1", "--fcbench-retries=0")
    result = project.run_apart(*options, "--fcbench-no-preflight")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["endpoint       3   100%*"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fcbench-model=oracle",), "*--fcbench-blame: oracle answers without a server that could lose*"),
        (
            (MODEL, "--fcbench-offline"),
            "*--fcbench-blame asks the model again, which --fcbench-offline does not do; leave one*",
        ),
        ((MODEL, "--fcbench-forced=auto"), "*which --fcbench-forced=auto does not do*"),
    ],
)
def test_a_run_that_has_nobody_to_ask_is_refused(
    project: Project, options: tuple[str, ...], words: str
) -> None:
    result = project.run_apart("--fcbench-blame", *options)
    assert result.ret == 4
    result.stderr.fnmatch_lines([words])
