"""Runs of two models, against two endpoints on loopback: the same entries, asked at the same time."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

import pytest

from tests.loopback import Answer, Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project, size
from tests.processes import listening_to_ctrl_c
from tests.served import served

RUNS = pytest.mark.parametrize("workers", [(), ("-n", "0"), ("-n", "2")], ids=["plain", "n0", "n2"])
CATEGORIES = ("irrelevance", "live_irrelevance")
"""Those in which an answer in words is right, and any call is wrong."""
ALL = size(*CATEGORIES)


def make_answer(wrong: float, salt: str = "") -> Answer:
    """Make a model that calls a function, which is wrong, for this share of the entries."""

    def answer(asked: Body) -> Reply:
        number = int(sha256(f"{salt}{json.dumps(asked['messages'])}".encode()).hexdigest(), 16) % 1000
        tools = asked.get("tools")
        # Some entries offer none.
        if number >= 1000 * wrong or not isinstance(tools, list):
            return make_message_reply("none of these functions helps")
        return make_message_reply(calls=[(tools[0]["function"]["name"], "{}")])

    return answer


@contextmanager
def serve_two(first: Answer, second: Answer) -> Iterator[tuple[Endpoint, Endpoint]]:
    with serve_answers(first) as one, serve_answers(second) as other:
        yield one, other


def name_models(one: Endpoint, other: Endpoint, *more: str, sample: int | None = 12) -> tuple[str, ...]:
    return (
        *(f"--fcbench-category={name}" for name in CATEGORIES),
        *((f"--fcbench-sample={sample}",) if sample else ()),
        "--fcbench-model=hosted_vllm/one",
        f"--fcbench-api-base={one.api_base}",
        f"--fcbench-against=hosted_vllm/other,api_base={other.api_base}",
        "--fcbench-retries=2",
        *more,
    )


def read_verdicts(project: Project, name: str) -> dict[str, object]:
    return {entry: record["verdicts"] for entry, record in project.records(name).items()}


def read_result(project: Project) -> dict[str, object]:
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    result = section["against"]
    assert isinstance(result, dict)
    return result


SECOND = "scorecard.against.json"


def test_two_models_are_asked_the_same_and_written_to_two_scorecards_that_all_commands_read(
    project: Project,
) -> None:
    written = []
    for workers in ((), ("-n", "0"), ("-n", "2")):
        with serve_two(make_answer(0.5), make_answer(0.2)) as (one, other):
            result = project.run(*name_models(one, other, "--fcbench-store=none"), *workers)
            assert len(one.requests) == len(other.requests) == 12
            assert one.requests != other.requests
        result.stdout.fnmatch_lines(["hosted_vllm/one against hosted_vllm/other: *"])
        sides = [read_verdicts(project, name) for name in ("scorecard.json", SECOND)]
        assert len(sides[0]) == 12
        assert sides[0].keys() == sides[1].keys()
        written.append((sides, read_result(project)["verdicts"]))
    assert written[0] == written[1] == written[2]
    compared = project.fcbench("run", "compare", SECOND, "scorecard.json")
    assert "12 entries" in compared.stdout
    assert "ended early" not in compared.stdout
    assert project.fcbench("run", "compare", "latest.against", "latest").stdout
    assert "2 scorecards" in project.fcbench("run", "report", "-o", "page.html").stdout
    # The second scorecard is left of the run before.
    project.run("--fcbench-category=live_relevance")
    assert (project.path / SECOND).exists()
    assert "1 scorecard," in project.fcbench("run", "report", "scorecard.json", "-o", "page.html").stdout


@pytest.mark.few(1)
@RUNS
def test_answers_of_both_are_stored_and_a_second_run_buys_nothing(
    project: Project, workers: tuple[str, ...]
) -> None:
    with serve_two(make_answer(0.5), make_answer(0.2)) as (one, other):
        for _ in range(2):
            project.run(*name_models(one, other), *workers)
            assert len(one.requests) == len(other.requests) == 12
        result = project.run(*name_models(one, other, "--fcbench-offline"), *workers)
        assert len(one.requests) == 12
    assert "offline" not in result.stdout.str().partition("not scored")[2]
    assert len(project.records(SECOND)) == 12


def test_a_name_that_is_asked_at_the_server_of_the_first_model_is_told(project: Project) -> None:
    """It may be a misspelt profile, and a server that does not look at names answers all the same."""
    with serve_two(make_answer(0), make_answer(0)) as (one, other):
        told = f"note: hosted_vllm/other is asked at {one.api_base}, as hosted_vllm/one is; *"
        same = (*name_models(one, other, sample=3)[:-2], "--fcbench-against=hosted_vllm/other")
        project.run(*same).stdout.fnmatch_lines([told])
        project.run(*name_models(one, other, sample=3)).stdout.no_fnmatch_line("note: * is asked at *")


def test_one_model_against_itself_is_asked_for_second_answers_which_are_stored_too(project: Project) -> None:
    with serve_answers(make_answer(0.3)) as one:
        options = (*name_models(one, one)[:-2], "--fcbench-against=same", "--fcbench-against-whole")
        for _ in range(2):
            result = project.run(*options)
            assert len(one.requests) == 24
    result.stdout.fnmatch_lines(["hosted_vllm/one against hosted_vllm/one again: *"])
    assert read_result(project)["change"] == 0
    assert read_verdicts(project, SECOND) == read_verdicts(project, "scorecard.json")
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    noise = section["noise"]["flips"]["all"]
    assert (noise["entries"], noise["share"], noise["differing"]) == (12, 0, 0)


def test_a_refused_second_model_stops_the_run_before_the_first_is_paid_for(project: Project) -> None:
    unknown = "The model `other` does not exist."
    with serve_two(make_answer(0), lambda _: make_error_reply(404, unknown)) as (one, other):
        result = project.run(*name_models(one, other))
        assert not one.requests
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            f"ERROR: --fcbench-against=hosted_vllm/other: the first call failed, *: not_found: *{unknown}*",
            "check the model's name and --fcbench-against=MODEL,api_base=URL; *",
        ]
    )
    for workers in ((), ("-n", "2")):
        with serve_two(make_answer(0), lambda _: make_error_reply(401, "not for you")) as (one, other):
            result = project.run(*name_models(one, other), *workers)
            assert not one.requests
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            [
                "ERROR: --fcbench-against=hosted_vllm/other: the first call failed, so no other call was "
                "made: authentication: *",
                "*--fcbench-against=MODEL,api_key_env=NAME*",
            ]
        )


def test_a_refused_first_model_costs_few_calls_to_the_second(project: Project) -> None:
    with serve_two(lambda _: make_error_reply(401, "not for you"), make_answer(0)) as (one, other):
        result = project.run(*name_models(one, other, "--fcbench-concurrency=3", sample=40))
        assert len(one.requests) == 1
        assert len(other.requests) <= 11
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_secrets_of_the_second_model_reach_no_file_and_no_report(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "second-0123456789abcdef"
    monkeypatch.setenv("SECOND_MODEL", secret)

    def repeat_key(asked: Body) -> Reply:
        return make_message_reply(f"your key is {secret}")

    with serve_two(make_answer(0.5), repeat_key) as (one, other):
        *rest, _, retries = name_models(one, other)
        against = f"--fcbench-against=hosted_vllm/one,api_base={other.api_base},api_key_env=SECOND_MODEL"
        more = ("--showlocals", "--junitxml=junit.xml")
        result = project.run(*rest, against, retries, *more)
        assert len(project.records(SECOND)) == 12
        assert secret in str(other.headers)
        assert secret not in result.stdout.str()
        files = [file for file in project.path.rglob("*") if file.is_file()]
        assert not [file for file in files if secret.encode() in file.read_bytes()]
        other.headers.clear()
        # The key of the first model goes to no other address.
        monkeypatch.setenv("FIRST_MODEL", "first-0123456789abcdef")
        project.run(*name_models(one, other), "--fcbench-api-key-env=FIRST_MODEL", "--fcbench-refresh")
        assert "first-0123456789abcdef" in str(one.headers)
        assert other.headers
        assert "first-0123456789abcdef" not in str(other.headers)


def test_the_budget_counts_both_models(project: Project) -> None:
    # 11 tokens in and 7 out of each answer cost 0.18 cents, and are expected to cost more.
    project.write(
        "fcbench.yaml",
        "model: oracle\nprices:\n"
        "  hosted_vllm/one: {input: 100, output: 100}\n  hosted_vllm/other: {input: 100, output: 100}\n",
    )
    with serve_two(make_answer(0), make_answer(0)) as (one, other):
        more = ("--fcbench-max-usd=0.16", "--fcbench-max-tokens=7", "--fcbench-concurrency=1")
        project.run(*name_models(one, other, *more, sample=30))
        asked = len(one.requests) + len(other.requests)
    assert 2 < asked < 60
    causes = [
        str(record["verdicts"]["official"]["code"])  # type: ignore[index]
        for name in ("scorecard.json", SECOND)
        for record in project.records(name).values()
    ]
    assert causes.count("budget") == len(causes) - asked


@pytest.mark.nightly
def test_load_that_changes_half_way_hits_both_models_alike(project: Project) -> None:
    """Both are asked for the n-th entry before either is asked for the next, first one and then the other."""
    begun: list[tuple[float, str]] = []
    lock = threading.Lock()

    def answer_as(name: str) -> Callable[[Body], Reply]:
        def answer(asked: Body) -> Reply:
            with lock:
                begun.append((time.monotonic(), name))
                is_late = len(begun) > 60
            time.sleep(0.03 if is_late else 0.005)
            if is_late and len(begun) % 3 == 0:
                return make_error_reply(500, "overloaded")
            return make_message_reply("no function helps")

        return answer

    with serve_two(answer_as("one"), answer_as("other")) as (one, other):
        more = ("--fcbench-concurrency=4", "--fcbench-against-whole", "--fcbench-retries=0")
        project.run(*name_models(one, other, *more, sample=60))
    counts = {"one": 0, "other": 0}
    orders = {"one": 0, "other": 0}
    for _, name in begun:
        orders[name] += counts["one"] == counts["other"]
        counts[name] += 1
        # Each has four conversations at once, and the second model begins during the preflight.
        assert abs(counts["one"] - counts["other"]) <= 4
    assert counts == {"one": 60, "other": 60}
    assert min(orders.values()) >= 5
    late = [name for _, name in begun[60:]]
    assert abs(late.count("one") - late.count("other")) <= 8
    for name in ("scorecard.json", SECOND):
        statuses = [record["verdicts"]["official"]["status"] for record in project.records(name).values()]  # type: ignore[index]
        assert 3 <= statuses.count("not_scored") <= 20


@pytest.mark.few(1)
@RUNS
def test_a_real_difference_stops_the_run_early_with_an_exit_code(
    project: Project, workers: tuple[str, ...]
) -> None:
    with serve_two(make_answer(0.7), make_answer(0.05)) as (one, other):
        gate = "--fcbench-gate=not-worse(95%)"
        result = project.run(*name_models(one, other, gate, "--fcbench-concurrency=4", sample=None), *workers)
        asked = len(one.requests) + len(other.requests)
    found = read_result(project)
    assert result.ret == 1
    assert found["decision"] == "worse"
    assert found["total"] == ALL
    assert isinstance(number := found["asked"], int)
    assert number < ALL / 2
    assert len(project.records()) == len(project.records(SECOND)) == number
    # In flight or ahead of the tests were at most so many.
    assert asked <= 2 * (number + 8 * 4 + 4)
    assert found["calls_saved"] == 2 * (ALL - number)
    assert result.parseoutcomes()["skipped"] == ALL - number
    result.stdout.fnmatch_lines(["*against*: worse; *", "*ended after*", "gate not-worse(95%): broken: *"])
    assert f"{found['share']:.0%} of the entries" in " ".join(result.stdout.str().split())
    compared = " ".join(project.fcbench("run", "compare", SECOND, "scorecard.json").stdout.split())
    assert f"ended early, after {number} of {ALL} tests" in compared
    exported = " ".join(project.fcbench("run", "export", "markdown", "scorecard.json").stdout.split())
    assert f"ended early, after {number} of {ALL} tests" in exported


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("first", "second", "more", "code"),
    [
        (0.3, 0.3, (), 0),
        (0.6, 0.1, (), 1),
        (0.1, 0.6, (), 0),
        (0.3, 0.3, ("--fcbench-against-whole", "--fcbench-gate=not-worse(irrelevance, 95%)"), 0),
        # The second model passed too little for any loss to show.
        (0.0, 1.0, ("--fcbench-against-whole", "--fcbench-limit=3"), 2),
        (1.0, 1.0, ("--fcbench-against-whole",), 2),
    ],
)
def test_not_worse_decides_the_exit_code(
    project: Project, first: float, second: float, more: tuple[str, ...], code: int
) -> None:
    with serve_two(make_answer(first), make_answer(second)) as (one, other):
        sample = None if any("limit" in each for each in more) else 90
        result = project.run(*name_models(one, other, "--fcbench-gate=not-worse(95%)", *more, sample=sample))
    assert result.ret == code, result.stdout.str()


@pytest.mark.nightly
def test_a_rule_that_needs_all_entries_has_all_asked(project: Project) -> None:
    with serve_two(make_answer(0.7), make_answer(0.05)) as (one, other):
        result = project.run(*name_models(one, other, "--fcbench-gate=irrelevance>=1%", sample=None))
        assert len(one.requests) == len(other.requests) == ALL
    assert result.ret == 0
    assert read_result(project)["share"] is None


@pytest.mark.nightly
def test_models_without_a_network_can_be_either(project: Project) -> None:
    for first, second in (("lexical", "oracle"), ("oracle", "lexical")):
        for workers in ((), ("-n", "2")):
            options = (
                f"--fcbench-model={first}",
                f"--fcbench-against={second}",
                "--fcbench-category=parallel",
            )
            project.run(*options, "--fcbench-against-whole", *workers)
            change = read_result(project)["change"]
            assert isinstance(change, float)
            assert (change < 0) == (first == "lexical")
            assert len(project.records()) == len(project.records(SECOND)) == size("parallel")
    with serve_answers(make_answer(0.3)) as one:
        project.run(*name_models(one, one)[:-2], "--fcbench-against=oracle", "--fcbench-against-whole")
        assert len(one.requests) == 12
        assert len(project.records(SECOND)) == 12
        recorded = (project.path / "scorecard.json").rename(project.path / "recorded.json")
        for against in (f"hosted_vllm/other,api_base={one.api_base}", "same"):
            result = project.run(
                *name_models(one, one)[:3],
                f"--fcbench-model=replay:{recorded}",
                f"--fcbench-against={against}",
                "--fcbench-against-whole",
            )
            assert len(project.records()) == len(project.records(SECOND)) == 12, result.stdout.str()
    assert read_verdicts(project, SECOND) == read_verdicts(project, "scorecard.json")
    with serve_answers(make_answer(0.3)) as one:
        project.run(
            *name_models(one, one)[:-2], f"--fcbench-against=replay:{recorded}", "--fcbench-against-whole"
        )
        assert len(one.requests) == 12
    assert read_verdicts(project, SECOND) == read_verdicts(project, "scorecard.json")


@pytest.mark.nightly
def test_models_without_a_network_are_told_apart_early_by_workers_too(project: Project) -> None:
    written = []
    for workers in ((), ("-n", "2")):
        models = ("--fcbench-model=lexical", "--fcbench-against=oracle", "--fcbench-category=multiple")
        result = project.run(*models, *workers)
        found = read_result(project)
        assert (found["decision"], found["calls_saved"]) == ("worse", 0)
        assert isinstance(number := found["asked"], int)
        assert len(project.records()) == len(project.records(SECOND)) == number < size("multiple") / 2
        assert result.parseoutcomes()["skipped"] == size("multiple") - number
        written.append(found["asked"])
    assert written[0] == written[1]


@pytest.mark.nightly
def test_checks_of_two_servers_are_all_put_and_counted(project: Project) -> None:
    sound, faulty = ("--model", "conforming", "--name"), ("--fault", "no_usage:1")
    with served(*sound, "y") as one, served(*sound, "x", *faulty) as other:
        models = ("--fcbench-model=hosted_vllm/x", f"--fcbench-api-base={other}")
        result = project.run(
            "--fcbench-suite=wire", *models, f"--fcbench-against=hosted_vllm/y,api_base={one}"
        )
    found = read_result(project)
    assert found["asked"] == found["total"] == len(project.records(SECOND))
    told = " ".join(result.stdout.str().split())
    breaks = r"of 1\d\d checks the model under test alone breaks [1-9]"
    assert re.search(rf"hosted_vllm/x against hosted_vllm/y: {breaks}", told)
    assert result.parseoutcomes()["failed"] >= 1


@pytest.mark.nightly
def test_a_part_of_the_run_is_a_part_for_both(project: Project) -> None:
    with serve_two(make_answer(0.5), make_answer(0.2)) as (one, other):
        parts: dict[tuple[str, ...], int] = {
            ("-k", "live_irrelevance"): 12,
            ("--fcbench-limit=5",): 5,
            ("--fcbench-trials=2", "--fcbench-limit=5"): 5,
            ("-x",): 0,
        }
        for part, entries in parts.items():
            sample = 12 if part == ("-k", "live_irrelevance") or part == ("-x",) else None
            project.run(*name_models(one, other, "--fcbench-against-whole", sample=sample), *part)
            sides = [project.records(name) for name in ("scorecard.json", SECOND)]
            assert sides[0].keys() == sides[1].keys()
            assert len(sides[0]) == entries or part == ("-x",)
        result = read_result(project)
        assert result["asked"] == len(project.records())
    tests = project.scorecard()["tests"]
    assert isinstance(tests, list)
    assert tests[-1]["outcome"] in ("passed", "failed")


@pytest.mark.nightly
def test_shards_of_both_are_merged(project: Project) -> None:
    with serve_two(make_answer(0.5), make_answer(0.2)) as (one, other):
        for part in (1, 2):
            more = (f"--fcbench-shard={part}/2", f"--fcbench-scorecard=part{part}.json")
            project.run(*name_models(one, other, *more, sample=None))
        assert len(one.requests) == len(other.requests) == ALL
    for name in ("", ".against"):
        parts = [f"part{part}{name}.json" for part in (1, 2)]
        merged = project.fcbench("run", "merge", *parts, "-o", f"whole{name}.json")
        assert merged.returncode == 0, merged.stderr
    compared = project.fcbench("run", "compare", "whole.against.json", "whole.json")
    assert f"of {ALL} entries" in compared.stdout


def test_a_plan_counts_both_models(project: Project) -> None:
    with serve_two(make_answer(0.5), make_answer(0.2)) as (one, other):
        result = project.run(*name_models(one, other, "--fcbench-plan", "--fcbench-noise=5"))
        assert not one.requests
        assert not other.requests
    result.stdout.fnmatch_lines(
        [
            "hosted_vllm/one:",
            "all * 12 *",
            "hosted_vllm/other:",
            "all * 12 *",
            "hosted_vllm/one again:",
            "all * 5 *",
            "not-worse(95%): 12 entries are too few to show any loss",
        ]
    )


@pytest.mark.nightly
def test_noise_asks_some_entries_of_the_first_model_again(project: Project) -> None:
    asked: list[str] = []

    def waver(body: Body) -> Reply:
        asked.append(json.dumps(body["messages"]))
        if asked.count(asked[-1]) == 1:
            return make_message_reply("none")
        tools = body.get("tools")
        assert isinstance(tools, list)
        return make_message_reply(calls=[(tools[0]["function"]["name"], "{}")])

    with serve_answers(waver) as one:
        options = (*name_models(one, one)[:-2], "--fcbench-noise=5")
        for workers in ((), ("-n", "2")):
            result = project.run(*options, *workers)
            assert len(one.requests) == 17
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    noise = section["noise"]
    assert (noise["flips"]["all"]["entries"], noise["flips"]["all"]["differing"]) == (5, 5)
    assert noise["flips"]["all"]["share"] > 0
    assert section["against"] is None
    result.stdout.fnmatch_lines(
        ["what chance changes: *", "all *5 *", "*another answer to the same request*"]
    )
    result.stdout.fnmatch_lines(["note: 17 stored answers were compared, the oldest of 20*"])


@pytest.mark.nightly
def test_a_model_that_wavers_is_not_called_worse_than_itself(project: Project) -> None:
    """Of the same entries other ones fail the second time, one in ten each time."""
    asked: list[str] = []

    def waver(body: Body) -> Reply:
        asked.append(json.dumps(body["messages"]))
        return make_answer(0.1, salt=str(asked.count(asked[-1])))(body)

    with serve_answers(waver) as one:
        options = (*name_models(one, one, sample=None)[:-2], "--fcbench-against=same")
        result = project.run(*options, "--fcbench-gate=not-worse(95%)", "--fcbench-against-whole")
    assert result.ret == 0
    assert read_result(project)["decision"] in ("open", "not worse", "alike")
    counts = read_result(project)["verdicts"]
    assert isinstance(counts, dict)
    assert counts["only_before"] > 3 < counts["only_after"]
    section = project.scorecard()["fcbench"]
    assert isinstance(section, dict)
    noise = section["noise"]
    assert 0.05 < noise["flips"]["all"]["share"] < 0.3
    assert 0.02 < noise["smallest_loss"] < 0.3
    assert "another answer to the same request at temperature 0.001" in noise["note"]


@pytest.mark.nightly
def test_ctrl_c_stops_asking_both_and_keeps_what_was_answered(project: Project) -> None:
    reached, release = threading.Event(), threading.Event()

    def answer_slowly(asked: Body) -> Reply:
        if len(one.requests) + len(other.requests) > 12:
            reached.set()
            release.wait(60)
        return make_answer(0)(asked)

    with serve_two(answer_slowly, answer_slowly) as (one, other):
        options = name_models(one, other, "--fcbench-concurrency=1", "--fcbench-against-whole")
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options]
        with listening_to_ctrl_c():
            process = subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE, text=True)
        assert reached.wait(60)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=60)
        release.set()
        assert process.returncode == pytest.ExitCode.INTERRUPTED
        before = len(one.requests) + len(other.requests)
        assert before <= 14
        assert re.search(r"1\d answers are kept", told), told
        sides = [project.records(name) for name in ("scorecard.json", SECOND)]
        assert 0 < len(sides[1]) <= len(sides[0])
        project.run(*options)
        # Of those in flight nothing had come.
        assert len(one.requests) + len(other.requests) <= 24 + 2
    assert len(project.records()) == len(project.records(SECOND)) == 12


def test_what_failed_last_is_put_to_both_again(pytester: pytest.Pytester, project: Project) -> None:
    with serve_two(make_answer(0.5), make_answer(0.2)) as (one, other):
        options = name_models(one, other, "--fcbench-against-whole")
        pytester.runpytest_inprocess(*options)
        failed = {
            entry
            for entry, record in project.records().items()
            if record["verdicts"]["official"]["status"] == "failed"  # type: ignore[index]
        }
        again = pytester.runpytest_inprocess(*options, "--lf", "--fcbench-gate=not-worse(95%)")
    assert failed
    assert again.ret == 2
    bias = "--lf asks only what failed before"
    again.stdout.fnmatch_lines(
        [
            f"note: {bias}, so nothing is decided about the two models; compare them without --lf",
            "*one against hosted_vllm/other: open: --lf *",
            f"gate not-worse(95%): cannot tell: {bias}",
        ]
    )
    assert read_result(project)["decision"] == "open"
    assert set(project.records()) == set(project.records(SECOND)) == failed


@pytest.mark.nightly
def test_files_of_other_tools_have_the_result(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    with serve_two(make_answer(0.6), make_answer(0.1)) as (one, other):
        project.run(*name_models(one, other, "--junitxml=junit.xml", sample=None))
    for name in ("junit.xml", "summary.md"):
        text = (project.path / name).read_text().replace("\\", "")
        assert "hosted_vllm/one against hosted_vllm/other: worse; " in text
    assert "only hosted" in (project.path / "summary.md").read_text()
    project.fcbench("run", "baseline", "save", "scorecard.json", "-o", "baseline.json")
    assert json.loads((project.path / "baseline.json").read_text())["fcbench"]["against"] is None
    shown = project.fcbench("run", "show", "--scorecard", "scorecard.json").stdout
    assert "hosted_vllm/one against hosted_vllm/other" in shown
    gate = project.fcbench(
        "gate", "scorecard.json", "--gate=not-worse(95%)", "--baseline=scorecard.against.json"
    )
    assert "of the entries" in gate.stdout


OWN_TEST = """
import pytest

