"""Calls in the history of a request whose arguments are no JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from pytest_fcbench.domain.family import Api, WireRequest
from pytest_fcbench.domain.transcript import AskModel
from pytest_fcbench.models.providers.broken_calls import ABOUT_ARGUMENTS, mend_broken_calls

SCHEMA = {"type": "function", "function": {"name": "f", "parameters": {"name": "x", "arguments": "["}}}


def repeat_call(arguments: object) -> tuple[Mapping[str, object], ...]:
    """Make the messages of a conversation that repeats a call with these arguments."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return (
        MappingProxyType({"role": "user", "content": "Go."}),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "On."},
    )


@pytest.mark.parametrize(
    "arguments", ['{"a": tru', "", "[1]", "1", "null", '"{}"', '{"a": NaN}', "[" * 9000, None, 1, ["a"]]
)
def test_arguments_that_are_no_object_are_replaced_and_the_rest_stays(arguments: object) -> None:
    request = AskModel(repeat_call(arguments), (SCHEMA,), turn=3, attempt=1)
    mended = mend_broken_calls(request)
    assert mended == AskModel(repeat_call("{}"), (SCHEMA,), turn=3, attempt=1)
    assert request.messages == repeat_call(arguments)


@pytest.mark.parametrize("arguments", ["{}", ' {"a": [1, {"b": null}]}\n', {"a": 1}])
def test_a_whole_history_is_none(arguments: object) -> None:
    assert mend_broken_calls(AskModel(repeat_call(arguments), (SCHEMA,))) is None


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("input", [{"type": "function_call", "name": "f", "arguments": '{"a"', "call_id": "c"}]),
        ("messages", list(repeat_call('{"a"'))),
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


@pytest.mark.parametrize(
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
