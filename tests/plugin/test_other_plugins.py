"""Runs with JUnit's XML, pytest-timeout, pytest-rerunfailures, allure-pytest, `--dist each`, no report."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from pytest_fcbench.plugin import items
from tests.loopback import Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project, size
from tests.plugin.test_live import first_function, live
from tests.plugin.test_robustness import make_own_entry

WORKERS = pytest.mark.parametrize(
    "workers",
    [(), pytest.param(("-n", "0"), marks=pytest.mark.nightly), ("-n", "2")],
    ids=["plain", "n0", "n2"],
)
PARALLEL = ("--fcbench-model=lexical", "--fcbench-category=parallel")
WITHOUT_REPORT = ("-p", "no:pytest_jsonreport")


def run_with(project: Project, plugin: str, *options: str) -> pytest.RunResult:
    """Run pytest in this process with a plugin that other tests leave out."""
    return project.run("-p", plugin, *options)


def read_verdict(project: Project, entry: str) -> tuple[object, object, object]:
    """Return status, code and reason of the official verdict in the scorecard."""
    verdicts = project.records()[entry]["verdicts"]
    assert isinstance(verdicts, dict)
    official = verdicts["official"]
    return official["status"], official["code"], official["reason"]


# JUnit's XML


def read_cases(project: Project) -> dict[str, ElementTree.Element]:
    """Return the test cases of the file by name; each name stands once."""
    cases = ElementTree.parse(project.path / "junit.xml").findall(".//testcase")
    found = {case.attrib["name"]: case for case in cases}
    assert len(found) == len(cases)
    return found


@pytest.mark.few(1)
@WORKERS
def test_the_message_of_a_wrong_answer_in_junit_is_code_and_reason(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.run(*PARALLEL, "--junitxml=junit.xml", *workers)
    cases = read_cases(project)
    assert len(cases) == size("parallel")
    for entry in project.records():
        failures = cases[f"test_parallel[{entry}]"].findall("failure")
        status, code, reason = read_verdict(project, entry)
        assert [failure.attrib["message"] for failure in failures] == (
            [f"{code}: {reason}"] if status == "failed" else []
        )
        assert "assert False" not in "".join(failure.text or "" for failure in failures)


@pytest.mark.few(1)
@WORKERS
def test_an_entry_that_is_not_scored_is_an_error_in_junit(project: Project, workers: tuple[str, ...]) -> None:
    with serve_answers(lambda _: make_error_reply(500, "out of order")) as endpoint:
        options = ("--fcbench-no-preflight", "--fcbench-retries=0", "--junitxml=junit.xml")
        project.run(*live(endpoint, *options), *workers)
    for case in read_cases(project).values():
        (error,) = case.findall("error")
        assert error.attrib["message"].startswith('failed on setup with "endpoint: ')
        assert "out of order" in error.attrib["message"]


SET_ENTRIES_ASIDE = """
import pytest
from pytest_fcbench.domain.verdict import Judgement, NotScored

@pytest.mark.fcbench("parallel")
def test_parallel(entry, score):
    score(Judgement.same_in_both(NotScored("set_aside", "its truth is wrong")))
"""


def test_an_entry_set_aside_is_skipped_in_junit(project: Project) -> None:
    project.write("test_mine.py", SET_ENTRIES_ASIDE)
    project.run("test_mine.py", *PARALLEL, "--junitxml=junit.xml")
    (skipped,) = read_cases(project)["test_parallel[core:parallel_1]"].findall("skipped")
    assert skipped.attrib["message"] == "set aside: its truth is wrong"


def test_junit_names_the_model_and_how_it_was_asked(project: Project) -> None:
    project.run(*PARALLEL, "--fcbench-profile=corrected", "--junitxml=junit.xml", "-k", "parallel_1")
    properties = ElementTree.parse(project.path / "junit.xml").findall("testsuite/properties/property")
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    assert [(each.attrib["name"], each.attrib["value"]) for each in properties] == [
        ("fcbench.model", "lexical"),
        ("fcbench.mode", "fc"),
        ("fcbench.profile", "corrected"),
        ("fcbench.headline", section["headline"]),
    ]


ODD_MODEL = r"""
def answer(messages, tools):
    return "no \x01 \ud800 \x1b[31m </failure> ]]>"
