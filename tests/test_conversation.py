"""A conversation is stepped by hand: one question, one answer, the transcript."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcbench import suites
from pytest_fcbench.answers import Completion, Fault, Mode, Names, Step, ToolCall, Transcript
from pytest_fcbench.codecs import presenting
from pytest_fcbench.codecs.wording import Wording
from pytest_fcbench.conversation import Manner, single_turn
from tests.factories import make_entry

FC = Manner("gpt", Mode.FC, Names.UNDERSCORED, "tool_calls")
PROMPT = Manner("gpt", Mode.PROMPT, Names.DOTTED, "python")


@pytest.fixture(scope="module")
def wording() -> Wording:
    return suites.open_suite("core", Path("no cache is needed")).wording


@pytest.mark.parametrize("manner", [FC, PROMPT], ids=["fc", "prompt"])
def test_it_asks_as_the_codec_shows_the_entry(wording: Wording, manner: Manner) -> None:
    entry = make_entry()
    request = next(single_turn(entry, manner, wording))
    assert request == presenting.ask(entry, wording, manner.mode, manner.names)
    assert bool(request.tools) is (manner.mode is Mode.FC)
    assert request.messages[-1] == {"role": "user", "content": "What will the weather in Bergen be?"}


@pytest.mark.parametrize("manner", [FC, PROMPT], ids=["fc", "prompt"])
@pytest.mark.parametrize(
    "completion",
    [
        Completion(text="Sunny."),
        Completion(tool_calls=(ToolCall("weather_forecast", "{"),)),
        Completion(fault=Fault.OVERFLOW),
        Completion(),
    ],
    ids=["text", "tool call", "overflow", "nothing"],
)
def test_it_ends_with_the_answer_whatever_that_is(
    wording: Wording, manner: Manner, completion: Completion
) -> None:
    conversation = single_turn(make_entry(), manner, wording)
    next(conversation)
    with pytest.raises(StopIteration) as ended:
        conversation.send(completion)
    transcript = ended.value.value
    assert transcript == Transcript(
        entry="core:simple_python_0",
        model="gpt",
        mode=manner.mode,
        names=manner.names,
        syntax=manner.syntax,
        turns=((Step(completion),),),
    )
    assert transcript.last is completion
    assert transcript.completions == (completion,)
