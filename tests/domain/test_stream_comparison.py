"""Each reply is asked for whole and as a stream; what differs is told part by part, and noise apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.stream_comparison import (
    ComparedStream,
    ask_streamed_too,
    compare_streams,
    list_differences,
)
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Conversation,
    Fault,
    Party,
    Step,
    ToolCall,
    Transcript,
    drive_conversation,
)

WHOLE = Completion(
    None, (ToolCall("f", '{"a": 1}', "x"),), output_tokens=5, input_tokens=9, finish_reason="tool_calls"
)


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        (
            Completion(
                None,
                (ToolCall("f", '{"a":1}', "y"),),
                output_tokens=5,
                input_tokens=9,
                finish_reason="tool_calls",
            ),
            (),
        ),
        (Completion(None, (ToolCall("f", '{"a": 1', "x"),), finish_reason="tool_calls"), ("calls",)),
        (Completion("\n\n", (ToolCall("f", {"a": 1}),), finish_reason="tool_calls"), ()),
        (Completion("<tool_call>", (ToolCall("f", {"a": 1}),), finish_reason="stop"), ("text", "ending")),
        (
            Completion(None, WHOLE.tool_calls, reasoning="so", output_tokens=6, input_tokens=9),
            ("reasoning", "usage"),
        ),
        (
            Completion("timeout: 3 s", fault=Fault.INFERENCE_ERROR),
            ("calls", "text", "reasoning", "ending", "usage"),
        ),
    ],
)
def test_parts_that_differ_are_listed(other: Completion, parts: Sequence[str]) -> None:
    assert list_differences(WHOLE, other) == parts


def hold(answer: Callable[[AskModel], Completion]) -> tuple[Transcript, list[AskModel]]:
    """A conversation of two replies, held with streams, and what was asked in it."""

    def converse() -> Conversation:
        steps = []
        for number in range(2):
            steps.append(Step((yield AskModel(({"role": "user", "content": str(number)},), step=number))))
        return Transcript("core:a", "m", Prompting.make_default(Mode.FC), (tuple(steps),))

    asked: list[AskModel] = []

    def record(request: AskModel) -> Completion:
        asked.append(request)
        return answer(request)

    return drive_conversation(ask_streamed_too(converse()), record), asked


def test_equal_replies_are_asked_for_twice() -> None:
    transcript, asked = hold(lambda request: WHOLE)
    assert [(each.party, each.defaults) for each in asked] == [
        (Party.MODEL, {}),
        (Party.STREAM, {"stream": True}),
    ] * 2
    assert transcript.completions == (WHOLE, WHOLE)
    assert compare_streams(transcript) == (ComparedStream((), ()),) * 2


def test_a_stream_that_differs_is_told_from_noise() -> None:
    def answer(request: AskModel) -> Completion:
        if request.step == 0:
            return Completion("streamed") if request.defaults else Completion("whole")
        return Completion(f"{request.party} {request.defaults}")

    transcript, asked = hold(answer)
    assert len({(each.step, each.digest) for each in asked}) == 8
    assert compare_streams(transcript) == (
        ComparedStream(("text",), ()),
        ComparedStream(("text",), ("text",)),
    )


@pytest.mark.parametrize("stray", [Completion("stray"), Completion("timeout", fault=Fault.INFERENCE_ERROR)])
def test_one_stray_stream_is_noise(stray: Completion) -> None:
    transcript, _ = hold(
        lambda request: stray if request.defaults and not request.attempt else Completion("whole")
    )
    for compared in compare_streams(transcript):
        assert compared.differences == compared.noise != ()


def test_streams_that_always_fail_are_the_servers_doing() -> None:
    failed = Completion("timeout", fault=Fault.INFERENCE_ERROR)
    transcript, _ = hold(lambda request: failed if request.defaults else WHOLE)
    assert [(len(each.differences), each.noise) for each in compare_streams(transcript)] == [(5, ())] * 2


def test_a_reply_that_is_no_answer_is_not_streamed() -> None:
    transcript, asked = hold(lambda request: Completion("too long", fault=Fault.OVERFLOW))
    assert [each.party for each in asked] == [Party.MODEL, Party.MODEL]
    assert compare_streams(transcript) == ()