"""


def test_junit_is_valid_whatever_characters_an_answer_has(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("odd.py", ODD_MODEL)
    monkeypatch.syspath_prepend(project.path)
    options = ("--fcbench-model=python:odd:answer", "--fcbench-mode=prompt", "--fcbench-category=parallel")
    project.run(*options, "--junitxml=junit.xml")
    cases = read_cases(project)
    assert len([case for case in cases.values() if case.findall("failure")]) == size("parallel")


ASSERT_SOMETHING_ELSE = """
import pytest

@pytest.mark.fcbench("parallel")
def test_parallel(entry, ask, judge, score):
    verdict = score(judge(entry, ask(entry)))
    assert not verdict.passed, "this is mine"
"""


def test_the_users_own_assertions_keep_their_message(project: Project) -> None:
    project.write("test_mine.py", ASSERT_SOMETHING_ELSE)
    project.run("test_mine.py", "--fcbench-category=parallel", "--junitxml=junit.xml")
    (failure,) = read_cases(project)["test_parallel[core:parallel_1]"].findall("failure")
    assert failure.attrib["message"].startswith("AssertionError: this is mine\nassert not True")


# pytest-timeout


@contextmanager
def serve_hanging_answers(first: int = 1) -> Iterator[Endpoint]:
    """Serve answers of which all but the first ones come only when the block ends."""
    release = threading.Event()

    def answer(asked: Body) -> Reply:
        if len(endpoint.requests) > first:
            release.wait(60)
        return first_function(asked)

    with serve_answers(answer) as endpoint:
        try:
            yield endpoint
        finally:
            release.set()


GIVE_THE_FIRST_TEST_MORE_TIME = """
import pytest

def pytest_collection_modifyitems(items):
    items[0].add_marker(pytest.mark.timeout(60))
"""

LEAVE_THE_TIMER_OUT = """
def pytest_timeout_set_timer(item):
    return True

def pytest_timeout_cancel_timer(item):
    return True
"""
"""On a busy machine its own timer could strike before the answer is given up."""


@pytest.mark.few(1)
@WORKERS
def test_an_entry_that_runs_into_the_time_limit_is_not_scored(
    project: Project, workers: tuple[str, ...]
) -> None:
    pytest.importorskip("pytest_timeout")
    project.write("conftest.py", LEAVE_THE_TIMER_OUT + GIVE_THE_FIRST_TEST_MORE_TIME)
    with serve_hanging_answers() as endpoint:
        result = run_with(
            project, "pytest_timeout", *live(endpoint, "--fcbench-limit=2", "--timeout=2"), *workers
        )
    assert result.parseoutcomes()["passed"] == 1
    assert result.parseoutcomes()["errors"] == 1
    assert result.ret == 1
    verdicts = [read_verdict(project, entry) for entry in project.records()]
    reason = "no answer within the 2 s that pytest-timeout gives the test"
    assert verdicts.count(("not_scored", "timeout", reason)) == 1
    assert [status for status, _, _ in verdicts].count("passed") == 1


@pytest.mark.parametrize(("limit", "until"), [(60, 159), (10, 109), (3, 102.7)])
def test_waiting_ends_a_tenth_of_the_limit_before_it_but_at_most_a_second(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, limit: float, until: float
) -> None:
    monkeypatch.setattr(items, "time", SimpleNamespace(monotonic=lambda: 100.0))
    plugin = object.__new__(items.Benchmark)
    plugin.pytest_timeout_set_timer(request.node, SimpleNamespace(timeout=limit))
    assert request.node.stash[items._TIME_LIMIT].waits_until == pytest.approx(until)


SLEEP = """
import time
import pytest

@pytest.mark.timeout(3, method="signal")
@pytest.mark.fcbench("parallel")
def test_parallel(entry):
    time.sleep(30)
