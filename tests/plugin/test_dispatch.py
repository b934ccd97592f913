"""Runs against an endpoint on loopback: the first call, the limits, xdist workers, trials."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.loopback import Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project, size
from tests.plugin.test_live import first_function, live
from tests.processes import listening_to_ctrl_c

PLAIN_AND_XDIST = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])


def asked(endpoint: Endpoint) -> Counter[str]:
    """How often each entry was asked for, as the header says that --fcbench-tag sends."""
    return Counter(headers["x-fcbench-entry"] for headers in endpoint.headers)


# The first call


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("status", "cause", "workers"),
    [
        (401, "authentication", ()),
        (401, "authentication", ("-n", "2")),
        (403, "authentication", ()),
        (404, "not_found", ()),
    ],
    ids=["key", "key-xdist", "permission", "model"],
)
def test_a_wrong_key_or_model_stops_the_run_at_once(
    project: Project, status: int, cause: str, workers: tuple[str, ...]
) -> None:
    with serve_answers(lambda _: make_error_reply(status, "not for you")) as endpoint:
        result = project.run(*live(endpoint), *workers)
        assert endpoint.paths.count("/v1/chat/completions") == 1
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            f"ERROR: the first call failed, so no other call was made: {cause}: *not for you*",
            "*; entries that were not asked: 6; use --fcbench-no-preflight*",
        ]
    )
    assert not (project.path / "scorecard.json").exists()


def test_an_endpoint_that_is_not_there_stops_the_run_at_once(project: Project) -> None:
    with serve_answers(first_function) as endpoint:
        pass
    result = project.run(*live(endpoint))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the first call failed, so no other call was made: connection: *"])


@pytest.mark.few(1)
@PLAIN_AND_XDIST
def test_a_server_that_is_starting_is_waited_for(project: Project, workers: tuple[str, ...]) -> None:
    with serve_answers(first_function) as endpoint:
        pass
    port = urlsplit(endpoint.api_base).port
    assert port
    with ExitStack() as opened:
        start = partial(opened.enter_context, serve_answers(first_function, port=port))
        timer = threading.Timer(3, start)
        timer.start()
        result = project.run(*live(endpoint, "--fcbench-wait=60"), *workers)
        timer.join()
    result.assert_outcomes(passed=6)


@pytest.mark.few(1)
@PLAIN_AND_XDIST
def test_without_a_preflight_every_entry_is_not_scored(project: Project, workers: tuple[str, ...]) -> None:
    with serve_answers(lambda _: make_error_reply(401, "no")) as endpoint:
        result = project.run(*live(endpoint, "--fcbench-no-preflight"), *workers)
    result.assert_outcomes(errors=6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["not scored (6 of 6, 100.0%)", "  authentication: 6"])


def test_an_endpoint_that_refuses_every_request_stops_the_run_after_three(project: Project) -> None:
    with serve_answers(lambda _: make_error_reply(400, "tools are not supported")) as endpoint:
        result = project.run(*live(endpoint))
        assert len(endpoint.requests) == 3
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*bad_request: *tools are not supported*"])


def test_the_preflight_costs_no_call(project: Project) -> None:
    with serve_answers(first_function) as endpoint:
        project.run(*live(endpoint, "--fcbench-tag")).assert_outcomes(passed=6)
    assert set(asked(endpoint).values()) == {1}
    assert len(asked(endpoint)) == 6


# Workers

REPORT_KEPT = """
import pytest
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
        with open("kept.txt", "a") as file:
            file.write(f"{sum(map(len, stats.values()))}\\n")
"""

REPORT_TOLD = """
from pytest_fcbench.dispatch.worker_link import Link
def pytest_configure(config):
    if hasattr(config, "workerinput"):
        tell = Link.expect
        def expect(link, entries):
            with open("told.txt", "a") as file:
                file.writelines(f"{entry.item_id}\\n" for entry in entries)
            tell(link, entries)
        Link.expect = expect
