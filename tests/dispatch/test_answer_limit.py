"""An answer that is too long becomes a fault of the model; any other stays as it is."""

from __future__ import annotations

import pytest

from pytest_fcbench.dispatch.answer_limit import bound_answer, measure_answer
from pytest_fcbench.domain.transcript import Completion, Ending, Fault, ToolCall


def nest_lists(depth: int) -> list[object]:
    nested: list[object] = []
    for _ in range(depth):
        nested = [nested]
    return nested


LONG = {
    "text": Completion(text="x" * 11),
    "reasoning": Completion(text="x", reasoning="y" * 10),
    "refusal": Completion(refusal="x" * 11),
    "arguments": Completion(tool_calls=(ToolCall("f", "x" * 10),)),
    "name": Completion(tool_calls=(ToolCall("f" * 11, "{}"),)),
    "object": Completion(tool_calls=(ToolCall("f", {"a": ["x" * 5, 1, None], "bb": 1}),)),
    "many calls": Completion(tool_calls=(ToolCall("f", ""),) * 6),
    "depth": Completion(tool_calls=(ToolCall("f", nest_lists(100_000)),)),
}


@pytest.mark.parametrize("case", LONG)
def test_an_answer_beyond_the_limit_is_a_fault(case: str) -> None:
    bounded = bound_answer(LONG[case], 10)
    assert bounded.fault is Fault.TOO_LARGE
    assert (bounded.tool_calls, bounded.reasoning, bounded.refusal) == (None, None, None)
    assert "and at most 10 are read" in (bounded.text or "")


@pytest.mark.parametrize("case", [name for name in LONG if name != "depth"])
def test_an_answer_within_the_limit_stays(case: str) -> None:
    completion = LONG[case]
    assert bound_answer(completion, measure_answer(completion)) is completion


def test_what_is_known_about_a_long_answer_and_its_beginning_are_kept() -> None:
    completion = Completion(
        text="Hello" * 1000,
        input_tokens=3,
        output_tokens=4,
        latency_s=1.5,
        ending=Ending.CUT,
        message={"a": 1},
    )
    bounded = bound_answer(completion, 4_999)
    assert bounded.text is not None
    assert bounded.text.startswith(
        "the answer has 5,000 characters, and at most 4,999 are read; it begins 'Hello"
    )
    assert len(bounded.text) < 300
    assert (bounded.input_tokens, bounded.output_tokens, bounded.latency_s) == (3, 4, 1.5)
    assert (bounded.ending, bounded.message) == (Ending.CUT, None)


@pytest.mark.parametrize(
    ("value", "length"),
    [("", 0), ({}, 0), ([], 0), ([[]], 1), ({"ab": "c"}, 4), (None, 0), (7, 1), (True, 1)],
)
def test_arguments_are_measured_by_characters_and_members(value: object, length: int) -> None:
    assert measure_answer(Completion(tool_calls=(ToolCall("", value),))) == 1 + length