"""


@pytest.mark.nightly
def test_a_time_limit_that_strikes_beside_the_model_is_a_timeout_too(project: Project) -> None:
    pytest.importorskip("pytest_timeout")
    project.write("test_mine.py", SLEEP)
    result = run_with(project, "pytest_timeout", "test_mine.py", *PARALLEL, "-k", "parallel_1]")
    assert result.ret == 1
    status, cause, reason = read_verdict(project, "core:parallel_1")
    assert (status, cause) == ("not_scored", "timeout")
    assert "pytest-timeout" in str(reason)


@pytest.mark.few(1)
@WORKERS
def test_a_generous_time_limit_changes_nothing(project: Project, workers: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_timeout")
    with serve_answers(first_function) as endpoint:
        result = run_with(project, "pytest_timeout", *live(endpoint, "--timeout=60"), *workers)
    result.assert_outcomes(passed=6)


# pytest-rerunfailures


@pytest.mark.few(1)
@WORKERS
def test_reruns_ask_nothing_twice_and_leave_one_record(project: Project, workers: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_rerunfailures")
    with serve_answers(lambda _: make_message_reply("no")) as endpoint:
        result = run_with(project, "pytest_rerunfailures", *live(endpoint, "--reruns=2"), *workers)
        assert len(endpoint.requests) == 6
    assert result.ret == 1
    assert result.parseoutcomes() == {"failed": 6, "rerun": 12}
    tests = project.scorecard()["tests"]
    assert isinstance(tests, list)
    assert len(tests) == len(project.records()) == 6


@pytest.mark.few(1)
@WORKERS
def test_a_rerun_asks_again_where_no_answer_came(project: Project, workers: tuple[str, ...]) -> None:
    pytest.importorskip("pytest_rerunfailures")
    failed: list[Body] = []

    def fail_twice(asked: Body) -> Reply:
        if len(failed) < 2:
            failed.append(asked)
            return make_error_reply(500, "out of order")
        return first_function(asked)

    with serve_answers(fail_twice) as endpoint:
        options = live(endpoint, "--fcbench-no-preflight", "--fcbench-retries=0", "--reruns=1")
        result = run_with(project, "pytest_rerunfailures", *options, *workers)
    assert result.ret == 0
    assert result.parseoutcomes() == {"passed": 6, "rerun": 2}
    assert [read_verdict(project, entry)[0] for entry in project.records()] == ["passed"] * 6


# allure-pytest


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "arguments", [("benchmarks", "--fcbench-category=parallel"), ("mine.jsonl",)], ids=["module", "file"]
)
def test_allure_tells_entries_apart_and_shows_no_truth(project: Project, arguments: tuple[str, ...]) -> None:
    pytest.importorskip("allure_pytest")
    project.write(
        "mine.jsonl",
        "\n".join(json.dumps(make_own_entry(name, value="truth")) for name in ("one", "two")),
    )
    run_with(project, "allure_pytest", *arguments, "--fcbench-model=lexical", "--alluredir=results")
    results = [json.loads(file.read_text()) for file in (project.path / "results").glob("*-result.json")]
    records = project.records()
    assert [result["parameters"] for result in sorted(results, key=lambda result: str(result["name"]))] == [
        [{"name": "entry", "value": f"<Entry {entry}>"}]
        for entry in sorted(records, key=lambda entry: f"[{entry}]")
    ]
    assert len({result["historyId"] for result in results}) == len(records)
    for result in results:
        if result["status"] == "failed":
            entry = result["parameters"][0]["value"].removeprefix("<Entry ").removesuffix(">")
            _, code, reason = read_verdict(project, entry)
            assert result["statusDetails"]["message"] == f"AssertionError: {code}: {reason}"
        else:
            assert result["status"] == "passed"


# xdist and pytest-json-report


def test_each_worker_for_itself_is_refused_before_any_call(project: Project) -> None:
    with serve_answers(first_function) as endpoint:
        result = project.run(*live(endpoint), "-n", "2", "--dist", "each")
        assert endpoint.requests == []
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --dist each runs every entry once for each worker, *--fcbench-trials*"]
    )
    assert not (project.path / "scorecard.json").exists()


def test_each_worker_for_itself_stays_possible_for_other_tests(project: Project) -> None:
    project.write("test_mine.py", "def test_mine():\n    pass\n")
    result = project.run("test_mine.py", "-n", "2", "--dist", "each")
    result.assert_outcomes(passed=2)
    assert result.ret == 0


@pytest.mark.few(1)
@WORKERS
def test_a_run_without_the_report_plugin_says_that_no_scorecard_comes(
    project: Project, workers: tuple[str, ...]
) -> None:
    result = project.run(*PARALLEL, *WITHOUT_REPORT, *workers)
    result.stdout.fnmatch_lines(["no scorecard was written, because -p no:pytest_jsonreport *"])
    assert result.ret == 1
    assert not (project.path / "scorecard.json").exists()


@pytest.mark.few(1)
@WORKERS
@pytest.mark.parametrize(("rule", "code"), [("parallel>=0%", 0), ("parallel>=90%", 1)])
def test_a_gate_decides_without_the_report_plugin(
    project: Project, workers: tuple[str, ...], rule: str, code: int
) -> None:
    assert project.run(*PARALLEL, *WITHOUT_REPORT, f"--fcbench-gate={rule}", *workers).ret == code


def test_a_baseline_is_read_without_the_report_plugin(project: Project) -> None:
    project.run(*PARALLEL, "--fcbench-scorecard=before.json")
    gated = ("--fcbench-gate=parallel>=baseline", "--fcbench-baseline=before.json")
    assert project.run(*PARALLEL, *WITHOUT_REPORT, *gated).ret == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("option", ["--fcbench-scorecard=named.json", "--fcbench-shard=1/2"])
def test_what_needs_a_scorecard_is_refused_without_the_report_plugin(project: Project, option: str) -> None:
    result = project.run(*PARALLEL, *WITHOUT_REPORT, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = option.partition("=")[0]
    result.stderr.fnmatch_lines([f"ERROR: {name} needs pytest-json-report, *remove -p no:pytest_jsonreport"])


def test_a_run_that_wants_no_scorecard_says_nothing_of_it(project: Project) -> None:
    result = project.run(*PARALLEL, *WITHOUT_REPORT, "--fcbench-scorecard=none")
    result.stdout.no_fnmatch_line("*no scorecard*")


# pytest-json-report

OUTCOMES = """
import logging, pytest