"""

REPORT_NEXT = """
from pytest_fcbench.dispatch.worker_link import Link
def pytest_configure(config):
    if hasattr(config, "workerinput"):
        announce = Link.expect_next
        def expect_next(link, entry):
            with open("next.txt", "a") as file:
                file.write(f"{entry and entry.item_id}\\n")
            announce(link, entry)
        Link.expect_next = expect_next
"""

REPORT_IMPORTS = """
import os, sys
def pytest_unconfigure(config):
    if hasattr(config, "workerinput"):
        found = [name for name in ("litellm", "openai", "aiohttp") if name in sys.modules]
        with open("imports.txt", "a") as file:
            file.write(f"{found}\\n")
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("dist", ["load", "loadscope", "loadfile", "loadgroup", "worksteal"])
def test_workers_only_judge(project: Project, dist: str) -> None:
    """However entries are shared out, each is asked for once, and no worker imports a client."""
    project.write("conftest.py", REPORT_IMPORTS)
    with serve_answers(first_function) as endpoint:
        result = project.run(*live(endpoint, "--fcbench-tag"), "-n", "2", "--dist", dist)
    result.assert_outcomes(passed=6)
    assert set(asked(endpoint).values()) == {1}
    assert (project.path / "imports.txt").read_text().splitlines() == ["[]", "[]"]
    assert len(project.records()) == 6


def test_a_worker_announces_its_next_test_and_none_after_the_last(project: Project) -> None:
    project.write("conftest.py", REPORT_NEXT)
    with serve_answers(first_function) as endpoint:
        project.run(*live(endpoint), "-n", "2")
    told = (project.path / "next.txt").read_text().split()
    assert len(told) == 6
    assert told.count("None") == 2
    assert len(set(told) & set(project.records())) == 4


@pytest.mark.nightly
def test_workers_keep_no_reports(project: Project) -> None:
    project.write("conftest.py", REPORT_KEPT)
    project.run("--fcbench-smoke", "-n", "2")
    assert (project.path / "kept.txt").read_text().splitlines() == ["0", "0"]


SKIP_SOME = """
import pytest
def pytest_runtest_setup(item):
    if sum(item.name.encode()) % 2:
        pytest.skip("left out")
"""


def read_untimed_records(project: Project) -> dict[str, dict[str, object]]:
    """Return the Records by entry, without what differs from run to run."""
    return {
        entry: {k: v for k, v in record.items() if k not in ("latency_s", "steps")}
        for entry, record in project.records().items()
    }


def test_records_do_not_depend_on_the_number_of_processes(project: Project) -> None:
    found = []
    with serve_answers(first_function) as endpoint:
        for workers in (("-p", "no:xdist"), ("-n", "2")):
            project.run(*live(endpoint, "--fcbench-store=none", "--fcbench-category=live_simple"), *workers)
            found.append(read_untimed_records(project))
    assert len(endpoint.requests) == 2 * len(found[0]) == 2 * size("live_simple", "live_relevance")
    assert all(other == found[0] for other in found[1:])


def test_each_gets_its_own_answer_where_tests_between_are_left_out(project: Project) -> None:
    with serve_answers(first_function) as endpoint:
        project.run(*live(endpoint, "--fcbench-category=live_simple"))
        everyone = read_untimed_records(project)
        project.write("conftest.py", SKIP_SOME)
        project.run(*live(endpoint, "--fcbench-category=live_simple"), "-n", "2")
        some = read_untimed_records(project)
    assert len(everyone) > len(some) > len(everyone) / 3
    assert some == {entry: everyone[entry] for entry in some}


DIE_ONCE = """
import os, pathlib
def pytest_runtest_call(item):
    if "live_relevance_3" in item.nodeid and not pathlib.Path("died").exists():
        pathlib.Path("died").touch()
        os._exit(3)
"""


def test_a_dead_worker_takes_one_entry_with_it(project: Project) -> None:
    project.write("conftest.py", DIE_ONCE)
    with serve_answers(first_function) as endpoint:
        result = project.run(*live(endpoint, "--fcbench-tag"), "-n", "2")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["not scored (1 of 6, 16.7%)", "  worker_crashed: 1"])
    assert set(asked(endpoint).values()) == {1}


