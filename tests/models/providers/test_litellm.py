"""The litellm model over real HTTP, against an endpoint on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from email.utils import formatdate
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.codecs import presenting
from pytest_fcbench.domain.errors import CallError, NotScoredError
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, Fault, Party, ToolCall
from pytest_fcbench.models.providers.litellm import EmbeddingModel, LitellmModel, import_litellm, require_key
from pytest_fcbench.models.providers.vendors import read_key_variables
from pytest_fcbench.suites import core
from tests.cases import each_case
from tests.factories import make_entry
from tests.loopback import Answer, Body, Endpoint, Reply, make_error_reply, make_message_reply, serve_answers

QUESTION = AskModel(({"role": "user", "content": "hi"},))


def make_model(endpoint: Endpoint, **parameters: object) -> LitellmModel:
    return LitellmModel(
        "openai/loopback", parameters, api_base=endpoint.api_base, api_key="sk-for-tests-only", timeout_s=60
    )


def complete_once(
    answer: Answer, request: AskModel = QUESTION, **parameters: object
) -> tuple[Completion, Endpoint]:
    """Ask a model once, behind an endpoint that answers so."""
    with serve_answers(answer) as endpoint:
        completion = asyncio.run(make_model(endpoint, **parameters).complete(make_entry(), request))
    return completion, endpoint


def expect_call_error(answer: Answer) -> CallError:
    with pytest.raises(CallError) as caught:
        complete_once(answer)
    return caught.value


def test_smoke_with_tools() -> None:
    """litellm releases have failed on a plain install as soon as tools were passed."""
    request = presenting.build_first_request(
        make_entry(), core.open_suite(Path()).wording, Prompting.make_default(Mode.FC, Names.UNDERSCORED)
    )
    completion, endpoint = complete_once(
        lambda _: make_message_reply(calls=[("weather_forecast", '{"city": "Bergen"}')]), request
    )
    assert completion.tool_calls == (ToolCall("weather_forecast", '{"city": "Bergen"}', "call_0"),)
    sent = endpoint.requests[0]["tools"]
    assert sent == [dict(tool) for tool in request.tools]


def write_stream(*chunks: Mapping[str, object]) -> Reply:
    shared = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "loopback"}
    events = "".join(f"data: {json.dumps({**shared, **chunk})}\n\n" for chunk in chunks)
    return Reply(f"{events}data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"})


def make_chunk(reason: str | None = None, **delta: object) -> Mapping[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


# litellm reads chunks in a way that pydantic warns of.
@pytest.mark.filterwarnings("ignore:Accessing the 'model_(computed_)?fields'")
def test_a_stream_is_joined_by_our_rules() -> None:
    """Both calls have the index 0, of which litellm would make one."""
    pieces = [
        {"index": 0, "id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}
        for call_id, arguments in (("a", '{"x": 1}'), ("b", '{"x": 2}'))
    ]
    chunks = [make_chunk(role="assistant", tool_calls=[piece]) for piece in pieces]
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}}
    completion, endpoint = complete_once(
        lambda _: write_stream(*chunks, make_chunk("tool_calls"), usage), stream=True
    )
    assert completion.tool_calls == (ToolCall("f", '{"x": 1}', "a"), ToolCall("f", '{"x": 2}', "b"))
    assert completion.protocol == ("stream_index",)
    assert (completion.input_tokens, completion.output_tokens) == (3, 1)
    assert endpoint.requests[0]["stream_options"] == {"include_usage": True}


def test_text_usage_and_latency_are_kept() -> None:
    completion, _ = complete_once(lambda _: make_message_reply("no function fits"))
    assert completion.text == "no function fits"
    assert completion.tool_calls is None
    assert (completion.input_tokens, completion.output_tokens) == (11, 7)
    assert completion.latency_s is not None
    assert 0 < completion.latency_s < 60


def test_no_tools_field_without_tools() -> None:
    _, endpoint = complete_once(lambda _: make_message_reply("ok"))
    assert "tools" not in endpoint.requests[0]


def test_parameters_reach_the_endpoint() -> None:
    _, endpoint = complete_once(
        lambda _: make_message_reply("ok"), temperature=0.001, seed=7, max_tokens=50, top_p=0.9
    )
    sent = endpoint.requests[0]
    assert (sent["temperature"], sent["seed"], sent["max_tokens"], sent["top_p"]) == (0.001, 7, 50, 0.9)


def test_reasoning_text_is_kept() -> None:
    completion, _ = complete_once(lambda _: make_message_reply("4", reasoning_content="2 and 2"))
    assert completion.reasoning == "2 and 2"


def test_malformed_arguments_pass_through() -> None:
    completion, _ = complete_once(lambda _: make_message_reply(calls=[("f", '{"a": ')]))
    assert completion.tool_calls == (ToolCall("f", '{"a": ', "call_0"),)


def test_a_refused_parameter_is_dropped_with_a_note() -> None:
    def refuse_temperature(asked: dict[str, object]) -> Reply:
        if "temperature" in asked:
            return make_error_reply(
                400, "Unsupported value: 'temperature' does not support 0.001 with this model."
            )
        return make_message_reply("ok")

    with serve_answers(refuse_temperature) as endpoint:
        model = make_model(endpoint, temperature=0.001, seed=7)
        completions = [asyncio.run(model.complete(make_entry(), QUESTION)) for _ in range(2)]
    assert [completion.text for completion in completions] == ["ok", "ok"]
    assert model.notes == ("temperature was dropped: openai/loopback rejected it",)
    assert ["temperature" in asked for asked in endpoint.requests] == [True, False, False]
    assert all(asked["seed"] == 7 for asked in endpoint.requests)


def test_a_parameter_that_is_named_without_being_refused_is_kept() -> None:
    """Here a function has a parameter of that name, and its schema is what the endpoint refuses."""
    refusal = make_error_reply(400, "Invalid schema for function 'heat': 'temperature' has no type")
    with serve_answers(lambda _: refusal) as endpoint:
        model = make_model(endpoint, temperature=0.001)
        with pytest.raises(
            NotScoredError, match="Invalid schema for function 'heat': 'temperature' has no type"
        ):
            asyncio.run(model.complete(make_entry(), QUESTION))
    assert model.parameters == {"temperature": 0.001}
    assert model.notes == ()


def test_context_overflow_is_a_completion_not_an_error() -> None:
    text = "This model's maximum context length is 100 tokens. However, your messages resulted in 200 tokens."
    completion, _ = complete_once(lambda _: make_error_reply(400, text, "context_length_exceeded"))
    assert completion.fault is Fault.OVERFLOW


@each_case(
    ("reply", "cause"),
    [
        (make_error_reply(401, "Incorrect API key provided"), "authentication"),
        (make_error_reply(400, "tools[0] is malformed"), "bad_request"),
        (make_error_reply(429, "slow down"), "rate_limit"),
        (make_error_reply(500, "broken"), "endpoint"),
        (Reply("{not json"), "endpoint"),
        (Reply({"object": "chat.completion", "choices": []}), "endpoint"),
    ],
    ids=["401", "400", "429", "500", "garbled", "no choices"],
)
def test_failures_of_the_endpoint_are_not_scored(reply: Reply, cause: str) -> None:
    assert expect_call_error(lambda _: reply).cause == cause


def test_a_refused_request_is_not_repeated() -> None:
    with serve_answers(lambda _: make_error_reply(401, "Incorrect API key provided")) as endpoint:
        with pytest.raises(NotScoredError, match="Incorrect API key provided"):
            asyncio.run(make_model(endpoint).complete(make_entry(), QUESTION))
        assert len(endpoint.requests) == 1


@each_case(
    ("reply", "transient"),
    [
        (make_error_reply(401, "no"), False),
        (make_error_reply(403, "no"), False),
        (make_error_reply(400, "tools[0] is malformed"), False),
        (make_error_reply(404, "no such model"), False),
        (make_error_reply(429, "You exceeded your current quota", "insufficient_quota"), False),
        (make_error_reply(408, "too late"), True),
        (make_error_reply(429, "slow down"), True),
        (make_error_reply(500, "broken"), True),
        (make_error_reply(503, "busy"), True),
        (Reply("{not json"), True),
    ],
    ids=["401", "403", "400", "404", "quota", "408", "429", "500", "503", "garbled"],
)
def test_what_may_pass_is_told_apart_and_asked_once(reply: Reply, transient: bool) -> None:
    """Trying again is up to whoever knows the limits of the run."""
    with serve_answers(lambda _: reply) as endpoint:
        with pytest.raises(CallError) as caught:
            asyncio.run(make_model(endpoint).complete(make_entry(), QUESTION))
        assert len(endpoint.requests) == 1
    assert caught.value.transient is transient


@pytest.mark.parametrize(
    ("header", "wait_s"), [("7", 7), ("0.5", 0.5), ("-3", 0)], ids=["seconds", "fraction", "past"]
)
def test_how_long_to_wait_is_read_from_the_header(header: str, wait_s: float) -> None:
    assert (
        expect_call_error(
            lambda _: replace(make_error_reply(429, "slow down"), headers={"Retry-After": header})
        ).retry_after_s
        == wait_s
    )


def test_how_long_to_wait_can_be_a_date() -> None:
    def send_date(asked: dict[str, object]) -> Reply:
        return replace(
            make_error_reply(429, "slow down"),
            headers={"Retry-After": formatdate(time.time() + 900, usegmt=True)},
        )

    found = expect_call_error(send_date).retry_after_s
    assert found is not None
    assert 600 < found <= 900


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "soon"}], ids=["none", "no number"])
def test_no_wait_is_invented(headers: dict[str, str]) -> None:
    assert (
        expect_call_error(
            lambda _: replace(make_error_reply(429, "slow down"), headers=headers)
        ).retry_after_s
        is None
    )


def test_an_entry_is_named_in_a_header_only_on_request() -> None:
    entry = replace(make_entry(), trial=2)
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = make_model(endpoint, extra_headers={"X-Team": "a"})
        asyncio.run(model.complete(entry, QUESTION))
        model.tag = True
        asyncio.run(model.complete(entry, QUESTION))
    assert [headers.get("x-fcbench-entry") for headers in endpoint.headers] == [None, entry.item_id]
    assert [headers["x-team"] for headers in endpoint.headers] == ["a", "a"]


def test_the_key_is_sent_and_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-for-tests-only")

    def echo_key(asked: dict[str, object]) -> Reply:
        return make_error_reply(401, "Incorrect API key provided: sk-for-tests-only")

    with serve_answers(echo_key) as endpoint:
        model = make_model(endpoint)
        with pytest.raises(NotScoredError) as caught:
            asyncio.run(model.complete(make_entry(), QUESTION))
    assert endpoint.keys == ["Bearer sk-for-tests-only"]
    assert "sk-for-tests-only" not in caught.value.reason
    assert "sk-for-tests-only" not in repr(model)


def test_an_address_where_nothing_listens_is_a_connection_error() -> None:
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = make_model(endpoint)
    with pytest.raises(NotScoredError) as caught:
        asyncio.run(model.complete(make_entry(), QUESTION))
    assert caught.value.cause == "connection"


def test_messages_are_sent_as_they_are() -> None:
    request = presenting.build_first_request(
        make_entry(query="Wie wird das Wetter? 🌧"),
        core.open_suite(Path()).wording,
        Prompting.make_default(Mode.PROMPT),
    )
    _, endpoint = complete_once(lambda _: make_message_reply("[f()]"), request)
    assert json.dumps(endpoint.requests[0]["messages"]) == json.dumps([dict(m) for m in request.messages])


def test_a_provider_that_changes_messages_changes_no_later_request(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [{"id": "t00s00c00", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    request = AskModel(({"role": "assistant", "content": None, "tool_calls": calls},))
    litellm = import_litellm()
    acompletion = litellm.acompletion

    async def change_messages(**asked: Any) -> object:
        asked["messages"][0]["tool_calls"][0]["function"]["arguments"] = "changed"
        asked["messages"][0]["content"] = "changed"
        return await acompletion(**asked)

    monkeypatch.setattr(litellm, "acompletion", change_messages)
    _, endpoint = complete_once(lambda _: make_message_reply("ok"), request)
    assert "changed" in json.dumps(endpoint.requests[0])
    assert "changed" not in json.dumps(request.messages)


@pytest.fixture
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the keys of providers out of the environment, and the way to any server."""
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_AUTH_TOKEN"))]:
        monkeypatch.delenv(name)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a host was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.0-flash", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("azure/x", "AZURE_OPENAI_API_KEY"),
    ],
)
@pytest.mark.usefixtures("_no_keys")
def test_a_missing_key_is_told_at_once_with_its_variable(model: str, variable: str) -> None:
    with pytest.raises(CallError) as caught:
        asyncio.run(LitellmModel(model, {}).complete(make_entry(), QUESTION))
    assert (caught.value.cause, caught.value.transient) == ("authentication", False)
    assert variable in caught.value.reason
    assert "Traceback" not in caught.value.reason


