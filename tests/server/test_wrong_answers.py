"""Models that are wrong, and templates that lose something: what they say, and to whom."""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.prompting import Mode, Names, Prompting
from pytest_fcbench.domain.transcript import AskModel, Completion, ToolCall
from pytest_fcbench.domain.verdict import Failed
from pytest_fcbench.kinds.calls import verdict
from pytest_fcbench.server.conforming import WireFault
from pytest_fcbench.server.faults import (
    WITHOUT_RESULTS,
    WITHOUT_TOOLS,
    Mistakes,
    lose_from_prompt,
    write_wrong_answer,
)
from tests.factories import make_transcript
from tests.server.asking import CORE, list_entries

SINGLE = [
    entry
    for entry in list_entries(CORE)
    if entry.category.name in ("simple_python", "simple_java", "simple_javascript", "multiple", "parallel")
]
TOOL = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize("mode", [Mode.FC, Mode.PROMPT])
def test_a_wrong_answer_can_be_read_and_is_never_right(mode: Mode) -> None:
    prompting = Prompting.make_default(mode, Names.DOTTED)
    for entry in SINGLE:
        answer = write_wrong_answer(entry, AskModel(()), prompting)
        judgement = verdict.judge(entry, make_transcript(answer, mode=mode, names=Names.DOTTED))
        assert isinstance(judgement.corrected, Failed), entry.id
        assert "decoder" not in judgement.corrected.code, (entry.id, judgement.corrected)


def test_where_no_call_is_right_a_wrong_answer_calls() -> None:
    entry = next(each for each in list_entries(CORE) if each.category.name == "irrelevance")
    answer = write_wrong_answer(entry, AskModel(()), Prompting.make_default(Mode.FC))
    assert answer.tool_calls
    assert isinstance(answer.tool_calls[0], ToolCall)


def test_the_same_share_of_entries_is_always_wrong() -> None:
    entries = list_entries(CORE)
    shares = [
        sum(Mistakes(0.1, seed).has_entry(entry) for entry in entries) / len(entries) for seed in (1, 1, 2)
    ]
    assert shares[0] == shares[1]
    assert all(0.05 < share < 0.15 for share in shares)
    assert not any(Mistakes(0.0, 1).has_entry(entry) for entry in entries)
    assert all(Mistakes(1.0, 1).has_entry(entry) for entry in entries)


def test_a_template_loses_only_what_there_is() -> None:
    result = {"role": "tool", "content": "12"}
    with_tools, with_result = AskModel((), (TOOL,)), AskModel((result,))
    assert lose_from_prompt(with_tools, WireFault.LOSE_TOOLS) == Completion(text=WITHOUT_TOOLS)
    assert lose_from_prompt(with_result, WireFault.LOSE_RESULTS) == Completion(text=WITHOUT_RESULTS)
    assert lose_from_prompt(with_result, WireFault.LOSE_TOOLS) is None
    assert lose_from_prompt(with_tools, WireFault.LOSE_RESULTS) is None
    assert lose_from_prompt(with_tools, WireFault.MARKUP) is None
