"""``fcbench suite contamination`` from the words to its files, against a loopback endpoint."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from pytest_fcbench.cli import main
from pytest_fcbench.domain.entry import CATEGORIES
from pytest_fcbench.suites import core
from pytest_fcbench.tools.contamination_study import build_text
from tests.loopback import Answer, Body, Endpoint, Reply, make_error_reply, serve_answers
from tests.tools.probable import (
    answer_as_vllm,
    answer_with_echo,
    halve_by_length,
    make_echo_reply,
)

SUITE = core.open_suite(Path())
# Both in languages that divide words by spaces, as the tokens of the loopback endpoint are.
A, B = "core:irrelevance", "core:multiple"
KNOWN = {build_text(entry) for entry in SUITE.load(CATEGORIES["irrelevance"])}

RunContamination: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_contamination(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunContamination:
    """Run the command in an empty folder; return its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run_command(*words: str) -> tuple[int, str, str]:
        usual = (f"--a={A}", f"--b={B}", "--limit=40")
        words = (*(word for word in usual if not _has_option(words, word)), *words)
        try:
            code = main.main(["suite", "contamination", "--model=hosted_vllm/m", *words])
        except SystemExit as ended:
            code = int(str(ended.code))
        return code, *capsys.readouterr()

    return run_command


def _has_option(words: tuple[str, ...], word: str) -> bool:
    return any(given.partition("=")[0] == word.partition("=")[0] for given in words)


@contextmanager
def serve_endpoint(answer: Answer) -> Iterator[tuple[Endpoint, str]]:
    with serve_answers(answer) as server:
        yield server, f"--api-base={server.api_base}"


def answer_as_if_trained(body: Body) -> Reply:
    """Answer as a model that has seen the entries of A."""
    known = str(body["prompt"]) in KNOWN
    return answer_with_echo(lambda word: 0.9 if known else halve_by_length(word))(body)


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# What is found


def test_a_planted_difference_is_found(run_contamination: RunContamination) -> None:
    with serve_endpoint(answer_as_if_trained) as (_, where):
        code, text, errors = run_contamination(where, "--to=x.json")
    assert (code, errors) == (0, "")
    assert text.startswith("How surprising the user's words are to hosted_vllm/m\n")
    text = " ".join(text.split())
    assert f"{A} surprises the model less than {B} does, by both measures" in text
    assert "a sign, not a proof" in text
    found = json.loads(Path("x.json").read_text())
    assert [comparison["lower"] for comparison in found["comparisons"]] == ["a", "a"]
    assert found["comparisons"][0]["a"]["mean"] == pytest.approx(1 / 0.9)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("endpoint", "answer", "skipped"), [("completions", answer_with_echo(), 1), ("vllm", answer_as_vllm(), 0)]
)
def test_every_number_is_right(
    run_contamination: RunContamination, endpoint: str, answer: Answer, skipped: int
) -> None:
    """Each character of a word halves its probability; an echo has none for the first word."""
    with serve_endpoint(answer) as (_, where):
        assert run_contamination(where, f"--endpoint={endpoint}", "--to=x.csv", "--limit=1000")[0] == 0
    texts = {
        entry.key: build_text(entry)
        for name in (A, B)
        for entry in SUITE.load(CATEGORIES[name.partition(":")[2]])
    }
    found = read_rows(Path("x.csv"))
    assert {texts[row["entry"]] for row in found} == set(texts.values())
    for row in found:
        words = texts[row["entry"]].split()[skipped:]
        letters = sum(map(len, words))
        assert int(row["characters"]) == len(texts[row["entry"]])
        assert int(row["tokens"]) == len(words)
        assert float(row["perplexity"]) == pytest.approx(2 ** (letters / len(words)), rel=1e-5)
        per_character = letters * math.log(2) / len(texts[row["entry"]])
        assert float(row["nats per character"]) == pytest.approx(per_character, rel=1e-5)


def test_where_all_is_alike_no_difference_is_found(run_contamination: RunContamination) -> None:
    with serve_endpoint(answer_with_echo(lambda word: 0.25)) as (_, where):
        _, text, _ = run_contamination(where, "--a=core:simple_python", "--b=core:multiple")
    perplexity = [line.split() for line in text.splitlines() if line.startswith("perplexity")]
    assert [row[3:] for row in perplexity[:2]] == [["4.000", "4.000", "to", "4.000", "4.000"]] * 2


def test_function_docs_are_measured_on_request(run_contamination: RunContamination) -> None:
    with serve_endpoint(answer_with_echo()) as (server, where):
        code, text, _ = run_contamination(where, "--functions", "--limit=2")
    assert code == 0
    assert text.startswith("How surprising function docs and the user's words are to hosted_vllm/m")
    assert all(json.loads(str(request["prompt"]).split("\n")[0])["name"] for request in server.requests)


