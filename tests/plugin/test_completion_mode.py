"""A base model behind ``/v1/completions``, asked by a real pytest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugin.conftest import Project
from tests.served import served, stats

BASE = ("--fcbench-mode=completion", "--fcbench-param=api_key=unused")
SOME = (*BASE, "--fcbench-category=parallel", "--fcbench-category=irrelevance", "--fcbench-limit=40")


@pytest.fixture(scope="module")
def oracle_server() -> Iterator[str]:
    with served("--model", "oracle") as api_base:
        yield api_base


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param(("-p", "no:xdist"), id="plain"),
        pytest.param(("-n", "0"), id="0", marks=pytest.mark.nightly),
        pytest.param(("-n", "2"), id="2", marks=pytest.mark.nightly),
    ],
)
def test_examples_are_shown_and_not_scored(
    project: Project, oracle_server: str, workers: tuple[str, ...]
) -> None:
    options = (*SOME, "--fcbench-model=openai/oracle", f"--fcbench-api-base={oracle_server}", *workers)
    result = project.run_apart(*options)
    section: Any = project.scorecard()["fcbench"]
    examples = section["shots"]["core:parallel"]
    assert (section["mode"], section["syntax"], len(examples)) == ("completion", "python", 3)
    records: Any = project.records()
    assert {records[key]["verdicts"]["official"]["code"] for key in examples} == {"set_aside"}
    passed = [key for key, record in records.items() if record["verdicts"]["official"]["status"] == "passed"]
    assert all(key.startswith("core:parallel_") for key in passed)
    result.assert_outcomes(passed=len(passed), skipped=40 - len(passed))
    result.stdout.fnmatch_lines(["note: completion mode: each prompt shows 3 answered entries*"])
    requests = stats(oracle_server)["requests"]
    again = project.run_apart(*options, "--fcbench-offline")
    again.assert_outcomes(passed=len(passed), skipped=40 - len(passed))
    assert stats(oracle_server)["requests"] == requests, "stored answers are judged without the server"


def test_what_asks_in_chats_is_refused(project: Project, oracle_server: str) -> None:
    base = ("--fcbench-model=openai/oracle", f"--fcbench-api-base={oracle_server}", *SOME)
    for more, message in (
        ("--fcbench-syntax=tool_calls", "*completion mode reads calls as Python, not as 'tool_calls'*"),
        ("--fcbench-blame", "*--fcbench-blame asks in chats, which a base model does not know*"),
        ("--fcbench-mode=fc", "*--fcbench-shots=1: fc mode shows no answered entries; leave the option out*"),
    ):
        project.run_apart(*base, "--fcbench-shots=1", more).stderr.fnmatch_lines([message])


def test_a_plan_counts_no_calls_for_what_this_mode_does_not_ask(project: Project) -> None:
    address = ("--fcbench-model=openai/oracle", "--fcbench-api-base=http://127.0.0.1:9/v1")
    planned = project.run_apart(
        *BASE, *address, "--fcbench-category=multiple", "--fcbench-category=multi_turn_base", "--fcbench-plan"
    )
    planned.stdout.re_match_lines([r"multiple +\d+ +0 +[1-9]\d* ", r"multi_turn_base +\d+ +0 +0 "])


@pytest.mark.parametrize("model", ["oracle", "lexical"])
def test_models_without_a_network_answer_in_text(project: Project, model: str) -> None:
    result = project.run_apart(*SOME, f"--fcbench-model={model}", "--fcbench-shots=2")
    outcomes = result.parseoutcomes()
    assert outcomes.get("failed", 0) == 0 if model == "oracle" else outcomes["failed"]
    shown = project.run_apart(*SOME, "--fcbench-model=replay:scorecard.json")
    assert shown.parseoutcomes() == outcomes
    shown.stdout.fnmatch_lines(["note: completion mode: each prompt shows 2 answered entries*"])


@pytest.mark.nightly
def test_litellm_asks_for_completions_too(project: Project, oracle_server: str) -> None:
    model = "--fcbench-model=litellm:text-completion-openai/oracle"
    options = (*SOME, model, f"--fcbench-api-base={oracle_server}", "--fcbench-shots=1")
    result = project.run_apart(*options)
    section: Any = project.scorecard()["fcbench"]
    assert len(section["shots"]["core:parallel"]) == 1
    assert "failed" not in result.parseoutcomes()
    project.run_apart(*options, "--fcbench-stream=on").stderr.fnmatch_lines(
        ["*is not streamed in completion mode; leave --fcbench-stream out*"]
    )


def test_the_request_is_shown_as_it_is_sent(project: Project, oracle_server: str) -> None:
    options = ("--mode=completion", "--model=openai/oracle", f"--api-base={oracle_server}")
    shown = project.fcbench("run", "show", "core:parallel_1", "--wire", *options)
    assert "/v1/completions" in shown.stdout
    assert "### Calls" in shown.stdout