@pytest.mark.nightly
def test_a_lost_controller_leaves_no_worker_behind(project: Project) -> None:
    reached = threading.Event()
    release = threading.Event()

    def answer(asked: Body) -> Reply:
        if len(endpoint.requests) > 1:
            reached.set()
            release.wait(60)
        return first_function(asked)

    with serve_answers(answer) as endpoint:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *live(endpoint), "-n", "2"]
        process = subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL)
        assert reached.wait(60)
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) >= 2
        process.kill()
        process.wait()
        _, left = psutil.wait_procs(workers, timeout=60)
        release.set()
    assert left == []


@pytest.mark.nightly
def test_a_worker_on_another_host_converses_itself_with_its_share(project: Project) -> None:
    """A worker that xdist reaches over a socket gets no link. The other tells what is queued, each once."""
    project.write("conftest.py", REPORT_IMPORTS + REPORT_TOLD)
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "execnet.script.socketserver", "127.0.0.1:0"],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = next(
            found.group(1) for line in server.stdout if (found := re.search(r"127\.0\.0\.1', (\d+)", line))
        )
        with serve_answers(first_function) as endpoint:
            options = live(endpoint, "--fcbench-tag", "--fcbench-concurrency=4")
            result = project.run(
                *options, "-d", "--tx", f"socket=127.0.0.1:{port}//chdir={project.path}", "--tx", "popen"
            )
    finally:
        server.kill()
        server.communicate()
    result.assert_outcomes(passed=6)
    assert set(asked(endpoint).values()) == {1}
    imports = (project.path / "imports.txt").read_text().splitlines()
    assert sorted(imports) == ["['aiohttp']", "[]"]
    told = (project.path / "told.txt").read_text().splitlines()
    assert 0 < len(told) == len(set(told)) < 6


# Stopping


@pytest.mark.few(1)
@PLAIN_AND_XDIST
def test_a_failed_run_stops_asking(project: Project, workers: tuple[str, ...]) -> None:
    def slow(asked: Body) -> Reply:
        time.sleep(0.2)
        return make_message_reply("no call")

    with serve_answers(slow) as endpoint:
        result = project.run(
            *live(endpoint, "--fcbench-concurrency=2", "--fcbench-trials=20"), "-x", *workers
        )
    assert result.ret == (2 if workers else 1)
    assert len(endpoint.requests) <= 30


@pytest.mark.few(1)
@PLAIN_AND_XDIST
def test_ctrl_c_stops_asking_and_keeps_what_was_answered(project: Project, workers: tuple[str, ...]) -> None:
    reached, release = threading.Event(), threading.Event()

    def answer(asked: Body) -> Reply:
        if len(endpoint.requests) > 4:
            reached.set()
            release.wait(60)
        return first_function(asked)

    with serve_answers(answer) as endpoint:
        options = live(endpoint, "--fcbench-concurrency=1", "--fcbench-tag")
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options, *workers]
        with listening_to_ctrl_c():
            process = subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE, text=True)
        assert reached.wait(60)
        assert process.stdout is not None
        # Without a report there would be no table: wait for the first, which a worker may be slow to send.
        assert any("PASSED" in line for line in iter(process.stdout.readline, ""))
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=60)
        release.set()
        assert process.returncode == pytest.ExitCode.INTERRUPTED
        assert len(endpoint.requests) == 5
        assert re.search(r"live_relevance +\d", told)
        project.run(*options).assert_outcomes(passed=6)
    assert sorted(asked(endpoint).values()) == [1, 1, 1, 1, 1, 2]


# Trials and money


