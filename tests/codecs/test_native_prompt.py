"""Requests whose functions, calls and results stand in texts, for every native syntax."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from pytest_fcbench.codecs.decoders.native_syntaxes import (
    NATIVE_SYNTAXES,
    NativeSyntax,
    find_syntax_of_model,
    list_schemas,
)
from pytest_fcbench.codecs.native_prompt import find_prompted_syntax, write_native_prompt
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, ToolCall
from pytest_fcbench.models.native_calls import NativeCallsModel
from tests.cases import each_case
from tests.factories import make_entry

HERMES = NATIVE_SYNTAXES["hermes"]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}
WANTED = Call("get_weather", {"city": "Oslo", "days": 2})
SENT = {
    "id": "call_0",
    "type": "function",
    "function": {"name": WANTED.name, "arguments": json.dumps(WANTED.arguments)},
}
REQUEST = AskModel(
    (
        {"role": "user", "content": "How is Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": [SENT, SENT]},
        {"role": "tool", "tool_call_id": "call_0", "content": "fine"},
        {"role": "tool", "tool_call_id": "call_0", "content": "rain"},
    ),
    (TOOL,),
)


@pytest.mark.parametrize("syntax", NATIVE_SYNTAXES.values(), ids=NATIVE_SYNTAXES)
def test_everything_about_functions_stands_in_the_texts(syntax: NativeSyntax) -> None:
    asked = write_native_prompt(REQUEST, syntax)
    assert not asked.tools
    assert [sorted(message) for message in asked.messages] == [["content", "role"]] * 4
    assert [message["role"] for message in asked.messages] == ["system", "user", "assistant", "user"]
    system, _, calls, results = (str(message["content"]) for message in asked.messages)
    assert json.dumps(TOOL["function"]) in system
    assert results == "<tool_response>\nfine\n</tool_response>\n<tool_response>\nrain\n</tool_response>"
    if syntax.most is None:
        assert syntax.read_calls(calls, list_schemas(REQUEST.tools)) == (WANTED, WANTED)
    # No two syntaxes are asked for in the same words.
    assert find_prompted_syntax(asked.messages) is syntax


def test_arguments_that_a_server_sent_as_an_object_are_kept() -> None:
    sent_call = {**SENT, "function": {"name": WANTED.name, "arguments": WANTED.arguments}}
    answer = {"role": "assistant", "content": "<tool_response> is next.", "tool_calls": [sent_call] * 2}
    asked = write_native_prompt(replace(REQUEST, messages=(answer, *REQUEST.messages[2:])), HERMES)
    _, calls, results = (str(message["content"]) for message in asked.messages)
    assert HERMES.read_calls(calls) == (WANTED, WANTED)
    assert results.count("<tool_response>") == 2


def test_a_system_message_keeps_its_words() -> None:
    system = {"role": "system", "content": "Be short."}
    asked = write_native_prompt(AskModel((system, *REQUEST.messages[:1]), (TOOL,)), HERMES)
    assert str(asked.messages[0]["content"]).startswith("Be short.\n\nYou can call these functions:\n{")
    assert len(asked.messages) == 2
    assert find_prompted_syntax(REQUEST.messages) is None


class SaysAlways:
    """A model that knows one reply, and keeps the request."""

    immediate, notes = True, ()

    def __init__(self, reply: Completion) -> None:
        self.reply = reply

    async def complete(self, entry: object, request: AskModel) -> Completion:
        assert not request.tools
        return self.reply


PARSED = ToolCall("get_weather", '{"city": "Oslo", "days": 2}', "call_0")


@each_case(
    ("name", "reply", "calls"),
    (
        ("hermes", Completion(text=HERMES.write_calls([WANTED])), 1),
        # A server that reads the syntax also where it knows of no tools.
        ("hermes", Completion(tool_calls=(PARSED,), message={"role": "assistant"}), 1),
        # A server that leaves special tokens out of texts.
        ("hermes", Completion(text='{"name": "get_weather", "arguments": {"city": "Oslo", "days": 2}}'), 1),
        ("kimi_k2", Completion(text='functions.get_weather:0{"city": "Oslo", "days": 2}'), 1),
        # Words are no call, whatever a syntax without its tokens would take for one.
        ("glm47", Completion(text="Hello"), 0),
        ("lfm2", Completion(text="It is fine."), 0),
    ),
)
def test_calls_are_read_however_they_come(name: str, reply: Completion, calls: int) -> None:
    model = NativeCallsModel(SaysAlways(reply), NATIVE_SYNTAXES[name], prompts=True)
    answer = asyncio.run(model.complete(make_entry(), REQUEST))
    found = [part for part in answer.tool_calls or () if isinstance(part, ToolCall)]
    assert [(each.name, json.loads(str(each.arguments))) for each in found] == [
        ("get_weather", {"city": "Oslo", "days": 2})
    ] * calls
    assert model.notes[-1].startswith("functions stand in the prompt, and calls are read")


@each_case(
    ("model", "name"),
    (
        ("hosted_vllm/Qwen/Qwen3-8B", "hermes"),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_coder"),
        ("nvidia/Llama-3_1-Nemotron-Ultra-253B-v1", "nemotron"),
        ("zai-org/GLM-4.7", "glm47"),
        ("my-ft", None),
    ),
)
def test_a_syntax_is_found_by_the_longest_name_of_its_models(model: str, name: str | None) -> None:
    syntax = find_syntax_of_model(model)
    assert (syntax and syntax.name) == name
