"""Models asked as the official harness asks them, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from pytest_fcbench.config.loading import build_settings
from pytest_fcbench.config.options import Settings
from pytest_fcbench.domain.errors import CallError, UsageError
from pytest_fcbench.domain.prompting import Api, FamilyMember, Mode, WireRequest
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall
from pytest_fcbench.models import registry
from pytest_fcbench.models.providers.family_model import (
    FamilyModel,
    add_parameters,
    choose_member,
    compute_answer_limit,
)
from tests.cases import each_case
from tests.factories import make_entry
from tests.loopback import Answer, Body, Endpoint, Reply, make_message_reply, serve_answers

KEY = "sk-for-tests-only"


def make_settings(**options: object) -> Settings:
    return build_settings({"model": "openai/mine", **options}, None)


def ask_family(
    answer: Answer, api: Api, body: Mapping[str, object], **given: object
) -> tuple[Completion, Endpoint]:
    """Return the completion of a family's model whose endpoint answers so, and the endpoint."""
    with serve_answers(answer) as endpoint:
        length = given.pop("context_length", None)
        model = FamilyModel(
            "m",
            given,
            endpoint.api_base.removesuffix("/v1")
            if api in (Api.GENERATE_CONTENT, Api.CONVERSE)
            else endpoint.api_base,
            KEY,
            timeout_s=60,
            name="org/m:1",
            context_length=length if isinstance(length, int) else None,
        )
        request = AskModel((), wire=WireRequest(api, body))
        return asyncio.run(model.complete(make_entry(), request)), endpoint


# Which family a model is asked as


@each_case(
    ("options", "official", "name"),
    [
        ({"model": "gpt-4o-2024-11-20-FC"}, "gpt-4o-2024-11-20-FC", "gpt-4o-2024-11-20"),
        ({"model": "gpt-4o-2024-11-20", "mode": "fc"}, "gpt-4o-2024-11-20-FC", "gpt-4o-2024-11-20"),
        ({"model": "openai/gpt-4o-2024-11-20"}, "gpt-4o-2024-11-20", "gpt-4o-2024-11-20"),
        ({"model": "nova-pro-v1.0"}, "nova-pro-v1.0", "us.amazon.nova-pro-v1:0"),
        ({"model": "my-ft", "as": "qwen3-32b-FC"}, "qwen3-32b-FC", "my-ft"),
        ({"model": "hosted_vllm/org/ft", "as": "qwen3-32b-FC"}, "qwen3-32b-FC", "org/ft"),
        (
            {"model": "meta-llama/Llama-3.3-70B-Instruct-FC", "api_base": "http://127.0.0.1:1/v1"},
            "meta-llama/Llama-3.3-70B-Instruct-FC",
            "meta-llama/Llama-3.3-70B-Instruct",
        ),
    ],
)
def test_a_family_is_chosen_by_id_or_option(options: dict[str, object], official: str, name: str) -> None:
    member = choose_member(make_settings(**options))
    assert member is not None
    assert (member.model, member.name, member.repaired) == (official, name, False)


@each_case(
    "options",
    [
        {"model": "gpt-4o"},
        {"model": "my-ft"},
        {"model": "gpt-4o-2024-11-20", "as": "chat"},
        # What only the form for every server knows is a wish for it.
        {"model": "gpt-4o-2024-11-20", "syntax": "hermes"},
    ],
)
def test_other_models_are_asked_as_every_server_is(options: dict[str, object]) -> None:
    assert choose_member(make_settings(**options)) is None


