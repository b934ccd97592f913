"""What each family is sent at its API, member for member, with sentences of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_fcbench.codecs.dialogues.api_dialogue import read_api_families
from pytest_fcbench.codecs.dialogues.families import FAULTS, UNASKED, find_api, list_asked
from pytest_fcbench.codecs.dialogues.vendor_forms import read_family_reply
from pytest_fcbench.codecs.dialogues.written_prompt import WRITTEN_FAMILIES
from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.errors import CallError
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.transcript import Completion, Ending, Fault, ToolCall
from pytest_fcbench.models.official_models import list_official_families
from tests.cases import each_case
from tests.codecs.dialogues.holding import (
    BELL,
    LAMP_CALL,
    SHORT,
    answer_with,
    list_shown,
    open_family,
    say_more,
    show_body,
)

CHAT_CALL: Mapping[str, Any] = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": "Well.",
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "index": 0,
                        "function": {"name": "home_lamp", "arguments": '{"on": true}'},
                    }
                ],
            }
        }
    ]
}
CHAT_TEXT: Mapping[str, Any] = {
    "choices": [{"message": {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}}]
}
CALL = CHAT_CALL["choices"][0]["message"]["tool_calls"][0]
BARE_CALL = {name: value for name, value in CALL.items() if name != "index"}


def test_every_official_class_is_asked_or_has_a_reason() -> None:
    handlers = {family.handler for family in list_official_families()}
    assert handlers == list_asked().keys() | UNASKED.keys()
    assert list_asked().keys() & UNASKED.keys() == {"QwenAgentNoThinkHandler"}
    assert handlers >= FAULTS.keys()
    assert {handler: find_api(handler) for handler in UNASKED.keys() - list_asked().keys()} == {
        "MiniCPMFCHandler": None
    }
    assert find_api("Falcon3FCHandler") is Api.CHAT
    assert {find_api(handler) for handler in read_api_families()} == set(Api) - {Api.COMPLETIONS}
    assert WRITTEN_FAMILIES.keys().isdisjoint(read_api_families())


@each_case(
    ("model", "answer", "result"),
    [
        (
            "kimi-k2-0905-preview-FC",
            CHAT_CALL["choices"][0]["message"],
            {"role": "tool", "tool_call_id": "c1", "content": "lit"},
        ),
        (
            "grok-4-0709-FC",
            {"role": "assistant", "content": "Well.", "tool_calls": [BARE_CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "lit"},
        ),
        (
            "qwen3-32b-FC",
            {"role": "assistant", "content": None, "tool_calls": [BARE_CALL], "reasoning_content": "Hm."},
            {"role": "tool", "tool_call_id": "c1", "content": "lit"},
        ),
        (
            "firefunction-v2-FC",
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"role": "tool", "content": "lit"},
        ),
        (
            "mistral-large-2411-FC",
            {**CHAT_CALL["choices"][0]["message"], "prefix": False},
            {"role": "tool", "tool_call_id": "c1", "name": "home_lamp", "content": "lit"},
        ),
        (
            "qwen3-4b-think-FC",
            CHAT_CALL["choices"][0]["message"],
            {"role": "tool", "tool_call_id": "home_lamp", "content": "lit"},
        ),
    ],
)
def test_chat_families_differ_in_what_goes_back(
    model: str, answer: Mapping[str, object], result: Mapping[str, object]
) -> None:
    dialogue = open_family(model)
    judged = answer_with(dialogue, CHAT_CALL)
    assert judged.tool_calls == (ToolCall("home_lamp", '{"on": true}', "c1"),)
    dialogue.add_results([LAMP_CALL], ["lit"])
    say_more(dialogue, "Ring!")
    assert list_shown(show_body(dialogue), "messages", 1) == [
        answer,
        result,
        {"role": "user", "content": "Ring!"},
    ]


def test_an_answer_in_words_goes_back_too() -> None:
    for model, answer in (
        ("grok-4-0709-FC", {"role": "assistant", "content": "Done."}),
        ("qwen3-32b-FC", {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}),
        ("firefunction-v2-FC", {"role": "assistant", "content": "", "tool_calls": []}),
    ):
        dialogue = open_family(model)
        assert answer_with(dialogue, CHAT_TEXT).text == "Done."
        dialogue.add_results([], [])
        assert list_shown(show_body(dialogue), "messages", 1) == [answer]


@each_case(
    ("model", "parameters"),
    [
        ("kimi-k2-0905-preview-FC", {"temperature": 0.001, "store": False}),
        ("DeepSeek-V3.2-Exp-FC", {"temperature": 0.001}),
        ("DeepSeek-V3.2-Exp", {}),
        ("glm-4.6-FC", {"store": False, "thinking": {"type": "enabled"}}),
        ("glm-4.5-FC", {"store": False, "temperature": 0.001}),
        ("Nanbeige3.5-Pro-Thinking-FC", {}),
        ("palmyra-x-004", {"temperature": 0.001, "tool_choice": "auto"}),
        (
            "qwen3-32b",
            {"stream": True, "stream_options": {"include_usage": True}, "enable_thinking": True},
        ),
        ("nova-pro-v1.0", {"inferenceConfig": {"temperature": 0.001}}),
        ("claude-haiku-4-5-20251001-FC", {"temperature": 0.001, "max_tokens": 64000}),
        ("gpt-4.1-2025-04-14-FC", {"temperature": 0.001, "store": False}),
        (
            "o3-2025-04-16-FC",
            {
                "store": False,
                "reasoning": {"summary": "auto"},
                "include": ["reasoning.encrypted_content"],
            },
        ),
    ],
)
def test_parameters_are_those_of_the_family(model: str, parameters: Mapping[str, object]) -> None:
    said = ("model", "messages", "tools", "input", "system", "toolConfig")
    body = show_body(open_family(model))
    assert {name: value for name, value in body.items() if name not in said} == parameters


def test_the_server_knows_some_models_under_other_names() -> None:
    names = {
        "Ling/ling-lite-v1.5": "Ling-lite-1.5-250604",
        "command-a-reasoning-08-2025-FC": "command-a-reasoning-08-2025",
        "DeepSeek-V3.2-Exp-thinking": "deepseek-reasoner",
    }
    assert {model: show_body(open_family(model))["model"] for model in names} == names


# Tools


def show_tool(model: str, member: str = "tools") -> Any:
    return show_body(open_family(model))[member][0]


SCHEMA = {
    "type": "object",
    "properties": {"on": {"type": "boolean", "description": "Lit?"}},
    "required": [],
}


def test_tools_have_the_form_of_the_api() -> None:
    described = "About home.lamp. Python, please."
    nested = show_tool("kimi-k2-0905-preview-FC")
    assert nested == {
        "type": "function",
        "function": {"name": "home_lamp", "description": described, "parameters": SCHEMA},
    }
    assert show_tool("gpt-4o-2024-11-20-FC") == {**nested["function"], "type": "function"}
    assert show_tool("claude-haiku-4-5-20251001-FC") == {
        "name": "home_lamp",
        "description": described,
        "input_schema": SCHEMA,
        "cache_control": {"type": "ephemeral"},
    }
    assert show_body(open_family("nova-pro-v1.0"))["toolConfig"] == {
        "tools": [
            {
                "toolSpec": {
                    "name": "home_lamp",
                    "description": described,
                    "inputSchema": {"json": SCHEMA},
                }
            }
        ]
    }
    assert show_tool("firefunction-v2-FC")["function"]["name"] == "home.lamp"
    assert show_tool("gorilla-openfunctions-v2", "functions")["parameters"]["type"] == "dict"


def test_no_tools_are_an_empty_list_or_nothing() -> None:
    empty = replace(SHORT, functions=())
    assert show_body(open_family("claude-haiku-4-5-20251001-FC", empty))["tools"] == []
    assert show_body(open_family("qwen3-32b-FC", empty))["tools"] == []
    assert "tools" not in show_body(open_family("gpt-4o-2024-11-20-FC", empty))
    assert "toolConfig" not in show_body(open_family("nova-pro-v1.0", empty))


def test_late_functions_are_tools_and_a_sentence() -> None:
    dialogue = open_family("grok-4-0709-FC")
    answer_with(dialogue, CHAT_TEXT)
    dialogue.add_functions([BELL])
    body = show_body(dialogue)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["home_lamp", "bell"]
    assert body["messages"][-1] == {"role": "user", "content": "There is more now."}


# Other APIs


def test_responses_go_back_item_by_item() -> None:
    thought = {"id": "r1", "type": "reasoning", "summary": [{"text": "Hm."}], "encrypted_content": "x"}
    call = {"type": "function_call", "call_id": "c1", "name": "home_lamp", "arguments": '{"on": true}'}
    dialogue = open_family("gpt-5-mini-2025-08-07-FC", preamble="Be kind.")
    judged = answer_with(dialogue, {"output": [thought, call], "usage": {"input_tokens": 3}})
    assert (judged.reasoning, judged.input_tokens) == ("Hm.", 3)
    dialogue.add_results([LAMP_CALL], ["lit"])
    assert list_shown(show_body(dialogue), "input") == [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "Light!"},
        thought,
        call,
        {"type": "function_call_output", "call_id": "c1", "output": "lit"},
    ]


def test_claude_joins_messages_and_marks_the_last_two() -> None:
    dialogue = open_family("claude-haiku-4-5-20251001-FC", preamble="Be kind.")
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Well."},
        {"type": "tool_use", "id": "c1", "name": "home_lamp", "input": {"on": True}},
    ]
    judged = answer_with(dialogue, {"content": blocks, "stop_reason": "max_tokens"})
    assert (judged.text, judged.reasoning, judged.ending) == ("Well.", "Hm.", Ending.CUT)
    dialogue.add_results([LAMP_CALL], ["lit"])
    say_more(dialogue, "Ring!", "Twice!")
    mark = {"cache_control": {"type": "ephemeral"}}
    body = show_body(dialogue)
    assert body["system"] == [{"type": "text", "text": "Be kind.", **mark}]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Light!"}]},
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": [{"type": "tool_result", "content": "lit", "tool_use_id": "c1", **mark}]},
        {"role": "user", "content": [{"type": "text", "text": "Ring!\n\nTwice!", **mark}]},
    ]


def test_a_single_turn_carries_no_marks() -> None:
    body = show_body(open_family("claude-haiku-4-5-20251001-FC", SHORT))
    assert "cache_control" not in str(body)


@pytest.mark.parametrize(
    ("blocks", "repaired", "judged"),
    [
        ([{"type": "text", "text": "a()"}], False, ("a()", None)),
        ([], True, ("", None)),
        ([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "a()"}], True, ("a()", None)),
    ],
)
def test_claude_in_prompting_is_judged_by_its_first_text(
    blocks: list[object], repaired: bool, judged: tuple[str, None]
) -> None:
    dialogue = open_family("claude-haiku-4-5-20251001", repaired=repaired)
    found = answer_with(dialogue, {"content": blocks})
    assert (found.text, found.fault) == judged
    assert list_shown(show_body(dialogue), "messages", 1) == [{"role": "assistant", "content": judged[0]}]


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        ("claude-haiku-4-5-20251001", {"content": []}),
        ("claude-haiku-4-5-20251001", {"content": [{"type": "thinking", "thinking": "Hm."}]}),
        ("gemini-2.5-flash", {"candidates": [{"content": {"parts": [{"text": "a"}] * 3}}]}),
    ],
)
def test_answers_at_which_the_official_class_fails_are_faults(
    model: str, reply: Mapping[str, object]
) -> None:
    assert answer_with(open_family(model), reply).fault is Fault.INFERENCE_ERROR


def test_gemini_gets_thoughts_and_signatures_back() -> None:
    parts = [
        {"text": "Hm.", "thought": True},
        {"functionCall": {"name": "home_lamp", "args": {"on": True}}, "thoughtSignature": "s"},
    ]
    dialogue = open_family("gemini-2.5-flash-FC", preamble="Be kind.")
    reply = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "SAFETY"}]}
    judged = answer_with(dialogue, reply)
    assert (judged.text, judged.reasoning, judged.ending) == (None, "Hm.", Ending.FILTERED)
    assert judged.tool_calls == (ToolCall("home_lamp", {"on": True}),)
    dialogue.add_results([LAMP_CALL], ['{"lit": 1}'])
    body = show_body(dialogue)
    assert body["systemInstruction"]["parts"] == [{"text": "Be kind."}]
    assert list_shown(body, "contents", 1) == [
        {"role": "model", "parts": parts},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "home_lamp", "response": {"result": '{"lit": 1}'}}}],
        },
    ]


def test_gemini_in_prompting_gets_its_text_alone_back() -> None:
    dialogue = open_family("gemini-2.5-flash")
    parts = [{"text": "Hm.", "thought": True}, {"text": "a()", "thoughtSignature": "s"}]
    assert answer_with(dialogue, {"candidates": [{"content": {"parts": parts}}]}).text == "a()"
    assert list_shown(show_body(dialogue), "contents", 1) == [{"role": "model", "parts": [{"text": "a()"}]}]


def test_a_sentence_stands_for_no_answer_of_gemini() -> None:
    dialogue = open_family("gemini-2.5-flash-FC")
    assert answer_with(dialogue, {"candidates": []}).text == "<text 2>"
    assert list_shown(show_body(dialogue), "contents", 1) == [
        {"role": "model", "parts": [{"text": "<text 2>"}]}
    ]


def test_cohere_gets_plan_and_thinking_back() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "home_lamp", "arguments": '{"on": true}'}}
    message = {
        "role": "assistant",
        "tool_plan": "Well.",
        "tool_calls": [call],
        "content": [{"type": "thinking", "thinking": "Hm."}],
    }
    dialogue = open_family("command-a-03-2025-FC")
    judged = answer_with(dialogue, {"message": message})
    assert (judged.text, judged.reasoning) == (None, "Hm.")
    dialogue.add_results([LAMP_CALL], ["{'id': 1, 'lit': True}"])
    told = {"type": "text", "text": '{"lit": true, "ID": 1}'}
    assert list_shown(show_body(dialogue), "messages", 1) == [
        message,
        {"role": "tool", "tool_call_id": "c1", "content": [told]},
    ]


@each_case("text", ["lit", "[1]", "{'id': ", '{"id": null}'])
def test_cohere_results_that_are_no_dict_stay(text: str) -> None:
    dialogue = open_family("command-a-03-2025-FC")
    call = {"id": "c1", "function": {"name": "home_lamp", "arguments": "{}"}}
    answer_with(dialogue, {"message": {"tool_calls": [call]}})
    dialogue.add_results([LAMP_CALL], [text])
    assert show_body(dialogue)["messages"][-1]["content"] == [{"type": "text", "text": text}]


def test_cohere_is_never_asked_behind_its_own_answer() -> None:
    dialogue = open_family("command-a-03-2025-FC")
    answer_with(dialogue, {"message": {"content": [{"type": "text", "text": "Done."}]}})
    assert show_body(dialogue)["messages"][-1] == {"role": "user", "content": ""}


def test_nova_gets_its_message_back() -> None:
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
        {"toolUse": {"toolUseId": "c1", "name": "home_lamp", "input": {"on": True}}},
    ]
    message = {"role": "assistant", "content": blocks}
    dialogue = open_family("nova-2-lite-v1.0", preamble="Be kind.")
    judged = answer_with(dialogue, {"output": {"message": message}, "stopReason": "guardrail_intervened"})
    assert (judged.reasoning, judged.ending) == ("Hm.", Ending.FILTERED)
    dialogue.add_results([LAMP_CALL], ["lit"])
    body = show_body(dialogue)
    assert body["system"] == [{"text": "Be kind."}]
    assert body["additionalModelRequestFields"]["reasoningConfig"]["type"] == "enabled"
    assert list_shown(body, "messages", 1) == [
        message,
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "lit"}]}}]},
    ]


# Families with an opening of their own


@pytest.mark.parametrize(
    ("repaired", "first", "results"),
    [
        (False, [{"role": "system", "content": "<text 0>"}], []),
        (
            True,
            [{"role": "system", "content": "<text 0>"}, {"role": "user", "content": "Light!"}],
            [{"role": "user", "content": "[{'role': 'tool', 'name': 'a()', 'content': 'lit'}]"}],
        ),
    ],
)
def test_nemotron_has_the_question_in_the_system_text(
    repaired: bool, first: list[object], results: list[object]
) -> None:
    dialogue = open_family("nvidia/llama-3.1-nemotron-ultra-253b-v1", repaired=repaired)
    body = show_body(dialogue)
    assert body["messages"] == first
    assert "tools" not in body
    answer_with(dialogue, CHAT_TEXT)
    dialogue.add_results(["a()"], ["lit"])
    assert list_shown(show_body(dialogue), "messages", len(first) + 1) == results


def test_dm_cito_has_the_docs_between_two_texts() -> None:
    body = show_body(open_family("DM-Cito-8B-v3", preamble="Be kind.", texts=2))
    assert body["messages"][0] == {"role": "system", "content": "<text 0><text 1>\n\nBe kind."}
    bare = show_body(open_family("DM-Cito-8B-v3", texts=2))
    assert bare["messages"][0] == {"role": "system", "content": "<text 0><text 1>"}


# Hostile replies


@each_case("api", [api for api in Api if api is not Api.COMPLETIONS])
@each_case("reply", [{}, {"output": 1}, {"content": {}}, {"message": []}, {"choices": [1]}])
def test_a_reply_of_another_kind_is_an_error(api: Api, reply: Mapping[str, object]) -> None:
    with pytest.raises(CallError, match="answered"):
        read_family_reply(api, reply)


def test_a_completion_without_a_choice_is_an_error() -> None:
    with pytest.raises(CallError, match="without any choice"):
        read_family_reply(Api.COMPLETIONS, {"choices": []})


def test_an_answer_that_no_server_sent_is_written_anew() -> None:
    """Replayed answers have no message; the conversation goes on with their text."""
    for model, member in (
        ("kimi-k2-0905-preview", "messages"),
        ("gpt-4o-2024-11-20", "input"),
        ("claude-haiku-4-5-20251001-FC", "messages"),
        ("command-a-03-2025-FC", "messages"),
        ("gemini-2.5-flash-FC", "contents"),
        ("nova-pro-v1.0", "messages"),
    ):
        dialogue = open_family(model)
        dialogue.add_answer(Completion(text="Done."))
        say_more(dialogue, "Ring!")
        assert "Done." in str(show_body(dialogue)[member][-2])


def test_a_question_may_hold_an_answer() -> None:
    dialogue = open_family("mistral-large-2411-FC")
    dialogue.add_user_turn([Message("assistant", "Done."), Message("user", "Ring!")])
    assert list_shown(show_body(dialogue), "messages", 1) == [
        {"role": "assistant", "content": "Done.", "prefix": False},
        {"role": "user", "content": "Ring!"},
    ]
