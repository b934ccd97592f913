"""Checks of a server run by a real pytest against a served model, right and with faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugin.conftest import Project
from tests.served import served, stats

CHECKS = ("--fcbench-suite=wire", "--fcbench-model=openai/conforming", "--fcbench-param=api_key=unused")
DRAWN = "-k choice_ or prompt_ or stream_done"


@pytest.fixture(scope="module")
def right_server() -> Iterator[str]:
    with served("--model", "conforming") as api_base:
        yield api_base


@pytest.mark.parametrize("how", [(), pytest.param(("-n2",), marks=pytest.mark.nightly)])
def test_a_right_server_keeps_all_and_is_asked_once(
    project: Project, right_server: str, how: tuple[str, ...]
) -> None:
    asked = stats(right_server)["requests"]
    options = (*CHECKS, f"--fcbench-api-base={right_server}", "--fcbench-gate=server_must.broken<=0", *how)
    result = project.run_apart(*options)
    result.assert_outcomes(passed=122)
    result.stdout.fnmatch_lines(
        [
            "checks of the server (no part of the model's score)",
            "server_must * 65 * 65 * 0 * 0",
            "checks of the server: server_must: 65 of 65 kept, 0 broken; *",
            "gate server_must.broken<=0: held: 65 of 65 kept, 0 broken",
        ]
    )
    section: Any = project.scorecard()["fcbench"]
    assert section["server_checks"]["server_must"] == {"checks": 65, "kept": 65, "broken": 0, "undecided": 0}
    asked_then = stats(right_server)["requests"]
    assert asked_then > asked
    project.run_apart(*options).assert_outcomes(passed=122)
    assert stats(right_server)["requests"] == asked_then, "answers are never bought twice"


def test_a_broken_check_fails_and_breaks_the_gate(project: Project) -> None:
    with served("--model", "conforming", "--fault", "ignore_named:1") as api_base:
        gate = "--fcbench-gate=server_must.broken<=0"
        result = project.run_apart(*CHECKS, DRAWN, f"--fcbench-api-base={api_base}", gate)
    outcomes = result.parseoutcomes()
    assert (outcomes["failed"], outcomes["skipped"]) == (3, 1)
    result.stdout.fnmatch_lines(
        [
            "*wire:choice_named *calls 'get_weather', not get_time*",
            "*noted: 1*",
            "gate server_must.broken<=0: broken: *3 broken*",
        ]
    )
    assert result.ret == 1
    judged_again = project.run_apart("--fcbench-model=replay:scorecard.json", "--fcbench-suite=wire", DRAWN)
    assert judged_again.parseoutcomes()["failed"] == 3


def test_what_is_shown_of_a_check_counts_as_no_call_of_the_model(project: Project) -> None:
    with served("--model", "conforming", "--fault", "markup:1") as api_base:
        result = project.run_apart(*CHECKS, "-k", "calls_text_free", f"--fcbench-api-base={api_base}")
    result.assert_outcomes(failed=2)
    result.stdout.no_re_match_line("run +0 ")
    assert all(record["calls"] is None for record in project.records().values())


def test_a_model_without_an_endpoint_is_told_once(project: Project) -> None:
    result = project.run_apart("--fcbench-suite=wire", "--fcbench-model=oracle")
    assert result.ret == 4
    told = " ".join((result.stdout.str() + result.stderr.str()).split())
    assert told.count("oracle has no endpoint of a known address; name one with --fcbench-model=") == 1


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model", "path", "way_out"),
    [
        ("other", "/v1", "check the model's name and *"),
        ("conforming", "/v2", "check the model's name and --fcbench-api-base*"),
    ],
)
def test_a_wrong_name_or_address_ends_the_run_with_the_way_out(
    project: Project, right_server: str, model: str, path: str, way_out: str
) -> None:
    """A run in which every request is refused must not look like a server without faults."""
    base = right_server.replace("/v1", path)
    options = (
        f"--fcbench-model=openai/{model}",
        "--fcbench-param=api_key=unused",
        f"--fcbench-api-base={base}",
    )
    result = project.run_apart("--fcbench-suite=wire", *options, DRAWN)
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*the first call failed, so no other call was made: not_found: *404*", way_out]
    )


def test_a_team_writes_its_own_checks(project: Project, right_server: str) -> None:
    project.write(
        "checks.yaml",
        """
category: server_check
base: {messages: [{role: user, content: Hello.}], max_tokens: 50}
entries:
  - {id: kept, property: The server answers., severity: must, request: {}, expect: {text: some}}
  - {id: broken, property: The server calls., severity: should, request: {}, expect: {calls: 1}}
""",
    )
    base = f"--fcbench-api-base={right_server}"
    result = project.run_apart("checks.yaml", *CHECKS[1:], base)
    result.assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("expect: {cals: 1}", "there is no property 'cals'"),
        ("expect: {calls: many}", "checks.yaml:3: entries.0.expect.calls: cannot be 'many'*"),
        ("expect: {prompt_grows: {less: a, more: b}}", "there is no request 'a'"),
        ("severity: grave, expect: {}", "unknown severity 'grave'"),
        ("expect: {}, requests: {a: {}}", "must have either 'request' or 'requests'"),
    ],
)
def test_a_wrong_check_is_told_with_its_place(project: Project, wrong: str, error: str) -> None:
    severity = "" if "severity" in wrong else "severity: must, "
    project.write(
        "checks.yaml",
        f"""category: server_check
entries:
  - {{id: a, property: It answers., request: {{}}, {severity}{wrong}}}
""",
    )
    result = project.run_apart("checks.yaml", "--fcbench-model=oracle")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{error}*"])