@pytest.mark.parametrize(
    "model", ["gpt-4o", "groq/m", "claude-sonnet-4-5", "xai/m", "text-completion-openai/m"]
)
@pytest.mark.usefixtures("_no_keys")
def test_a_missing_key_is_told_before_litellm_is_imported(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise AssertionError("litellm was imported")

    monkeypatch.setattr("pytest_fcbench.models.providers.litellm.import_litellm", fail)
    asked, measure = LitellmModel(model, {"temperature": 0.001}), EmbeddingModel(model)
    calls = (each.complete(make_entry(), QUESTION) for each in (asked, measure))
    for call in (asked.prepare(), *calls):
        with pytest.raises(CallError, match=f"^{model}: no API key is set in ") as caught:
            asyncio.run(call)
        assert (caught.value.cause, caught.value.transient) == ("authentication", False)


def require_without_key(model: str = "groq/m", **parameters: object) -> None:
    require_key(model, None, None, parameters)


@pytest.mark.usefixtures("_no_keys")
def test_a_key_that_litellm_may_have_otherwise_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """litellm tells itself what it lacks there."""
    with pytest.raises(CallError, match="no API key is set in"):
        require_without_key()
    require_key("groq/m", "http://127.0.0.1:1", None, {})
    require_key("groq/m", None, "sk-for-tests-only", {})
    require_without_key(api_key="sk-for-tests-only")
    require_without_key(extra_headers={"Authorization": "x"})
    require_without_key(custom_llm_provider="ollama")
    # Its own names of providers, and names that only it knows.
    for model in ("azure/m", "bedrock/m", "nobody-knows", "deepseek-chat"):
        require_without_key(model)
    monkeypatch.setattr(import_litellm(), "groq_key", "sk-for-tests-only")
    require_without_key()


@pytest.mark.usefixtures("_no_keys")
@pytest.mark.parametrize("model", ["hosted_vllm/m", "lm_studio/m"])
def test_a_server_of_ones_own_without_an_address_is_not_looked_for_at_openai(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """litellm would send what is meant for it, and OpenAI's key, to OpenAI."""
    with pytest.raises(CallError, match="its address is not known; give it with --fcbench-api-base"):
        require_key(model, None, "sk-for-tests-only", {})
    require_key(model, "http://127.0.0.1:1", None, {})
    require_key(model, None, None, {"api_base": "http://127.0.0.1:1"})
    monkeypatch.setenv(f"{model.partition('/')[0].upper()}_API_BASE", "http://127.0.0.1:1")
    require_key(model, None, None, {})


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("groq/m", "GROQ_API_KEY"),
        ("groq/m", "GROQ_API_BASE"),
        ("gpt-4o", "OPENAI_BASE_URL"),
        ("mistral/m", "MISTRAL_AZURE_API_BASE"),
        ("anthropic/m", "ANTHROPIC_AUTH_TOKEN"),
        ("anthropic/m", "ANTHROPIC_FEDERATION_RULE_ID"),
        ("groq/m", "USE_LITELLM_PROXY"),
    ],
)
@pytest.mark.usefixtures("_no_keys")
def test_a_variable_that_stands_for_a_key_or_another_address(
    model: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "")
    with pytest.raises(CallError, match="no API key is set in"):
        require_without_key(model)
    monkeypatch.setenv(variable, "true")
    require_without_key(model)


