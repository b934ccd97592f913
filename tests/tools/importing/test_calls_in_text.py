"""A call that stayed in a text is a call, or its answer is left out; it is never words."""

from __future__ import annotations

import json

from pytest_fcbench.tools.importing.log_forms import read_conversations
from pytest_fcbench.tools.importing.offered_tools import LoggedCall, LoggedMessage
from tests.cases import each_case
from tests.tools.importing.made import make_chat, say

CALL = '{"name": "weather", "arguments": {"city": "Bergen"}}'
ARGUMENTS = '{"city": "Bergen"}'


def _read_answer(text: str, asked: str = "Bergen?") -> LoggedMessage:
    (logged,) = read_conversations(json.dumps(make_chat(say("user", asked), say("assistant", text))))
    return logged.messages[-1]


@each_case(
    "text",
    [
        f"<tool_call>\n{CALL}\n</tool_call>",
        "<tool_call>{'name': 'weather', 'arguments': {'city': 'Bergen'}}</tool_call>",
        f"<think>weather(city='Oslo')?</think>\n<tool_call>\n{CALL}\n</tool_call>",
        "<tool_call>\n<function=weather>\n<parameter=city>\nBergen\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Bergen</arg_value>\n</tool_call>",
        f"<function=weather>{ARGUMENTS}</function>",
        '<function_calls><invoke name="weather"><parameter name="city">Bergen</parameter></invoke>',
        f"<functioncall> {{\"name\": \"weather\", \"arguments\": '{ARGUMENTS}'}} <|endoftext|>",
        f"[TOOL_CALLS] [{CALL}]",
        f"[TOOL_CALLS]weather[ARGS]{ARGUMENTS}",
        '[weather(city="Bergen")]',
        'weather("Bergen")',
        "```tool_code\nprint(default_api.weather(city='Bergen'))\n```",
        '<TOOLCALL>[weather(city="Bergen")]</TOOLCALL>',
        '{"name": "weather", "parameters": {"city": "Bergen"}}',
        '<|python_tag|>{"name": "weather", "parameters": {"city": "Bergen"}}<|eom_id|>',
        f"```json\n[{CALL}]\n```",
        f"weather\n{ARGUMENTS}",
        f"Action: weather\nAction Input: {ARGUMENTS}",
        f"functools[{CALL}]",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather"
        f"\n```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜>",
        f"<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>",
        f"<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
        "<start_function_call>call:weather{city:<escape>Bergen<escape>}<end_function_call>",
    ],
)  # fmt: skip
def test_every_notation_is_read(text: str) -> None:
    answer = _read_answer(text)
    assert (answer.text, answer.calls) == ("", (LoggedCall("weather", {"city": "Bergen"}),))


def test_words_before_calls_stay_words_and_values_get_the_types_of_the_doc() -> None:
    call = (
        "<tool_call><function=weather><parameter=city>7</parameter><parameter=days>7</parameter></function>"
    )
    answer = _read_answer(f"Sure.\n{call}</tool_call>\n{call}</tool_call>")
    assert answer.text == "Sure."
    assert answer.calls == (LoggedCall("weather", {"city": "7", "days": 7}),) * 2


def test_words_stand_in_the_line_of_a_token_but_not_of_a_tag() -> None:
    for text in (f"Sure.[TOOL_CALLS]weather[ARGS]{ARGUMENTS}", f"Sure.<|tool_call|>{CALL}"):
        answer = _read_answer(text)
        assert (answer.text, answer.calls) == ("Sure.", (LoggedCall("weather", {"city": "Bergen"}),))
    assert _read_answer(f"Sure. <tool_call>{CALL}</tool_call>").has_unread_call


