"""Whose failure it is that an endpoint gives no answer, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import pytest

from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api, WireRequest
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault
from pytest_fcbench.models.providers.endpoint_model import ABOUT_ARGUMENTS, EndpointModel, mend_broken_calls
from pytest_fcbench.models.providers.family_model import FamilyModel
from pytest_fcbench.models.providers.litellm import LitellmModel
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from tests.cases import each_case
from tests.factories import make_entry
from tests.loopback import Answer, Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers

Maker: TypeAlias = Callable[[str], EndpointModel]

BROKEN = '{"a": tru'
PLAIN = Reply("Internal Server Error", 500, {"Content-Type": "text/plain"})
ABOUT_JSON = make_error_reply(500, "Failed to parse tool call arguments as JSON: unexpected end of input")
REFUSED = make_error_reply(400, "Can only get item pairs from a mapping.")
IN_REPLY = Reply({"error": {"message": "Expecting ',' delimiter: line 1 column 54", "code": 500}})
BUSY = make_error_reply(429, "slow down")


def make_direct(api_base: str) -> EndpointModel:
    return OpenAICompatibleModel("m", {"max_tokens": 4096}, api_base, timeout_s=60, name="m")


def make_through_litellm(api_base: str) -> EndpointModel:
    return LitellmModel("openai/m", {"max_tokens": 4096}, api_base, "sk-for-tests-only", timeout_s=60)


def make_family(api_base: str) -> EndpointModel:
    return FamilyModel("m", {"max_tokens": 4096}, api_base, timeout_s=60, name="m")


WAYS = pytest.mark.parametrize("make", [make_direct, make_through_litellm, make_family])


def repeat_call(arguments: str) -> AskModel:
    """Make a request that repeats a call, in both forms."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    messages = (
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    )
    return AskModel(messages)


def ask(make: Maker, answer: Answer, request: AskModel) -> tuple[Completion | CallError, Endpoint]:
    """Return the completion or the error of one call, and the endpoint that was asked."""
    if make is make_family:
        body = {"model": "m", "messages": list(request.messages)}
        request = AskModel(request.messages, wire=WireRequest(Api.CHAT, body))
    with serve_answers(answer) as endpoint:
        try:
            return asyncio.run(make(endpoint.api_base).complete(make_entry(), request)), endpoint
        except CallError as error:
            return error, endpoint


def is_broken(asked: Body) -> bool:
    return BROKEN.replace('"', '\\"') in str(asked).replace('\\\\"', '\\"') or BROKEN in str(asked)


@WAYS
@each_case("refusal", [ABOUT_JSON, REFUSED, IN_REPLY])
def test_a_request_that_repeats_a_broken_call_and_is_refused_is_the_models_failure(
    make: Maker, refusal: Reply
) -> None:
    found, endpoint = ask(make, lambda _: refusal, repeat_call(BROKEN))
    assert isinstance(found, Completion)
    assert found.fault is Fault.UNREADABLE_CALL
    assert (found.text or "").endswith("a call in the history of the request is not a JSON object")
    assert len(endpoint.requests) == 1


@WAYS
@each_case("refusal", [ABOUT_JSON, REFUSED])
def test_without_a_broken_call_it_is_the_endpoints(make: Maker, refusal: Reply) -> None:
    found, _ = ask(make, lambda _: refusal, repeat_call("{}"))
    assert isinstance(found, CallError)
    assert found.cause == ("endpoint" if refusal is ABOUT_JSON else "bad_request")


@WAYS
def test_what_says_nothing_is_asked_without_the_broken_call(make: Maker) -> None:
    """The answer to that request is not used."""
    found, endpoint = ask(
        make, lambda asked: PLAIN if is_broken(asked) else make_message_reply("right"), repeat_call(BROKEN)
    )
    assert isinstance(found, Completion)
    assert found.fault is Fault.UNREADABLE_CALL
    assert "right" not in (found.text or "")
    assert [is_broken(asked) for asked in endpoint.requests] == [True, False, True]


@WAYS
def test_an_endpoint_that_fails_in_any_case_is_to_blame_itself(make: Maker) -> None:
    found, endpoint = ask(make, lambda _: PLAIN, repeat_call(BROKEN))
    assert isinstance(found, CallError)
    assert (found.cause, found.transient) == ("endpoint", True)
    assert len(endpoint.requests) == 2


@WAYS
def test_an_endpoint_that_has_recovered_is_asked_again_by_the_dispatcher(make: Maker) -> None:
    replies = iter([PLAIN, make_message_reply("a"), make_message_reply("b")])
    found, _ = ask(make, lambda _: next(replies), repeat_call(BROKEN))
    assert isinstance(found, CallError)
    assert (found.cause, found.transient) == ("endpoint", True)


@WAYS
def test_a_rate_limit_says_nothing_of_the_call(make: Maker) -> None:
    found, endpoint = ask(make, lambda _: BUSY, repeat_call(BROKEN))
    assert isinstance(found, CallError)
    assert found.cause == "rate_limit"
    assert len(endpoint.requests) == 1