@pytest.mark.usefixtures("_no_keys")
def test_a_file_that_litellm_reads_keys_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "lib" / "litellm" / "__init__.py"
    package.parent.mkdir(parents=True)
    spec = ModuleSpec("litellm", None, origin=str(package))
    monkeypatch.setattr("pytest_fcbench.models.providers.litellm.find_spec", lambda name: spec)
    (tmp_path / ".env").write_text("MISTRAL_API_KEY=x\n", encoding="utf-8")
    require_without_key("mistral/m")
    with pytest.raises(CallError, match="no API key is set in"):
        require_without_key("groq/m")
    # Only the nearest file is read.
    (tmp_path / "lib" / ".env").write_text("GROQ_API_KEY=x\n", encoding="utf-8")
    require_without_key("groq/m")
    with pytest.raises(CallError, match="no API key is set in"):
        require_without_key("mistral/m")


@each_case(
    ("provider", "variable"),
    [(provider, variable) for provider, variables in read_key_variables().items() for variable in variables],
)
def test_litellm_reads_the_variables_that_are_told(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-for-tests-only"
    for name in [name for name in os.environ if name.endswith(("_KEY", "_TOKEN"))]:
        monkeypatch.delenv(name)
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = LitellmModel(f"{provider}/m", {}, api_base=endpoint.api_base, timeout_s=60)
        for value in (None, key):
            if value:
                monkeypatch.setenv(variable, value)
            # Some providers' replies have another form.
            with suppress(CallError):
                asyncio.run(model.complete(make_entry(), QUESTION))
    assert [key in str(headers) for headers in endpoint.headers][-1]
    assert [key in str(headers) for headers in endpoint.headers].count(True) == 1


@pytest.mark.usefixtures("_no_keys")
def test_an_id_without_a_provider_names_the_way_to_a_server() -> None:
    with pytest.raises(CallError) as caught:
        asyncio.run(LitellmModel("my-ft", {}).complete(make_entry(), QUESTION))
    assert (caught.value.cause, caught.value.transient) == ("not_found", False)
    assert caught.value.reason == (
        "my-ft: not an id of litellm; for a server of your own add --fcbench-api-base=URL"
    )


def test_litellm_changes_no_later_request() -> None:
    """It cuts parts out of the schemas that it sends to vLLM."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    with serve_answers(lambda _: make_message_reply("ok")) as endpoint:
        model = LitellmModel("hosted_vllm/m", {}, endpoint.api_base, timeout_s=60)
        asyncio.run(model.complete(make_entry(), AskModel(QUESTION.messages, (tool,))))
    assert "additionalProperties" not in json.dumps(endpoint.requests[0])
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("prefix", ["openai", "hosted_vllm"])
def test_the_answer_is_what_the_server_sent(prefix: str) -> None:
    """litellm cuts thoughts off the text, and moves members that it does not know."""
    reply = make_message_reply("<think>2</think> 4", signature="S", audio=None)
    with serve_answers(lambda _: reply) as endpoint:
        model = LitellmModel(f"{prefix}/m", {}, api_base=endpoint.api_base, api_key="sk-for-tests-only")
        completion = asyncio.run(model.complete(make_entry(), QUESTION))
    assert completion.text == "<think>2</think> 4"
    assert completion.message is not None
    assert completion.message["content"] == "<think>2</think> 4"
    assert completion.message["signature"] == "S"
    assert completion.finish_reason == "stop"


def test_what_is_null_in_a_call_is_left_out() -> None:
    """litellm sends it to no server, not even a content, which it keeps where a message has a null."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    reply = make_message_reply(tool_calls=[{**call, "content": None, "index": None}])
    with serve_answers(lambda _: reply) as endpoint:
        model = LitellmModel("hosted_vllm/m", {}, api_base=endpoint.api_base, api_key="sk-for-tests-only")
        completion = asyncio.run(model.complete(make_entry(), QUESTION))
    assert completion.message is not None
    assert (completion.message["content"], completion.message["tool_calls"]) == (None, [call])


def test_preparation_sends_nothing_and_imports_what_the_first_call_needs() -> None:
    def count_modules() -> int:
        return sum(name.startswith(("litellm", "openai")) for name in sys.modules)

    with serve_answers(lambda _: make_message_reply("x")) as endpoint:
        model = make_model(endpoint)
        asyncio.run(model.prepare())
        assert endpoint.requests == []
        before = count_modules()
        asyncio.run(model.complete(make_entry(), QUESTION))
        assert len(endpoint.requests) == 1
    # One or two modules of the transport come with the connection.
    assert count_modules() - before < 20


def test_an_id_that_litellm_does_not_know_is_told_by_the_call_not_by_the_preparation() -> None:
    model = LitellmModel("nobody-knows", {}, timeout_s=60)
    asyncio.run(model.prepare())
    with pytest.raises(CallError, match="not an id of litellm"):
        asyncio.run(model.complete(make_entry(), QUESTION))


KEY = "sk-a-key-of-forty-characters-0123456789"


def make_vectors_reply(*rows: object, **usage: int) -> Reply:
    """Make a reply with these vectors."""
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return Reply({"object": "list", "model": "x", "data": data, "usage": usage or {"prompt_tokens": 9}})


def measure_similarity(
    reply: Reply, made: Sequence[str] = ("a",), expected: Sequence[str] = ("b",), **parameters: object
) -> tuple[Completion, Endpoint]:
    messages = [{"role": "made", "content": text} for text in made]
    messages += [{"role": "expected", "content": text} for text in expected]
    request = AskModel(tuple(messages), party=Party.SIMILARITY)
    with serve_answers(lambda _: reply) as endpoint:
        model = EmbeddingModel("openai/bge", endpoint.api_base, KEY, 5, parameters)
        assert KEY not in repr(model)
        return asyncio.run(model.complete(make_entry(), request)), endpoint


def test_a_matrix_of_cosines() -> None:
    reply = make_vectors_reply([3.0, 4.0], [0.0, 2.0], [1.0, 0.0], [0, 5], [-1.0, 0.0], prompt_tokens=12)
    completion, endpoint = measure_similarity(reply, ["m1", "m2"], ["e1", "e2", "e3"])
    assert json.loads(completion.text or "") == [[0.6, 0.8, -0.6], [0.0, 1.0, 0.0]]
    assert (completion.input_tokens, completion.output_tokens) == (12, 0)
    assert completion.latency_s is not None
    assert completion.fault is None
    (asked,) = endpoint.requests
    assert asked | {"model": "bge", "input": ["m1", "m2", "e1", "e2", "e3"]} == asked
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.keys == [f"Bearer {KEY}"]


def test_vectors_may_come_in_any_order() -> None:
    rows = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 1.0]}]
    completion, _ = measure_similarity(Reply({"object": "list", "data": rows, "model": "x", "usage": {}}))
    assert json.loads(completion.text or "") == [[0.707107]]