def test_right():
    print("printed")
    logging.warning("logged")

def test_wrong():
    print("printed")
    assert 1 == 2

def test_left_out():
    pytest.skip("no reason")

@pytest.mark.xfail
def test_known():
    assert False

@pytest.mark.xfail
def test_unknown():
    print("printed")
"""


def read_stages(project: Project, *options: str) -> list[tuple[str, object]]:
    """Run the tests of the user; return what the report says of each stage, without any times."""
    project.write("test_own.py", OUTCOMES)
    project.run("--json-report", "--json-report-file=all.json", *options, "--", "test_own.py")
    tests = project.scorecard("all.json")["tests"]
    assert isinstance(tests, list)
    stages = [
        (f"{test['nodeid']} {name}", test[name]) for test in tests for name in ("setup", "call", "teardown")
    ]
    for _, stage in stages:
        assert isinstance(stage.pop("duration"), float)
        if "log" in stage:
            stage["log"] = [record["msg"] for record in stage["log"]]
    return stages


@pytest.mark.few(1)
@pytest.mark.parametrize("omitted", [(), ("log", "streams"), ("log",), ("streams",)], ids="-".join)
def test_the_report_says_of_each_stage_what_it_says_without_us(
    project: Project, omitted: tuple[str, ...]
) -> None:
    options = ("--json-report-omit", *omitted) if omitted else ()
    ours, theirs = read_stages(project, *options), read_stages(project, "-p", "no:fcbench", *options)
    assert ours == theirs
    assert len(ours) == 15
    assert ("'stdout'" in str(ours), "'log'" in str(ours)) == ("streams" not in omitted, "log" not in omitted)