def test_some_of_each_set_drawn_the_same_way_each_time(run_contamination: RunContamination) -> None:
    sets = ("--a=core:non_live", "--b=core:multi_turn", "--limit=5")
    with serve_endpoint(answer_with_echo()) as (_, where):
        run_contamination(where, *sets, "--to=one.csv", "--store=none")
        run_contamination(where, *sets, "--to=two.csv", "--store=none")
    first = read_rows(Path("one.csv"))
    assert first == read_rows(Path("two.csv"))
    assert [row["set"] for row in first] == ["core:non_live"] * 5 + ["core:multi_turn"] * 5
    assert len({row["category"] for row in first[:5]}) > 1


def test_several_files_are_written_at_once(run_contamination: RunContamination) -> None:
    with serve_endpoint(answer_with_echo()) as (_, where):
        code, text, _ = run_contamination(where, "--to=out/x.html", "--to=out/x.csv", "--to=out/x.json")
    assert code == 0
    assert text.splitlines()[-3:] == [f"written to out/x.{ending}" for ending in ("html", "csv", "json")]
    assert "<svg" in Path("out/x.html").read_text()


# What is asked


def test_nothing_is_asked_twice(run_contamination: RunContamination) -> None:
    with serve_endpoint(answer_with_echo()) as (server, where):
        _, first, _ = run_contamination(where)
        asked = len(server.requests)
        _, again, _ = run_contamination(where)
        assert len(server.requests) == asked == len({str(request["prompt"]) for request in server.requests})
        assert again == first
        run_contamination(where, "--store=none")
        assert len(server.requests) == 2 * asked
        run_contamination(where, "--endpoint=vllm")
        assert len(server.requests) == 2 * asked + 1, "another question, whose first answer ends it"


def test_a_profile_of_the_configuration_gives_endpoint_and_key(
    run_contamination: RunContamination, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "a-secret-of-some-length")
    with serve_endpoint(answer_with_echo()) as (server, _):
        profile = f"{{model: hosted_vllm/ft, api_base: '{server.api_base}', api_key_env: MY_KEY}}"
        Path("fcbench.yaml").write_text(f"models: {{my-ft: {profile}}}\n")
        code, text, _ = run_contamination("--model=my-ft")
    assert code == 0
    assert text.startswith("How surprising the user's words are to my-ft\n")
    assert {request["model"] for request in server.requests} == {"ft"}
    assert set(server.keys) == {"Bearer a-secret-of-some-length"}


@pytest.mark.nightly
def test_a_failure_that_may_pass_is_tried_again(run_contamination: RunContamination) -> None:
    seen: set[str] = set()

    def answer(body: Body) -> Reply:
        text = str(body["prompt"])
        if text in seen or len(seen) % 5:
            seen.add(text)
            return answer_with_echo()(body)
        seen.add(text)
        return Reply(make_error_reply(503, "busy").body, 503, {"Retry-After": "0"})

    with serve_endpoint(answer) as (_, where):
        code, text, _ = run_contamination(where)
    assert code == 0
    assert "not measured" not in text


@pytest.mark.nightly
def test_one_text_that_cannot_be_measured_is_named(run_contamination: RunContamination) -> None:
    bad = sorted(KNOWN)[3]

    def answer(body: Body) -> Reply:
        if body["prompt"] == bad:
            return Reply('{"choices": [{"logprobs": {"token_logprobs": [null, -1.0, NaN]}}]}')
        return answer_with_echo()(body)

    with serve_endpoint(answer) as (server, where):
        code, text, _ = run_contamination(where, "--to=x.json", "--limit=1000")
        asked = len(server.requests)
        run_contamination(where, "--limit=1000")
        assert len(server.requests) == asked + 1, "what is no number is not kept"
    assert code == 0
    assert "not measured (no_number): 1\n" in text
    assert "the log-probability of token 3 of 3 is nan" in text
    (cause,) = json.loads(Path("x.json").read_text())["unmeasured"].values()
    assert cause["cause"] == "no_number"


# What goes wrong


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (make_error_reply(401, "no"), "authentication: m: HTTP 401"),
        (make_error_reply(401, "no"), "name the variable that holds the key with --api-key-env"),
        (make_error_reply(404, "no model m"), "check --model and --api-base (which usually ends in /v1)"),
        (make_echo_reply([]), "no_logprobs: the reply has no choices[0].logprobs.token_logprobs"),
        (make_echo_reply([]), "try --endpoint=vllm"),
        (
            make_error_reply(400, "echo and logprobs do not go together"),
            "echo and logprobs do not go together",
        ),
    ],
)
def test_the_first_call_says_what_is_wrong(
    run_contamination: RunContamination, reply: Reply, says: str
) -> None:
    with serve_endpoint(lambda _: reply) as (server, where):
        code, text, errors = run_contamination(where)
    assert (code, text) == (1, "")
    assert errors.startswith("fcbench: the first call failed, so no other call was made: ")
    assert says in errors
    assert len(server.requests) <= 3


