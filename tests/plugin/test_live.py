"""A whole run against an endpoint on loopback, through litellm and real HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time

import pytest

from tests.dispatch.clock import wait_until
from tests.loopback import Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project, size

KEY = "sk-loopback-0123456789"
PROFILE = """
model: mine
models:
  mine:
    model: openai/loopback
    api_base: {api_base}
    api_key_env: LOOPBACK_API_KEY
    mode: {mode}
"""


def first_function(asked: Body) -> Reply:
    """Answer as a model that calls the first function it is shown, in the way it is shown."""
    if isinstance(tools := asked.get("tools"), list):
        return make_message_reply(calls=[(tools[0]["function"]["name"], "{}")])
    messages = asked["messages"]
    assert isinstance(messages, list)
    found = re.search(r'"name": "([\w.]+)"', messages[0]["content"])
    return make_message_reply(f"[{found.group(1) if found else 'nothing'}()]")


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["fc", "prompt"])
@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.nightly)], ids=["plain", "xdist"]
)
def test_each_mode_sends_tools_or_none_and_records_what_the_answer_cost(
    project: Project, monkeypatch: pytest.MonkeyPatch, mode: str, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LOOPBACK_API_KEY", KEY)
    with serve_answers(first_function) as endpoint:
        project.write("fcbench.yaml", PROFILE.format(api_base=endpoint.api_base, mode=mode))
        result = project.run("--fcbench-category=live_relevance", *workers)
    result.assert_outcomes(passed=6)
    assert len(endpoint.requests) == 6
    assert all(("tools" in asked) == (mode == "fc") for asked in endpoint.requests)
    assert all(asked["temperature"] == 0.001 for asked in endpoint.requests)
    for record in project.records().values():
        assert (record["model"], record["mode"]) == ("mine", mode)
        assert (record["input_tokens"], record["output_tokens"]) == (11, 7)
        assert isinstance(record["latency_s"], float)


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_a_server_that_reads_no_tool_calls_is_told(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LOOPBACK_API_KEY", KEY)
    with serve_answers(lambda _: make_message_reply('<tool_call>{"name": "f"}</tool_call>')) as endpoint:
        project.write("fcbench.yaml", PROFILE.format(api_base=endpoint.api_base, mode="fc"))
        result = project.run("--fcbench-category=parallel", *workers)
    entries = size("parallel")
    result.assert_outcomes(failed=entries)
    found = f"note: no answer of {entries} entries that expect calls contains a tool call; let the*"
    result.stdout.fnmatch_lines([found])


@pytest.mark.few(1)
@pytest.mark.parametrize("status", [200, 401], ids=["answered", "refused"])
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_the_key_is_nowhere_but_in_the_request(
    project: Project, monkeypatch: pytest.MonkeyPatch, status: int, workers: tuple[str, ...]
) -> None:
    """Not in the store, the scorecard, the terminal or an error, though the endpoint repeats it."""
    monkeypatch.setenv("LOOPBACK_API_KEY", KEY)
    reply = (
        make_message_reply(f"no call for {KEY}")
        if status == 200
        else make_error_reply(401, f"Incorrect API key: {KEY}")
    )
    with serve_answers(lambda _: reply) as endpoint:
        project.write("fcbench.yaml", PROFILE.format(api_base=endpoint.api_base, mode="fc"))
        options = (
            "--fcbench-category=live_relevance",
            "--tb=long",
            "--fcbench-no-preflight",
            "-o",
            "log_cli=1",
        )
        result = project.run(*options, *workers)
    assert endpoint.keys[0] == f"Bearer {KEY}"
    assert len(project.records()) == 6
    written = [path for path in project.path.rglob("*") if path.is_file() and path.suffix != ".py"]
    assert {"answers.sqlite", "scorecard.json"} <= {path.name for path in written}
    told = result.stdout.str() + result.stderr.str()
    assert KEY not in told
    assert [path.name for path in written if KEY.encode() in path.read_bytes()] == []
    assert status == 200 or "authentication" in told


def test_an_entry_whose_call_fails_is_not_scored_and_the_others_go_on(project: Project) -> None:
    """What fails is not scored; the other entries go on."""
    replies = iter([make_error_reply(400, "the tools are malformed")])

    def answer(asked: Body) -> Reply:
        return next(replies, None) or first_function(asked)

    with serve_answers(answer) as endpoint:
        result = project.run(
            "--fcbench-model=openai/loopback",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-param=api_key=unused",
            "--fcbench-category=live_relevance",
        )
    result.assert_outcomes(passed=5, errors=1)
    result.stdout.fnmatch_lines(["not scored (1 of 6, 16.7%)", "  bad_request: 1"])


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_a_dropped_parameter_is_noted_in_the_scorecard(project: Project, workers: tuple[str, ...]) -> None:
    def answer(asked: Body) -> Reply:
        if "temperature" in asked:
            return make_error_reply(
                400, "Unsupported parameter: 'temperature' is not supported with this model."
            )
        return first_function(asked)

    with serve_answers(answer) as endpoint:
        project.run(
            "--fcbench-model=openai/loopback",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-param=api_key=unused",
            "--fcbench-category=live_relevance",
            *workers,
        )
    report = json.dumps(project.scorecard()["fcbench"])
    assert "temperature was dropped: openai/loopback rejected it" in report


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_calls_run_at_once_under_the_cap(project: Project, workers: tuple[str, ...]) -> None:
    def answer_three_at_once(asked: Body) -> Reply:
        wait_until(lambda: endpoint.most_at_once >= 3 or len(endpoint.requests) == 1, 60)
        time.sleep(0.1)  # for a fourth, if there should be one
        return first_function(asked)

    with serve_answers(answer_three_at_once) as endpoint:
        result = project.run(
            "--fcbench-model=openai/loopback",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-param=api_key=unused",
            "--fcbench-category=live_relevance",
            "--fcbench-concurrency=3",
            *workers,
        )
    result.assert_outcomes(passed=6)
    assert endpoint.most_at_once == 3
    assert len(endpoint.requests) == 6


def test_a_stopped_run_stops_asking(project: Project) -> None:
    with serve_answers(lambda _: make_message_reply("no call")) as endpoint:
        result = project.run(
            "--fcbench-model=openai/loopback",
            f"--fcbench-api-base={endpoint.api_base}",
            "--fcbench-param=api_key=unused",
            "--fcbench-concurrency=1",
            "--fcbench-category=simple_python",
            "-x",
        )
    result.assert_outcomes(failed=1)
    assert len(endpoint.requests) <= 1 + 8 + 1


def live(endpoint: Endpoint, *options: str) -> tuple[str, ...]:
    return (
        "--fcbench-model=openai/loopback",
        f"--fcbench-api-base={endpoint.api_base}",
        "--fcbench-param=api_key=unused",
        "--fcbench-category=live_relevance",
        *options,
    )


def test_answers_are_not_bought_twice(project: Project) -> None:
    with serve_answers(first_function) as endpoint:
        project.run(*live(endpoint))
        first = project.records()
        again = project.run(*live(endpoint), "-n", "2")
        assert len(endpoint.requests) == 6
        assert project.records() == first
        project.run(*live(endpoint, "--fcbench-refresh"))
        assert len(endpoint.requests) == 12
    again.assert_outcomes(passed=6)
    offline = project.run(*live(endpoint, "--fcbench-offline"))  # nothing listens there any more
    offline.assert_outcomes(passed=6)
    offline.stdout.fnmatch_lines(["note: 6 answers were reused from answers.sqlite"])
    other = project.run(*live(endpoint, "--fcbench-offline", "--fcbench-temperature=1"))
    other.assert_outcomes(errors=6)
    other.stdout.fnmatch_lines(["  offline: 6"])


def test_a_killed_run_goes_on_where_it_was(project: Project) -> None:
    """What was answered before the kill is not asked again."""
    answered = threading.Event()

    def answer(asked: Body) -> Reply:
        if len(endpoint.requests) > 3 and not answered.is_set():
            answered.set()
            time.sleep(30)
        return first_function(asked)

    with serve_answers(answer) as endpoint:
        options = live(endpoint, "--fcbench-concurrency=1")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
        process = subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL)
        assert answered.wait(60)
        process.kill()
        process.wait()
        project.run(*options).assert_outcomes(passed=6)
    assert len(endpoint.requests) == 4 + 3  # four asked before the kill, one of them unanswered


@pytest.mark.nightly
@pytest.mark.parametrize("more", [(), ("--continue-on-collection-errors",)])
def test_nothing_is_asked_where_pytest_runs_no_test(project: Project, more: tuple[str, ...]) -> None:
    project.write("test_own.py", "import a_module_that_nobody_has")
    with serve_answers(first_function) as endpoint:
        options = ("--fcbench-model=openai/loopback", f"--fcbench-api-base={endpoint.api_base}")
        result = project.run_apart(".", "--fcbench-category=live_relevance", *options, *more)
    result.assert_outcomes(errors=1, passed=6 if more else 0)
    assert len(endpoint.requests) == (6 if more else 0)


def test_the_store_can_be_switched_off(project: Project) -> None:
    with serve_answers(first_function) as endpoint:
        project.run(*live(endpoint, "--fcbench-store=none"))
    assert not (project.path / ".fcbench" / "answers.sqlite").exists()


def test_a_foreign_file_stops_the_run(project: Project) -> None:
    project.write("notes.txt", "mine\n" * 500)
    result = project.run("--fcbench-model=openai/x", "--fcbench-store=notes.txt")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*notes.txt: file is not a database; move it away, or name another file*"])
