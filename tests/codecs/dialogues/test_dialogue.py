"""The prompt of a base model, and what a server reads back from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.codecs.dialogues.dialogue import (
    ChatDialogue,
    FewShotDialogue,
    Opening,
    read_task,
    write_shot,
)
from pytest_fcbench.domain.entry import Message
from pytest_fcbench.domain.prompting import Api, Mode, ModelPresentation, Names, Prompting
from pytest_fcbench.domain.transcript import Completion, ToolCall
from pytest_fcbench.suites.registry import open_suite
from tests.factories import make_entry

BASE = Prompting.make_default(Mode.COMPLETION)
WORDING = open_suite("core", Path()).wording


def test_examples_stand_before_the_question_and_a_heading_ends_the_answer() -> None:
    example = write_shot(make_entry(query="And in Oslo?"), "[weather.forecast(city='Oslo')]", WORDING, BASE)
    manner = ModelPresentation("base", BASE, shots=(example, example))
    request = FewShotDialogue(Opening(make_entry(), manner, WORDING)).build_request(0, 0)
    assert request.wire
    assert request.wire.api is Api.COMPLETIONS
    prompt = str(request.wire.body["prompt"])
    assert prompt.count("### Question\nAnd in Oslo?\n### Calls\n[weather.forecast(city='Oslo')]\n\n") == 2
    assert prompt.endswith("### Question\nWhat will the weather in Bergen be?\n### Calls\n")
    assert prompt.count('### Functions\n[{"name": "weather.forecast"') == 3
    assert request.wire.body["stop"] == ["\n###", "\n\n"]


def test_the_last_task_is_read_whatever_stands_before_it() -> None:
    task = FewShotDialogue(Opening(make_entry(), ModelPresentation("base", BASE), WORDING))
    request = task.build_request(0, 0)
    shown = replace(ModelPresentation("base", BASE), shots=("### Functions\n[]\n### Question\nno\n\n",))
    longer = FewShotDialogue(Opening(make_entry(), shown, WORDING)).build_request(0, 0)
    assert longer.wire
    assert tuple(read_task(str(longer.wire.body["prompt"]))) == request.messages == longer.messages
    assert request.messages[1] == {"role": "user", "content": "What will the weather in Bergen be?"}


def test_several_messages_of_a_question_are_named_by_their_role() -> None:
    entry = replace(make_entry(), turns=((Message("system", "Be brief."), Message("user", "Rain?")),))
    request = FewShotDialogue(Opening(entry, ModelPresentation("base", BASE), WORDING)).build_request(0, 0)
    assert request.messages[1]["content"] == "system: Be brief.\nuser: Rain?"


@pytest.mark.parametrize("syntax", ["tool_calls", "qwen"])
def test_a_call_that_the_server_read_gets_its_result_whatever_the_syntax(syntax: str) -> None:
    manner = ModelPresentation("m", Prompting(Mode.FC, Names.UNDERSCORED, syntax))
    dialogue = ChatDialogue(Opening(make_entry(), manner, WORDING))
    sent = {"id": "s1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [sent]}
    dialogue.add_answer(Completion(tool_calls=(ToolCall("f", "{}", "s1"),), message=message))
    dialogue.add_results(["f()"], ["done"])
    result = {"role": "tool", "tool_call_id": "s1", "content": "done"}
    assert dialogue.build_request(0, 1).messages[1:] == (message, result)


def test_a_second_turn_is_refused() -> None:
    dialogue = FewShotDialogue(Opening(make_entry(), ModelPresentation("base", BASE), WORDING))
    for add in (dialogue.add_user_turn, dialogue.add_functions):
        with pytest.raises(TypeError, match="a base model is asked one question"):
            add(())
