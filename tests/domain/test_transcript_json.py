"""Transcripts and completions come back from JSON as they were."""

from __future__ import annotations

import json

import pytest

from pytest_fcbench.domain.prompting import FORMATS, Mode, PromptFormat, Prompting
from pytest_fcbench.domain.transcript import (
    AuxiliaryCall,
    Completion,
    Ending,
    Fault,
    Party,
    PathSettings,
    Step,
    ToolCall,
    Transcript,
)
from pytest_fcbench.domain.transcript_json import (
    read_completion,
    read_transcript,
    write_completion,
    write_transcript,
)
from pytest_fcbench.domain.verdict import Profile
from tests.cases import each_case

COMPLETIONS = {
    "empty": Completion(),
    "text": Completion(text="\ud800 語", reasoning="", input_tokens=2**70, output_tokens=0, latency_s=1e-300),
    "calls": Completion(tool_calls=(ToolCall("f", '{"a": 1}', "id 1"), "part", ToolCall("g", {"b": [None]}))),
    "no calls": Completion(tool_calls=()),
    "fault": Completion(text="too long", fault=Fault.OVERFLOW),
    "served": Completion(text="x", served=("model=a", "provider=b")),
    "ending": Completion(
        text="x", finish_reason="length", ending=Ending.CUT, refusal="no", in_parts=True, message={"a": [1]}
    ),
}


@each_case("completion", COMPLETIONS.values(), ids=COMPLETIONS)
def test_a_completion_comes_back_as_it_was(completion: Completion) -> None:
    assert read_completion(json.loads(json.dumps(write_completion(completion)))) == completion


def test_a_completion_of_earlier_versions_has_neither_message_nor_ids() -> None:
    older = {
        "text": None,
        "tool_calls": [{"f": "{}"}],
        "reasoning": None,
        "fault": None,
        "latency_s": 1,
        "input_tokens": None,
        "output_tokens": 3,
    }
    assert read_completion(older) == Completion(
        tool_calls=(ToolCall("f", "{}"),), latency_s=1.0, output_tokens=3
    )


def test_calls_without_ids_are_written_as_by_earlier_versions() -> None:
    assert "ids" not in write_completion(Completion(tool_calls=(ToolCall("f", "{}"), "and")))


@each_case(
    ("key", "value"),
    [("message", "hi"), ("latency_s", "1"), ("input_tokens", "7"), ("output_tokens", 2.5)],
)
def test_what_is_of_another_kind_is_unknown(key: str, value: object) -> None:
    """A file can hold anything."""
    assert read_completion({**write_completion(Completion(text="x")), key: value}) == Completion(text="x")


@each_case("missing", ["text", "tool_calls", "latency_s", "output_tokens"])
def test_a_completion_without_a_key_is_refused(missing: str) -> None:
    written = write_completion(Completion(text="x"))
    del written[missing]
    with pytest.raises(KeyError, match=missing):
        read_completion(written)


STEP = Step(Completion(text="x"), ("f(a=1)", "g()"), ("1", "\ud800"))
TRANSCRIPT = Transcript(
    "core:x",
    "m",
    Prompting.make_default(Mode.FC),
    ((), (STEP, Step(Completion()))),
    (
        AuxiliaryCall(Party.JUDGE, "d", Completion(text="yes"), 0.5),
        AuxiliaryCall(Party.WEB, "e", Completion()),
    ),
    PathSettings(Profile.CORRECTED, "judge", live=True, runner="gpt"),
)


def test_a_transcript_comes_back_as_it_was() -> None:
    assert read_transcript(json.loads(json.dumps(write_transcript(TRANSCRIPT)))) == TRANSCRIPT


@each_case("shown", FORMATS, ids=lambda shown: shown.name)
def test_each_prompt_format_comes_back(shown: PromptFormat) -> None:
    prompting = Prompting.make_default(Mode.PROMPT).use_format(shown)
    transcript = Transcript("core:x", "m", prompting, ((STEP,),))
    assert read_transcript(json.loads(json.dumps(write_transcript(transcript)))) == transcript


@each_case(
    ("key", "value", "reason"),
    [
        ("entry", 3, "entry must be str, is int"),
        ("model", None, "model must be str, is NoneType"),
        ("turns", {}, "turns must be list, is dict"),
        ("asides", None, "asides must be list, is NoneType"),
        ("prompting", "fc", "prompting must be list, is str"),
        ("driven", {}, "profile"),
    ],
)
def test_a_transcript_of_another_form_is_refused(key: str, value: object, reason: str) -> None:
    with pytest.raises((KeyError, TypeError), match=reason):
        read_transcript({**write_transcript(TRANSCRIPT), key: value})
