"""Entries whose calls act on MCP servers, run by a real pytest on real servers."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import psutil
import pytest
import yaml

from tests.mcp_servers import shelf
from tests.mcp_servers.made import compose_suite, find_commands, write_shelf_command
from tests.plugin.conftest import Project

pytest.importorskip("mcp")


def write_shelf_suite(project: Project, *habits: str) -> None:
    docs = yaml.safe_dump({"functions": shelf.TOOLS}, sort_keys=False)
    project.write("shop/shelf.yaml", compose_suite("shelf", {"shelf": write_shelf_command(*habits)}, docs))


def write_model(project: Project, count: int) -> str:
    """Write a model that puts so many packs of tea on the shelf and then answers rightly."""
    project.write(
        f"model_{count}.py",
        f"""
import json

def answer(messages, tools):
    said = next(m["content"] for m in reversed(messages) if m["role"] == "user")
    if messages[-1]["role"] == "tool":
        return "Done."
    def call(tool, **arguments):
        return {{"type": "function", "function": {{"name": tool, "arguments": json.dumps(arguments)}}}}
    if "tea" in said:
        return [call("put-goods", name="tea", count={count})]
    if "How many" in said:
        return [call("count_goods", name="tea")]
    return [call("put-goods", name="rice", count=3), call("put-goods", name="salt", count=1)]
""",
    )
    return f"--fcbench-model=python:model_{count}:answer"


@pytest.mark.few(1)
@pytest.mark.parametrize("how", [(), ("-n0",), ("-n2",)])
def test_the_oracle_passes(project: Project, how: tuple[str, ...]) -> None:
    write_shelf_suite(project)
    project.run_apart("shop", "--fcbench-mcp", *how).assert_outcomes(passed=2)
    assert not [p for p in psutil.Process().children(recursive=True) if shelf.__file__ in p.cmdline()]


@pytest.mark.nightly
def test_another_state_fails_and_is_judged_again_from_stored_answers(project: Project) -> None:
    write_shelf_suite(project)
    project.write("fcbench.yaml", "suites: {shop: shop}\n")
    model = write_model(project, 3)
    result = project.run_apart("shop", "--fcbench-mcp", model)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*turn 1: describe_shelf().goods.tea is 3, expected 2*"])
    # Nothing is started for it, so the switch is not needed.
    again = project.run_apart("shop", "--fcbench-offline", model)
    again.assert_outcomes(passed=1, failed=1)
    replay = project.run_apart("shop", "--fcbench-model=replay:scorecard.json")
    replay.assert_outcomes(passed=1, failed=1)
    told = project.fcbench("run", "diagnose", "scorecard.json").stdout
    assert "1 of 2 multi-turn conversations failed" in told
    assert re.search(r"shop:mcp_shelf_\d +wrong_argument +turn 1 in count: ", told)
    project.run_apart("shop", "--fcbench-mcp", write_model(project, 2)).assert_outcomes(passed=2)


@pytest.mark.nightly
def test_a_conversation_is_shown_with_what_the_server_returned(project: Project) -> None:
    write_shelf_suite(project)
    project.write("fcbench.yaml", "model: oracle\nsuites: {shop: shop}\n")
    project.run_apart("shop", "--fcbench-mcp")
    shown = project.fcbench("run", "show", "shop:mcp_shelf_0").stdout
    assert "shop:mcp_shelf_0 · mcp\n" in shown
    assert "Error" not in shown
    assert "    returns" in shown
    expected = project.fcbench("run", "show", "shop:mcp_shelf_0", "--expected").stdout
    assert '  call         count_goods(name="tea")' in expected
    assert "returns" not in expected


def test_a_plan_starts_no_server_and_says_what_it_does_not_count(project: Project) -> None:
    write_shelf_suite(project, "die")
    model = ("--fcbench-model=openai/x", "--fcbench-param=api_key=unused")
    result = project.run_apart("shop", *model, "--fcbench-mcp", "--fcbench-plan")
    result.stdout.fnmatch_lines(
        [
            "mcp                            2       0       6 *",
            "not counted: results of MCP servers, which later requests contain",
        ]
    )
    result.stdout.no_fnmatch_line("*web searches*")


def test_nothing_is_started_without_the_switch(project: Project) -> None:
    write_shelf_suite(project)
    result = project.run_apart("shop")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*allow it with --fcbench-mcp*"])
    causes = {entry: record["verdicts"]["official"]["code"] for entry, record in project.records().items()}  # type: ignore[index]
    assert causes == dict.fromkeys(["shop:mcp_shelf_0", "shop:mcp_shelf_1"], "mcp_off")


def test_a_server_that_dies_leaves_its_entries_unscored(project: Project) -> None:
    write_shelf_suite(project, "die")
    result = project.run_apart("shop", "--fcbench-mcp")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*the shelf fell down*"])


@pytest.mark.few(1)
@pytest.mark.nightly
@pytest.mark.parametrize(("name", "entries"), [("time", 4), ("git", 5), ("sqlite", 4)])
def test_servers_of_the_package_index(project: Project, name: str, entries: int, tmp_path: Path) -> None:
    commands = find_commands()
    if name not in commands:
        pytest.skip(f"set FCBENCH_MCP_{name.upper()} to the command of mcp-server-{name}")
    listed = project.fcbench("suite", "functions", f"mcp:{commands[name]}", "--timeout=300")
    assert listed.returncode == 0, listed.stderr
    project.write(
        f"real/{name}.yaml", compose_suite(name, {**commands, "python": sys.executable}, listed.stdout)
    )
    project.run_apart("real", "--fcbench-mcp").assert_outcomes(passed=entries)
    # A model that never calls leaves the state as it was and gets nothing.
    project.write("silent.py", "def answer(messages, tools):\n    return 'I cannot do that.'\n")
    silent = project.run_apart("real", "--fcbench-mcp", "--fcbench-model=python:silent:answer")
    silent.assert_outcomes(failed=entries)
