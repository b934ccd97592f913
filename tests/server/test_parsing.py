"""The template, the tokenizer and the parser of the conforming model."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.server.body import RefusedRequestError
from pytest_fcbench.server.parsing import NativeServer, ParserFault, find_forced_text, send_calls

HERMES = NativeServer("hermes")
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
CALL = {"function": {"name": "add", "arguments": '{"a": 2.5}'}}


@given(st.text())
def test_tokens_of_a_text_are_its_text(text: str) -> None:
    assert HERMES.detokenize(HERMES.tokenize(text)) == text


@pytest.mark.parametrize(("fault", "count"), [(None, 1), (ParserFault.SPELL_MARKS, 4)])
def test_a_mark_is_one_token_unless_the_tokenizer_spells_it(fault: ParserFault | None, count: int) -> None:
    assert len(NativeServer("hermes", fault).tokenize("<tool_call>")) == count


def test_an_answer_with_calls_begins_where_the_prompt_ends() -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "Add."}], "tools": [TOOL]}
    prompt = HERMES.tokenize(HERMES.write_prompt(body))
    answer = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    whole = HERMES.tokenize(
        HERMES.write_prompt(
            {"messages": [*body["messages"], answer], "tools": [TOOL], "add_generation_prompt": False}
        )
    )
    assert whole[: len(prompt)] == prompt
    words, calls = HERMES.read_answer(HERMES.detokenize(whole[len(prompt) :]), body)
    assert (words, calls) == ("", (Call("add", {"a": 2.5}),))


def test_a_history_that_no_template_can_write_is_refused() -> None:
    cut = {"function": {"name": "add", "arguments": '{"a": '}}
    with pytest.raises(RefusedRequestError, match="call of the history cannot be written") as refusal:
        HERMES.write_prompt({"messages": [{"role": "assistant", "tool_calls": [cut]}]})
    assert refusal.value.status == 400


def test_a_text_without_calls_stays_text() -> None:
    assert HERMES.read_answer("Hello.<|end|>", {}) == ("Hello.", ())


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ({"choice": ["a b"]}, "a b"),
        ({"choice": ["a", "b"]}, None),
        ({"grammar": 'root ::= "a\\n\\"b"'}, 'a\n"b'),
        ({}, None),
    ],
)
def test_structured_outputs_may_leave_one_text(outputs: dict[str, object], text: str | None) -> None:
    assert find_forced_text({"structured_outputs": outputs}) == text


def test_a_grammar_of_many_texts_is_refused() -> None:
    with pytest.raises(RefusedRequestError, match="grammars of one text only"):
        find_forced_text({"structured_outputs": {"grammar": "root ::= [a-z]"}})


def test_merged_calls_are_one_call_of_a_stream() -> None:
    calls = [Call("f", {"a": 1}), Call("g", {})]
    _, sent = send_calls(calls, ParserFault.MERGE_CALLS, streams=True)
    assert [(call.name, call.arguments) for call in sent] == [("fg", '{"a": 1}{}')]
    assert len(send_calls(calls, ParserFault.MERGE_CALLS, streams=False)[1]) == 2
    assert [call.name for call in send_calls(calls, ParserFault.FIRST_CALL, streams=False)[1]] == [
        calls[0].name
    ]