@each_case(
    ("options", "says"),
    [
        (
            {"as": "gpt-4o-2024-11-20", "mode": "fc"},
            "--fcbench-mode=fc: gpt-4o-2024-11-20 is asked and read with mode prompt; leave --fcbench-mode",
        ),
        (
            {"as": "qwen3-32b-FC", "syntax": "hermes"},
            "--fcbench-syntax=hermes: qwen3-32b-FC is asked and read",
        ),
        ({"as": "qwen3-4b-nothink-FC"}, "officially its handler cannot be built"),
        ({"as": "gpt-9"}, "unknown official model 'gpt-9'"),
    ],
)
def test_contradictions_are_refused_with_the_way_out(options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        choose_member(make_settings(**options))


def test_a_family_decides_how_answers_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    chosen = registry.choose_model(make_settings(model="gemini-2.5-flash-FC", repair=True))
    assert chosen.manner.member == FamilyMember(
        "gemini-2.5-flash-FC", "GeminiHandler", "gemini-2.5-flash", True
    )
    assert (chosen.manner.prompting.mode, chosen.manner.prompting.syntax) == (Mode.FC, "gemini")
    assert isinstance(chosen.model, FamilyModel)
    assert (chosen.model.api_base, chosen.model.api_key) == (
        "https://generativelanguage.googleapis.com",
        KEY,
    )


def test_a_server_of_ones_own_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOSTED_VLLM_API_BASE", raising=False)
    with pytest.raises(
        UsageError, match="asked at a server of your own; give its address with --fcbench-api-base"
    ):
        registry.choose_model(
            make_settings(model="hosted_vllm/x", **{"as": "meta-llama/Llama-3.3-70B-Instruct-FC"})
        )


# What is sent and read


GEMINI_REPLY: Body = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}}
    ]
}
CLAUDE_REPLY: Body = {"content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]}
NOVA_REPLY: Body = {
    "output": {"message": {"content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}]}}
}
RESPONSE: Body = {
    "output": [{"type": "function_call", "call_id": "t1", "name": "f", "arguments": '{"a": 1}'}],
    "error": None,
}
COHERE_REPLY: Body = {
    "message": {"tool_calls": [{"id": "t1", "function": {"name": "f", "arguments": '{"a": 1}'}}]}
}


@each_case(
    ("api", "path", "header", "reply", "call"),
    [
        (
            Api.GENERATE_CONTENT,
            "/v1beta/models/org%2Fm%3A1:generateContent",
            ("x-goog-api-key", KEY),
            GEMINI_REPLY,
            ToolCall("f", {"a": 1}),
        ),
        (Api.MESSAGES, "/v1/messages", ("x-api-key", KEY), CLAUDE_REPLY, ToolCall("f", {"a": 1}, "t1")),
        (
            Api.CONVERSE,
            "/model/org%2Fm%3A1/converse",
            ("authorization", f"Bearer {KEY}"),
            NOVA_REPLY,
            ToolCall("f", {"a": 1}, "t1"),
        ),
        (
            Api.RESPONSES,
            "/v1/responses",
            ("authorization", f"Bearer {KEY}"),
            RESPONSE,
            ToolCall("f", '{"a": 1}', "t1"),
        ),
        (
            Api.COHERE,
            "/v1/chat",
            ("authorization", f"Bearer {KEY}"),
            COHERE_REPLY,
            ToolCall("f", '{"a": 1}', "t1"),
        ),
    ],
)
def test_each_api_has_its_address_header_and_reply(
    api: Api, path: str, header: tuple[str, str], reply: Body, call: ToolCall
) -> None:
    completion, endpoint = ask_family(lambda _: Reply(reply), api, {"said": ["hi"]})
    assert endpoint.paths == [path]
    assert endpoint.headers[0][header[0]] == header[1]
    assert endpoint.requests == [{"said": ["hi"]}]
    assert completion.tool_calls == (call,)
    assert completion.latency_s is not None


def test_anthropic_is_told_the_version() -> None:
    _, endpoint = ask_family(lambda _: Reply(CLAUDE_REPLY), Api.MESSAGES, {})
    assert endpoint.headers[0]["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("chosen", "sent"),
    [
        ({}, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"stream": False}, {"stream": False}),
    ],
)
def test_the_user_decides_whether_a_family_streams(
    chosen: dict[str, object], sent: dict[str, object]
) -> None:
    body = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
    assert add_parameters(WireRequest(Api.CHAT, body), chosen) == {"model": "m", **sent}


def test_a_family_at_an_api_whose_streams_are_not_read_is_not_streamed() -> None:
    options: dict[str, object] = {"model": "claude-haiku-4-5-20251001-FC", "stream": "on"}
    with pytest.raises(
        UsageError, match="--fcbench-stream=on: claude-haiku-4-5-20251001-FC is asked at an API"
    ):
        registry.choose_model(make_settings(**options))
    registry.choose_model(make_settings(**options | {"stream": "off"}))


def test_a_streamed_answer_is_read_whole() -> None:
    events = "".join(
        f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n"
        for delta in ({"role": "assistant", "reasoning_content": "Hm"}, {"content": "f("}, {"content": ")"})
    )
    events += "data: [DONE]\n\n"
    completion, _ = ask_family(
        lambda _: Reply(events, headers={"Content-Type": "text/event-stream"}), Api.CHAT, {"stream": True}
    )
    assert (completion.text, completion.reasoning) == ("f()", "Hm")


@each_case(
    ("reply", "says"),
    [
        (Reply("<html>"), "the reply is a web page"),
        (Reply("[1]"), "the reply is not a JSON object"),
        (Reply({"error": {"message": "overloaded"}}), "an error with status 200: overloaded"),
        (Reply({"candidates": []}), "the endpoint answered a message without content"),
        (Reply({"error": {"message": f"wrong key {KEY}"}}, 401), r"HTTP 401: wrong key \*\*\*"),
    ],
)
def test_other_replies_are_errors_without_the_key(reply: Reply, says: str) -> None:
    with pytest.raises(CallError, match=says) as caught:
        ask_family(lambda _: reply, Api.MESSAGES, {})
    assert KEY not in caught.value.reason


def test_a_key_that_comes_back_is_masked() -> None:
    reply = Reply({"content": [{"type": "text", "text": f"your key is {KEY}"}]})
    completion, _ = ask_family(lambda _: reply, Api.MESSAGES, {})
    assert KEY not in f"{completion.text} {completion.message}"


def test_requests_without_a_form_go_the_usual_way() -> None:
    """A judge is no family: its questions are those of every server."""
    with serve_answers(lambda _: make_message_reply("fine")) as endpoint:
        settings = make_settings(
            model="openai/mine", api_base=endpoint.api_base, **{"as": "gpt-4o-2024-11-20"}
        )
        model = registry.choose_model(settings).model
        question = AskModel(({"role": "user", "content": "good?"},))
        completion = asyncio.run(model.complete(make_entry(), question))
    assert completion.text == "fine"
    assert endpoint.paths == ["/v1/chat/completions"]


def test_a_missing_key_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    model = registry.choose_model(make_settings(model="claude-haiku-4-5-20251001")).model
    request = AskModel((), wire=WireRequest(Api.MESSAGES, {}))
    with pytest.raises(CallError, match="no API key is set in ANTHROPIC_API_KEY") as caught:
        asyncio.run(model.complete(make_entry(), request))
    assert (caught.value.cause, caught.value.transient) == ("authentication", False)


def test_answers_of_another_address_are_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = make_settings(model="kimi-k2-0905-preview")
    monkeypatch.delenv("MOONSHOT_API_BASE", raising=False)
    usual = registry.describe_identity(settings)
    assert usual["asked_at"] == "https://api.moonshot.ai/v1"
    monkeypatch.setenv("MOONSHOT_API_BASE", "http://127.0.0.1:1/v1")
    assert registry.describe_identity(settings) != usual
    # A model that is asked as any server is keeps the identity of its stored answers.
    assert "asked_at" not in registry.describe_identity(make_settings())


# Parameters


@each_case(
    ("api", "body", "chosen", "expected"),
    [
        (Api.CHAT, {"temperature": 0.001}, {"temperature": 1}, {"temperature": 1}),
        (Api.CHAT, {"a": 1}, {"extra_body": {"b": 2}, "extra_headers": {"c": "3"}}, {"a": 1, "b": 2}),
        (Api.RESPONSES, {}, {"max_tokens": 5}, {"max_output_tokens": 5}),
        # A prompt is measured by an answer of one token, which is asked for last.
        (Api.RESPONSES, {}, {"max_output_tokens": 4096, "max_tokens": 1}, {"max_output_tokens": 1}),
        (
            Api.GENERATE_CONTENT,
            {"generationConfig": {"temperature": 0.001, "thinkingConfig": {}}},
            {"temperature": 1, "max_tokens": 5},
            {"generationConfig": {"temperature": 1, "thinkingConfig": {}, "maxOutputTokens": 5}},
        ),
        (Api.CONVERSE, {}, {"max_tokens": 5}, {"inferenceConfig": {"maxTokens": 5}}),
    ],
)
def test_chosen_parameters_stand_where_the_api_has_them(
    api: Api, body: dict[str, object], chosen: dict[str, object], expected: dict[str, object]
) -> None:
    assert add_parameters(WireRequest(api, body), chosen) == expected


def test_defaults_of_options_do_not_replace_those_of_a_family() -> None:
    """The default temperature is an option's; a family that sends none gets none."""
    settings = make_settings(api_base="http://127.0.0.1:1/v1", **{"as": "DeepSeek-V3.2-Exp"})
    model = registry.choose_model(settings).model
    assert isinstance(model, FamilyModel)
    assert model.parameters == {}
    settings = make_settings(
        api_base="http://127.0.0.1:1/v1", temperature="0.5", **{"as": "DeepSeek-V3.2-Exp"}
    )
    model = registry.choose_model(settings).model
    assert isinstance(model, FamilyModel)
    assert model.parameters == {"temperature": 0.5}


# The limit of a written prompt's answer


@each_case(
    ("context", "prompt", "limit"),
    [(32_768, 100, 4096), (5000, 1000, 3998), (1000, 997, 1), (1000, 998, 0), (1000, 999, 1000)],
)
def test_the_limit_is_what_the_context_leaves(context: int, prompt: int, limit: int) -> None:
    assert compute_answer_limit(context, prompt) == limit


def answer_with_lists(length: int | None, counted: int | None) -> Answer:
    """Answer a list of models, a count of tokens, and every other request with a text."""

    def answer(body: Body) -> Reply:
        if body == {}:
            return Reply({"data": [{"id": "org/m:1", "max_model_len": length}]})
        if body.keys() == {"model", "prompt"} and "limit" not in str(body["prompt"]):
            return Reply({"count": counted}) if counted is not None else Reply({}, 404)
        return Reply({"choices": [{"text": "ok", "finish_reason": "length"}]})

    return answer


@each_case(
    ("length", "counted", "given", "limit"),
    [
        (32_768, None, None, 4096),
        (None, None, None, 4096),
        (5000, 2000, None, 2998),
        (None, 2000, 5000, 2998),
        # A server that does not count: four signs to a token.
        (5000, None, None, 5000 - 2 - 1000),
    ],
)
def test_the_server_says_how_long_a_context_is(
    length: int | None, counted: int | None, given: int | None, limit: int
) -> None:
    body = {"model": "org/m:1", "prompt": "word" * 1000, "temperature": 0.001}
    _, endpoint = ask_family(answer_with_lists(length, counted), Api.COMPLETIONS, body, context_length=given)
    assert endpoint.requests[-1] == {**body, "max_tokens": limit}
    assert endpoint.paths[-1] == "/v1/completions"


def test_a_server_that_was_still_starting_is_asked_again_how_long_a_context_is() -> None:
    answer, replies = answer_with_lists(5000, None), [Reply({}, 503), Reply({"data": []})]
    with serve_answers(lambda body: replies.pop(0) if body == {} and replies else answer(body)) as endpoint:
        model = FamilyModel("m", {}, endpoint.api_base, KEY, timeout_s=60, name="org/m:1")
        request = AskModel((), wire=WireRequest(Api.COMPLETIONS, {"prompt": "word" * 1000}))

        async def ask_four_times() -> None:
            for _ in range(2):
                await model.complete(make_entry(), request)
            # Both at once: the second does not go without what the first is still asking for.
            await asyncio.gather(*(model.complete(make_entry(), request) for _ in range(2)))
            await model.complete(make_entry(), request)

        asyncio.run(ask_four_times())
    limits = [body["max_tokens"] for body in endpoint.requests if "max_tokens" in body]
    assert limits == [4096, 4096, 3998, 3998, 3998]
    assert endpoint.paths.count("/v1/models") == 4


def test_a_cut_answer_is_told() -> None:
    body = {"model": "org/m:1", "prompt": "limit"}
    completion, _ = ask_family(answer_with_lists(None, None), Api.COMPLETIONS, body, max_tokens=5)
    assert (completion.text, completion.ending) == ("ok", "length")
