"""What is asked of each kind of endpoint, and what its answers mean."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.tools.contamination.endpoint import LogprobInterface, build_body, read_logprobs
from tests.loopback import Body
from tests.tools.contamination.probable import (
    answer_as_vllm,
    answer_with_echo,
    make_completion,
    make_echo_reply,
)

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


@pytest.mark.parametrize("generated", [0, 1, 16])
@pytest.mark.parametrize("usage", [True, False])
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
