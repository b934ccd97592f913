"""A choice of a reply is kept as it came; what is judged is read from it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcbench.codecs.chat_reply import read_choice
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.transcript import Ending, ToolCall

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


@pytest.mark.parametrize("case", ENDED)
def test_the_ending_is_read(case: str) -> None:
    reason, message, ending = ENDED[case]
    assert read_choice({"message": message, "finish_reason": reason}, None, []).ending is ending


def test_secrets_are_masked_at_any_depth() -> None:
    message = {"content": "key-1", "extra": [{"said": ["a key-1"]}]}
    completion = read_choice({"message": message}, None, ["key-1"])
    assert completion.message == {"content": "***", "extra": [{"said": ["a ***"]}]}
    assert completion.text == "***"


@pytest.mark.parametrize("message", [None, "text", {"tool_calls": [3]}, {"tool_calls": [{"id": "a"}]}])
def test_what_is_no_message_may_be_asked_again(message: object) -> None:
    with pytest.raises(CallError, match=r"without a (message|function)") as caught:
        read_choice({"message": message}, None, [])
    assert caught.value.transient