def test_lengths_do_not_matter() -> None:
    completion, _ = measure_similarity(make_vectors_reply([1e-200, 0.0], [1e300, 1e300]))
    assert json.loads(completion.text or "") == [[0.707107]]
    completion, _ = measure_similarity(make_vectors_reply([0.0, 0.0], [1.0, 0.0]))
    assert json.loads(completion.text or "") == [[0.0]]
    assert "-0.0" not in json.dumps(
        json.loads(measure_similarity(make_vectors_reply([-0.0, 1.0], [1.0, 0.0]))[0].text or "")
    )


def test_parameters_and_half_characters_are_sent() -> None:
    _, endpoint = measure_similarity(
        make_vectors_reply([1.0], [1.0]), ["\ud800"], ["b"], encoding_format="float"
    )
    assert endpoint.requests == [
        {"model": "bge", "input": ["\\ud800", "b"], "encoding_format": "float"},
    ]


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
@each_case(
    "rows",
    [
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [[1.0], []],
        [[1.0], ["x"]],
        [[1.0], None],
        [[1.0], [float("nan")]],
        [],
    ],
)
def test_what_is_no_vector(rows: Sequence[object]) -> None:
    with pytest.raises(CallError) as caught:
        measure_similarity(make_vectors_reply(*rows))
    assert caught.value.cause in ("garbled", "endpoint")
    assert caught.value.transient