@each_case(
    ("text", "body"),
    [
        ('send_mail(body="Dear Ann,\n\nsee you.")', "Dear Ann,\n\nsee you."),
        ('send_mail(body="""Dear Ann,\nsee you.""")', "Dear Ann,\nsee you."),
        ("default_api.send_mail(body='of default_api.')", "of default_api."),
        ("[send_mail(body='<s>old</s>')]</s>", "<s>old</s>"),
        ('{"name": "send_mail", "arguments": {"body": "a\nb"}}', "a\nb"),
        ("<tool_call><function=send_mail><parameter=body>\n\na\n</parameter></function>", "\na"),
    ],
)  # fmt: skip
def test_texts_in_calls_stay_as_they_are(text: str, body: str) -> None:
    assert _read_answer(text).calls == (LoggedCall("send_mail", {"body": body}),)


def test_each_line_may_be_calls() -> None:
    for text in ("[weather(city='Bergen')],\n[weather(city='Oslo')]", "weather('Bergen')\n\nweather('Oslo')"):
        answer = _read_answer(text)
        assert [call.arguments for call in answer.calls] == [{"city": "Bergen"}, {"city": "Oslo"}]
        assert answer.text == ""


def test_an_example_that_was_asked_for_is_no_expected_call() -> None:
    for text in (f"```json\n{CALL}\n```", "weather(city='Bergen')"):
        assert _read_answer(text, "Weather in Bergen, of example.com?").calls
        for asked in ("Give me an example for Bergen", "How would I call it?", "Show it as JSON, please"):
            assert _read_answer(text, asked).has_unread_call


@each_case(
    "text",
    [
        "You can write:\n\n[weather(city='Bergen')]",
        f"For example:\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\nThis asks for Bergen.",
        f"Write `<tool_call>{CALL}</tool_call>`.",
        f"Write:\n```\n<tool_call>\n{CALL}\n</tool_call>\n```",
        f"<tool_call>{CALL}</tool_call>\nThis asks for Bergen.",
        f"<tool_call>{CALL}</tool_call>\nor\n<tool_call>{CALL}</tool_call>",
        f'<tool_call>{CALL}</tool_call>\n{{"na',
        f"weather(city='Oslo') first.\n<tool_call>{CALL}</tool_call>",
        f"I will look it up.weather\n{ARGUMENTS}",
        f"Use `weather` with {ARGUMENTS}",
        f'<tool_call name="weather" arguments={ARGUMENTS} />',
        "<weather><city>Bergen</city></weather>",
        "get_weather(city='Bergen')",
        "Tool: weather\nInput: Bergen",
        # Kimi's and DeepSeek's forms without their tokens, which servers leave out.
        f"functions.weather:0{ARGUMENTS}",
        f"functionweather\n```json\n{ARGUMENTS}\n```",
        f"Use functions.Weather({ARGUMENTS})",
        "Action: search\nAction Input: Bergen",
        '<tool_call>\n{"name": "weather", "arguments": {"city": \n</tool_call>',
        f'<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{{"name": \n</tool_call>',
        "Action: weather\nAction Input: Bergen",
        f"Action: weather\nAction Input: {ARGUMENTS}\nObservation: rain",
        "You should use weather(city='Bergen') here.",
        "[weather(city=weather(city='Oslo'))]",
    ],
)
def test_what_only_looks_like_a_call_is_marked(text: str) -> None:
    answer = _read_answer(text)
    assert answer.has_unread_call
    assert not answer.calls


@each_case(
    "text",
    [
        "It rains in Bergen (Norway). [1]",
        'The result: {"city": "Bergen", "rain": true}',
        "I could look up the weather (today) for you.",
        "```python\nprint('rain')\n```",
        "[Bergen](https://bergen.example)\n- sum([1, 2])",
    ],
)
def test_words_stay_words(text: str) -> None:
    answer = _read_answer(text)
    assert (answer.text, answer.calls, answer.has_unread_call) == (text, (), False)


def test_results_of_such_calls_are_results() -> None:
    for result in ("<tool_response>\nrain\n</tool_response>", "Observation: rain"):
        chat = make_chat(
            say("user", "?"), say("assistant", f"<tool_call>{CALL}</tool_call>"), say("user", result)
        )
        (logged,) = read_conversations(json.dumps(chat))
        assert logged.messages[-1] == LoggedMessage("tool", "rain")