@pytest.mark.few(1)
@PLAIN_AND_XDIST
def test_trials_are_put_and_stored_apart(project: Project, workers: tuple[str, ...]) -> None:
    """A model that is right every second time."""
    counts: Counter[str] = Counter()

    def answer(asked: Body) -> Reply:
        question = str(asked["messages"])
        counts[question] += 1
        return first_function(asked) if counts[question] % 2 else make_message_reply("no")

    with serve_answers(answer) as endpoint:
        options = live(endpoint, "--fcbench-trials=2", "--fcbench-concurrency=1", "--fcbench-tag", *workers)
        result = project.run(*options)
        result.assert_outcomes(passed=6, failed=6)
        again = project.run(*options, "-k", "live_relevance_1-t2")
    again.assert_outcomes(failed=1)
    assert set(asked(endpoint)) == {f"core:live_relevance_{i}-t{t}" for i in range(6) for t in (1, 2)}
    assert set(asked(endpoint).values()) == {1}


def test_the_budget_is_not_passed(project: Project) -> None:
    """A call costs (11 + 7) x 10,000 dollars per million tokens, 18 cents; its bound is some 3 dollars."""
    project.write("fcbench.yaml", "prices: {openai/loopback: {input: 10000, output: 10000}}\nmax_tokens: 7\n")
    with serve_answers(first_function) as endpoint:
        options = live(endpoint, "--fcbench-max-usd=4", "--fcbench-concurrency=1")
        result = project.run(*options)
        assert 0 < len(endpoint.requests) < 6
        result.stdout.fnmatch_lines(
            [
                "note: stopped sending requests at $*",
                "*budget: *",
                "*are spent, and another call could exceed*",
            ]
        )
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        bought = len(endpoint.requests)
        project.run(*live(endpoint, "--fcbench-max-usd=100"))
        assert len(endpoint.requests) == 6, "what was bought is not bought again"
    assert bought < 6
    usd = [record["usd"] for record in project.records().values()]
    assert usd == [pytest.approx(0.18)] * 6


def test_a_budget_needs_a_price(project: Project) -> None:
    result = project.run("--fcbench-model=hosted_vllm/x", "--fcbench-max-usd=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --fcbench-max-usd=1: the price of hosted_vllm/x is not known; *prices*"]
    )


def test_cached_and_reasoning_tokens_are_priced_at_their_own_rates(project: Project) -> None:
    project.write(
        "fcbench.yaml",
        "prices: {openai/loopback: {input: 10, output: 20, cached: 1, reasoning: 50}}\n",
    )
    details = {
        "prompt_tokens_details": {"cached_tokens": 6},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }

    def answer(asked: Body) -> Reply:
        whole = first_function(asked).body
        assert isinstance(whole, dict)
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, **details}
        return Reply({**whole, "usage": usage})

    with serve_answers(answer) as endpoint:
        result = project.run(*live(endpoint))
    dollars = (5 * 10 + 6 * 1 + 5 * 20 + 2 * 50) / 1e6
    assert [record["usd"] for record in project.records().values()] == [pytest.approx(dollars)] * 6
    told = "tokens: 36 of the input were read from a cache, 12 of the output were reasoning"
    result.stdout.fnmatch_lines([told])


def test_a_plan_estimates_hours_from_stored_answers_or_says_why_it_cannot(project: Project) -> None:
    project.write("fcbench.yaml", "prices: {openai/loopback: {hour: 3600}}\n")

    def answer(asked: Body) -> Reply:
        time.sleep(0.05)
        return first_function(asked)

    with serve_answers(answer) as endpoint:
        options = live(endpoint, "--fcbench-concurrency=1")
        before = project.run(*options, "--fcbench-plan")
        project.run(*options, "-k", "live_relevance_0 or live_relevance_1")
        seconds = [record["latency_s"] for record in project.records().values()]
        after = project.run(*options, "--fcbench-plan")
        assert len(endpoint.requests) == 2
    before.stdout.fnmatch_lines(
        [
            "all *6       0       6 *-",
            "dollars of the model: $3600 per hour, but no stored answer tells how long a call takes; *smoke",
        ]
    )
    # A dollar a second.
    mean = sum(each for each in seconds if isinstance(each, float)) / 2
    after.stdout.fnmatch_lines(
        [
            f"all *6       2       4 *{4 * mean:.4f}",
            f"dollars of the model: $3600 per hour, {mean:.3g} s per call, the mean of 2 stored answers",
        ]
    )


