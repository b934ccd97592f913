"""Runs of which no answer can be used: what they have in common, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pytest_fcbench.domain.verdict import Failed, Passed, Verdict
from pytest_fcbench.scorecard.aggregate.unusable_answers import describe_unusable_answers
from pytest_fcbench.scorecard.record import Record
from tests.factories import make_record

EMPTY: Mapping[str, object] = {"text": " ", "tool_calls": None, "reasoning": "so ...", "fault": None}
WORDS: Mapping[str, object] = {
    "text": "I would call f.",
    "tool_calls": None,
    "reasoning": None,
    "fault": None,
}
CALL: Mapping[str, object] = {**EMPTY, "tool_calls": [{"f": "{}"}]}
WRONG = Failed("simple_function_checker:wrong_count", "no call")
UNREADABLE = Failed("ast_decoder:decoder_failed", "no list")


def make_records(
    answers: Sequence[Mapping[str, object]],
    verdict: Verdict = WRONG,
    category: str = "simple_python",
    mode: str = "fc",
) -> list[Record]:
    """Make a Record for each answer."""
    syntax = "tool_calls" if mode == "fc" else "python"
    return [
        replace(
            make_record(verdict, number=number, category=category),
            turns=((answer,),),
            mode=mode,
            syntax=syntax,
        )
        for number, answer in enumerate(answers)
    ]


def test_answers_that_are_all_empty_are_told() -> None:
    told = describe_unusable_answers(make_records([EMPTY] * 19 + [{**EMPTY, "text": None}]))
    assert told == (
        "every answer of 20 entries that expect calls is empty; raise --fcbench-max-tokens if the model "
        "reasons first, or look at what the server logs"
    )


def test_a_context_that_is_too_short_for_a_tenth_of_the_entries_is_told() -> None:
    overflow = {**EMPTY, "text": None, "fault": "context_overflow"}
    told = describe_unusable_answers(make_records([overflow] * 3 + [CALL] * 27))
    assert told == (
        "3 of 30 entries outgrew the context and count as wrong; if the model can read more, start the "
        "server with a longer context (vLLM: --max-model-len; llama.cpp: -c; llama-cpp-python: --n_ctx)"
    )
    assert "2 of 20 entries" in (describe_unusable_answers(make_records([overflow] * 2 + [CALL] * 18)) or "")
    assert describe_unusable_answers(make_records([overflow] * 3 + [CALL] * 28)) is None
    assert describe_unusable_answers(make_records([overflow] * 19)) is None


def test_answers_without_any_tool_call_are_told_with_the_switches_of_servers() -> None:
    told = describe_unusable_answers(make_records([WORDS] * 19 + [EMPTY]))
    assert told is not None
    assert told.startswith("no answer of 20 entries that expect calls contains a tool call; let the server")
    assert "vLLM: --enable-auto-tool-choice and --tool-call-parser" in told
    assert told.endswith("or ask in words with --fcbench-mode=prompt")


def test_texts_that_can_never_be_read_are_told_with_the_options() -> None:
    told = describe_unusable_answers(make_records([WORDS] * 20, UNREADABLE, mode="prompt"))
    assert told is not None
    assert told.startswith(
        "no answer of 20 entries that expect calls can be read as calls; choose the syntax"
    )


@pytest.mark.parametrize(
    "records",
    [
        make_records([WORDS] * 19),
        make_records([*[WORDS] * 20, CALL]),
        make_records([*[EMPTY] * 20, CALL]),
        make_records([WORDS] * 40, Passed(), category="irrelevance"),
        make_records([WORDS] * 40, WRONG, mode="prompt"),
        [replace(record, syntax="python") for record in make_records([WORDS] * 40)],
        [make_record(WRONG, number=number) for number in range(40)],
        [],
    ],
    ids=[
        "too few",
        "one call",
        "one call, else empty",
        "no call is right",
        "readable",
        "calls in the text beside tools",
        "not answered",
        "none",
    ],
)
def test_nothing_is_told_where_some_are_usable_or_too_few(records: list[Record]) -> None:
    assert describe_unusable_answers(records) is None


def test_one_readable_text_is_enough() -> None:
    records = make_records([WORDS] * 20, UNREADABLE, mode="prompt")
    readable = make_records([WORDS], WRONG, mode="prompt")
    assert describe_unusable_answers([*records, *readable]) is None
