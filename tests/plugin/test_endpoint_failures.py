"""Runs against endpoints that fail in ways that were reported in public.

Each case has a run that comes out the other way. The replies lie in a folder ``cases`` beside that which
``FCBENCH_ORACLE`` names; what is short stands here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from tests.loopback import Answer, Body, Reply, make_error_reply, make_message_reply, serve_answers
from tests.plugin.conftest import Project

CASES = Path(os.environ.get("FCBENCH_ORACLE", "nowhere")).parent / "cases"
NEEDS_CASES = pytest.mark.skipif(not CASES.is_dir(), reason="no folder 'cases' beside FCBENCH_ORACLE")

ENTRIES = """\
category: simple_python
functions:
  - name: weather
    description: The weather of the next days in a city.
    parameters:
      type: dict
      properties:
        city: {type: string, description: The city.}
        days: {type: integer, description: How many days.}
      required: [city, days]
entries:
"""
ENTRY = """\
  - id: simple_python_%(days)d
    query: What will the weather be in Bergen in the next %(days)d days?
    functions: [weather]
    expect: [{weather: {city: [Bergen], days: [%(days)d]}}]
"""

PAGE = Reply(
    "<!doctype html>\n<html><body>Welcome to nginx!</body></html>", 200, {"Content-Type": "text/html"}
)
TOO_LARGE = Reply("<html><center><h1>413 Request Entity Too Large</h1></center></html>", 413)
PLAIN_500 = Reply("Internal Server Error", 500, {"Content-Type": "text/plain"})


@dataclass(frozen=True)
class Ran:
    """A run that has ended: its exit code, its output, its verdicts by entry, and its requests."""

    code: int
    said: str
    verdicts: Mapping[str, Mapping[str, Mapping[str, object]]]
    requests: int

    def name_verdicts(self) -> set[tuple[str, str]]:
        """Return what the official and the corrected profile say of entries: the code, or that it passed."""
        return {
            (name_verdict(each["official"]), name_verdict(each["corrected"]))
            for each in self.verdicts.values()
        }


def name_verdict(verdict: Mapping[str, object]) -> str:
    return str(verdict["code"] or verdict["status"])


@dataclass(frozen=True)
class Runner:
    """Runs a benchmark of a project against a server."""

    project: Project
    workers: int

    def run(self, answer: Answer, *options: str, entries: int = 1, file: str = "") -> Ran:
        """Run entries about the weather, or those of a file, with one request at a time."""
        if not file:
            written = ENTRIES + "".join(ENTRY % {"days": days + 1} for days in range(entries))
            file = self.project.write("weather.yaml", written).name
        with serve_answers(answer) as endpoint:
            result = self.project.run(
                file,
                "-q",
                f"-n{self.workers}",
                "--fcbench-model=m",
                f"--fcbench-api-base={endpoint.api_base}",
                "--fcbench-store=none",
                "--fcbench-concurrency=1",
                *options,
            )
        asked = [request for request in endpoint.requests if "messages" in request]
        said = "\n".join([*result.outlines, *result.errlines])
        verdicts: dict[str, Mapping[str, Mapping[str, object]]] = {}
        if (self.project.path / "scorecard.json").exists():
            for entry, record in self.project.records().items():
                verdicts[entry] = cast("Mapping[str, Mapping[str, object]]", record["verdicts"])
        return Ran(int(result.ret), said, verdicts, len(asked))

    def run_case(self, name: str, *options: str, reply: str = "reply.json", file: str = "s.yaml") -> Ran:
        """Run the entries of a case against its server."""
        shutil.copy(CASES / name / file, self.project.path / file)
        return self.run(answer_as_case(name, reply), *options, file=file)


# Workers only judge: that a failure reaches them, the plain 500 below shows in every run.
@pytest.fixture(params=[0, pytest.param(2, marks=pytest.mark.nightly)], ids=["n0", "n2"])
def runner(request: pytest.FixtureRequest, project: Project) -> Runner:
    return Runner(project, request.param)


def answer_as_case(name: str, file: str = "reply.json") -> Answer:
    """Answer as the server of a case: with another reply once the history holds a call, where it has one."""
    told = json.loads((CASES / name / file).read_text(encoding="utf-8"))

    def answer(asked: Body) -> Reply:
        messages = cast("Sequence[Mapping[str, object]]", asked["messages"])
        stage = "then" if any(message.get("tool_calls") for message in messages) else "first"
        chosen = told.get(stage, told)
        if "events" not in chosen:
            return Reply(chosen["body"], chosen.get("status", 200))
        assert asked["stream"] is True
        events = "".join(f"data: {json.dumps(event)}\n\n" for event in chosen["events"])
        end = "data: [DONE]\n\n" if chosen.get("done", True) else ""
        return Reply(events + end, headers={"Content-Type": "text/event-stream"})

    return answer


def answer_rightly(asked: Body) -> Reply:
    """Answer a question about the weather by the call that it wants."""
    said = re.search(r"be in (\w+) in the next (\d+) days", str(asked["messages"]))
    assert said
    return make_message_reply(calls=[("weather", json.dumps({"city": said[1], "days": int(said[2])}))])


def answer_after(count: int, reply: Reply) -> Answer:
    """Answer the first requests rightly and all others by a reply."""
    left = iter([True] * count)

    def answer(asked: Body) -> Reply:
        return answer_rightly(asked) if next(left, False) else reply

    return answer


@pytest.mark.few(1)
def test_a_server_that_answers_rightly_passes(runner: Runner) -> None:
    ran = runner.run(answer_rightly, entries=3)
    assert (ran.code, ran.requests) == (0, 3)
    assert ran.name_verdicts() == {("passed", "passed")}


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [0, 2])
def test_a_plain_500_is_not_scored(project: Project, workers: int) -> None:
    ran = Runner(project, workers).run(answer_after(1, PLAIN_500), "--fcbench-retries=1", entries=2)
    assert ran.name_verdicts() == {("passed", "passed"), ("endpoint", "endpoint")}
    assert ran.requests == 3


# Streams, and answers that the server breaks off


@pytest.mark.few(2)
@NEEDS_CASES
@pytest.mark.parametrize("option", ["--fcbench-stream=on", "--fcbench-param=stream=true"])
@pytest.mark.parametrize(
    ("case", "file"),
    [("stream_all_index_0", "par.yaml"), ("stream_index_from_1", "s.yaml"), ("stream_no_index", "s.yaml")],
)
def test_calls_that_are_numbered_in_another_way_pass(
    runner: Runner, case: str, file: str, option: str
) -> None:
    ran = runner.run_case(case, option, file=file)
    assert (ran.code, ran.name_verdicts()) == (0, {("passed", "passed")})
    assert "the server broke the protocol in 1 answer (stream_index)" in " ".join(ran.said.split())


@pytest.mark.few(2)
@NEEDS_CASES
@pytest.mark.parametrize(
    ("case", "cause"),
    [
        ("stream_cut_counts_as_answer", "cut_stream"),
        ("stream_error_counts_as_answer", "error_in_stream"),
        ("finish_reason_error", "error_in_reply"),
    ],
)
def test_an_endpoint_that_failed_has_not_answered(runner: Runner, case: str, cause: str) -> None:
    """Whatever came would be no call, which passes irrelevance."""
    options = ("--fcbench-stream=on", "--fcbench-retries=1", "--fcbench-no-preflight")
    ran = runner.run_case(case, *options, file="irr.yaml")
    assert ran.name_verdicts() == {(cause, cause)}
    assert ran.requests == 2


@pytest.mark.few(1)
def test_an_endpoint_that_fails_once_is_asked_again_and_the_note_stays(runner: Runner) -> None:
    aborted = Reply(
        {"choices": [{"index": 0, "message": {"content": "I"}, "finish_reason": "abort"}], "usage": {}}
    )
    replies = iter([True])
    ran = runner.run(lambda asked: aborted if next(replies, False) else answer_rightly(asked))
    assert (ran.name_verdicts(), ran.requests) == ({("passed", "passed")}, 2)
    assert "the server failed before it gave 1 answer (aborted_answer)" in " ".join(ran.said.split())


@pytest.mark.few(1)
@NEEDS_CASES
def test_a_call_that_the_server_lost_passes_irrelevance_only_officially(runner: Runner) -> None:
    ran = runner.run_case("malformed_function_call", file="irr.yaml")
    assert ran.name_verdicts() == {("passed", "irrelevance:unreadable_call")}
    prose = runner.run(lambda _: make_message_reply("I cannot say."), file="irr.yaml")
    assert prose.name_verdicts() == {("passed", "passed")}


# 413


@pytest.mark.few(1)
@NEEDS_CASES
def test_a_request_larger_than_the_rate_of_the_account_is_not_scored_and_asked_once(runner: Runner) -> None:
    ran = runner.run_case("tpm_limit_413")
    assert ran.name_verdicts() == {("rate_limit", "rate_limit")}
    assert "waiting does not help" in ran.said
    assert ran.requests == 1


@pytest.mark.few(1)
def test_where_every_request_is_so_large_the_run_ends_after_three(runner: Runner) -> None:
    told = "on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size"
    ran = runner.run(lambda _: make_error_reply(413, told), entries=9)
    assert (ran.code, ran.requests) == (4, 3)
    assert "rate_limit: m: HTTP 413: on tokens per minute" in ran.said


@pytest.mark.few(1)
def test_a_proxy_that_refuses_the_size_of_a_request_is_not_the_models_failure(runner: Runner) -> None:
    ran = runner.run(answer_after(1, TOO_LARGE), entries=2)
    assert ran.name_verdicts() == {("passed", "passed"), ("request_too_large", "request_too_large")}
    assert "client_max_body_size" in ran.said
    assert ran.requests == 2


# The context


@pytest.mark.few(2)
@NEEDS_CASES
@pytest.mark.parametrize("reply", ["reply", "bedrock", "dashscope", "moonshot", "sglang", "vllm_old", "xai"])
def test_a_prompt_that_does_not_fit_is_the_models_failure_in_any_words(runner: Runner, reply: str) -> None:
    ran = runner.run_case("overflow_words_unknown", reply=f"{reply}.json")
    assert ran.name_verdicts() == {("ast_decoder:decoder_failed", "context_overflow")}
    assert ran.requests == 1


@pytest.mark.few(1)
def test_an_answer_that_may_become_too_long_ends_the_run_and_names_the_value(runner: Runner) -> None:
    told = (
        "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is "
        "4096 tokens and your request has 57 input tokens (4096 > 4096 - 57)."
    )
    ran = runner.run(lambda _: make_error_reply(400, told), "--fcbench-max-tokens=4096", entries=9)
    assert (ran.code, ran.requests) == (4, 1)
    assert "max_tokens=4039 would do" in ran.said
    assert "--fcbench-max-tokens" in ran.said


@pytest.mark.few(1)
def test_a_prompt_that_fills_the_context_is_an_overflow_in_the_same_words(runner: Runner) -> None:
    told = (
        "'max_tokens' or 'max_completion_tokens' is too large: 16. This model's maximum context length is "
        "4096 tokens and your request has 4100 input tokens (16 > 4096 - 4100)."
    )
    ran = runner.run(lambda _: make_error_reply(400, told), "--fcbench-max-tokens=16")
    assert ran.name_verdicts() == {("ast_decoder:decoder_failed", "context_overflow")}


# Credit


@pytest.mark.few(1)
@NEEDS_CASES
def test_without_credit_the_run_ends_with_the_first_request(runner: Runner) -> None:
    ran = runner.run_case("no_credit_402", file="ten.yaml")
    assert (ran.code, ran.requests) == (4, 1)
    assert "quota: m: HTTP 402: Insufficient Balance" in ran.said
    assert "add credit" in ran.said


QUOTA = (
    make_error_reply(402, "Insufficient Balance"),
    make_error_reply(400, "Your credit balance is too low to access the Anthropic API."),
    make_error_reply(429, "Billing hard limit has been reached", "billing_hard_limit_reached"),
    make_error_reply(429, "suspended", "exceeded_current_quota_error"),
    Reply({"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": json.dumps(
        {"error": {"message": "no", "code": "insufficient_quota"}})}}}, 429),
)  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("reply", QUOTA, ids=lambda reply: str(reply.status))
def test_credit_that_ends_in_a_run_stops_it_after_three(runner: Runner, reply: Reply) -> None:
    ran = runner.run(answer_after(2, reply), entries=9)
    assert ran.requests == 5
    assert ran.name_verdicts() == {("passed", "passed"), ("quota", "quota")}
    assert "stopped sending requests after 3 failures in a row (quota: " in ran.said


@pytest.mark.few(1)
def test_a_rate_limit_in_a_run_is_waited_for(runner: Runner) -> None:
    busy = make_error_reply(429, "slow down")
    replies = iter([False, True, False, False])
    ran = runner.run(lambda asked: busy if next(replies, False) else answer_rightly(asked), entries=3)
    assert ran.name_verdicts() == {("passed", "passed")}
    assert ran.requests == 4


# Calls that a server cannot read


@pytest.mark.few(1)
@NEEDS_CASES
def test_a_call_that_its_server_cannot_read_fails_at_once(runner: Runner) -> None:
    ran = runner.run_case("llama_500_unreadable_call")
    assert ran.name_verdicts() == {("ast_decoder:decoder_failed", "unreadable_call")}
    assert ran.requests == 1


@pytest.mark.few(1)
@NEEDS_CASES
def test_a_conversation_that_repeats_a_broken_call_fails(runner: Runner) -> None:
    """The first turn ends with the call that cannot be read; the second is refused."""
    ran = runner.run(answer_as_case("broken_call_in_history"), file="core:multi_turn_base_1")
    assert ran.name_verdicts() == {("multi_turn:inference_error", "unreadable_call")}
    assert ran.requests == 2


def answer_with_broken_call(refusal: Reply, *, breaks: bool = True, only_broken: bool = True) -> Answer:
    """Answer by a call, and refuse requests that repeat it: only a broken one, or each."""
    arguments = '{"a": tru' if breaks else '{"a": true}'

    def answer(asked: Body) -> Reply:
        said = json.dumps(asked["messages"])
        repeats = json.dumps(arguments) in said if only_broken else "tool_calls" in said
        return refusal if repeats else make_message_reply(calls=[("ls", arguments)])

    return answer


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("refusal", "requests"), [(PLAIN_500, 4), (make_error_reply(400, "Expecting value: line 1"), 2)]
)
def test_a_server_that_fails_over_a_broken_call_shows_it(
    runner: Runner, refusal: Reply, requests: int
) -> None:
    """Where it says nothing, it is asked without the call and once more with it."""
    ran = runner.run(answer_with_broken_call(refusal), file="core:multi_turn_base_1")
    assert ran.name_verdicts() == {("multi_turn:inference_error", "unreadable_call")}
    assert ran.requests == requests


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (answer_with_broken_call(PLAIN_500, only_broken=False), "endpoint"),
        (answer_with_broken_call(PLAIN_500, breaks=False), "endpoint"),
        (answer_with_broken_call(make_error_reply(400, "no JSON"), breaks=False), "bad_request"),
    ],
)
def test_a_server_that_fails_in_any_case_is_not_scored(runner: Runner, answer: Answer, cause: str) -> None:
    ran = runner.run(answer, "--fcbench-retries=0", file="core:multi_turn_base_1")
    assert ran.name_verdicts() == {(cause, cause)}


# Web pages


@pytest.mark.few(1)
def test_a_web_page_ends_the_run_with_the_first_request(runner: Runner) -> None:
    ran = runner.run(lambda _: PAGE, entries=9)
    assert (ran.code, ran.requests) == (4, 1)
    assert "web_page: m: the reply is a web page, not that of an API" in ran.said
    assert "check --fcbench-api-base; most such addresses end in /v1" in ran.said


@pytest.mark.few(1)
def test_a_web_page_in_the_middle_of_a_run_is_asked_again(runner: Runner) -> None:
    replies = iter([False, True, False, False])
    ran = runner.run(lambda asked: PAGE if next(replies, False) else answer_rightly(asked), entries=3)
    assert ran.name_verdicts() == {("passed", "passed")}
    assert ran.requests == 4