@each_case(
    ("reply", "cause", "transient"),
    [
        (make_error_reply(401, f"Incorrect API key: {KEY}"), "authentication", False),
        (make_error_reply(400, "too long"), "bad_request", False),
        (make_error_reply(429, "slow down"), "rate_limit", True),
        (make_error_reply(500, "broken"), "endpoint", True),
        (Reply("{not json"), "endpoint", True),
    ],
    ids=["401", "400", "429", "500", "garbled"],
)
def test_failures_are_those_of_any_model(reply: Reply, cause: str, transient: bool) -> None:
    with pytest.raises(CallError) as caught:
        measure_similarity(reply)
    assert (caught.value.cause, caught.value.transient) == (cause, transient)
    assert caught.value.reason.startswith("openai/bge: ")
    assert KEY not in caught.value.reason


def test_no_vectors_come_from_an_address_where_nothing_listens() -> None:
    with serve_answers(lambda _: Reply({})) as endpoint:
        model = EmbeddingModel("openai/bge", endpoint.api_base, KEY, 5)
    request = AskModel(({"role": "made", "content": "a"}, {"role": "expected", "content": "b"}))
    with pytest.raises(CallError) as caught:
        asyncio.run(model.complete(make_entry(), request))
    assert caught.value.cause == "connection"


def test_an_embedding_model_that_litellm_does_not_know_is_told_with_its_own_options() -> None:
    model = EmbeddingModel("bge", "http://127.0.0.1:1/v1", KEY, 5)
    told = "^bge: not an id of litellm; for .* use openai/bge with --fcbench-similarity-api-base=URL$"
    with pytest.raises(CallError, match=told):
        asyncio.run(model.complete(make_entry(), QUESTION))


def test_an_endpoint_that_sees_more_than_texts_sees_no_more() -> None:
    """Neither entry nor party are told."""
    asked: list[Body] = []

    def note_body(body: Body) -> Reply:
        asked.append(body)
        return make_vectors_reply([1.0], [1.0])

    with serve_answers(note_body) as endpoint:
        model = EmbeddingModel("openai/bge", endpoint.api_base, KEY)
        request = AskModel(({"role": "made", "content": "a"}, {"role": "expected", "content": "b"}))
        asyncio.run(model.complete(make_entry(), request))
    assert set(asked[0]) - {"encoding_format"} == {"model", "input"}