def count_like_vllm(prompt: int, context: int = 4096) -> Answer:
    """Answer as vLLM does, which stops counting a prompt at one token too many."""

    def answer(asked: Body) -> Reply:
        most = asked["max_tokens"]
        assert isinstance(most, int)
        if prompt + most <= context:
            return make_message_reply("fits")
        told = min(prompt, max(context - most, 0) + 1)
        return make_error_reply(
            400,
            f"This model's maximum context length is {context} tokens. However, you requested {most} output "
            f"tokens and your prompt contains at least {told} input tokens.",
        )

    return answer


@WAYS
def test_the_longest_answer_is_found_by_asking_for_one_token(make: Maker) -> None:
    """The loopback counts 11 tokens of a prompt."""
    found, endpoint = ask(make, count_like_vllm(11), repeat_call("{}"))
    assert isinstance(found, CallError)
    assert (found.cause, found.transient) == ("max_tokens", False)
    assert found.reason.endswith("; max_tokens=4085 would do")
    assert [asked["max_tokens"] for asked in endpoint.requests] == [4096, 1]


@WAYS
def test_a_prompt_that_does_not_fit_with_one_token_either_is_an_overflow(make: Maker) -> None:
    found, _ = ask(make, count_like_vllm(5000), repeat_call("{}"))
    assert isinstance(found, Completion)
    assert found.fault is Fault.OVERFLOW


def test_where_the_prompt_was_counted_nothing_more_is_asked() -> None:
    told = "max_tokens: 4096 > 1024, which is the maximum allowed number of output tokens for m"
    found, endpoint = ask(make_direct, lambda _: make_error_reply(400, told), repeat_call("{}"))
    assert isinstance(found, CallError)
    assert found.cause == "max_tokens"
    assert len(endpoint.requests) == 1


def test_a_server_that_says_the_same_again_is_believed() -> None:
    told = "max_tokens=4096 cannot be greater than max_model_len=2048."
    found, endpoint = ask(make_direct, lambda _: make_error_reply(400, told), repeat_call("{}"))
    assert isinstance(found, CallError)
    assert found.cause == "max_tokens"
    assert len(endpoint.requests) == 2


SCHEMA = {"type": "function", "function": {"name": "f", "parameters": {"name": "x", "arguments": "["}}}


def make_repeating_messages(arguments: object) -> tuple[Mapping[str, object], ...]:
    """Make the messages of a conversation that repeats a call with these arguments."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return (
        MappingProxyType({"role": "user", "content": "Go."}),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "On."},
    )


@each_case(
    "arguments", ['{"a": tru', "", "[1]", "1", "null", '"{}"', '{"a": NaN}', "[" * 9000, None, 1, ["a"]]
)
def test_arguments_that_are_no_object_are_replaced_and_the_rest_stays(arguments: object) -> None:
    request = AskModel(make_repeating_messages(arguments), (SCHEMA,), turn=3, attempt=1)
    mended = mend_broken_calls(request)
    assert mended == AskModel(make_repeating_messages("{}"), (SCHEMA,), turn=3, attempt=1)
    assert request.messages == make_repeating_messages(arguments)


@pytest.mark.parametrize("arguments", ["{}", ' {"a": [1, {"b": null}]}\n', {"a": 1}])
def test_a_whole_history_is_none(arguments: object) -> None:
    assert mend_broken_calls(AskModel(make_repeating_messages(arguments), (SCHEMA,))) is None


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("input", [{"type": "function_call", "name": "f", "arguments": '{"a"', "call_id": "c"}]),
        ("messages", list(make_repeating_messages('{"a"'))),
    ],
)
def test_the_form_of_a_family_is_mended_too(name: str, part: list[Mapping[str, object]]) -> None:
    body = {"model": "m", "tools": [SCHEMA], name: part}
    request = AskModel((), wire=WireRequest(Api.RESPONSES, body))
    mended = mend_broken_calls(request)
    assert mended is not None
    assert mended.wire is not None
    assert {**mended.wire.body, name: part} == body
    assert "'arguments': '{}'" in str(mended.wire.body[name])
    assert mend_broken_calls(mended) is None


@each_case(
    ("words", "is_about"),
    [
        ("Failed to parse tool call arguments as JSON: unexpected end of input", True),
        ("Expecting ',' delimiter: line 1 column 54 (char 53)", True),
        ("Unterminated string starting at: line 1 column 14", True),
        ("Invalid \\escape: line 1 column 3", True),
        ("messages.3.content.0.tool_use.input: Input should be a valid dictionary", True),
        ("unexpected EOF", True),
        ("Internal Server Error", False),
        ("CUDA error: invalid argument", False),
        ("out of memory", False),
    ],
)
def test_words_about_arguments_are_told_apart(words: str, is_about: bool) -> None:
    assert (ABOUT_ARGUMENTS.search(words) is not None) is is_about
