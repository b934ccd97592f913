"""The server over real HTTP: answers, faults, counts; and through litellm."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import ToolCall
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.server.app import ENTRY_HEADER, MOST_BYTES
from pytest_fcbench.server.faults import FaultKind
from tests.factories import ask_model
from tests.served import served, stats, wait_for
from tests.server.asking import CORE, Sent, hold_conversation, list_entries, make_body
from tests.server.clients import CHAT, open_connection, post_chat, send_request

ENTRIES = list_entries(CORE)
CALLING = ENTRIES[0]
ABSTAINING = next(entry for entry in ENTRIES if entry.category.name == "irrelevance")


@pytest.fixture(scope="module")
def oracle() -> Iterator[str]:
    with served("--model", "oracle") as api_base:
        yield api_base


# Answers


@pytest.mark.parametrize("names", Names)
def test_tool_calls_are_those_of_the_model(oracle: str, names: Names) -> None:
    answer = post_chat(oracle, make_body(CALLING, Mode.FC, names))
    assert [call["function"] for call in answer.message["tool_calls"]] == [
        {"name": "set_timer", "arguments": '{"minutes": 25, "label": "sourdough"}'}
    ]
    assert answer.body["model"] == "oracle"
    assert answer.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("names", Names)
def test_in_prompting_mode_text_is_answered(oracle: str, names: Names) -> None:
    answer = post_chat(oracle, make_body(CALLING, Mode.PROMPT, names))
    text = "[set_timer(minutes=25, label='sourdough')]"
    assert answer.message == {"role": "assistant", "content": text}


@pytest.mark.nightly
def test_another_model_gives_other_answers() -> None:
    # A question in which the word-matching model takes the name of the month for a date.
    entry = next(e for e in ENTRIES if e.id == "simple_python_2")
    with served("--model", "lexical") as api_base:
        answer = post_chat(api_base, make_body(entry, Mode.PROMPT, Names.DOTTED))
        assert send_request(api_base, "GET", "/v1/models").body["data"][0]["id"] == "lexical"
    said = answer.message["content"]
    assert isinstance(said, str)
    assert "date='June'" in said


def test_the_model_can_have_another_name() -> None:
    with served("--model", "lexical", "--name", "org/mine") as api_base:
        assert send_request(api_base, "GET", "/v1/models").body["data"][0]["id"] == "org/mine"
        answer = post_chat(api_base, make_body(CALLING, Mode.PROMPT, Names.DOTTED))
    assert answer.status == 200


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_a_conversation_goes_on_to_its_end(oracle: str, mode: Mode) -> None:
    model = OracleModel(Prompting.make_default(mode, Names.UNDERSCORED))
    entry = next(entry for entry in ENTRIES if entry.category.name == "multi_turn_miss_func")
    answers = []
    for request, body in hold_conversation(model, entry, mode):
        answer = post_chat(oracle, body, entry.key)
        expected = ask_model(model, entry, request.turn, request.step)
        calls = [part for part in expected.tool_calls or () if isinstance(part, ToolCall)]
        assert answer.message["content"] == expected.text
        assert [call["function"] for call in answer.message.get("tool_calls", ())] == [
            {"name": call.name, "arguments": call.arguments} for call in calls
        ]
        answers.append(answer)
    tokens = [answer.body["usage"]["prompt_tokens"] for answer in answers]
    assert len(tokens) > len(entry.turns)
    assert tokens == sorted(set(tokens))


def test_the_same_question_twice_is_two_replies(oracle: str) -> None:
    first, second = (post_chat(oracle, make_body(CALLING)) for _ in range(2))
    assert first.message == second.message
    assert first.body["id"] != second.body["id"]


def test_a_script_is_followed_and_its_gaps_are_told(tmp_path: Path) -> None:
    path = tmp_path / "answers.yaml"
    path.write_text(f"answers:\n  {CALLING.key}:\n  - a.b: '{{\"c\": '\n", encoding="utf-8")
    with served("--model", f"scripted:{path}") as api_base:
        answer = post_chat(api_base, make_body(CALLING))
        gap = post_chat(api_base, make_body(ABSTAINING))
    assert answer.message["tool_calls"][0]["function"] == {"name": "a_b", "arguments": '{"c": '}
    says = f"{path} has no answer for {ABSTAINING.key} and no 'default'; add one of them"
    assert (gap.status, gap.body["error"]["code"], gap.body["error"]["message"]) == (404, "no_result", says)


def test_models_are_listed(oracle: str) -> None:
    assert send_request(oracle, "GET", "/v1/models").body == {
        "object": "list",
        "data": [{"id": "oracle", "object": "model", "created": 0, "owned_by": "fcbench"}],
    }


@pytest.mark.parametrize("path", ["/health", "/v1/health"])
def test_health_is_told_without_counting_as_a_request(oracle: str, path: str) -> None:
    before = stats(oracle)
    answer = send_request(oracle, "GET", path)
    assert (answer.status, answer.body) == (200, {"status": "ok"})
    assert stats(oracle) == before


# Errors


OTHER = (
    f"{ABSTAINING.key} does not have these messages and tools, {CALLING.key} has them; use the same suite "
    "version and options as the server"
)
UNKNOWN = (
    "no entry of these suites has these messages and tools: core, nor a question like theirs; name the suite "
    "of the request with --suite"
)


@pytest.mark.parametrize(
    ("change", "entry", "status", "code", "says"),
    [
        ({"messages": []}, None, 404, "unknown_request", UNKNOWN),
        ({}, "core:x", 404, "unknown_entry", "these suites have no entry 'core:x': core"),
        ({}, ABSTAINING.key, 400, "other_request", OTHER),
    ],
)
def test_a_wrong_request_is_told(
    oracle: str, change: Sent, entry: str | None, status: int, code: str, says: str
) -> None:
    answer = post_chat(oracle, make_body(CALLING) | change, entry)
    error = {"message": says, "type": "invalid_request_error", "param": None, "code": code}
    assert (answer.status, answer.body) == (status, {"error": error})
    assert post_chat(oracle, make_body(CALLING) | {"stream": False}, f"{CALLING.key}-t3").status == 200


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", CHAT, b"{", 400),
        ("POST", "/v1/completions", b"{}", 400),
        ("GET", CHAT, b"", 405),
    ],
)
def test_a_request_that_is_none_is_told(
    oracle: str, method: str, path: str, content: bytes, status: int
) -> None:
    answer = send_request(oracle, method, path, content)
    assert answer.status == status
    assert answer.body["error"].keys() == {"message", "type", "param", "code"}


def test_bodies_are_read_up_to_a_cap(oracle: str) -> None:
    body = make_body(CALLING)
    assert post_chat(oracle, body | {"user": "x" * (MOST_BYTES - 100_000)}).status == 200
    assert post_chat(oracle, body | {"user": "x" * MOST_BYTES}).status == 413


# Faults


@contextmanager
def _serve_failing(kind: FaultKind, *options: str) -> Iterator[str]:
    with served("--model", "oracle", "--fault", f"{kind}:1", *options) as api_base:
        yield api_base
        assert stats(api_base)["answered"] == {}
        assert stats(api_base)["faults"] == {kind: 1}
        assert stats(api_base)["last_answer"] is None


@pytest.mark.parametrize(("options", "says"), [((), "1"), (("--retry-after", "2.5"), "2.5")])
def test_429_says_when_to_come_back(options: tuple[str, ...], says: str) -> None:
    with _serve_failing(FaultKind.RATE_LIMIT, *options) as api_base:
        answer = post_chat(api_base, make_body(CALLING))
    assert (answer.status, answer.headers["Retry-After"]) == (429, says)
    assert answer.body["error"]["code"] == "rate_limit_exceeded"


def test_500_is_a_server_error() -> None:
    with _serve_failing(FaultKind.SERVER_ERROR) as api_base:
        answer = post_chat(api_base, make_body(CALLING))
    assert (answer.status, answer.body["error"]["type"]) == (500, "server_error")


def test_a_cut_answer_ends_after_half_of_it() -> None:
    with (
        _serve_failing(FaultKind.CUT) as api_base,
        pytest.raises(http.client.IncompleteRead) as caught,
    ):
        post_chat(api_base, make_body(CALLING))
    assert caught.value.partial.startswith(b'{"id": "chatcmpl-1",')
    # The whole length is announced, half of it comes.
    assert caught.value.expected is not None
    assert caught.value.expected - len(caught.value.partial) in (0, 1)


def test_a_reset_breaks_the_connection() -> None:
    with (
        _serve_failing(FaultKind.RESET) as api_base,
        pytest.raises(ConnectionResetError, match="reset by peer"),
    ):
        post_chat(api_base, make_body(CALLING))


def test_garbage_is_no_json() -> None:
    with _serve_failing(FaultKind.GARBAGE) as api_base:
        answer = post_chat(api_base, make_body(CALLING))
    assert answer.status == 200
    with pytest.raises(ValueError, match="Expecting value"):
        _ = answer.body


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_the_json_fault_cuts_text_or_arguments(oracle: str, mode: Mode) -> None:
    body = make_body(CALLING, mode)
    with _serve_failing(FaultKind.JSON) as api_base:
        answer = post_chat(api_base, body)
    good = post_chat(oracle, body).message
    if mode is Mode.PROMPT:
        assert answer.message["content"] == good["content"][: len(good["content"]) // 2]
        return
    arguments = answer.message["tool_calls"][0]["function"]["arguments"]
    assert good["tool_calls"][0]["function"]["arguments"].startswith(arguments)
    with pytest.raises(ValueError, match="line 1"):
        json.loads(arguments)


def test_the_one_call_fault_sends_the_first_call_only(oracle: str) -> None:
    body = make_body(next(entry for entry in ENTRIES if entry.category.name == "parallel"))
    with _serve_failing(FaultKind.ONE_CALL) as api_base:
        calls = post_chat(api_base, body).message["tool_calls"]
    good = post_chat(oracle, body).message["tool_calls"]
    assert len(good) > 1
    assert calls == good[:1]


@pytest.mark.parametrize("fault", ["one_call", "stop_early"])
def test_a_fault_that_changes_nothing_is_not_counted(fault: str) -> None:
    with served("--model", "oracle", "--fault", f"{fault}:1") as api_base:
        assert len(post_chat(api_base, make_body(CALLING)).message["tool_calls"]) == 1
        assert stats(api_base)["faults"] == {}
        assert stats(api_base)["answered"] == {CALLING.key: 1}


def test_hanging_requests_are_in_flight_until_their_clients_give_up() -> None:
    with served("--model", "oracle", "--fault", "hang:1") as api_base:
        with open_connection(api_base) as first, open_connection(api_base) as second:
            for connection in (first, second):
                connection.request("POST", CHAT, json.dumps(make_body(CALLING)))
            wait_for(api_base, "faults", {"hang": 2})
            assert stats(api_base)["in_flight"] == 2
            first.close()
            wait_for(api_base, "in_flight", 1)
        wait_for(api_base, "in_flight", 0)
        found = stats(api_base)
        assert (found["most_in_flight"], found["answered"], found["abandoned"]) == (2, {}, 0)


def test_faults_are_those_of_the_seed_and_a_request_that_is_wrong_gets_none() -> None:
    options = ("--model", "oracle", "--fault", "500:0.3", "429:0.2", "--seed", "7")
    with served(*options) as api_base:
        assert post_chat(api_base, {"messages": []}).status == 404
        statuses = [post_chat(api_base, make_body(CALLING)).status for _ in range(30)]
        found = stats(api_base)
    assert statuses == [
        *(200, 200, 500, 500, 500, 429, 500, 200, 200, 200, 200, 500, 429, 500, 200),
        *(200, 500, 200, 429, 429, 200, 500, 200, 200, 200, 429, 500, 500, 200, 200),
    ]
    assert found["requests"] == 31
    assert found["faults"] == {"500": statuses.count(500), "429": statuses.count(429)}
    assert found["answered"] == {CALLING.key: statuses.count(200)}


def test_answers_take_their_time() -> None:
    with served("--model", "oracle", "--latency", "0.3") as api_base:
        started = time.monotonic()
        post_chat(api_base, make_body(CALLING))
        assert time.monotonic() - started >= 0.3


# Counts


def test_stats_count_good_answers_by_the_name_that_was_given() -> None:
    with served("--model", "oracle") as api_base:
        began = time.time()
        assert stats(api_base) == {
            "requests": 0,
            "answered": {},
            "faults": {},
            "abandoned": 0,
            "in_flight": 0,
            "most_in_flight": 0,
            "first_request": None,
            "last_answer": None,
        }
        post_chat(api_base, make_body(CALLING))
        for name in (CALLING.key, f"{CALLING.key}-t2", f"{CALLING.key}-t2"):
            post_chat(api_base, make_body(CALLING), name)
        post_chat(api_base, make_body(CALLING), "core:x")
        found = stats(api_base)
    assert found["answered"] == {CALLING.key: 2, f"{CALLING.key}-t2": 2}
    assert (found["requests"], found["in_flight"], found["most_in_flight"]) == (5, 0, 1)
    assert began <= found["first_request"] <= found["last_answer"] <= time.time()


def test_an_answer_that_nobody_waits_for_is_counted_as_abandoned() -> None:
    with served("--model", "oracle", "--latency", "3600") as api_base:
        with open_connection(api_base) as connection:
            connection.request("POST", CHAT, json.dumps(make_body(CALLING)))
            wait_for(api_base, "in_flight", 1)
        wait_for(api_base, "in_flight", 0)
        found = stats(api_base)
        assert (found["answered"], found["abandoned"]) == ({}, 1)


# Through litellm


@pytest.fixture
def litellm(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    import litellm

    return litellm


def _ask_through_litellm(litellm: Any, api_base: str, body: Sent) -> Any:
    """Return the message that litellm gives."""
    asked = {"messages": body["messages"]} | ({"tools": body["tools"]} if "tools" in body else {})
    reply = asyncio.run(
        litellm.acompletion(
            model="openai/x",
            api_base=api_base,
            api_key="unused",
            extra_headers={ENTRY_HEADER: f"{CALLING.key}-t1"},
            **asked,
        )
    )
    assert reply.usage.prompt_tokens > 0
    return reply.choices[0].message


def test_litellm_gets_the_tool_calls_of_the_oracle(litellm: Any, oracle: str) -> None:
    message = _ask_through_litellm(litellm, oracle, make_body(CALLING))
    (sent,) = message.tool_calls
    assert sent.function.name == "set_timer"
    assert sent.function.arguments == '{"minutes": 25, "label": "sourdough"}'
    assert message.content is None


def test_litellm_gets_the_text_of_the_oracle(litellm: Any, oracle: str) -> None:
    message = _ask_through_litellm(litellm, oracle, make_body(CALLING, Mode.PROMPT, Names.DOTTED))
    assert message.content == "[set_timer(minutes=25, label='sourdough')]"
    assert message.tool_calls is None
    assert stats(oracle)["answered"][f"{CALLING.key}-t1"] > 0


def test_litellm_tells_that_another_entry_was_named(litellm: Any, oracle: str) -> None:
    with pytest.raises(
        litellm.BadRequestError,
        match=r"messages and tools, .* has them; use the same suite version and options as the server",
    ):
        _ask_through_litellm(litellm, oracle, make_body(ABSTAINING))
