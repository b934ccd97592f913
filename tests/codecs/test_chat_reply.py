"""A choice of a reply is kept as it came; what is judged is read from it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcbench.codecs.chat_reply import (
    CHAT,
    COHERE,
    CONVERSE,
    GENERATE_CONTENT,
    MESSAGES,
    RESPONSES,
    UsageForm,
    read_choice,
    read_served,
    read_tokens,
)
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import Ending, ToolCall
from tests.cases import each_case

CALLED = {
    "id": "c",
    "type": "function",
    "function": {"name": "f", "arguments": "{}"},
    "extra_content": {"s": 1},
}


def test_the_message_is_kept_member_for_member() -> None:
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALLED],
        "audio": None,
        "refusal": None,
        "thinking_blocks": [{"signature": "S"}],
        "provider_specific_fields": {"x": 1},
    }
    completion = read_choice({"message": message, "finish_reason": "tool_calls"}, None, [])
    assert completion.message == message
    assert completion.tool_calls == (ToolCall("f", "{}", "c"),)
    assert (completion.finish_reason, completion.ending) == ("tool_calls", None)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, (7, 2)),
        ({"prompt_tokens": 3, "completion_tokens": 1}, (3, 1)),
    ],
)
def test_the_usage_of_a_choice_stands_in_for_that_of_the_reply(
    usage: object, counts: tuple[int, int]
) -> None:
    choice = {"message": {"content": "a"}, "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    completion = read_choice(choice, usage, [])
    assert (completion.input_tokens, completion.output_tokens) == counts


BOTH_FIELDS = {"tool_calls": [CALLED], "function_call": {"name": "f", "arguments": "{}"}}
ENDED: Mapping[str, tuple[object, Mapping[str, object], Ending | None]] = {
    "stop": ("stop", {"content": "a"}, None),
    "no reason": (None, {"content": "a"}, None),
    "unknown": ("eos", {"content": "a"}, None),
    "number": (3, {"content": "a"}, None),
    "length": ("length", {"content": "a"}, Ending.CUT),
    "Anthropic's word": ("max_tokens", {"content": "a"}, Ending.CUT),
    "capitals": ("LENGTH", {"content": "a"}, Ending.CUT),
    "filter": ("content_filter", {"content": None}, Ending.FILTERED),
    "Gemini's malformed call": (
        "function_call_filter: MALFORMED_FUNCTION_CALL",
        {"content": None},
        Ending.MALFORMED,
    ),
    "LiteLLM's malformed call": ("malformed_function_call", {"content": None}, Ending.MALFORMED),
    "call without function": ("tool_calls", {"tool_calls": [{"id": "a"}]}, Ending.MALFORMED),
    "refusal": ("stop", {"content": None, "refusal": "I cannot"}, Ending.REFUSED),
    "empty refusal": ("stop", {"content": "a", "refusal": ""}, None),
    "legacy call": ("function_call", {"content": None}, Ending.FUNCTION_CALL),
    "legacy call that says stop": ("stop", {"function_call": {"name": "f"}}, Ending.FUNCTION_CALL),
    "call in both fields": ("tool_calls", BOTH_FIELDS, None),
    "call in both fields that says so": ("function_call", BOTH_FIELDS, None),
    "empty calls beside a legacy call": (
        "stop",
        {"tool_calls": [], "function_call": {"name": "f"}},
        Ending.FUNCTION_CALL,
    ),
}


@each_case("case", ENDED)
def test_the_ending_is_read(case: str) -> None:
    reason, message, ending = ENDED[case]
    assert read_choice({"message": message, "finish_reason": reason}, None, []).ending is ending


def test_secrets_are_masked_at_any_depth() -> None:
    message = {"content": "key-1", "extra": [{"said": ["a key-1"]}]}
    completion = read_choice({"message": message}, None, ["key-1"])
    assert completion.message == {"content": "***", "extra": [{"said": ["a ***"]}]}
    assert completion.text == "***"


@pytest.mark.parametrize("message", [None, "text"])
def test_what_is_no_message_may_be_asked_again(message: object) -> None:
    with pytest.raises(CallError, match="without a message") as caught:
        read_choice({"message": message}, None, [])
    assert caught.value.transient


@each_case("reason", ["error", "abort", "insufficient_system_resource", "ERROR"])
def test_an_answer_that_the_server_broke_off_is_none(reason: str) -> None:
    with pytest.raises(CallError, match="was not finished") as caught:
        read_choice({"message": {"content": "I would"}, "finish_reason": reason}, None, [])
    assert (caught.value.cause, caught.value.transient) == ("aborted_answer", True)


@each_case("call", [{"id": "a"}, {"function": None}, {"function": "f"}, 3, {"function": {"name": ["f"]}}])
def test_one_call_without_a_function_hides_all(call: object) -> None:
    """As officially, where the text counts then."""
    completion = read_choice({"message": {"content": "a", "tool_calls": [CALLED, call]}}, None, [])
    assert (completion.tool_calls, completion.text) == (None, "a")
    assert completion.protocol == ("call_without_function",)


@each_case("arguments", [{"a": 1}, None, 5, [1], True])
def test_arguments_that_are_no_text_are_kept_and_noted(arguments: object) -> None:
    call = {"function": {"name": "f", "arguments": arguments}}
    completion = read_choice({"message": {"tool_calls": [CALLED, call]}}, None, [])
    assert completion.tool_calls == (ToolCall("f", "{}", "c"), ToolCall("f", arguments))
    assert completion.protocol == ("arguments_not_text",)


def test_a_good_call_has_no_note() -> None:
    assert read_choice({"message": {"tool_calls": [CALLED]}}, None, []).protocol == ()


@each_case(
    ("content", "text"),
    [([], ""), ([{"text": "a"}, {"text": "b"}], "ab"), ([{"type": "image"}], None), ([{"text": ""}], None)],
)
def test_of_a_list_of_parts_the_texts_count(content: object, text: str | None) -> None:
    completion = read_choice({"message": {"content": content}}, None, [])
    assert (completion.text, completion.in_parts) == (text, True)


@each_case(
    ("form", "usage", "counts"),
    [
        pytest.param(
            CHAT, {"prompt_tokens": 9, "completion_tokens": 5}, (9, 5, None, None, None), id="plain chat"
        ),
        pytest.param(
            CHAT,
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "total_tokens": 14,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            (9, 5, 4, 3, 2),
            id="details of chat",
        ),
        pytest.param(
            CHAT,
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": None, "cached_tokens": 4},
            (9, 5, 4, None, None),
            id="cached tokens beside",
        ),
        pytest.param(
            CHAT,
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
            (9, 5, 4, None, None),
            id="cache hits",
        ),
        pytest.param(
            CHAT,
            {
                "prompt_tokens": 32,
                "completion_tokens": 9,
                "total_tokens": 135,
                "completion_tokens_details": {"reasoning_tokens": 94},
            },
            (32, 103, None, None, 94),
            id="reasoning that only the total contains",
        ),
        pytest.param(
            RESPONSES,
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens_details": {"reasoning_tokens": 2},
                "total_tokens": 14,
            },
            (9, 5, 4, None, 2),
            id="responses",
        ),
        pytest.param(
            MESSAGES,
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 20,
            },
            (129, 5, 100, 20, None),
            id="messages count the cache apart",
        ),
        pytest.param(
            MESSAGES, {"input_tokens": 9, "output_tokens": 5}, (9, 5, None, None, None), id="plain messages"
        ),
        pytest.param(
            CONVERSE,
            {"inputTokens": 9, "outputTokens": 5, "cacheReadInputTokens": 100, "cacheWriteInputTokens": 0},
            (109, 5, 100, 0, None),
            id="converse counts the cache apart",
        ),
        pytest.param(
            GENERATE_CONTENT,
            {
                "promptTokenCount": 9,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 7,
                "cachedContentTokenCount": 4,
                "totalTokenCount": 21,
            },
            (9, 12, 4, None, 7),
            id="thoughts beside the answer",
        ),
        pytest.param(
            GENERATE_CONTENT,
            {"promptTokenCount": 9, "thoughtsTokenCount": 7, "totalTokenCount": 16},
            (9, 7, None, None, 7),
            id="thoughts without an answer",
        ),
        pytest.param(
            COHERE,
            {"billed_units": {"input_tokens": 9, "output_tokens": 5}},
            (9, 5, None, None, None),
            id="billed units",
        ),
        pytest.param(CHAT, None, (None,) * 5, id="no usage"),
        pytest.param(CHAT, "many", (None,) * 5, id="no object"),
        pytest.param(
            CHAT,
            {"prompt_tokens": True, "completion_tokens": -1, "prompt_tokens_details": [3]},
            (None,) * 5,
            id="no counts",
        ),
    ],
)
def test_counts_have_the_same_meaning_everywhere(
    form: UsageForm, usage: object, counts: tuple[int | None, ...]
) -> None:
    assert tuple(read_tokens(usage, form).values()) == counts


def test_no_part_is_larger_than_the_whole() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 10**9, "cache_write_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 10**9},
    }
    assert tuple(read_tokens(usage, CHAT).values()) == (9, 5, 9, 0, 5)


def test_a_reply_says_who_served_it_without_secrets() -> None:
    reply = {"model": "m\x1b[1m key-1", "system_fingerprint": None, "provider": "P", "id": "x"}
    assert read_served(reply, ["key-1"]) == ("provider=P", "model=m[1m ***")
    assert read_served({"model": 3, "provider": ""}, []) == ()
