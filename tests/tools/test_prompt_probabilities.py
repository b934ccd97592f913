"""Asking an endpoint on loopback over real HTTP."""

from __future__ import annotations

import asyncio
import json
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.dispatch.pipeline import Limits, build_pipeline
from pytest_fcbench.domain.errors import CallError, NotScoredError, UsageError
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from pytest_fcbench.tools.prompt_probabilities import (
    LogprobInterface,
    PromptModel,
    ask_for_logprobs,
    build_body,
    read_logprobs,
)
from tests.cases import each_case
from tests.factories import make_entry
from tests.loopback import Answer, Body, Reply, make_error_reply, serve_answers
from tests.tools.probable import (
    answer_as_vllm,
    answer_with_echo,
    make_completion,
    make_echo_reply,
)

KEY = "sk-a-key-of-forty-characters-0123456789"


def ask_endpoint(
    api_base: str, text: str = "a bc def", endpoint: str = "completions", name: str = "m"
) -> Completion:
    model = PromptModel(name, LogprobInterface(endpoint), api_base, KEY)
    return asyncio.run(model.complete(make_entry(), AskModel(({"role": "user", "content": text},))))


@pytest.mark.parametrize(
    ("endpoint", "answer"), [("completions", answer_with_echo()), ("vllm", answer_as_vllm())]
)
def test_log_probabilities_come(endpoint: str, answer: Answer) -> None:
    with serve_answers(answer) as server:
        completion = ask_endpoint(server.api_base, "a bc def", endpoint)
    expected = [-number * math.log(2) for number in ((2, 3) if endpoint == "completions" else (1, 2, 3))]
    first, *found = json.loads(completion.text or "")
    assert first is None
    assert found == pytest.approx(expected)
    assert completion.input_tokens == len(expected) + 1
    assert completion.fault is None
    assert completion.latency_s is not None
    assert server.keys == [f"Bearer {KEY}"]
    assert server.paths == [f"/{server.api_base.split('/', 3)[3]}/completions"]


def test_without_a_key_none_is_sent() -> None:
    with serve_answers(answer_with_echo()) as server:
        model = PromptModel("m", LogprobInterface.COMPLETIONS, f"{server.api_base}/")
        asyncio.run(model.complete(make_entry(), AskModel(({"role": "user", "content": "a b"},))))
    assert server.keys == [""]
    assert server.paths[0].endswith("v1/completions")


def test_a_key_in_the_query_of_the_address_is_sent_and_never_shown() -> None:
    refusal = Reply({"error": "bad code=a1b2c3d4e5f6"}, 404)
    with serve_answers(lambda request: refusal) as server, pytest.raises(CallError) as failed:
        ask_endpoint(f"{server.api_base}?code=a1b2c3d4e5f6")
    assert server.paths[0].endswith("v1/completions?code=a1b2c3d4e5f6")
    assert "bad code=***" in failed.value.reason