def test_an_endpoint_that_never_answers_times_out(run_contamination: RunContamination) -> None:
    import threading

    over = threading.Event()

    def answer(body: Body) -> Reply:
        over.wait(60)
        return answer_with_echo()(body)

    with serve_endpoint(answer) as (_, where):
        code, _, errors = run_contamination(where, "--timeout=0.2", "--retries=0")
        over.set()
    assert code == 1
    assert "timeout: no answer within 0.2 s" in errors


@pytest.mark.nightly
def test_a_set_of_which_nothing_can_be_measured_ends_the_command(run_contamination: RunContamination) -> None:
    with serve_endpoint(
        lambda body: make_echo_reply([0.0]) if str(body["prompt"]) in KNOWN else answer_with_echo()(body)
    ) as (_, where):
        code, text, errors = run_contamination(where, "--limit=1000")
    assert (code, text) == (1, "")
    assert f"no text of {A} could be measured\nnot measured (too_short): {len(KNOWN)}\n" in errors


def test_the_key_is_in_no_output_and_in_no_file(
    run_contamination: RunContamination, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "a-very-secret-key-0123456789"
    monkeypatch.setenv("FCBENCH_TEST_SECRET_KEY", key)
    echo = make_error_reply(401, f"wrong key {key}")
    with serve_endpoint(lambda _: echo) as (_, where):
        assert key not in run_contamination(where, "--api-key-env=FCBENCH_TEST_SECRET_KEY")[2]
    with serve_endpoint(answer_with_echo()) as (server, where):
        words = (where, "--api-key-env=FCBENCH_TEST_SECRET_KEY", "--to=x.html", "--to=x.json")
        assert key not in run_contamination(*words)[1]
    assert f"Bearer {key}" in server.keys
    for path in Path().rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes()


def test_a_suite_of_the_project_is_found(run_contamination: RunContamination) -> None:
    Path("data").mkdir()
    line = '{"category": "chatable", "id": "chatable_0", "query": "Who has written this poem about rain?"}'
    Path("data/own.jsonl").write_text(line)
    Path("fcbench.yaml").write_text("suites: {mine: data/own.jsonl}\n")
    with serve_endpoint(answer_as_if_trained) as (endpoint, where):
        run_contamination(where, "--b=mine:chatable", "--limit=1", "--store=none")
        code, _, errors = run_contamination(where, "--b=mine:multiple", "--store=none")
    assert any("poem about rain" in str(body) for body in endpoint.requests)
    assert code == 4
    assert "--b=mine:multiple: no entry of this set has a message of the user; name another set" in errors


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--a=core:non_lve"], "unknown category 'non_lve'. Did you mean 'non_live'"),
        (["--b=cor:live"], "unknown suite 'cor'. Did you mean 'core'"),
        (["--b=live"], "unknown suite 'live'"),
        (["--a=core"], "--a=core: name a set as SUITE:NAME, e.g. bfcl:non_live; unknown category ''"),
        ([f"--b={A}"], f"--a and --b are both {A}: name two different sets"),
        (["--store=."], "--store ('none' stores no answers)"),
        (["--endpoint=chat"], "unknown endpoint 'chat'"),
        (["--limit=0"], "argument --limit: '0' must be a whole number, 1 or more"),
        (["--to=x.pdf"], "--output=x.pdf: unknown ending '.pdf'. Valid: .html, .csv, .json"),
        (["--to=x"], "Valid: .html, .csv, .json"),
        ([], "the endpoint is missing; give it with --api-base, e.g."),
        (["--api-base=file:///etc/passwd"], "must be an http or https URL"),
        (["--api-key-env=NOT_SET_ANYWHERE"], "the environment variable 'NOT_SET_ANYWHERE' is not set"),
        (["--concurrency=0"], "--concurrency=0: "),
    ],
)
def test_wrong_words_are_refused_and_write_nothing(
    run_contamination: RunContamination, words: list[str], says: str
) -> None:
    if words and not words[0].startswith("--api"):
        words = [*words, "--api-base=http://127.0.0.1:9/v1"]
    code, text, errors = run_contamination(*words)
    assert (code, text) == (4, "")
    assert says in errors
    assert list(Path().iterdir()) == []
