"""Conversations about entries as lines of a chat log."""

from __future__ import annotations

import json
from dataclasses import replace

from pytest_fcbench.domain.entry import Message, PastCall
from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import Completion, Step, Transcript
from pytest_fcbench.tools.importing.answered_entries import find_obstacle, write_chat
from pytest_fcbench.tools.importing.log_forms import read_conversations
from pytest_fcbench.tools.importing.logged import LoggedCall, LoggedMessage
from tests.factories import make_doc, make_entry, make_multi_turn, make_transcript, tool_calls

FC = Prompting(Mode.FC, Names.UNDERSCORED, "tool_calls")
BERGEN = tool_calls(("weather_forecast", '{"city": "Bergen"}'))
"""A call under the name that the model was shown."""


def test_a_conversation_is_read_back_with_its_calls_and_results() -> None:
    entry = make_multi_turn(("Bergen?", []), ("Thanks.", []))
    steps = (
        Step(BERGEN, ("weather_forecast(city='Bergen')",), ("rain",)),
        Step(Completion(text="It rains.")),
    )
    turns = (steps, (Step(Completion(text="Bye.")),))
    written = write_chat(entry, Transcript(entry.key, "test", FC, turns))
    (logged,) = read_conversations(json.dumps(written))
    assert logged.messages == (
        LoggedMessage("user", "Bergen?"),
        LoggedMessage("assistant", calls=(LoggedCall("weather.forecast", {"city": "Bergen"}),)),
        LoggedMessage("tool", "rain"),
        LoggedMessage("assistant", "It rains."),
        LoggedMessage("user", "Thanks."),
        LoggedMessage("assistant", "Bye."),
    )
    assert [tool["name"] for tool in logged.tools] == ["weather.forecast"]


def test_calls_in_the_question_are_kept() -> None:
    said = (
        Message("user", "Oslo?"),
        Message("assistant", "", (PastCall("weather.forecast", {"city": "Oslo"}),)),
        Message("tool", "sun"),
    )
    entry = replace(make_entry("next_call"), turns=(said,))
    (logged,) = read_conversations(json.dumps(write_chat(entry, make_transcript(BERGEN))))
    assert logged.messages[1].calls == (LoggedCall("weather.forecast", {"city": "Oslo"}),)
    assert logged.messages[2] == LoggedMessage("tool", "sun")


def test_calls_as_text_are_calls_and_a_broken_one_is_no_example() -> None:
    for text, calls, is_example in (
        ("[weather.forecast(city='Bergen')]", (LoggedCall("weather.forecast", {"city": "Bergen"}),), True),
        ("[weather.forecast(city='Bergen'", (), False),
        ("I do not know.", (), True),
    ):
        (logged,) = read_conversations(json.dumps(write_chat(make_entry(), make_transcript(text))))
        assert (logged.messages[-1].calls, logged.messages[-1].is_example) == (calls, is_example)


def test_a_conversation_ends_before_functions_are_added() -> None:
    entry = make_multi_turn(("Bergen?", []), ("And now?", []), withheld={1: [make_doc("more")]})
    turns = ((Step(Completion(text="I cannot.")),), (Step(Completion(text="Now I can.")),))
    messages = write_chat(entry, Transcript(entry.key, "test", FC, turns))["messages"]
    assert isinstance(messages, list)
    assert [each["content"] for each in messages] == ["Bergen?", "I cannot."]


def test_entries_of_other_languages_have_no_line() -> None:
    assert find_obstacle(make_entry("simple_java")) == "values of Java or JavaScript"
    assert find_obstacle(make_entry()) == ""
