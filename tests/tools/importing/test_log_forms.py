"""Each form of a log is read as the same conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.tools.importing.log_forms import read_conversations, read_rows
from pytest_fcbench.tools.importing.offered_tools import (
    LoggedCall,
    LoggedConversation,
    LoggedMessage,
    UnreadableLogError,
)
from tests.cases import each_case
from tests.tools.importing.made import MAIL, TOOLS, WEATHER, make_call, make_chat, say

ASKED = "Weather in Bergen?"
CITY = {"city": "Bergen"}
CALL = {"name": "weather", "arguments": CITY}
USED = {"name": "weather", "input": CITY}
WITH_ID = CALL | {"id": "a"}
LC_CALL = {"name": "weather", "args": CITY, "id": "a", "type": "tool_call"}
"""The call in LangChain's form."""


def _read_one(value: object) -> LoggedConversation:
    (found,) = read_conversations(json.dumps(value))
    return found


def _make_span(**attributes: object) -> dict[str, object]:
    written = [
        {"key": f"gen_ai.{name.replace('__', '.')}", "value": {"stringValue": json.dumps(value)}}
        for name, value in attributes.items()
    ]
    return {"attributes": written}


def _make_trace(*spans: Mapping[str, object]) -> dict[str, object]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


QUESTION_PART = {"role": "user", "parts": [{"type": "text", "content": ASKED}]}
CALL_PART = {"role": "assistant", "parts": [{"type": "tool_call", "id": "a", **CALL}]}
TOOL_CALL = make_call(call_id="a", city="Bergen")
FORMS: Mapping[str, object] = {
    "chat": make_chat(say("user", ASKED), say("assistant", tool_calls=[TOOL_CALL])),
    "chat in parts": make_chat(
        say("user", None) | {"content": [{"type": "text", "text": ASKED}]},
        say("assistant", tool_calls=[{"id": "a", "function": CALL}]),
    ),
    "chat with function_call": make_chat(
        say("user", ASKED), say("assistant", function_call=CALL | {"id": "a"})
    ),
    "sharegpt": {
        "conversations": [
            {"from": "human", "value": ASKED},
            {"from": "function_call", "value": json.dumps(CALL | {"id": "a"})},
        ],
        "tools": json.dumps([WEATHER, MAIL]),
    },
    "hermes": {
        "conversations": [
            {"from": "system", "value": f"<tools>{json.dumps(WEATHER)}\n{json.dumps(MAIL)}</tools>"},
            {"from": "human", "value": ASKED},
            {"from": "gpt", "value": f"<tool_call>\n{json.dumps(CALL | {'id': 'a'})}\n</tool_call>"},
        ]
    },
    "xlam": {
        "query": ASKED,
        "tools": json.dumps([WEATHER, MAIL]),
        "answers": json.dumps([CALL | {"id": "a"}]),
    },
    "spans": _make_trace(
        _make_span(operation__name="chat"),
        _make_span(
            input__messages=[QUESTION_PART], output__messages=[CALL_PART], tool__definitions=[WEATHER, MAIL]
        ),
    ),
    "ms-swift": {
        "messages": json.dumps(
            [say("user", ASKED), say("tool_call", json.dumps(CALL | {"id": "a"}))]
        ),
        "tools": json.dumps(TOOLS),
    },
    "python literals": {
        "conversations": [
            {"from": "system", "value": f"<tools> {TOOLS} </tools>"},
            {"from": "human", "value": ASKED},
            {"from": "gpt", "value": f"<tool_call>\n{CALL | {'id': 'a'}}\n</tool_call>"},
        ]
    },
    "glaive": {
        "system": f"SYSTEM: These are your functions -\n{json.dumps(WEATHER, indent=1)}\n{json.dumps(MAIL)}",
        "chat": f"USER: {ASKED}\n\n\nASSISTANT: <functioncall> {json.dumps(WITH_ID)} <|endoftext|>",
    },
    "anthropic": {
        "messages": [
            say("user", ASKED),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", **USED}]},
        ],
        "tools": [WEATHER, MAIL],
    },
    "bedrock": {
        "messages": [
            {"role": "user", "content": [{"text": ASKED}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", **USED}}]},
        ],
        "tools": [WEATHER, MAIL],
    },
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": ASKED}]},
            {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": CITY, "id": "a"}}]},
        ],
        "tools": [{"functionDeclarations": [WEATHER, MAIL]}],
    },
    "responses": {
        "input": ASKED,
        "tools": [WEATHER, MAIL],
        "output": [{"type": "reasoning"}, {"type": "function_call", "id": "b", "call_id": "a", **CALL}],
    },
    "request and response": {
        "request": {"messages": [say("user", ASKED)], "tools": TOOLS},
        "response": {"choices": [{"message": say("assistant", tool_calls=[TOOL_CALL])}]},
    },
    "langsmith": {
        "inputs": {"messages": [[{"id": ["HumanMessage"], "kwargs": {"content": ASKED}}]]},
        "outputs": {"generations": [[{"message": {"type": "ai", "kwargs": {"tool_calls": [LC_CALL]}}}]]},
        "extra": {"invocation_params": {"tools": TOOLS}},
    },
    "langfuse": {
        "observations": [
            {"type": "SPAN", "input": 1},
            {
                "input": {"messages": [say("user", ASKED)], "tools": TOOLS},
                "output": {"tool_calls": [TOOL_CALL]},
            },
        ]
    },
    "beside other members": {
        "query": "weather",
        "message": "a request was logged",
        "attributes": {"level": "info"},
        "conversations": [say("user", ASKED), say("assistant", tool_calls=[TOOL_CALL])],
        "tools": [*TOOLS, "a name without a doc"],
    },
    "older spans": {
        "attributes": {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": ASKED,
            "gen_ai.completion.0.tool_calls.0.id": "a",
            "gen_ai.completion.0.tool_calls.0.name": "weather",
            "gen_ai.completion.0.tool_calls.0.arguments": json.dumps(CITY),
            "llm.request.functions.0": json.dumps(WEATHER),
            "llm.request.functions.1": json.dumps(MAIL),
        }
    },
}  # fmt: skip
ONE_ANSWER = ("spans", "older spans", "responses", "request and response", "langsmith", "langfuse")
"""Forms with a record for each answer."""


@each_case("form", FORMS)
def test_every_form_gives_the_same_messages_and_functions(form: str) -> None:
    found = _read_one(FORMS[form])
    assert found.messages == (
        LoggedMessage("user", ASKED),
        LoggedMessage("assistant", calls=(LoggedCall("weather", {"city": "Bergen"}, "a"),)),
    )
    assert [tool.get("function", tool) for tool in found.tools] == [WEATHER, MAIL]
    assert found.new_from == (1 if form in ONE_ANSWER else 0)


def test_results_are_messages_of_a_tool_in_every_form() -> None:
    hermes = {
        "conversations": [
            {
                "from": "tool",
                "value": "<tool_response>rain</tool_response>\n<tool_response>sun</tool_response>",
            }
        ]
    }
    sharegpt = {
        "conversations": [{"from": "observation", "value": "rain"}, {"from": "observation", "value": "sun"}]
    }
    parts = [{"type": "tool_call_response", "response": text} for text in ("rain", "sun")]
    spans = _make_trace(
        _make_span(input__messages=[{"role": "tool", "parts": parts}], output__messages=[CALL_PART])
    )
    expected = [LoggedMessage("tool", "rain"), LoggedMessage("tool", "sun")]
    for value in (hermes, sharegpt, spans):
        assert [each for each in _read_one(value).messages if each.role == "tool"] == expected


def test_a_result_that_is_a_value_stays_whole() -> None:
    for content, text in (
        ({"value": "rain", "unit": "mm"}, '{"value": "rain", "unit": "mm"}'),
        ([{"id": 1, "text": "sun"}], '[{"id": 1, "text": "sun"}]'),
        ([{"type": "text", "text": "sun"}, {"text": "rain"}], "sun\nrain"),
    ):
        chat = make_chat(say("user", "?"), say("tool") | {"content": content})
        assert _read_one(chat).messages[-1].text == text


def test_types_of_xlam_become_those_of_json_schema() -> None:
    parameters = {
        "ip": {"type": "str", "description": "An address."},
        "deep": {"type": "bool, optional"},
        "ports": {"type": "List[int]", "default": [80]},
        "names": {"type": "Dict[str, str]"},
    }
    (tool,) = _read_one({"query": "?", "tools": [{"name": "scan", "parameters": parameters}]}).tools
    assert tool["parameters"] == {
        "type": "object",
        "properties": {
            "ip": {"type": "string", "description": "An address."},
            "deep": {"type": "boolean"},
            "ports": {"type": "array", "items": {"type": "integer"}, "default": [80]},
            "names": {"type": "object"},
        },
        "required": ["ip", "names"],
    }


def test_an_answer_with_weight_0_is_no_example_and_an_image_is_told() -> None:
    first, second = _read_one(
        make_chat(
            say("user")
            | {"content": [{"type": "image_url", "image_url": {}}, {"type": "text", "text": "?"}]},
            say("assistant", "No.", weight=0),
        )
    ).messages
    assert (first.text, first.other_part) == ("?", "image_url")
    assert not second.is_example


def test_attributes_of_spans_may_be_structured() -> None:
    def wrap(value: object) -> dict[str, object]:
        if isinstance(value, list):
            return {"arrayValue": {"values": list(map(wrap, value))}}
        if isinstance(value, Mapping):
            return {"kvlistValue": {"values": [{"key": k, "value": wrap(v)} for k, v in value.items()]}}
        return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}

    answer = {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": {"n": [1, 2]}}]}
    span = {"attributes": [{"key": "gen_ai.output.messages", "value": wrap([answer])}]}
    assert _read_one(_make_trace(span)).messages[0].calls == (LoggedCall("f", {"n": [1, 2]}),)


@each_case(
    ("line", "reason"),
    [
        ("{", "not valid JSON"),
        ('{"foo": 1}', "has none of the keys 'messages', .*; its keys: 'foo'"),
        (json.dumps(_make_trace(_make_span(operation__name="chat"))), "attributes: 'gen_ai.operation.name'"),
        ('{"query": "?", "answers": "[{"}', "calls in it are text that is not valid JSON"),
        ('{"attributes": {"gen_ai.prompt": "?"}}', "attributes: 'gen_ai.prompt'"),
        ('{"query": "?", "answers": [{"arguments": {}}]}', "has a call without a name"),
        ("[" * 10_000, "not valid JSON"),
    ],
)
def test_a_line_that_is_no_conversation_is_refused(line: str, reason: str) -> None:
    with pytest.raises(UnreadableLogError, match=reason):
        list(read_conversations(line))


def test_a_part_that_cannot_be_read_does_not_lose_the_others() -> None:
    chat = FORMS["chat"]
    assert _read_one({"data": [chat, {**make_chat(), "tools": "{"}]}) == _read_one(chat)
    span = _make_span(input__messages=[QUESTION_PART], output__messages=[CALL_PART])
    instructions = {"key": "gen_ai.system_instructions", "value": {"stringValue": "Be short."}}
    span["attributes"].append(instructions)  # type: ignore[attr-defined]
    assert len(_read_one(_make_trace(span)).messages) == 2
    # The form in which a model shall call looks like the doc of a function.
    form = '{"name": "the function", "parameters": "a dictionary of arguments"}'
    system = say("system", f"Call functions as {form}. These are offered: {json.dumps([WEATHER])}")
    assert _read_one({"messages": [system, say("user", ASKED)]}).tools == (WEATHER,)


KEYS = [
    "messages",
    "role",
    "content",
    "tool_calls",
    "function",
    "conversations",
    "from",
    "value",
    "query",
    "answers",
    "name",
    "arguments",
    "tools",
    "parts",
    "type",
    "text",
    "resourceSpans",
    "scopeSpans",
    "spans",
    "attributes",
    "key",
    "stringValue",
    "weight",
    "system",
    "parameters",
    "input",
    "output",
    "observations",
    "chat",
    "functionCall",
]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from(["user", "gpt", "tool", "<tools>[", ""]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    )
)
def test_no_json_breaks_a_reader(value: object) -> None:
    try:
        found = list(read_conversations(json.dumps(value)))
    except UnreadableLogError:
        return
    assert all(isinstance(each, LoggedConversation) for each in found)


ROWS = [{"messages": []}, {"query": "ü"}]
MESSAGES = [{"role": "user", "content": "?"}]


@each_case(
    "text",
    [
        "\n".join(map(json.dumps, ROWS)),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=1),
        "\ufeff" + json.dumps(ROWS, indent=1),
        "\n".join(json.dumps(row, indent=1) for row in ROWS),
    ],
)
def test_every_way_to_write_rows_gives_the_same(tmp_path: Path, text: str) -> None:
    (path := tmp_path / "log.json").write_text(text)
    assert [json.loads(row) for _, row in read_rows([str(path)])] == ROWS


def test_a_list_of_messages_is_one_row(tmp_path: Path) -> None:
    (path := tmp_path / "log.json").write_text(f"{json.dumps(MESSAGES)}\n{json.dumps(MESSAGES)}\n")
    assert [json.loads(row) for _, row in read_rows([str(path)])] == [MESSAGES] * 2


def test_broken_lines_keep_their_numbers(tmp_path: Path) -> None:
    (path := tmp_path / "log.jsonl").write_text('{"a": \n\n{"b": 1}\n')
    assert list(read_rows([str(path)])) == [(f"{path}:1", b'{"a": \n'), (f"{path}:3", b'{"b": 1}\n')]