@pytest.mark.fcbench("irrelevance")
def test_own(answer):
    assert answer.text == "none"

@pytest.mark.fcbench("live_irrelevance")
def test_judged(entry, ask, judge, score):
    assert score(judge(entry, ask(entry)))
"""


def test_an_assertion_of_a_test_judges_the_first_model_alone(project: Project) -> None:
    project.write("benchmarks/test_own.py", OWN_TEST)
    with serve_two(lambda _: make_message_reply("none"), lambda _: make_message_reply("none")) as (
        one,
        other,
    ):
        options = name_models(one, other, sample=None)
        project.run("benchmarks/test_own.py", "--fcbench-limit=30", *options)
    records = project.records(SECOND)
    causes = {str(record["verdicts"]["official"]["code"]) for record in records.values()}  # type: ignore[index]
    assert causes == {"own_assertion"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--fcbench-baseline=x.json",), "both name what the run is compared with; leave one out"),
        (("--fcbench-forced=auto",), "leave one of the two out"),
        (("--dist=each", "-n", "2"), "--dist each runs every entry once for each worker"),
    ],
)
def test_what_does_not_go_together_is_refused(
    project: Project, options: tuple[str, ...], message: str
) -> None:
    result = project.run("--fcbench-model=oracle", "--fcbench-against=lexical", *options)
    assert message in result.stderr.str() + result.stdout.str()