@each_case(
    ("name", "sent"),
    [
        ("m", "m"),
        ("hosted_vllm/org/m", "org/m"),
        ("openai/davinci-002", "davinci-002"),
        ("text-completion-openai/davinci-002", "davinci-002"),
        ("hosted_vllm/openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("meta-llama/x", "meta-llama/x"),
    ],
)
def test_the_name_is_the_one_the_endpoint_knows(name: str, sent: str) -> None:
    with serve_answers(answer_with_echo()) as server:
        ask_endpoint(server.api_base, name=name)
    assert [request["model"] for request in server.requests] == [sent]


@pytest.mark.parametrize("text", ["naïve 日本 👩‍🚀", "half \ud800 character", "\x00 \x1b[31m"])
def test_any_text_arrives_as_it_is(text: str) -> None:
    with serve_answers(answer_with_echo()) as server:
        ask_endpoint(server.api_base, text)
    assert [request["prompt"] for request in server.requests] == [text]


def test_what_is_no_number_is_marked_so_that_it_is_not_kept() -> None:
    with serve_answers(
        lambda _: Reply('{"choices": [{"logprobs": {"token_logprobs": [null, NaN]}}]}')
    ) as server:
        assert ask_endpoint(server.api_base).fault is Fault.INFERENCE_ERROR


# Failures


@each_case(
    ("reply", "cause", "transient", "says"),
    [
        (
            make_error_reply(401, f"no such key {KEY}"),
            "authentication",
            False,
            "name the variable that holds the key",
        ),
        (
            make_error_reply(404, "no model m"),
            "not_found",
            False,
            "check --model and --api-base (which usually ends in",
        ),
        (
            make_error_reply(400, "echo is not supported with logprobs"),
            "bad_request",
            False,
            "echo is not supported",
        ),
        (make_error_reply(500, "oh"), "endpoint", True, "HTTP 500"),
        (make_error_reply(429, "slow"), "rate_limit", True, "HTTP 429"),
        (
            Reply("", 302, {"Location": "http://127.0.0.1:1/"}),
            "redirect",
            False,
            "the endpoint redirects to http://127.0.0.1:1/; give that address if you trust it",
        ),
        (Reply("no JSON"), "garbled", True, "the reply is not JSON"),
        (Reply("[" * 100_000), "garbled", True, "the reply is not JSON"),
        (Reply({"choices": []}), "no_logprobs", False, "try --endpoint=vllm"),
        (make_echo_reply([None, -1.0], 7), "garbled", False, "2 values for a prompt of 7 tokens"),
    ],
    ids=["401", "404", "400", "500", "429", "302", "text", "nested", "none", "lengths"],
)
def test_what_goes_wrong_is_told(reply: Reply, cause: str, transient: bool, says: str) -> None:
    with serve_answers(lambda _: reply) as server, pytest.raises(CallError) as caught:
        ask_endpoint(server.api_base)
    assert (caught.value.cause, caught.value.transient) == (cause, transient)
    assert says in caught.value.reason
    assert KEY not in caught.value.reason


def test_how_long_the_endpoint_wants_to_be_left_alone() -> None:
    reply = make_error_reply(429, "slow")
    busy = Reply(reply.body, 429, {"Retry-After": "7"})
    with serve_answers(lambda _: busy) as server, pytest.raises(CallError) as caught:
        ask_endpoint(server.api_base)
    assert caught.value.retry_after_s == 7


def test_an_endpoint_that_is_not_there_is_a_connection_error() -> None:
    with serve_answers(answer_with_echo()) as server:
        pass
    with pytest.raises(CallError, match="check --api-base, and whether the server is running") as caught:
        ask_endpoint(server.api_base)
    assert (caught.value.cause, caught.value.transient) == ("connection", True)


def test_a_huge_reply_is_not_read_to_its_end() -> None:
    with serve_answers(lambda _: Reply("x" * 2**24)) as server, pytest.raises(CallError) as caught:
        ask_endpoint(server.api_base)
    assert caught.value.cause == "too_large"
    assert caught.value.reason.startswith("m: the reply has more than 8 MiB")


@each_case(
    "url",
    ["ftp://h/v1", "file:///etc/passwd", "localhost:8000/v1", "http://", "", "http://[x", "http://h:0/v1"],
)
def test_only_http_addresses_are_taken(url: str) -> None:
    with pytest.raises(UsageError, match=r"must be an http or https URL, e\.g\. http://localhost:8000/v1"):
        PromptModel("m", LogprobInterface.VLLM, url)


def test_no_password_in_the_url() -> None:
    with pytest.raises(
        UsageError, match="put the key into a variable and name it with --api-key-env"
    ) as caught:
        PromptModel("m", LogprobInterface.VLLM, "http://me:secret@host/v1")
    assert "secret" not in str(caught.value)


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(PromptModel("m", LogprobInterface.VLLM, "http://h/v1", KEY))


# Many


def test_many_at_once_and_never_more() -> None:
    texts = [(f"a text {number}", make_entry(entry_id=f"e{number}")) for number in range(20)]
    gate = threading.Semaphore(0)
    first = threading.Event()

    def answer(body: Body) -> Reply:
        if first.is_set():
            gate.acquire(timeout=0.05)  # long enough for others to come
        first.set()
        return answer_with_echo()(body)

    done: list[bool] = []
    with serve_answers(answer) as server:
        model = PromptModel("m", LogprobInterface.COMPLETIONS, server.api_base)
        found = asyncio.run(ask_for_logprobs(model, texts, 4, done))
    assert list(found) == [text for text, _ in texts]
    # Each character halves the probability of a word; the first word has none.
    for text, logprobs in found.items():
        assert logprobs == pytest.approx((None, *(len(word) * math.log(0.5) for word in text.split()[1:])))
    assert done == [True] * 20
    assert server.most_at_once <= 4


def test_a_failure_is_that_of_one_text() -> None:
    def answer(body: Body) -> Reply:
        return make_error_reply(400, "no") if "bad" in str(body["prompt"]) else answer_with_echo()(body)

    texts = [(text, make_entry(entry_id=text)) for text in ("good one", "bad one", "another one")]
    done: list[bool] = []
    with serve_answers(answer) as server:
        model = PromptModel("m", LogprobInterface.COMPLETIONS, server.api_base)
        found = asyncio.run(ask_for_logprobs(build_pipeline(model, Limits(retries=0)), texts, 1, done))
    bad = found["bad one"]
    assert isinstance(bad, NotScoredError)
    assert bad.cause == "bad_request"
    assert found["good one"] == pytest.approx((None, 3 * math.log(0.5)))
    assert sorted(done) == [False, True, True]


COMPLETIONS, VLLM = LogprobInterface.COMPLETIONS, LogprobInterface.VLLM
TEXT = "a bc def"


def test_an_echo_is_asked_for() -> None:
    assert build_body(COMPLETIONS, "m", TEXT) == {
        "model": "m",
        "prompt": TEXT,
        "temperature": 1,
        "max_tokens": 0,
        "echo": True,
        "logprobs": 1,
    }


def test_prompt_logprobs_are_asked_for() -> None:
    assert build_body(VLLM, "m", TEXT) == {
        "model": "m",
        "prompt": TEXT,
        "temperature": 1,
        "max_tokens": 1,
        "prompt_logprobs": 0,
    }


def convert_to_bits(logprobs: tuple[float | None, ...]) -> list[float | None]:
    """Convert to numbers that are easier to read."""
    return [None if value is None else round(-value / math.log(2), 9) for value in logprobs]


@each_case("generated", [0, 1, 16])
@each_case("usage", [True, False])
def test_an_echo_is_read(generated: int, usage: bool) -> None:
    """What was generated all the same is left out; without usage nothing was, as it was asked for."""
    reply = answer_with_echo(generated=generated if usage else 0, usage=usage)({"prompt": TEXT})
    assert convert_to_bits(read_logprobs(reply.body, COMPLETIONS)) == [None, 2, 3]


def test_a_token_that_is_counted_but_not_echoed() -> None:
    """vLLM generates one token with max_tokens 0, counts it and leaves it out of the echo."""
    reply = make_echo_reply([None, -1.0, -2.0], 3).body
    assert isinstance(reply, dict)
    reply["usage"] = {"prompt_tokens": 3, "completion_tokens": 1}
    assert read_logprobs(reply, COMPLETIONS) == (None, -1.0, -2.0)


def test_prompt_logprobs_are_read() -> None:
    assert convert_to_bits(read_logprobs(answer_as_vllm()({"prompt": TEXT}).body, VLLM)) == [None, 1, 2, 3]


@pytest.mark.parametrize("endpoint", LogprobInterface)
def test_a_text_of_one_token_has_no_probability(endpoint: LogprobInterface) -> None:
    reply = make_completion({"logprobs": {"token_logprobs": [None]}, "prompt_logprobs": [None]}, 1).body
    assert read_logprobs(reply, endpoint) == (None,)


def test_numbers_that_are_none_are_left_to_the_measure() -> None:
    """They are numbers to JSON's usual readers, and the endpoint is the right one."""
    reply = json.loads('{"choices": [{"logprobs": {"token_logprobs": [null, NaN, -Infinity, 1e999, -3]}}]}')
    _, nan, low, high, whole = read_logprobs(reply, COMPLETIONS)
    assert nan is not None
    assert math.isnan(nan)
    assert (low, high, whole) == (-math.inf, math.inf, -3.0)


@each_case(
    ("reply", "endpoint", "missing", "other"),
    [
        (make_completion({"logprobs": None}).body, COMPLETIONS, "choices[0].logprobs.token_logprobs", "vllm"),
        (make_completion({}).body, COMPLETIONS, "choices[0].logprobs.token_logprobs", "vllm"),
        (make_echo_reply([]).body, COMPLETIONS, "choices[0].logprobs.token_logprobs", "vllm"),
        (make_echo_reply([None, None]).body, COMPLETIONS, "choices[0].logprobs.token_logprobs", "vllm"),
        ({"choices": []}, COMPLETIONS, "choices[0].logprobs.token_logprobs", "vllm"),
        ([], COMPLETIONS, "choices[0].logprobs.token_logprobs", "vllm"),
        (answer_with_echo()({"prompt": TEXT}).body, VLLM, "choices[0].prompt_logprobs", "completions"),
        (make_completion({"prompt_logprobs": None}).body, VLLM, "choices[0].prompt_logprobs", "completions"),
        (
            make_completion({"prompt_logprobs": {"1": {}}}).body,
            VLLM,
            "choices[0].prompt_logprobs",
            "completions",
        ),
        (None, VLLM, "choices[0].prompt_logprobs", "completions"),
    ],
)
def test_an_endpoint_without_them(
    reply: object, endpoint: LogprobInterface, missing: str, other: str
) -> None:
    with pytest.raises(CallError) as caught:
        read_logprobs(reply, endpoint)
    assert caught.value.cause == "no_logprobs"
    assert not caught.value.transient
    assert f"the reply has no {missing}: " in caught.value.reason
    assert f"try --endpoint={other} (" in caught.value.reason


@each_case(
    ("reply", "endpoint", "says"),
    [
        (make_echo_reply([None, -1.0], 3).body, COMPLETIONS, "has 2 values for a prompt of 3 tokens"),
        (make_echo_reply([None, -1.0, -1.0], 2).body, COMPLETIONS, "has 3 values for a prompt of 2 tokens"),
        (make_echo_reply([None, "-1.0"]).body, COMPLETIONS, "holds '-1.0', which is not a log-probability"),
        (make_echo_reply([None, True]).body, COMPLETIONS, "holds 'True', which is not a log-probability"),
        (make_echo_reply([None, [-1.0]]).body, COMPLETIONS, "which is not a log-probability"),
        (make_echo_reply([None, 10**400]).body, COMPLETIONS, "which is not a log-probability"),
        (
            make_completion({"prompt_logprobs": [None, {"1": {"logprob": -1}}]}, 9).body,
            VLLM,
            "has 2 values for a prompt of 9 tokens",
        ),
        (
            make_completion({"prompt_logprobs": [None, {"1": {"logprob": -1}, "2": {"logprob": -2}}]}).body,
            VLLM,
            "does not name exactly one token",
        ),
        (make_completion({"prompt_logprobs": [None, {}]}).body, VLLM, "does not name exactly one token"),
        (make_completion({"prompt_logprobs": [None, -1.0]}).body, VLLM, "does not name exactly one token"),
        (
            make_completion({"prompt_logprobs": [None, {"1": {"logprob": "x"}}]}).body,
            VLLM,
            "holds 'x', which",
        ),
    ],
)
def test_an_answer_that_cannot_be_right(reply: Body, endpoint: LogprobInterface, says: str) -> None:
    with pytest.raises(CallError) as caught:
        read_logprobs(reply, endpoint)
    assert caught.value.cause == "garbled"
    assert says in caught.value.reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "logprobs", "token_logprobs", "prompt_logprobs", "usage", "logprob", "1"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(LogprobInterface))
def test_any_reply_is_read_or_refused(reply: object, endpoint: LogprobInterface) -> None:
    for wrapped in (
        reply,
        {"choices": [reply]},
        {"choices": [{"logprobs": reply, "prompt_logprobs": reply}]},
    ):
        try:
            found = read_logprobs(wrapped, endpoint)
        except CallError:
            continue
        assert all(value is None or isinstance(value, float) for value in found)