@pytest.mark.few(1)
@PLAIN_AND_XDIST
def test_a_plan_asks_nothing(project: Project, workers: tuple[str, ...]) -> None:
    with serve_answers(first_function) as endpoint:
        project.run(*live(endpoint, "-k", "live_relevance_1"))
        result = project.run(*live(endpoint, "--fcbench-plan", "--fcbench-trials=2"), *workers)
        assert len(endpoint.requests) == 1
    assert result.ret == pytest.ExitCode.OK
    result.stdout.re_match_lines([r"live_relevance +12 +1 +11 +\d+ +825 +-"])


def test_a_plan_of_a_model_with_a_price(project: Project) -> None:
    result = project.run("--fcbench-model=gpt-4o", "--fcbench-plan", "--fcbench-category=parallel")
    n = size("parallel")
    result.stdout.re_match_lines([rf"all +{n} +0 +{n} +\d+ +{75 * n} +0\.\d{{4}}"])
    assert not Path(project.path / "scorecard.json").exists()


def test_a_plan_counts_the_same_calls_in_every_syntax(project: Project) -> None:
    options = ("--fcbench-model=openai/x", "--fcbench-plan", "--fcbench-category=multi_turn_base")
    plans = []
    for syntax in ("tool_calls", "hermes"):
        lines = project.run(*options, "--fcbench-mode=fc", f"--fcbench-syntax={syntax}").outlines
        plans.append([line.split()[:4] for line in lines if line.startswith("multi_turn_base ")])
    assert len(plans[0]) == 1
    assert plans[0] == plans[1]


# Progress


@pytest.mark.nightly
@PLAIN_AND_XDIST
def test_letters_give_way_to_the_progress(project: Project, workers: tuple[str, ...]) -> None:
    with serve_answers(first_function) as endpoint:
        plain = project.run_apart(*live(endpoint), *workers)
        quiet = project.run(*live(endpoint), "-q", *workers)
        verbose = project.run(*live(endpoint), "-v", *workers)
    assert "......" not in plain.stdout.str()
    assert "......" in quiet.stdout.str()
    assert verbose.stdout.str().count("PASSED") == 6


def test_foreign_tests_keep_their_letters(project: Project) -> None:
    project.write("test_mine.py", "def test_one(): pass\ndef test_two(): pass\n")
    with serve_answers(first_function) as endpoint:
        result = project.run("test_mine.py", "benchmarks", *live(endpoint))
    result.assert_outcomes(passed=8)
    assert ".." in result.stdout.str()


# Memory


COUNT_HELD = """
import gc, pathlib

import pytest

from pytest_fcbench.domain.transcript import Transcript

reports = []

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    reports.append(report)

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    gc.unfreeze()
    gc.collect()
    transcripts = sum(isinstance(each, Transcript) for each in gc.get_objects())
    texts = sum(isinstance(getattr(report, "fcbench", None), str) for report in reports)
    process = getattr(session.config, "workerinput", {}).get("workerid", "main")
    pathlib.Path(f"held-{process}.txt").write_text(f"{len(reports)} {transcripts} {texts}")
"""
"""Keeps all reports, and notes how many there are, how many transcripts are left, and Records in reports."""


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_answers_and_records_leave_memory_when_their_tests_end(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.write("conftest.py", COUNT_HELD)
    with serve_answers(lambda _: make_message_reply("no")) as endpoint:
        options = ("--fcbench-model=m", f"--fcbench-api-base={endpoint.api_base}", *workers)
        # A forked process holds what its server holds.
        project.run_fresh(*options, "--fcbench-category=parallel")
    held = {path.stem: tuple(map(int, path.read_text().split())) for path in project.path.glob("held-*.txt")}
    reports = 3 * size("parallel")
    assert held.pop("held-main") == (reports, 0, 0)
    assert sum(count for count, _, _ in held.values()) == (reports if workers else 0)
    assert [left for _, *left in held.values()] == [[0, 0]] * len(held)
