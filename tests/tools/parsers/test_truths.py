"""Right calls are taken from entries with JSON values and the names that tools have."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import Call, ToolCall
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.parsers.engine import ParsedAnswer, StreamedAnswer
from pytest_fcbench.tools.parsers.truths import (
    AnswerFinding,
    CpuLimitReached,
    Outcome,
    draw_truths,
    find_difference,
    judge_answer,
    limit_cpu,
)
from tests.cases import each_case


def test_truths_of_core_keep_the_schemas_of_their_tools() -> None:
    truths = draw_truths([open_suite("core", Path())], 10_000)
    assert len(truths) > 900
    assert len({str(each.calls) for each in truths}) == len(truths)
    for truth in truths:
        names = {as_mapping(tool["function"])["name"] for tool in truth.tools}
        assert {call.name for call in truth.calls} <= names
        assert not any("." in call.name for call in truth.calls)
    categories = {each.key.partition(":")[2].rpartition("_")[0] for each in truths}
    assert {"simple_java", "parallel", "multi_turn_base", "sql"} <= categories


def test_a_smaller_draw_is_a_part_of_a_larger_one() -> None:
    suite = open_suite("core", Path())
    small, large = (draw_truths([suite], limit) for limit in (20, 60))
    assert small == large[:20]
    assert draw_truths([suite, suite], 4) == [each for each in small[:2] for _ in range(2)]


TRUTH = [Call("f", {"a": 2.3, "b": ["x", {"c": True}]}), Call("g", {})]
F = ToolCall("f", '{"b": ["x", {"c": true}], "a": 2.3}')
G = ToolCall("g", "")


@each_case(
    ("answer", "finding"),
    [
        (ParsedAnswer([F, G]), AnswerFinding(Outcome.EXACT)),
        (ParsedAnswer([F, G], " \n", [0, 1]), AnswerFinding(Outcome.EXACT)),
        (ParsedAnswer([F, G], "</x>"), AnswerFinding(Outcome.LEAKED, "text: '</x>'")),
        (ParsedAnswer([F]), AnswerFinding(Outcome.LOST, "1 of 2 calls")),
        (ParsedAnswer([], "f(a"), AnswerFinding(Outcome.LOST, "0 of 2 calls, and the text 'f(a'")),
        (ParsedAnswer([F, G, G]), AnswerFinding(Outcome.WRONG, "3 calls for 2: f, g, g")),
        (ParsedAnswer([G, F]), AnswerFinding(Outcome.WRONG, "name: 'f' → 'g'")),
        (ParsedAnswer([F, G], "", [3, 4]), AnswerFinding(Outcome.WRONG, "indexes of the calls: 3, 4")),
        (
            ParsedAnswer([ToolCall("f", '{"a": 2.3'), G]),
            AnswerFinding(Outcome.WRONG, 'not JSON: {"a": 2.3'),
        ),
        (
            ParsedAnswer([ToolCall("f", '{"a": 2.0, "b": ["x", {"c": true}]}'), G]),
            AnswerFinding(Outcome.WRONG, "f.a: 2.3 → 2.0"),
        ),
    ],
)
def test_an_answer_has_an_outcome(answer: ParsedAnswer, finding: AnswerFinding) -> None:
    assert judge_answer(TRUTH, answer) == finding


@each_case(
    ("right", "value", "difference"),
    [
        (2, 2.0, None),
        (1, True, "x: 1 → true"),
        (True, 1, "x: true → 1"),
        (False, False, None),
        (None, None, None),
        (None, "null", 'x: null → "null"'),
        ("1", 1, 'x: "1" → 1'),
        ([1, [2]], [1, [3]], "x[1][0]: 2 → 3"),
        ((1, 2), [1, 2], None),
        ([1], [1, 2], "x: [1] → [1, 2]"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "x.a.b: 1 → 2"),
        ({"a": 1}, {}, 'x: {"a": 1} → {}'),
        ([], {}, "x: [] → {}"),
    ],
)
def test_the_first_difference_is_told(right: object, value: object, difference: str | None) -> None:
    assert find_difference(right, value, "x") == difference


def test_parts_of_a_stream_are_joined_by_their_index() -> None:
    streamed = StreamedAnswer()
    for part in ((1, "f", ""), (0, "g", "{}"), (1, None, '{"a"'), (1, "", ": 1}")):
        streamed.add_call(*part)
    answer = streamed.finish()
    assert answer.calls == [ToolCall("f", '{"a": 1}'), ToolCall("g", "{}")]
    assert answer.indexes == (1, 0)


def _loop_for_ever() -> None:
    while True:
        # What parsers catch must not swallow the limit.
        with suppress(Exception):
            sum(range(10_000))


def test_processor_time_is_limited() -> None:
    handler = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(CpuLimitReached, match=r"^$"), limit_cpu(0.05):
        _loop_for_ever()
    assert signal.getsignal(signal.SIGVTALRM) is handler
    with limit_cpu(10):
        pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
